"""SciPy peer of the oracle search: L-BFGS-B with PyTorch gradients from one random start after another.

The loss of one context whose gate weights are all free (docs/theory.md, sections 2 and 3), weights = softmax of logits.
"""
import math
import time

import numpy as np
import torch
from scipy.optimize import minimize


def loss(logits, L, S, H, N, gamma, beta):
    """logits [2][H][L][S], one context at exact geometry."""
    keys, values = logits.softmax(-1)
    grown = torch.exp(gamma * keys[..., :-1])
    own, other = grown / (grown + L - 1), 1 / (grown + L - 1)
    m = torch.einsum("hlq,hkr->lqkr", other, values)
    own_block = m.diagonal(dim1=0, dim2=2)  # a view, [S-1][S][L]
    own_block += torch.einsum("hlq,hlr->qrl", own - other, values)
    answers = own_block.diagonal(offset=1, dim1=0, dim2=1).mean()
    Z = (beta * m).exp().sum((2, 3)) + (N - L * S)
    return Z.log().mean() - beta * answers


def descend(case, generator):
    """One start: (loss reached, seconds)."""
    shape = (2, case["H"], case["L"], case["S"])
    sizes = [case[k] for k in ("L", "S", "H", "N", "gamma", "beta")]

    def value_and_gradient(x):
        logits = torch.tensor(x.reshape(shape), requires_grad=True)
        value = loss(logits, *sizes)
        value.backward()
        return value.item(), logits.grad.numpy().ravel()

    start = generator.standard_normal(math.prod(shape))
    begin = time.perf_counter()
    end = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B",
                   options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9})
    return float(end.fun), time.perf_counter() - begin


def search(case, starts, seed=1):
    """(losses, seconds) of all starts."""
    generator = np.random.default_rng(seed)
    return [np.array(x) for x in zip(*(descend(case, generator) for _ in range(starts)))]
