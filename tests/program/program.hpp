// Runs the built program, or any other, in a folder of its own; for tests of the command line.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "paths.hpp"

namespace phaselock::test {

namespace fs = std::filesystem;

/// An empty folder that is gone at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "phaselock-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const fs::path& name) const { return path_ / name; }

  fs::path write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

  /// Everything in it, by relative name.
  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) names.insert(fs::relative(entry.path(), path_).string());
    return names;
  }

 private:
  fs::path path_;
};

inline std::string slurp(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  int code;  ///< exit code, or -signal
  std::string out, err;
};

/// A started program with `folder` as its working directory.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments, const fs::path& folder = fs::temp_directory_path())
      : out_((streams_ / "out").string()), err_((streams_ / "err").string()) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    // Until it has become the program, the child must not answer signals as the tests would.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    child_ = fork();
    if (child_ == 0) {
      for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
      dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      if (chdir(folder.c_str()) == 0) execvp(pointers[0], pointers.data());
      _exit(127);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }

  /// Sends a signal as soon as `when` is true, or after a minute.
  void signal_when(int signal, const std::function<bool()>& when) const {
    for (int k = 0; k < 6000 && !when(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(child_, signal);
  }

  /// The end of it; to be called once.
  Outcome wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), slurp(out_), slurp(err_)};
  }

 private:
  TempFolder streams_;
  std::string out_, err_;
  pid_t child_;
};

/// Runs a program with `folder` as its working directory. Sends SIGINT as soon as `interrupt_when` is true, if given.
inline Outcome run(std::vector<std::string> arguments, const fs::path& folder = fs::temp_directory_path(),
                   const std::function<bool()>& interrupt_when = {}) {
  const Program program(std::move(arguments), folder);
  if (interrupt_when) program.signal_when(SIGINT, interrupt_when);
  return program.wait();
}

/// Runs phaselock.
inline Outcome phaselock_program(std::vector<std::string> arguments, const fs::path& folder = fs::temp_directory_path(),
                                 const std::function<bool()>& interrupt_when = {}) {
  arguments.insert(arguments.begin(), paths::program);
  return run(std::move(arguments), folder, interrupt_when);
}

/// A scenario that runs in an instant.
inline std::string small_flow(const std::string& more = "") {
  return "# A small flow.\nkind = \"flow\"\n[model]\nblocks = 4\npositions = 3\nheads = 1\nvocabulary = 12\ngamma = 1.0\nbeta = "
         "1.0\n" +
         more;
}

/// A .npy file of float64 rows filled with small different numbers; `change` may spoil the header or the data.
inline std::string npy(const std::string& shape, std::size_t numbers, const std::string& type = "<f8",
                       const std::string& order = "False", int version = 1) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += char(version);
  file += '\0';
  for (std::size_t k = 0; k < fixed - 8; ++k) file += char(header.size() >> (8 * k) & 0xff);
  file += header;
  for (std::size_t k = 0; k < numbers; ++k) {
    const double x = double(k * 7 % 11) - 4.5 + 0.01 * double(k);
    const float y = float(x);
    if (type == "<f4")
      file.append(reinterpret_cast<const char*>(&y), sizeof y);
    else
      file.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  return file;
}

}  // namespace phaselock::test
