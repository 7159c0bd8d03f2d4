"""The flow of each head in the plane of static against per-window effective offsets (1 = one-hot, S = uniform)."""
import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from lib.page import GUIDE, legend_below, legend_shape, new_page, series_style, spaced_marks
from lib.run_folder import Run
from lib.tables import BRANCHES, Table

NAMES = {"K": "key gates (K)", "V": "value gates (V)"}


def ticks(size: int) -> list[int]:
    """Whole numbers from 1 to S that keep apart on a log axis."""
    steps = range(1, size) if size <= 6 else [2**i for i in range(int(math.log2(size)) + 1)]
    return [n for n in steps if n == 1 or n <= size / 1.3] + [size]


def scale_axes(axes: Axes, size: int) -> None:
    """Log axes from one-hot to uniform, both ends named in the tick labels."""
    marks = ticks(size)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        names = [str(n) for n in marks]
        names[0] = "1\none-hot"
        names[-1] = f"$S$ = {size}\nuniform"
        axis.set_major_locator(FixedLocator(marks))
        axis.set_major_formatter(FixedFormatter(names))
        axis.set_minor_locator(NullLocator())
    margin = size**0.06
    axes.set_xlim(1 / margin, size * margin)
    axes.set_ylim(1 / margin, size * margin)
    axes.set_aspect("equal")
    for end in (1, size):
        axes.axvline(end, **GUIDE)
        axes.axhline(end, **GUIDE)
    axes.plot([1, size], [1, size], color="0.8", linewidth=0.8, zorder=0.5)


def draw_head(axes: Axes, curve: Table, index: int, heads: int) -> None:
    """One head's path; later heads are thinner, so that curves on top of each other all show."""
    x, y = curve["static_offsets"], curve["avg_offsets"]
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if not len(x):
        return
    style = series_style(index, heads)
    width = 2.8 - 1.8 * (index / (heads - 1) if heads > 1 else 0.7)
    axes.plot(x, y, **{**style, "marker": ""}, linewidth=width, zorder=3 + index)
    middle = spaced_marks(len(x), index, heads)
    if middle:
        axes.plot(x, y, color=style["color"], linestyle="", marker=style["marker"], markerfacecolor="white",
                  **middle, zorder=15 + index)
    mark_end(axes, x[0], y[0], "white")
    if len(x) > 1:
        mark_end(axes, x[-1], y[-1], "black")


def mark_end(axes: Axes, x: float, y: float, fill: str) -> None:
    """Start (white) or end (black) of a path."""
    axes.plot([x], [y], marker="o" if fill == "white" else "s", markersize=7 if fill == "white" else 5.5,
              markerfacecolor=fill, markeredgecolor="black", linestyle="", zorder=30 if fill == "white" else 31)


def legend_entries(heads: list[int]) -> tuple[list[Line2D], list[str]]:
    handles = [Line2D([], [], **series_style(i, len(heads))) for i in range(len(heads))]
    ends = {"marker": "o", "linestyle": "", "markeredgecolor": "black"}
    handles += [Line2D([], [], **ends, markerfacecolor="white", markersize=7),
                Line2D([], [], **{**ends, "marker": "s"}, markerfacecolor="black", markersize=5.5),
                Line2D([], [], color="0.75", linewidth=0.8)]
    return handles, [f"head {h}" for h in heads] + ["start", "end", "equal (static gate)"]


def draw(run: Run) -> Figure | None:
    table = run.tables.get("offsets")
    if table is None or not (table.has("static_offsets") and table.has("avg_offsets")):
        return None
    largest = max(np.nanmax(table["static_offsets"]), np.nanmax(table["avg_offsets"]))
    size = max(run.positions or 0, math.ceil(largest - 1e-6), 2)
    heads = table.levels("head")
    handles, labels = legend_entries(heads)
    rows, columns = legend_shape(len(labels), 6)
    figure = new_page(7.0, 3.35, run.title, rows)
    panels = figure.subplots(1, 2)
    for axes, branch in zip(panels, BRANCHES):
        scale_axes(axes, size)
        for index, head in enumerate(heads):
            draw_head(axes, table.where(branch=branch, head=head).sorted_by("t"), index, len(heads))
        axes.set_title(NAMES[branch])
        axes.set_xlabel("static effective offsets (number of offsets)")
    panels[0].set_ylabel("per-window effective offsets\n(number of offsets)")
    legend_below(figure, handles, labels, columns)
    return figure
