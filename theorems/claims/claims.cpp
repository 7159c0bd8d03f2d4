#include "claims/claims.hpp"

#include <algorithm>
#include <array>

namespace phaselock {

namespace {

constexpr std::array claim_table{
    Claim{"theorem1", "Theorem 1: optimal compression selects",
          "Every global minimizer of the loss over the oracle class has, in every context, block and head, pK = e_r and pV = "
          "e_(r+1).",
          "exact geometry; L >= 4, S >= 3, H < S, N >= L S",
          "PROVED, in ball arithmetic, if N > N0, N1 or N2 (sufficient bounds), or if branch and bound, within at most 20000 "
          "boxes, leaves selections only. "
          "SUPPORTED otherwise if N > N*(distinct) and the continuous search, joined with the search over patterns, finds nothing "
          "below loss* and its "
          "optimum is a selection.",
          "REFUTED, in ball arithmetic, if N < N*(distinct): a distinct pattern then has a negative KKT margin, so no selection is "
          "a local minimum of "
          "the loss; the better optimum is shown. REFUTED also if the search finds gates whose enclosed loss is below loss*.",
          "statement: paper, Theorem 1; bounds and branch and bound: this project, theory.md section 4"},
    Claim{"distinctness", "Theorem 1: heads of one block select distinct positions",
          "Among selection patterns the minimizers are exactly those with distinct positions in every block, [n!/(n-H)!]^L of "
          "them, all with loss*.",
          "exact geometry; L >= 4, S >= 3, H < S",
          "PROVED for the model if all patterns were enumerated ((S-1)^(H L) <= 20000), exactly the distinct ones are within 1e-12 "
          "relative of loss*, and "
          "every other is above it by a thousand times that. SUPPORTED if so many random patterns, half of them distinct, agree.",
          "REFUTED if a pattern that is not distinct is below loss*, or a distinct one does not have it. UNDECIDED if, at huge N, "
          "patterns differ by less than "
          "double precision resolves.",
          "statement: paper, Theorem 1; loss* and proof for every N >= L S: this project, theory.md section 4"},
    Claim{"theorem1_perturbed", "Theorem 1 at epsilon > 0",
          "In a vocabulary whose Gram matrix is within epsilon of the exact geometry the optimum of each context is still a "
          "selection in every block "
          "and head (not necessarily with distinct positions).",
          "epsilon small enough; no explicit epsilon0 is known, so this assumption is not checked",
          "SUPPORTED if in each of at least 20 sampled contexts the best optimum found is a selection.",
          "REFUTED if in some context a continuous optimum is better than every selection pattern found, by more than 1e-8.",
          "paper, Theorem 1 (informal); observation: this project, theory.md section 8"},
    Claim{"theorem2", "Theorem 2: gradient flow fixes one selection for every input",
          "Under gradient flow of linear gates every head h has one position r_h with pK(r_h) -> 1 and pV(r_h + 1) -> 1, in all "
          "contexts and blocks.",
          "exact geometry; L >= 4, S >= 3, H < S; c uniform in a small ball; N large relative to log(e/rho). Smallness and "
          "largeness are not quantified "
          "by the statement: each (N, rho) tried is listed",
          "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of flows that select is at least 0.95. A flow selects "
          "if every gate of every "
          "sampled context, and the bound over all contexts of the vocabulary, is within 1e-2 of one position, K and V adjacent, "
          "and static "
          "and per-window effective offsets are below 1.05.",
          "REFUTED if the upper Clopper-Pearson bound is below 0.95 even if flows that ran out of time or steps would select; "
          "between, UNDECIDED. The verdict "
          "is on the share; each flow for itself ends PROVED "
          "(its end state lies in a trapping box whose inequality holds in balls: from there the population flow converges in "
          "every context), "
          "interior (a gate stays mixed at a minimum) or undecided with its reason.",
          "paper, Theorem 2 (informal); trapping certificate and checks: this project, theory.md section 5"},
    Claim{"static_agreement", "Linear gates follow their static part",
          "The flow of linear gates and the static flow from its token-mean biases select the same positions.", "as theorem2",
          "SUPPORTED if, among seeds whose linear flow selects, the lower Clopper-Pearson bound (95%) of the share that agree is "
          "at least 0.95.",
          "REFUTED if the upper bound is below 0.95; between, UNDECIDED.", "this project, theory.md sections 3 and 5"},
    Claim{"sample_independence", "The selection does not depend on the balanced sample",
          "Balanced samples of contexts of other seeds and sizes lead the flow from the same start to the same positions.",
          "as theorem2; balanced samples",
          "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of flows with the same positions is at least 0.95. For "
          "independent samples the "
          "share that changes is reported, not judged.",
          "REFUTED if the upper bound is below 0.95; between, UNDECIDED.", "this project, theory.md section 3"},
    Claim{"late_time", "Gates approach their vertex like 1/t",
          "1 - p(t) of each static gate tends to ( sum 1/m_s ) / (S c t), with the vertex margins m_s.",
          "exact geometry; static gates; a selection with positive margins",
          "SUPPORTED if at t = 1e9 the measured residual times t is within 1% of the predicted constant in every flow.",
          "REFUTED otherwise.", "this project, theory.md section 5 (Rates, End)"},
    Claim{"toy_rates", "Toy example: sharpening and splitting rates",
          "At p = 1/2 the difference of the heads grows at (1/16)(-l' w''), their sum at (1/16)(-l' w'' - 2 l'' w'^2): heads "
          "sharpen because w is "
          "convex and split because l is.",
          "the toy example of the paper's appendix A.1, as reconstructed in theory.md section 6; L >= 4, so that w is convex",
          "SUPPORTED if both rates measured on the flow agree with the formulas to 1e-4 relative and the difference grows faster.",
          "REFUTED otherwise.", "paper, appendix A.1; reconstruction and rates: this project, theory.md section 6"},
    Claim{"toy_endpoints", "Toy example: endpoints",
          "Almost every start off the symmetric point sharpens to one-hot heads, and complementary endpoints have a lower loss "
          "than equal ones.",
          "as toy_rates; random starts of standard deviation 1e-2",
          "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of starts that sharpen is at least 0.95 and the "
          "complementary loss is the lower.",
          "REFUTED if the complementary loss is not the lower; UNDECIDED if too few starts sharpen by t = 1e9.",
          "paper, appendix A.1; this project, theory.md section 6"},
    Claim{"coverage_symmetry", "Each head's position is uniform",
          "Over random starts of the static flow a head selects each of the S - 1 key offsets with the same probability.",
          "exact geometry; static gates; independent starts; heads that selected",
          "SUPPORTED unless a chi-square test rejects uniformity at level 0.001 (each seed's first head, so that counts are "
          "independent).",
          "REFUTED if it rejects.", "equivariance under permutations of offsets: this project, theory.md section 5"},
    Claim{"coverage_occupancy", "At large N heads choose independently",
          "As N grows heads decouple: the number of distinct positions follows the occupancy law of H independent uniform choices "
          "of S - 1.",
          "exact geometry; static gates; N large", "SUPPORTED unless a chi-square test rejects the occupancy law at level 0.01.",
          "REFUTED (for this N) if it rejects.", "this project, theory.md section 5 (Head coverage)"},
    Claim{"coverage_repulsion", "At small N or large beta heads repel", "Collisions are rarer than under the occupancy law.",
          "exact geometry; static gates; N small or beta large",
          "SUPPORTED if the upper Clopper-Pearson bound (95%) of the collision probability is below the occupancy law's.",
          "REFUTED if the lower bound is above it; between, UNDECIDED.", "this project, theory.md section 5 (Head coverage)"},
};

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
      return "PROVED";
    case Verdict::supported:
      return "SUPPORTED";
    case Verdict::refuted:
      return "REFUTED";
    case Verdict::undecided:
      return "UNDECIDED";
  }
  return "";
}

std::span<const Claim> claims() { return claim_table; }

const Claim* find_claim(std::string_view id) {
  const auto found = std::find_if(claim_table.begin(), claim_table.end(), [&](const Claim& claim) { return claim.id == id; });
  return found == claim_table.end() ? nullptr : &*found;
}

bool ClaimResult::assumptions_hold() const {
  return std::all_of(assumptions.begin(), assumptions.end(), [](const Assumption& a) { return a.holds; });
}

std::string ClaimResult::outcome() const { return assumptions_hold() ? std::string(name(verdict)) : "ASSUMPTION"; }

int exit_code(const ClaimResult& result) {
  if (result.expected) return result.outcome() == *result.expected ? 0 : 1;
  if (!result.assumptions_hold() || result.verdict == Verdict::undecided) return 2;
  return result.verdict == Verdict::refuted ? 1 : 0;
}

}  // namespace phaselock
