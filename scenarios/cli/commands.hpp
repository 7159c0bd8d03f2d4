// The commands of the program. Each returns its exit code, or throws Failure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/json.hpp"
#include "sweep/shard.hpp"

namespace phaselock {

struct CommandOptions {
  std::vector<std::string> overrides;  ///< KEY=VALUE, in order
  std::optional<std::string> out;      ///< run folder
  bool dry_run = false, json = false, quiet = false;
  bool resume = false;             ///< go on with the run that `out` holds
  double checkpoint_every = 10.0;  ///< seconds
  std::optional<Shard> shard;      ///< of a sweep; none: all of it
};

/// A shipped scenario whose tables `verify --out` puts beside the claims of a group, for the figures.
struct Example {
  std::string_view group, scenario;
};
std::span<const Example> verify_examples();

int command_run(const std::string& scenario, const CommandOptions& options);
int command_verify(const std::string& what, const CommandOptions& options);
int command_evaluate(const std::string& file);
int command_list();
int command_explain(const std::string& claim);
int command_export(const std::string& folder);
int command_merge(const std::string& out, const std::vector<std::string>& shards, bool json);
int command_plot(const std::string& folder);
int command_doctor();

/// Writes to standard output, at once. Throws Failure (cannot_write) if that fails.
void print(const std::string& text);

/// Parses the command line and runs the command; everything that is thrown becomes a message on standard error and an exit code.
int command_line(int argc, char** argv);

}  // namespace phaselock
