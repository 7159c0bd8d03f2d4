// A claim as a value: its words, the suite it belongs to, and what checks it. One file a claim; all_claims.cpp lists them.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claim_result.hpp"

namespace phaselock {

/// The suites of `phaselock verify`, in the order in which `verify all` runs them.
enum class ClaimGroup { toy, theorem1, theorem2, coverage };

/// Told before each check what is about to run, as done of total.
using Progress = std::function<void(std::string_view what, int done, int total)>;

struct VerifyOptions {
  std::optional<SingleBlock> model;  ///< replaces the suite's models if given
  double kappa = 1.0;                ///< of the exact geometry
  Eigen::MatrixXd word_vectors;      ///< embeddings [tokens][d] for Theorem 1 at epsilon > 0; that check is left out if empty
  Progress progress = [](std::string_view, int, int) {};
};

/// One entry of a suite: what it is, and what it yields, one result for most.
struct Check {
  std::string what;
  std::function<std::vector<ClaimResult>()> run;
};
using Checks = std::vector<Check>;

/// A check of one result.
Check check_one(std::string what, std::function<ClaimResult()> run);

/// A control: its result must come out as `expected`, "REFUTED" or "ASSUMPTION" for instance.
Check check_control(std::string what, std::string expected, std::function<ClaimResult()> run);

/// `checks` and `controls` choose models and seeds for `options`; they compute nothing themselves. Null: none.
struct Claim {
  std::string_view id, title, statement, assumptions, acceptance, rejection, source;
  ClaimGroup group;
  Checks (*checks)(const VerifyOptions& options) = nullptr;    ///< null if another claim's check yields its results too
  Checks (*controls)(const VerifyOptions& options) = nullptr;  ///< run after the checks of all claims of the group
};

}  // namespace phaselock
