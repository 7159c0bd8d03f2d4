// The claims phaselock checks: what each says, under which assumptions, and what decides it.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

enum class Verdict { proved, supported, refuted, undecided };

std::string_view name(Verdict verdict);  ///< "PROVED", "SUPPORTED", "REFUTED", "UNDECIDED"

/// A claim in words. The table of all claims is the one place where they are stated.
struct Claim {
  std::string_view id, title, statement, assumptions, acceptance, rejection, source;
};
std::span<const Claim> claims();
const Claim* find_claim(std::string_view id);  ///< null if there is none

struct Assumption {
  std::string text;
  bool holds;
};

/// The outcome of checking one claim for one model.
struct ClaimResult {
  std::string id;  ///< of a Claim
  Model model;
  std::vector<Assumption> assumptions;
  nlohmann::ordered_json evidence;  ///< numbers, in reading order; "summary" is one line for the table
  Verdict verdict = Verdict::undecided;
  std::vector<nlohmann::json> certificates = {};  ///< of what was proved (docs/certificate.md)
  std::optional<std::string> expected;  ///< negative controls: the outcome that must appear, "REFUTED" or "ASSUMPTION" for instance

  bool assumptions_hold() const;
  /// The verdict's name, or "ASSUMPTION" if an assumption does not hold.
  std::string outcome() const;
};

/// 0 PROVED or SUPPORTED, 1 REFUTED, 2 UNDECIDED or assumptions not met; a control counts 0 if it came out as expected, else 1.
int exit_code(const ClaimResult& result);

/// Told before each check what is about to run, as done of total.
using Progress = std::function<void(std::string_view what, int done, int total)>;

struct VerifyOptions {
  std::optional<SingleBlock> model;  ///< replaces the suite's models if given
  double kappa = 1.0;                ///< of the exact geometry
  Eigen::MatrixXd word_vectors;      ///< embeddings [tokens][d] for Theorem 1 at epsilon > 0; that check is left out if empty
  Progress progress = [](std::string_view, int, int) {};
};

/// Checks a fixed suite of models and seeds: what = toy | theorem1 | theorem2 | coverage | all.
std::vector<ClaimResult> verify(std::string_view what, const VerifyOptions& options);

}  // namespace phaselock
