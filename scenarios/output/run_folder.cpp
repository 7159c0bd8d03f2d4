#include "output/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace phaselock {

namespace fs = std::filesystem;

RunFolder::RunFolder(const fs::path& target)
    : target_(run_folder_path(target)),
      work_(target_.parent_path() / fmt::format(".{}.partial-{}", target_.filename().string(), getpid())) {
  std::error_code error;
  if (fs::exists(target_, error)) {
    const bool empty = fs::is_empty(target_, error);
    if (error) throw cannot_write(target_, error.message());
    if (!empty) throw cannot_write(target_, "is not empty; it must be new or empty");
  }
  made_.emplace(work_, target_);
}

RunFolder::~RunFolder() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(work_, ignored);
  made_->remove_if_empty();
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
