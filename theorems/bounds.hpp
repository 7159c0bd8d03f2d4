// Bounds of Theorem 1 at exact geometry: when it holds, when it fails, and the loss to beat (theory.md section 4).
#pragma once

#include "model.hpp"

namespace phaselock {

/// loss* = log N - beta H w1/n + [ H log(1+z1/N) + (n-H) log(1+z0/N) ] / n: the loss of every distinct pattern. Needs H < S.
double distinct_loss(const Model& model);

/// N0: above it, replacing any non-selecting gates of a head and block by a selection strictly lowers the loss. Does not depend on model.vocabulary.
double sufficient_n0(const Model& model);

/// N1: the least vocabulary from which on every global minimizer selects (form 1), as a real number >= L S; infinite if beyond 1e300.
double sufficient_n1(const Model& model);

/// N*(distinct): the least real N >= L S from which on distinct patterns are locally stable; L S if they always are (H = S - 1 for instance).
double necessary_n_star(const Model& model);

/// D minus the right-hand side of the equation whose root is N*(distinct), at the model's own N; positive iff distinct patterns are stable.
/// In units of the KKT margin dLoss/dp, times L n / beta. +infinity for H = S - 1.
double distinct_stability(const Model& model);

}  // namespace phaselock
