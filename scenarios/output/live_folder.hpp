// The folder of a run that can be killed at any moment and resumed.
#pragma once

#include <filesystem>
#include <string>

#include "output/new_folders.hpp"
#include "output/put_file.hpp"

namespace phaselock {

/// A run's output while it grows: scenario.toml from the start, whatever the run saves on its way, result.json last. One process
/// at a time: it holds a lock on run.lock, which the system releases when the process ends, however it ends.
class LiveFolder {
 public:
  /// `scenario` is the effective scenario. Without `resume`, `target` must be new or empty; with it, it may also hold a run of the
  /// same scenario. What a kill before the first write leaves behind (an empty folder, a lock, a partial file) counts as empty.
  /// Throws Failure: cannot_write if the folder is in use, cannot be written or holds anything else; bad_scenario, naming the first
  /// key that differs, if it holds a run of another scenario.
  LiveFolder(const std::filesystem::path& target, const std::string& scenario, bool resume);

  /// Gives up the lock. A folder that this process began and that holds nothing but the scenario is removed, unless it was kept.
  ~LiveFolder();
  LiveFolder(const LiveFolder&) = delete;
  LiveFolder& operator=(const LiveFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Whether a run of this scenario was here before.
  bool resumes() const { return resumes_; }

  /// Whether the run is complete. A folder that is so from the start needs no lock: it is for reading.
  bool finished() const { return holds("result.json"); }

  bool holds(const std::filesystem::path& name) const;

  /// Puts a file in place, whole and on the disk, or not at all: an older one of this name then stays. `name` may hold folders.
  /// For one thread at a time. Throws Failure (cannot_write).
  void write(const std::filesystem::path& name, const std::string& text) const;
  void write(const std::filesystem::path& name, const Produce& produce) const;

  /// The scenario alone is worth keeping: the run was interrupted, and is to be resumed.
  void keep() { kept_ = true; }

  /// Removes a file if it is there and can be.
  void remove(const std::filesystem::path& name) const;

 private:
  void open(const std::string& scenario, bool resume);
  std::string lock();
  void release();
  bool empty() const;
  void compare(const std::string& scenario) const;

  std::filesystem::path path_;
  NewFolders made_;
  int lock_ = -1;  ///< of run.lock
  bool resumes_ = false, kept_ = false;
};

/// How two effective scenarios differ first, in words; empty if only in their comments.
std::string first_difference(const std::string& stored, const std::string& asked);

}  // namespace phaselock
