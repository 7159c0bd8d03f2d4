// An open file of the system's.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

namespace phaselock {

/// An open file; false if it could not be opened.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// Takes the lock of an open file or folder, which ends with the process at the latest. Says why not, if it cannot.
inline std::string take_lock(const Descriptor& file) {
  if (flock(file.number(), LOCK_EX | LOCK_NB) == 0) return "";
  return errno == EWOULDBLOCK ? "in use by another phaselock process" : std::strerror(errno);
}

}  // namespace phaselock
