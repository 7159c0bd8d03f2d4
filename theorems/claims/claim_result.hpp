// What checking one claim for one model yields, and what many such results amount to.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/verdict.hpp"
#include "model/single_block.hpp"

namespace phaselock {

struct Assumption {
  std::string text;
  bool holds;
};

/// What the statements ask of the sizes, and whether it holds.
std::vector<Assumption> size_assumptions(const Model& model);

/// The outcome of checking one claim for one model.
struct ClaimResult {
  std::string id;  ///< of a Claim
  SingleBlock model;
  std::vector<Assumption> assumptions;
  nlohmann::ordered_json evidence;  ///< numbers, in reading order; "summary" is one line for the table
  Verdict verdict = Verdict::undecided;
  std::vector<nlohmann::json> certificates = {};  ///< of what was proved (docs/certificate.md)
  std::optional<std::string> expected = {};  ///< controls: the outcome that must appear, "REFUTED" or "ASSUMPTION" for instance

  bool assumptions_hold() const;
  /// The verdict's name, or "ASSUMPTION" if an assumption does not hold.
  std::string outcome() const;
};

/// A result of claim `id` with the size assumptions and no verdict yet. Where they do not hold it is complete: its summary says so.
ClaimResult begin_result(std::string_view id, const SingleBlock& model);

/// 0 PROVED or SUPPORTED, 1 REFUTED, 2 UNDECIDED or assumptions not met; a control counts 0 if it came out as expected, else 1.
int exit_code(const ClaimResult& result);

/// The worst of many: 1 if any is 1, else 2 if any is 2, else 0.
int worst_exit_code(std::span<const ClaimResult> results);

/// One verdict for the whole, by the worst exit code; if that is 0, PROVED if all but the controls are, else SUPPORTED.
Verdict overall_verdict(std::span<const ClaimResult> results);

}  // namespace phaselock
