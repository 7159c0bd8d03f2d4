// phaselock verify
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "claims/claims.hpp"
#include "cli/commands.hpp"
#include "kinds/cost.hpp"
#include "kinds/kind.hpp"
#include "kinds/provenance.hpp"
#include "model/interrupt.hpp"
#include "output/failure.hpp"
#include "output/files.hpp"
#include "output/npy.hpp"
#include "output/run_folder.hpp"

namespace phaselock {

namespace {

constexpr Example examples[] = {
    {"toy", "toy-example"},     {"theorem1", "oracle-above-threshold"}, {"theorem1", "oracle-below-threshold"},
    {"theorem2", "first-flow"}, {"theorem2", "two-heads-collide"},      {"coverage", "coverage-large-vocabulary"},
};

Json result_json(const ClaimResult& result) {
  Json assumptions = Json::array();
  for (const Assumption& assumption : result.assumptions)
    assumptions.push_back({{"text", assumption.text}, {"holds", assumption.holds}});
  return {{"id", result.id},
          {"model", model_json(result.model)},
          {"assumptions", std::move(assumptions)},
          {"evidence", result.evidence},
          {"verdict", name(result.verdict)},
          {"expected", result.expected ? Json(*result.expected) : Json()}};
}

std::string summary_of(const ClaimResult& result) {
  const auto found = result.evidence.find("summary");
  return found != result.evidence.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string assumptions_text(const ClaimResult& result) {
  std::vector<std::string> unmet;
  for (const Assumption& assumption : result.assumptions)
    if (!assumption.holds) unmet.push_back(assumption.text);
  return unmet.empty() ? "hold" : fmt::format("not met: {}", fmt::join(unmet, ", "));
}

std::string outcome_text(const ClaimResult& result) {
  std::string outcome = result.outcome();
  if (!result.expected) return outcome;
  return outcome + (outcome == *result.expected ? " (as expected)" : fmt::format(" (not {})", *result.expected));
}

std::string model_cell(const Model& m) {
  return fmt::format("{},{},{},{:g},{:g},{}", m.blocks, m.positions, m.heads, m.gamma, m.beta, m.vocabulary);
}

/// The table in at most twenty lines: models of one claim with one outcome share a line, with the evidence of each. All rows are in
/// result.json and claims.csv.
std::string table(const std::vector<ClaimResult>& results) {
  struct Line {
    std::string claim, outcome, assumptions, evidence;
  };
  std::vector<Line> lines;
  std::size_t claim_width = 5, outcome_width = 7, assumption_width = 11;
  for (const ClaimResult& result : results) {
    const std::string outcome = outcome_text(result),
                      evidence = fmt::format("[{}] {}", model_cell(result.model), summary_of(result));
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.claim == result.id && l.outcome == outcome; });
    if (same != lines.end()) {
      same->evidence += "; " + evidence;
      continue;
    }
    lines.push_back({result.id, outcome, assumptions_text(result), evidence});
    claim_width = std::max(claim_width, result.id.size());
    outcome_width = std::max(outcome_width, outcome.size());
    assumption_width = std::max(assumption_width, lines.back().assumptions.size());
  }
  lines.insert(lines.begin(), {"claim", "verdict", "assumptions", "[L,S,H,gamma,beta,N] evidence"});
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", line.claim, claim_width, line.outcome, outcome_width, line.assumptions,
                        assumption_width, line.evidence);
  return text;
}

CsvTable claims_table(const std::vector<ClaimResult>& results) {
  using enum ColumnType;
  CsvTable csv({"claims.csv", "what was checked, and the verdicts",
                joined({{{"id", text}},
                        alike({"L", "S", "H", "N"}, {"", integer}),
                        alike({"gamma", "beta"}, {"", number}),
                        {{"assumptions_hold", integer}, {"verdict", text}, {"expected", text}, {"evidence", text}}}),
                "one row a claim and model; expected: of negative controls; assumptions_hold: 1 or 0"});
  for (const ClaimResult& result : results) {
    const Model& m = result.model;
    std::string evidence = summary_of(result);
    for (std::size_t at = 0; (at = evidence.find('"', at)) != std::string::npos; at += 2) evidence.insert(at, 1, '"');
    csv.row(result.id, m.blocks, m.positions, m.heads, m.vocabulary, m.gamma, m.beta, int(result.assumptions_hold()),
            name(result.verdict), result.expected.value_or(""), fmt::format("\"{}\"", evidence));
  }
  return csv;
}

/// The shipped word vectors, for Theorem 1 at a geometry that is not exact.
Eigen::MatrixXd word_vectors() { return read_npy(data_folder() / "scenarios" / "data" / "glove_512x100.npy"); }

