#include "output/put_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "output/descriptor.hpp"
#include "output/new_folders.hpp"

namespace phaselock {

namespace fs = std::filesystem;

namespace {

/// Repeats a system call that a signal cut short.
template <class Call>
auto whole(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Makes a rename in this folder last.
bool sync_folder(const fs::path& folder) {
  const Descriptor directory(folder, O_RDONLY | O_DIRECTORY);
  return directory && (whole([&] { return fsync(directory.number()); }) == 0 || errno == EINVAL);  // some file systems have no such
}

/// A file under construction; it is removed unless put in place. Failures name `path`, where it is to be.
class PartialFile {
 public:
  PartialFile(const fs::path& path, const fs::path& partial, int more_flags)
      : path_(path), partial_(partial), file_(partial, O_WRONLY | more_flags) {
    if (!file_) fail();
  }
  ~PartialFile() {
    std::error_code ignored;
    if (!placed_) fs::remove(partial_, ignored);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void append(std::string_view text) {
    while (!text.empty()) {
      const auto count = whole([&] { return ::write(file_.number(), text.data(), text.size()); });
      if (count < 0) fail();
      text.remove_prefix(std::size_t(count));
    }
  }

  void put_in_place() {
    if (whole([&] { return fsync(file_.number()); }) != 0 || !file_.close()) fail();
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail();
    placed_ = true;
    if (!sync_folder(path_.parent_path())) fail();
  }

 private:
  [[noreturn]] void fail() const { throw cannot_write(path_, std::strerror(errno)); }

  const fs::path &path_, &partial_;
  Descriptor file_;
  bool placed_ = false;
};

}  // namespace

void put_file(const fs::path& path, const fs::path& partial, const Produce& produce) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw cannot_write(path, error.message());
  PartialFile file(path, partial, O_CREAT | O_TRUNC);
  produce([&](std::string_view text) { file.append(text); });
  file.put_in_place();
}

void put_file(const fs::path& path, const fs::path& partial, const std::string& text) {
  put_file(path, partial, [&](const Sink& sink) { sink(text); });
}

void put_written(const fs::path& path, const fs::path& partial) { PartialFile(path, partial, 0).put_in_place(); }

}  // namespace phaselock
