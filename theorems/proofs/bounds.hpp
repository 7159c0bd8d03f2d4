// Bounds of Theorem 1 at exact geometry: when it holds, when it fails, and the loss to beat (theory.md section 4).
// Doubles for figures and searches; decisions and enclosures, in balls, for proofs.
#pragma once

#include <string_view>

#include "model/single_block.hpp"

namespace phaselock {

/// loss* = log N - beta H w1/n + [ H log(1+z1/N) + (n-H) log(1+z0/N) ] / n: the loss of every distinct pattern. Needs H < S.
double distinct_loss(const SingleBlock& model);

/// N0: above it, replacing any non-selecting gates of a head and block by a selection strictly lowers the loss. Does not depend on
/// model.vocabulary.
double sufficient_n0(const SingleBlock& model);

/// N1: the least vocabulary from which on every global minimizer selects (form 1), as a real number >= L S; infinite if beyond
/// 1e300.
double sufficient_n1(const SingleBlock& model);

/// N2: as N0, with the shares of the rising tokens bounded after the exchange (form 2); at most N0 or L S. A real number >= L S.
double sufficient_n2(const SingleBlock& model);

/// N*(distinct): the least real N >= L S from which on distinct patterns are locally stable; L S if they always are (H = S - 1 for
/// instance).
double necessary_n_star(const SingleBlock& model);

/// D minus the right-hand side of the equation whose root is N*(distinct), at the model's own N; positive iff distinct patterns are
/// stable. In units of the KKT margin dLoss/dp, times L n / beta. +infinity for H = S - 1.
double distinct_stability(const SingleBlock& model);

/// An answer that is proved, or none: `unknown` if 4096 bits do not separate both sides, as when they are equal.
enum class Decision { yes, no, unknown };

std::string_view name(Decision decision);  ///< "yes", "no", "unknown"

/// Numbers known to contain the exact one.
struct Enclosure {
  double low, high;
};

// Decided in balls whose precision is raised until they decide; at the model's own N = model.vocabulary.
Decision above_n0(const SingleBlock& model);      ///< N > N0
Decision above_n1(const SingleBlock& model);      ///< N satisfies the inequality that defines N1
Decision above_n2(const SingleBlock& model);      ///< N satisfies the inequality that defines N2
Decision below_n_star(const SingleBlock& model);  ///< N < N*(distinct): distinct patterns have a negative margin; no for H = S - 1

// Relative width below 1e-12 (N*, N1, N2: roots bracketed by signs in balls, >= L S; [1e300, infinity] if beyond 1e300).
Enclosure enclose_n0(const SingleBlock& model);
Enclosure enclose_n1(const SingleBlock& model);
Enclosure enclose_n2(const SingleBlock& model);
Enclosure enclose_n_star(const SingleBlock& model);
Enclosure enclose_distinct_loss(const SingleBlock& model);
/// distinct_stability, for H < S - 1: a certificate that Theorem 1 fails rests on its upper end. [infinity, infinity] for H = S
/// - 1.
Enclosure enclose_distinct_stability(const SingleBlock& model);

}  // namespace phaselock
