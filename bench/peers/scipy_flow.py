#!/usr/bin/env python3
"""SciPy's DOP853 on the static flow in log time: the peer of the ensemble of static flows.

Reads initial biases [seeds][2][H][S] as JSON (as `flow_bench --initial` prints them) and prints one JSON line: microseconds a seed
with the field written query by query and over whole arrays (CPU time, smallest over the repetitions, averaged over seeds), and
errors against a solution of tolerance 1e-13. Set OPENBLAS_NUM_THREADS=1.
"""
import argparse
import json
import time

import numpy as np
from scipy.integrate import solve_ivp


def by_query(L, S, H, N, gamma, beta, c):
    """db/ds with s = log(1 + t), one query position after the other as the formula reads (theory.md sections 2 and 3)."""

    def dbds(s, b):
        b = b.reshape(2, H, S)
        e = np.exp(b - b.max(axis=2, keepdims=True))
        p = e / e.sum(axis=2, keepdims=True)
        key, value = p
        d = np.zeros_like(p)
        for q in range(S - 1):
            grown = np.exp(gamma * key[:, q])
            w = grown / (grown + L - 1)
            o = 1.0 / (grown + L - 1)
            right = np.exp(beta * (w @ value))
            other = np.exp(beta * (o @ value))
            Z = N - L * S + right.sum() + (L - 1) * other.sum()
            d_right = beta * right / Z
            d_right[q + 1] -= beta
            d_other = beta * (L - 1) * other / Z
            slope = gamma * w * (1.0 - w)
            d[0, :, q] += slope * (value @ d_right) - slope / (L - 1) * (value @ d_other)
            d[1] += np.outer(w, d_right) + np.outer(o, d_other)
        d /= S - 1
        d = p * (d - (p * d).sum(axis=2, keepdims=True))
        return (-c * np.exp(s)) * d.ravel()

    return dbds


def over_arrays(L, S, H, N, gamma, beta, c):
    """The same written over whole arrays, tuned: the fewest calls of NumPy that we found."""
    phases = np.arange(S - 1)

    def dbds(s, b):
        b = b.reshape(2, H, S)
        e = np.exp(b - b.max(axis=2, keepdims=True))
        p = e / e.sum(axis=2, keepdims=True)
        key, value = p
        grown = np.exp(gamma * key[:, :-1])  # [H][q]
        w = grown / (grown + L - 1)
        o = 1.0 / (grown + L - 1)
        right = np.exp(beta * (w.T @ value))  # [q][r]
        other = np.exp(beta * (o.T @ value))
        Z = (N - L * S + right.sum(axis=1) + (L - 1) * other.sum(axis=1))[:, None]
        d_right = right / Z
        d_right[phases, phases + 1] -= 1.0
        d_right *= beta / (S - 1)
        d_other = other / Z * (beta * (L - 1) / (S - 1))
        d = np.empty_like(p)
        slope = gamma * w * (1.0 - w)
        d[0, :, :-1] = slope * (value @ (d_right - d_other / (L - 1)).T)
        d[0, :, -1] = 0.0
        d[1] = w @ d_right + o @ d_other
        d = p * (d - (p * d).sum(axis=2, keepdims=True))
        return (-c * np.exp(s)) * d.ravel()

    return dbds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("initial", help="JSON file of initial biases")
    parser.add_argument("--model", type=float, nargs=6, default=[4, 4, 3, 64, 1.0, 1.0], metavar=("L", "S", "H", "N", "GAMMA", "BETA"))
    parser.add_argument("--kappa", type=float, default=1.0)
    parser.add_argument("--until", type=float, default=1e6)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--no-error", action="store_true", help="leave out the comparison with the accurate solution")
    options = parser.parse_args()
    L, S, H, N = (int(x) for x in options.model[:4])
    model = (L, S, H, N, *options.model[4:], options.kappa + 1.0 / N)
    fields = {"us_per_seed": by_query(*model), "us_per_seed_over_arrays": over_arrays(*model)}
    with open(options.initial) as file:
        starts = [np.array(b).ravel() for b in json.load(file)][: options.seeds]
    end = np.log1p(options.until)

    def solve(field, b, rtol, atol):
        return solve_ivp(field, (0.0, end), b, method="DOP853", rtol=rtol, atol=atol)

    result = dict.fromkeys(fields, 0.0)
    evaluations, errors = 0, []
    for b in starts:
        best = dict.fromkeys(fields, np.inf)
        for _ in range(options.repeat):
            for name, field in fields.items():
                begin = time.process_time()
                solution = solve(field, b, 1e-8, 1e-10)
                best[name] = min(best[name], time.process_time() - begin)
        for name in fields:
            result[name] += 1e6 * best[name] / len(starts)
        evaluations += solution.nfev
        if not options.no_error:
            exact = solve(fields["us_per_seed_over_arrays"], b, 1e-13, 1e-15)
            errors.append(float(np.abs(solution.y[:, -1] - exact.y[:, -1]).max()))
    result["evaluations_per_seed"] = evaluations / len(starts)
    if errors:
        result["error"] = max(errors)
        result["error_median"] = float(np.median(errors))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
