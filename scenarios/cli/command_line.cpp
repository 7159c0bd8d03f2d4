// The command line: options of each command, signals, and what is thrown turned into exit codes.
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <CLI/CLI.hpp>
#include <csignal>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "build_info.hpp"
#include "cli/commands.hpp"
#include "model/interrupt.hpp"
#include "output/failure.hpp"

namespace phaselock {

namespace {

/// What was asked for on the command line.
struct Request {
  CommandOptions options;
  std::string subject;               ///< scenario, claim, file or folder
  std::string suite = "all";         ///< of verify
  std::vector<std::string> shards;   ///< folders to merge
  std::optional<std::string> shard;  ///< i/n
  int threads = 0;                   ///< 0: as many as the machine has
};

void add_threads(CLI::App& command, Request& request) {
  command.add_option("--threads", request.threads, "threads to use, at most")->check(CLI::Range(1, 1024));
}

void add_run_options(CLI::App& command, Request& request) {
  command
      .add_option("--set", request.options.overrides,
                  "override a key of the scenario: KEY=VALUE; files are relative to the current folder")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_option("--out", request.options.out, "write a run folder there; it must be new or empty");
  command.add_flag("--json", request.options.json, "one JSON object on standard output instead of the summary");
  command.add_flag("--quiet", request.options.quiet, "no progress");
  add_threads(command, request);
}

/// Lets running work notice a first signal and end cleanly; a second one kills. A file beyond the allowed size is an error of
/// writing, not a signal.
void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_flag().store(true, std::memory_order_relaxed); };
  action.sa_flags = int(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// "i/n", 0 <= i < n.
Shard parse_shard(const std::string& text) {
  Shard shard{-1, 0};
  const char* end = text.data() + text.size();
  const auto [slash, wrong_index] = std::from_chars(text.data(), end, shard.index);
  if (wrong_index == std::errc() && slash != end && *slash == '/') {
    const auto [rest, wrong_count] = std::from_chars(slash + 1, end, shard.count);
    if (wrong_count == std::errc() && rest == end && shard.index >= 0 && shard.index < shard.count) return shard;
  }
  throw Failure(Exit::bad_scenario, fmt::format("--shard {}: must be i/n with 0 <= i < n", text));
}

int dispatch(const CLI::App& app, const Request& request) {
  std::optional<tbb::global_control> limit;
  if (request.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, std::size_t(request.threads));
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "list") return command_list();
  if (command == "explain") return command_explain(request.subject);
  if (command == "plot") return command_plot(request.subject);
  if (command == "doctor") return command_doctor();
  if (!(request.options.checkpoint_every >= 0.0 && request.options.checkpoint_every <= 1e9))
    throw Failure(Exit::bad_scenario,
                  fmt::format("--checkpoint-every {}: must be from 0 to 1e9", request.options.checkpoint_every));
  install_signal_handlers();
  if (command == "export") return command_export(request.subject);
  if (command == "evaluate") return command_evaluate(request.subject);
  if (command == "verify") return command_verify(request.suite, request.options);
  if (command == "merge") return command_merge(request.subject, request.shards, request.options.json);
  if (request.shard) {
    CommandOptions options = request.options;
    options.shard = parse_shard(*request.shard);
    return command_run(request.subject, options);
  }
  return command_run(request.subject, request.options);
}

void describe(CLI::App& app, Request& request) {
  app.set_version_flag("--version", std::string("phaselock ") + build_info::version);
  app.require_subcommand(1);
  CLI::App& verify =
      *app.add_subcommand("verify", "check the theorems on a suite of models, or on one model given by --set model.KEY=VALUE");
  verify.add_option("suite", request.suite, "toy, theorem1, theorem2, coverage or all");
  add_run_options(verify, request);
  CLI::App& run = *app.add_subcommand("run", "run a scenario: a .toml file, or the name of a shipped one");
  run.add_option("scenario", request.subject)->required();
  add_run_options(run, request);
  run.add_flag("--resume", request.options.resume, "go on with the run of this scenario that the folder of --out holds, if any")
      ->needs("--out");
  run.add_option("--checkpoint-every", request.options.checkpoint_every,
                 "seconds between two checkpoints of a flow in the folder of --out; without effect on results")
      ->capture_default_str();
  run.add_flag("--dry-run", request.options.dry_run, "print the effective scenario with its memory and cost, and stop");
  run.add_option("--shard", request.shard, "i/n: only part i, from 0, of n parts of a sweep; phaselock merge joins them");
  CLI::App& merge = *app.add_subcommand("merge", "join the shards of a sweep into one run folder; may be repeated as they grow");
  merge.add_option("out", request.subject, "the run folder: new, or of an earlier merge")->required();
  merge.add_option("shards", request.shards, "run folders of shards")->required();
  merge.add_flag("--json", request.options.json, "the result as JSON on standard output instead of the summary");
  app.add_subcommand("export", "write the tables of a sweep, finished or not, to its folder export/ as .csv and .npz")
      ->add_option("folder", request.subject)
      ->required();
  CLI::App& evaluate = *app.add_subcommand("evaluate", "loss, gradient and velocity of gate tables in a .json file");
  evaluate.add_option("case", request.subject)->required();
  add_threads(evaluate, request);
  app.add_subcommand("list", "list the shipped scenarios");
  app.add_subcommand("explain", "print a claim: statement, assumptions, acceptance and rejection rule, source")
      ->add_option("claim", request.subject)
      ->required();
  app.add_subcommand("plot", "draw the figures of a run folder into its folder figures/")
      ->add_option("folder", request.subject)
      ->required();
  app.add_subcommand("doctor", "versions, SIMD target, threads and a quick self-check");
}

/// CLI11 would only say that a command is missing.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) == names.end())
    throw Failure(Exit::bad_scenario, fmt::format("{}: unknown command; it must be one of {}", argv[1], fmt::join(names, ", ")));
}

}  // namespace

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Failure(Exit::cannot_write, fmt::format("standard output: {}", std::strerror(errno)));
}

int command_line(int argc, char** argv) {
  CLI::App app("phaselock: gradient flow and optima of chunked key-value compression", "phaselock");
  Request request;
  try {
    describe(app, request);
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
    return dispatch(app, request);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? int(Exit::done) : int(Exit::bad_scenario);
  } catch (const Failure& failure) {
    tell(fmt::format("{}\n", failure.what()));
    return int(failure.exit());
  } catch (const DomainError& error) {
    tell(fmt::format("{}\n", error.what()));
    return int(Exit::bad_scenario);
  } catch (const Interrupted&) {
    tell("interrupted\n");
    return int(Exit::interrupted);
  } catch (const std::bad_alloc&) {
    tell("out of memory\n");
    return int(Exit::internal);
  } catch (const std::exception& error) {
    tell(fmt::format("internal error: {}\n", error.what()));
    return int(Exit::internal);
  }
}

}  // namespace phaselock
