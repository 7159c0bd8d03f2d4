"""Loss that each start of the oracle search reached, in order, against the best selection pattern."""
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lib.page import DARK, new_page
from lib.run_folder import Run


def draw(run: Run) -> Figure | None:
    table = run.tables.get("starts")
    if table is None or not table.has("loss"):
        return None
    losses = np.sort(table["loss"][np.isfinite(table["loss"])])
    figure = new_page(4.6, 2.7, run.title)
    axes = figure.subplots()
    axes.plot(np.arange(1, len(losses) + 1), losses, linestyle="", marker="o", color=DARK, markerfacecolor="white",
              label="one start", zorder=3)
    best = run.result("best_selection_loss")
    if best is not None:
        axes.axhline(best, color="black", linestyle=(0, (5, 2)), linewidth=1.1, label="best selection pattern",
                     zorder=4)
    values = losses if best is None else np.append(losses, best)
    span = max(values.max() - values.min(), 1e-3 * abs(values).max(), 1e-9)
    axes.set_ylim(values.min() - 0.12 * span, values.max() + 0.30 * span)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    axes.set_xlim(0.3, len(losses) + 0.7)
    axes.set_xlabel("start, in order of the loss it reached (rank)")
    axes.set_ylabel("loss (nats)")
    axes.legend(loc="upper left", ncol=2)
    return figure
