// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace phaselock {

/// Takes the bytes of a file in order, in pieces of any size.
using Sink = std::function<void(std::string_view)>;
using Produce = std::function<void(const Sink&)>;

/// Puts a file in place, whole and on the disk, or not at all; `partial` is where it is written first, on the same file system.
/// Throws Failure (cannot_write), and what `produce` throws.
void put_file(const std::filesystem::path& path, const std::filesystem::path& partial, const Produce& produce);
void put_file(const std::filesystem::path& path, const std::filesystem::path& partial, const std::string& text);

/// Puts in place what a library has written to `partial`; it is gone if that fails. Throws Failure (cannot_write).
void put_written(const std::filesystem::path& path, const std::filesystem::path& partial);

}  // namespace phaselock
