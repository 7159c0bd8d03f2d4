#include "output/live_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "output/descriptor.hpp"
#include "output/files.hpp"
#include "output/put_file.hpp"

namespace phaselock {

namespace fs = std::filesystem;

namespace {

constexpr const char *lock_name = "run.lock", *partial_name = ".partial", *scenario_name = "scenario.toml";

/// Whether the open file is still the one of that name.
bool is_named(const Descriptor& file, const fs::path& path) {
  struct stat opened = {}, named = {};
  return fstat(file.number(), &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

/// "section.key = value" for every key of an effective scenario.
std::vector<std::string> settings(const std::string& scenario) {
  std::vector<std::string> found;
  std::istringstream lines(scenario);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.rfind("  # "), line.size()));
    line.erase(line.find_last_not_of(" \r") + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[')
      section = line.substr(1, line.find(']') - 1) + ".";
    else
      found.push_back(section + line);
  }
  return found;
}

}  // namespace

std::string first_difference(const std::string& stored, const std::string& asked) {
  const std::vector<std::string> a = settings(stored), b = settings(asked);
  const auto [there, here] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (there == a.end() && here == b.end()) return "";
  return fmt::format("it has {}, this run {}", there == a.end() ? "nothing more" : *there,
                     here == b.end() ? "nothing more" : *here);
}

LiveFolder::LiveFolder(const fs::path& target, const std::string& scenario, bool resume)
    : path_(run_folder_path(target)), made_(path_, path_) {
  try {
    open(scenario, resume);
  } catch (...) {
    release();
    throw;
  }
}

LiveFolder::~LiveFolder() {
  if (lock_ < 0) return;
  std::error_code ignored;
  const auto entries = std::distance(fs::directory_iterator(path_, ignored), fs::directory_iterator());
  if (!resumes_ && !kept_ && entries == 2) remove(scenario_name);  // the other is the lock
  release();
}

void LiveFolder::open(const std::string& scenario, bool resume) {
  const auto refuse = [&](bool begun) {
    if (!resume) throw cannot_write(path_, "is not empty; it must be new or empty, or --resume continues the run in it");
    if (!begun) throw cannot_write(path_, "holds files, but no scenario.toml of a run");
  };
  const bool complete = finished();
  if (!complete || holds(lock_name)) {
    // Nothing is put into a folder of something else, not even a lock.
    if (!empty() && !holds(lock_name)) refuse(holds(scenario_name));
    const std::string why_not = lock();
    if (!complete && !why_not.empty()) throw cannot_write(path_, why_not);
    if (lock_ >= 0) remove(partial_name);
    if (empty()) return write(scenario_name, scenario);
  }
  refuse(holds(scenario_name));
  compare(scenario);
  resumes_ = true;
}

void LiveFolder::release() {
  if (lock_ >= 0) {
    remove(lock_name);
    close(lock_);
  }
  made_.remove_if_empty();
}

/// Takes the lock, of a file that is still in the folder then: another process may have removed the one that was opened. Says why
/// not, if it cannot.
std::string LiveFolder::lock() {
  while (true) {
    Descriptor file(path_ / lock_name, O_RDWR | O_CREAT);
    if (!file) return std::strerror(errno);
    if (std::string why_not = take_lock(file); !why_not.empty()) return why_not;
    if (is_named(file, path_ / lock_name)) {
      lock_ = file.release();
      return "";
    }
  }
}

/// Whether there is nothing but what the protocol itself leaves behind.
bool LiveFolder::empty() const {
  std::error_code error;
  const fs::directory_iterator entries(path_, error);
  if (error) throw cannot_write(path_, error.message());
  return std::all_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename() == lock_name || entry.path().filename() == partial_name;
  });
}

void LiveFolder::compare(const std::string& scenario) const {
  const std::string difference = first_difference(read_text(path_ / scenario_name, 1 << 20), scenario);
  if (!difference.empty())
    throw Failure(Exit::bad_scenario, fmt::format("{}: is of another scenario: {}", (path_ / scenario_name).string(), difference));
}

bool LiveFolder::holds(const fs::path& name) const {
  std::error_code ignored;
  return fs::exists(path_ / name, ignored);
}

void LiveFolder::write(const fs::path& name, const std::string& text) const { put_file(path_ / name, path_ / partial_name, text); }

void LiveFolder::write(const fs::path& name, const Produce& produce) const {
  put_file(path_ / name, path_ / partial_name, produce);
}

void LiveFolder::remove(const fs::path& name) const {
  std::error_code ignored;
  fs::remove(path_ / name, ignored);
}

}  // namespace phaselock
