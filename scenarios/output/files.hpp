// Reading whole files, and where the shipped ones are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace phaselock {

/// The file's bytes. Throws Failure (cannot_read) if it is missing, a folder or unreadable, and (bad_data) above `most` bytes.
std::string read_text(const std::filesystem::path& file, std::size_t most);

/// The folder that holds scenarios/ and plots/: beside an installed program, or else the sources it was built from.
std::filesystem::path data_folder();

/// Shipped scenarios in order of their names.
std::vector<std::filesystem::path> shipped_scenarios();

/// A scenario by path, or a shipped one by its name, with or without the number in front. Throws Failure (cannot_read) if
/// there is neither.
std::filesystem::path find_scenario(const std::string& name);

/// What find_scenario() takes for a scenario's file, wherever it is called from if it is a shipped one.
std::string shipped_name(const std::filesystem::path& file);

}  // namespace phaselock
