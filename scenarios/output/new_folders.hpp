// Folders made for the output of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "output/failure.hpp"

namespace phaselock {

/// `PATH: why`, exit code cannot_write.
Failure cannot_write(const std::filesystem::path& path, const std::string& why);

/// Where a run folder is to be: `target` without "..", links and a slash at the end. Throws Failure: bad_scenario if it is empty,
/// cannot_write if something stands there that is no folder.
std::filesystem::path run_folder_path(const std::filesystem::path& target);

/// A folder and its missing parents.
class NewFolders {
 public:
  /// Makes what is missing. Throws Failure (cannot_write), naming `target`, and then leaves nothing behind.
  NewFolders(const std::filesystem::path& folder, const std::filesystem::path& target);

  /// Removes those that were made, as far as they are empty.
  void remove_if_empty() const;

 private:
  std::vector<std::filesystem::path> made_;  ///< outermost first
};

}  // namespace phaselock
