#include "output/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "build_info.hpp"
#include "output/failure.hpp"

namespace phaselock {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file, std::size_t most) {
  const auto cannot = [&](int error) {
    return Failure(Exit::cannot_read, fmt::format("{}: {}", file.string(), std::strerror(error)));
  };
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw cannot(EISDIR);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
  if (!stream) throw cannot(errno);
  std::string text;
  char block[1 << 16];
  for (std::size_t got; (got = std::fread(block, 1, sizeof block, stream.get())) > 0;) {
    text.append(block, got);
    if (text.size() > most)
      throw Failure(Exit::bad_data, fmt::format("{}: larger than the {} bytes allowed for such a file", file.string(), most));
  }
  if (std::ferror(stream.get())) throw cannot(errno);
  return text;
}

fs::path data_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    fs::path installed = program.parent_path().parent_path() / "share" / "phaselock";
    if (fs::is_directory(installed / "scenarios", error)) return installed;
  }
  return build_info::source_dir;
}

std::vector<fs::path> shipped_scenarios() {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(data_folder() / "scenarios", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".toml") found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

fs::path find_scenario(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  for (const fs::path& file : shipped_scenarios()) {
    const std::string stem = file.stem().string();
    const std::size_t after = stem.find_first_not_of("0123456789");
    if (stem == name || (after != std::string::npos && after > 0 && stem[after] == '-' && stem.substr(after + 1) == name))
      return file;
  }
  throw Failure(Exit::cannot_read,
                fmt::format("{}: no such file, nor a shipped scenario of that name (phaselock list names them)", name));
}

std::string shipped_name(const fs::path& file) {
  return file.parent_path() == data_folder() / "scenarios" ? file.stem().string() : file.string();
}

}  // namespace phaselock
