// A folder that appears complete or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "output/new_folders.hpp"

namespace phaselock {

/// A run's output under construction: files go to a hidden folder beside the target, which takes the target's place at the end.
/// Without commit() nothing is left behind.
class RunFolder {
 public:
  /// Checks at once that `target` is new or empty and can be written, and creates missing parents. Throws Failure (cannot_write).
  explicit RunFolder(const std::filesystem::path& target);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Writes one file; `name` may hold folders. Throws Failure (cannot_write).
  void write(const std::filesystem::path& name, const std::string& text) const;

  /// Removes what was written so far.
  void discard_files() const;

  /// Puts everything in place. Throws Failure (cannot_write).
  void commit();

 private:
  std::filesystem::path target_, work_;
  std::optional<NewFolders> made_;
  bool committed_ = false;
};

}  // namespace phaselock
