#include "output/new_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace phaselock {

namespace fs = std::filesystem;

Failure cannot_write(const fs::path& path, const std::string& why) {
  return Failure(Exit::cannot_write, fmt::format("{}: {}", path.string(), why));
}

fs::path run_folder_path(const fs::path& target) {
  if (target.empty()) throw Failure(Exit::bad_scenario, "the folder to write to has no name; it must be new or empty");
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(target), error);
  if (error) throw cannot_write(target, error.message());
  if (!path.has_filename()) path = path.parent_path();
  if (fs::exists(path, error) && !fs::is_directory(path))
    throw cannot_write(path, "exists and is no folder; it must be new or empty");
  return path;
}

NewFolders::NewFolders(const fs::path& folder, const fs::path& target) {
  std::error_code error;
  for (fs::path missing = folder; !fs::exists(missing, error) && missing != missing.parent_path(); missing = missing.parent_path())
    made_.push_back(missing);
  std::reverse(made_.begin(), made_.end());
  fs::create_directories(folder, error);
  if (!error) return;
  remove_if_empty();
  throw cannot_write(target, error.message());
}

void NewFolders::remove_if_empty() const {
  std::error_code ignored;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, ignored);
}

}  // namespace phaselock