/// Runs a shipped scenario and writes its run under examples/.
void write_example(const RunFolder& folder, std::string_view scenario_name, ProgressBar& progress) {
  const Scenario scenario = load_scenario(find_scenario(std::string(scenario_name)), {}, kind_list());
  RunContext context{progress, true};
  const auto started = std::chrono::steady_clock::now();
  const Report report = run_scenario(scenario, context);
  const std::filesystem::path place = std::filesystem::path("examples") / scenario_name;
  folder.write(place / "scenario.toml", write_scenario(scenario));
  for (const CsvTable& csv : report.tables) folder.write(place / csv.name(), csv.text);
  folder.write(place / tables_file, dump(report.tables_document()));
  if (!report.certificate.is_null()) folder.write(place / "certificate.json", dump(report.certificate));
  folder.write(place / "result.json", dump({{"kind", scenario.kind->name},
                                            {"verdict", report.verdict()},
                                            {"model", scenario_model_json(scenario)},
                                            {"results", report.results},
                                            {"provenance", provenance_json(seeds_json(scenario), started)}}));
}

/// certificates/certificate-K.json, in the order of the claims.
void write_certificates(const RunFolder& folder, const std::vector<ClaimResult>& results) {
  int number = 0;
  for (const ClaimResult& result : results)
    for (const nlohmann::json& certificate : result.certificates)
      folder.write(fmt::format("certificates/certificate-{:04d}.json", ++number), certificate.dump() + "\n");
}

}  // namespace

std::span<const Example> verify_examples() { return examples; }

int command_verify(const std::string& what, const CommandOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const auto suites = suite_names();
  if (std::find(suites.begin(), suites.end(), what) == suites.end())
    throw Failure(Exit::bad_scenario, fmt::format("verify {}: must be one of {}", what, fmt::join(suites, ", ")));
  VerifyOptions checks;
  if (!options.overrides.empty()) {
    Scenario scenario = parse_model_override(options.overrides, kind_named("flow").description);
    scenario.contexts.count = 1;  // rounded up to the smallest balanced sample
    if (what == "theorem2" || what == "all") refuse_if_too_large(scenario, estimate(scenario, false));
    checks.model = require_single_block(scenario.model);
    checks.kappa = scenario.geometry.kappa;
  } else if (what == "theorem1" || what == "all") {
    checks.word_vectors = word_vectors();
  }
  std::optional<RunFolder> folder;
  if (options.out) folder.emplace(*options.out);
  ProgressBar progress(options.quiet);
  progress.begin("verify", "checks");
  Json state = {{"kind", "verify"}, {"checks_done", 0}};
  const std::string command = fmt::format("# phaselock verify {}{}{}\n", what, options.overrides.empty() ? "" : " --set ",
                                          fmt::join(options.overrides, " --set "));
  try {
    checks.progress = [&](std::string_view, int done, int total) {
      check_interrupt();
      state["checks_done"] = done;
      progress.update(done, total);
    };
    const std::vector<ClaimResult> results = verify(what, checks);
    if (folder)
      for (const Example& example : examples)
        if (what == "all" || what == example.group) write_example(*folder, example.scenario, progress);
    progress.clear();
    Json claims = Json::array();
    for (const ClaimResult& result : results) claims.push_back(result_json(result));
    const std::string text = dump({{"kind", "verify"},
                                   {"verdict", name(overall_verdict(results))},
                                   {"model", checks.model ? model_json(*checks.model) : Json()},
                                   {"results", {{"claims", std::move(claims)}}},
                                   {"provenance", provenance_json({{"suite", "fixed: seeds count from 1"}}, started)}});
    if (folder) {
      const CsvTable csv = claims_table(results);
      write_certificates(*folder, results);
      folder->write("scenario.toml", command);
      folder->write(csv.name(), csv.text);
      folder->write(tables_file, dump(tables_json({csv.schema})));
      folder->write("result.json", text);
      folder->commit();
    }
    if (options.json)
      print(text);
    else
      print(table(results) + (folder ? fmt::format("written to {}\n", *options.out) : ""));
    return worst_exit_code(results);
  } catch (const Interrupted&) {
    progress.clear();
    if (folder) {
      folder->discard_files();
      folder->write("scenario.toml", command);
      folder->write("state.json", dump(state));
      folder->commit();
    }
    tell(fmt::format("interrupted{}\n", folder ? fmt::format("; what was done is noted in {}/state.json", *options.out) : ""));
    return int(Exit::interrupted);
  }
}

}  // namespace phaselock
