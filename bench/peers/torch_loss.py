"""PyTorch peer: the loss of gate tables as a good user would write it (docs/theory.md, section 2), vectorized over contexts.

Gathers, softmax, a product per attention weight, one pass over the exponentials, autograd. beta m <= beta H <= 700 cannot overflow,
which saves the passes of logsumexp. How large a micro-batch is best, and whether the product over heads is best as a batched
matrix product or as a sum of outer products, depends on the sizes: `tuned` finds both by trial.
"""
import math
import time

import torch


def loss(tables, contexts, gamma, beta, outer="bmm"):
    """Sum over contexts of the mean loss over queries. tables [2][H][S][N], contexts [M][L][S] (int64)."""
    _, H, S, N = tables.shape
    M, L, _ = contexts.shape
    slots = (contexts + N * torch.arange(S)).reshape(1, -1).expand(2 * H, -1)  # places in the flattened [S][N]
    keys, values = tables.reshape(2 * H, S * N).gather(1, slots).view(2, H, M, L, S).softmax(-1)
    own = torch.sigmoid(gamma * keys[..., :-1] - math.log(L - 1))  # w, [H][M][L][S-1]
    other = (1 - own) / (L - 1)
    # beta m of every context token as if in another block, [M][queries][L S]; then the own block's excess.
    if outer == "bmm":
        logits = torch.bmm((beta * other).reshape(H, M, -1).permute(1, 2, 0).contiguous(),
                           values.reshape(H, M, -1).transpose(0, 1).contiguous())
    else:
        logits = ((beta * other).reshape(H, M, -1, 1) * values.reshape(H, M, 1, -1)).sum(0)
    own_block = logits.view(M, L, S - 1, L, S).diagonal(dim1=1, dim2=3)  # a view, [M][S-1][S][L]
    own_block += torch.einsum("hmlq,hmlr->mqrl", beta * (own - other), values)
    answers = own_block.diagonal(offset=1, dim1=1, dim2=2).sum()
    log_z = (logits.exp().sum(-1) + (N - L * S)).log()
    return (log_z.sum() - answers) / (L * (S - 1))


def mean_loss_and_gradient(tables, contexts, gamma, beta, batch, outer):
    """Mean over contexts, in micro-batches; the gradient is left in tables.grad."""
    tables.grad = None
    total = 0.0
    for part in contexts.split(batch):
        value = loss(tables, part, gamma, beta, outer) / len(contexts)
        value.backward()
        total += value.item()
    return total


def microseconds(tables, contexts, batch, outer, seconds):
    """Times of single micro-batches, microseconds a context, until `seconds` have passed (at least two)."""
    part = contexts[:batch]
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        begin = time.perf_counter()
        tables.grad = None
        loss(tables, part, 1.0, 1.0, outer).backward()
        times.append((time.perf_counter() - begin) / len(part) * 1e6)
    return times


def tuned(tables, contexts, seconds):
    """The fastest (batch, outer) of a trial that takes about `seconds`."""
    _, H, S, N = tables.shape
    pairs = contexts.shape[1] ** 2 * S * (S - 1)
    best = max(1, 150000 // pairs)  # about a megabyte of logits: the second-level cache
    batches = sorted({min(len(contexts), max(1, int(best * f))) for f in (0.25, 0.5, 1, 2, 4)})
    ways = [(batch, outer) for batch in batches for outer in ("bmm", "sum")]
    least = dict.fromkeys(ways, math.inf)
    for _ in range(2):  # twice, so that one slow moment does not decide
        for way in ways:
            least[way] = min(least[way], *microseconds(tables, contexts, *way, seconds / len(ways) / 2))
    return min(least, key=least.get)
