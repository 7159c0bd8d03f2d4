#include "run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "failure.hpp"

namespace phaselock {

namespace fs = std::filesystem;

namespace {

Failure cannot_write(const fs::path& path, const std::string& why) {
  return Failure(Exit::cannot_write, fmt::format("--out {}: {}", path.string(), why));
}

/// The same place without "..", links and a slash at the end.
fs::path plain(const fs::path& target) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(target), error);
  if (error) throw cannot_write(target, error.message());
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

RunFolder::RunFolder(const fs::path& target) {
  if (target.empty()) throw Failure(Exit::bad_scenario, "--out: must name a folder that is new or empty");
  target_ = plain(target);
  std::error_code error;
  if (fs::exists(target_, error)) {
    if (!fs::is_directory(target_)) throw cannot_write(target_, "exists and is no folder; it must be new or empty");
    const bool empty = fs::is_empty(target_, error);
    if (error) throw cannot_write(target_, error.message());
    if (!empty) throw cannot_write(target_, "is not empty; it must be new or empty");
  }
  for (fs::path parent = target_.parent_path(); !fs::exists(parent, error) && parent != parent.parent_path();
       parent = parent.parent_path())
    created_.insert(created_.begin(), parent);
  work_ = target_.parent_path() / fmt::format(".{}.partial-{}", target_.filename().string(), getpid());
  fs::create_directories(work_, error);
  if (error) {
    for (auto parent = created_.rbegin(); parent != created_.rend(); ++parent) {
      std::error_code ignored;
      fs::remove(*parent, ignored);
    }
    throw cannot_write(target_, error.message());
  }
}

RunFolder::~RunFolder() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(work_, ignored);
  for (auto parent = created_.rbegin(); parent != created_.rend(); ++parent) fs::remove(*parent, ignored);  // if empty
}

void RunFolder::write(const fs::path& name, const std::string& text) const {
  const fs::path path = work_ / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw cannot_write(target_ / name, error.message());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw cannot_write(target_ / name, std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  if (std::fclose(file) != 0 || !written) throw cannot_write(target_ / name, std::strerror(written ? errno : why));
}

void RunFolder::discard_files() const {
  for (const auto& entry : fs::directory_iterator(work_)) fs::remove_all(entry.path());
}

void RunFolder::commit() {
  if (std::rename(work_.c_str(), target_.c_str()) != 0) throw cannot_write(target_, std::strerror(errno));
  committed_ = true;
}

}  // namespace phaselock
