// phaselock list, explain, plot and doctor
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <thread>

#include "build_info.hpp"
#include "claims/claims.hpp"
#include "cli/commands.hpp"
#include "kernels/table_loss.hpp"
#include "kinds/cost.hpp"
#include "kinds/provenance.hpp"
#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "output/failure.hpp"
#include "output/files.hpp"

namespace phaselock {

namespace {

/// First comment line of a scenario file, without the mark.
std::string first_comment(const std::string& text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t mark = text.find_first_not_of(" \t", start);
    if (mark < end && text[mark] == '#') {
      const std::size_t first = text.find_first_not_of("# \t", mark);
      return first < end ? text.substr(first, end - first) : "";
    }
    start = end + 1;
  }
  return "";
}

/// Largest difference, relative to the largest entry, of the gradient of a small model and its central differences.
double gradient_error() {
  Model model;
  model.blocks = 4, model.positions = 3, model.heads = 2, model.vocabulary = 13, model.beta = 3.0;
  const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
  const Contexts contexts = sample_independent(model, 3, 1);
  std::vector<double> tables = geometry.initial_tables(model, 10.0, 1), gradient(tables.size());
  table_loss(model, geometry, contexts, tables, gradient);
  constexpr double step = 1e-5;
  double error = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const double middle = tables[k];
    tables[k] = middle + step;
    const double above = table_loss(model, geometry, contexts, tables);
    tables[k] = middle - step;
    const double below = table_loss(model, geometry, contexts, tables);
    tables[k] = middle;
    error = std::max(error, std::abs((above - below) / (2 * step) - gradient[k]));
    largest = std::max(largest, std::abs(gradient[k]));
  }
  return error / largest;
}

/// Runs a program and waits for it; its exit code, or 128 + signal.
int run_program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environ);
  if (error) throw Failure(Exit::internal, fmt::format("{}: {}", arguments[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Failure(Exit::internal, fmt::format("{}: {}", arguments[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int command_list() {
  std::size_t width = 0;
  const auto files = shipped_scenarios();
  for (const auto& file : files) width = std::max(width, file.stem().string().size());
  std::string text;
  for (const auto& file : files)
    text += fmt::format("{:<{}}  {}\n", file.stem().string(), width, first_comment(read_text(file, 1 << 20)));
  print(text);
  return int(Exit::done);
}

int command_explain(const std::string& id) {
  const Claim* claim = find_claim(id);
  if (!claim) {
    std::vector<std::string_view> ids;
    for (const Claim* known : all_claims()) ids.push_back(known->id);
    throw Failure(Exit::bad_scenario, fmt::format("explain {}: unknown claim; it must be one of {}", id, fmt::join(ids, ", ")));
  }
  print(fmt::format("{}: {}\n\nstatement:   {}\nassumptions: {}\naccepted if: {}\nrejected if: {}\nsource:      {}\n", claim->id,
                    claim->title, claim->statement, claim->assumptions, claim->acceptance, claim->rejection, claim->source));
  return int(Exit::done);
}

int command_plot(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) throw Failure(Exit::cannot_read, folder + ": no such folder");
  const std::string python = std::filesystem::exists(build_info::python, ignored) ? build_info::python : "python3";
  return run_program({python, (data_folder() / "plots" / "draw.py").string(), folder});
}

int command_doctor() {
  std::string text = fmt::format("phaselock {} ({})\ncompiler: {} ({}: {})\n", build_info::version, build_info::git_commit,
                                 build_info::compiler, build_info::build_type, build_info::flags);
  std::vector<std::string> libraries;
  for (const auto& [library, version] : library_versions()) libraries.push_back(library + " " + version);
  text += fmt::format(
      "libraries: {}\nSIMD: compiled for {}; chosen at run time: {}; the machine has {}\nthreads: {}; memory a run may take: "
      "{}\nfiles: {}\n",
      fmt::join(libraries, ", "), simd_target(), simd_at_run_time(), simd_of_machine(), thread_count(), bytes_text(memory_limit()),
      data_folder().string());
  constexpr double allowed_error = 1e-7;
  const double error = gradient_error();
  const bool good = error <= allowed_error;
  print(text + fmt::format("self-check: gradient against finite differences, largest error {:.2g} of the largest entry: {}\n",
                           error, good ? "good" : "FAILED"));
  if (!good) throw Failure(Exit::internal, fmt::format("self-check: error {:.3g} must be <= {:g}", error, allowed_error));
  return int(Exit::done);
}

}  // namespace phaselock
