// A disk that is soon full.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <utility>

namespace phaselock::test {

namespace fs = std::filesystem;

/// A file system of 64 KiB, where this process may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(fs::path place) : place_(std::move(place)) {
    fs::create_directory(place_);
    mounted_ = mount("none", place_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  void grow() const { mount("none", place_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"); }

 private:
  fs::path place_;
  bool mounted_;
};

}  // namespace phaselock::test
