"""Loss over log time, and the residual (largest 1 - p over the gates) with its predicted late-time law."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lib.page import DARK, TIME_LABEL, new_page, plain_decades, spaced_marks, time_axis
from lib.run_folder import Run
from lib.tables import Table

MEASURED = {"color": DARK, "linewidth": 1.6, "marker": "o", "markersize": 3.4, "markerfacecolor": "white"}
LAW = {"color": "0.35", "linewidth": 1.3, "linestyle": (0, (5, 2))}


def draw_loss(axes: Axes, table: Table) -> None:
    shown = time_axis(axes, table["t"]) & np.isfinite(table["loss"])
    axes.plot(table["t"][shown], table["loss"][shown], **MEASURED, **spaced_marks(int(shown.sum()), 0, 1))
    axes.set_ylabel("loss (nats)")
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.margins(y=0.08)


def draw_residual(axes: Axes, table: Table) -> None:
    """The residual on log axes; the law is cut to the height of the data, before late times it means nothing."""
    with np.errstate(invalid="ignore"):
        shown = time_axis(axes, table["t"]) & (table["residual"] > 0)
        lawful = time_axis(axes, table["t"]) & (table["residual_law"] > 0)
    axes.plot(table["t"][shown], table["residual"][shown], **MEASURED, **spaced_marks(int(shown.sum()), 0, 1),
              label="flow", zorder=3)
    if lawful.any():
        axes.plot(table["t"][lawful], table["residual_law"][lawful], **LAW, label="predicted late-time law", zorder=4)
    if shown.any() or lawful.any():
        axes.set_yscale("log")
        values = table["residual"][shown] if shown.any() else table["residual_law"][lawful]
        axes.set_ylim(min(values.min() / 2, 0.08), 1.6)
        plain_decades(axes.yaxis)
    axes.set_ylabel("residual, largest $1-p$ (share)")
    axes.legend(loc="lower left")


def draw(run: Run) -> Figure | None:
    table = run.tables.get("trajectory")
    panels = [(name, paint) for name, paint in (("loss", draw_loss), ("residual", draw_residual))
              if table is not None and table.has(name)]
    if not panels:
        return None
    table = table.sorted_by("t")
    figure = new_page(7.0, 2.8, run.title)
    for axes, (_, paint) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        paint(axes, table)
        axes.set_xlabel(TIME_LABEL)
    return figure
