"""What the figures share: page and title, marks that differ without colour, time axes, labels at lines' ends."""
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

TIME_LABEL = "flow time $t$ (dimensionless)"
GUIDE = {"color": "0.55", "linewidth": 0.8, "linestyle": (0, (1, 1.6)), "zorder": 1}  # reference lines
DARK, MIDDLE, LIGHT = "#1b2a49", "#4f7cac", "#d4dde8"  # these three also differ in grey
DASHES = ["-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "*", "d"]
TITLE_INCHES, LEGEND_ROW_INCHES = 0.30, 0.19


def series_style(index: int, total: int) -> dict:
    """Colour, dashes and marker of one of several curves: darkness, dashes and marker all tell them apart."""
    shade = 0.0 if total < 2 else 0.80 * index / (total - 1)
    return {"color": matplotlib.colormaps["viridis"](shade), "linestyle": DASHES[index % len(DASHES)],
            "marker": MARKERS[index % len(MARKERS)], "markerfacecolor": "white"}


def spaced_marks(points: int, index: int, total: int) -> dict:
    """Puts markers at a few places of a long curve, staggered between curves; at each point of a short one."""
    if points < 12:
        return {}
    apart = 0.22 if total <= 6 else 0.40
    return {"markevery": (apart * (index + 0.5) / max(total, 1), apart)}


def new_page(width: float, height: float, title: str, legend_rows: int = 0) -> Figure:
    """An empty figure, in inches, with its title line and room for a legend below the panels."""
    top = TITLE_INCHES if title else 0.05
    bottom = LEGEND_ROW_INCHES * legend_rows + (0.15 if legend_rows else 0.0)
    height += top + bottom
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(rect=(0.005, bottom / height, 0.99, (height - top - bottom) / height),
                                   wspace=0.04, hspace=0.04)
    if title:
        figure.text(0.10 / width, 1 - 0.09 / height, title, ha="left", va="top", fontsize=8.5, color="0.25")
    return figure


def legend_below(figure: Figure, handles: Sequence, labels: Sequence[str], columns: int) -> None:
    figure.legend(handles, labels, loc="lower center", ncol=columns,
                  bbox_to_anchor=(0.5, 0.05 / figure.get_figheight()))


def legend_shape(labels: int, most_columns: int) -> tuple[int, int]:
    """(rows, columns) of a legend with so many labels."""
    columns = min(labels, most_columns)
    return -(-labels // max(columns, 1)), max(columns, 1)


def head_panels(figure: Figure, heads: int, xlabel: str, ylabel: str) -> np.ndarray:
    """Panels [head][K or V], K beside V, with further pairs of columns for many heads; outer ones are labelled."""
    rows, pairs = head_grid(heads)
    panels = figure.subplots(rows, 2 * pairs, squeeze=False, sharex=True, sharey=True)
    ordered = [panels[h % rows, 2 * (h // rows):2 * (h // rows) + 2] for h in range(rows * pairs)]
    for unused in ordered[heads:]:
        for axes in unused:
            axes.set_visible(False)
    for head, pair in enumerate(ordered[:heads]):
        if head % rows == rows - 1 or head == heads - 1:  # the lowest of its column
            for axes in pair:
                axes.set_xlabel(xlabel)
                axes.tick_params(labelbottom=True)
        if head < rows:
            pair[0].set_ylabel(ylabel)
    return np.array(ordered[:heads])


def head_grid(heads: int) -> tuple[int, int]:
    """(rows, pairs of columns) for K and V panels of so many heads."""
    pairs = 1 if heads <= 5 else max(2, -(-heads // 6))
    return -(-heads // pairs), pairs


def time_axis(axes: Axes, times: np.ndarray) -> np.ndarray:
    """Makes x a log time axis; returns which rows it can show (t = 0 has no place on it).

    Where fewer than three times would be left the axis stays linear and shows them all."""
    shown = times > 0
    if len(np.unique(times[shown])) < 3:
        axes.xaxis.set_major_locator(MaxNLocator(3) if len(np.unique(times)) > 1 else FixedLocator(times[:1]))
        return np.ones(len(times), dtype=bool)
    axes.set_xscale("log")
    if times.max() >= 100 * times[shown].min():  # over a shorter span the ticks between decades are labelled too
        plain_decades(axes.xaxis)
    return shown


def plain_decades(axis, most: int = 7) -> None:
    """Ticks at powers of ten, without crowding."""
    axis.set_major_locator(LogLocator(10, numticks=most))
    axis.set_minor_locator(LogLocator(10, subs=np.arange(2, 10), numticks=most))
    axis.set_minor_formatter(NullFormatter())


def spread(values: Sequence[float], gap: float, low: float, high: float) -> np.ndarray:
    """Moves label heights apart by at least `gap`, keeping their order, within [low, high] if they fit."""
    order = np.argsort(values, kind="stable")
    placed = np.array(values, dtype=float)[order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    excess = placed[-1] - high if len(placed) else 0.0
    if excess > 0:
        placed[-1] -= excess
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = np.empty(len(placed))
    result[order] = np.maximum(placed, low + gap * np.arange(len(placed)))
    return result


def label_ends(axes: Axes, heights: Sequence[float], texts: Sequence[str], gap: float) -> None:
    """Writes each text right of the axes at its height (in data units of y), moved apart where they would touch."""
    low, high = axes.get_ylim()
    for height, text in zip(spread(heights, gap * (high - low), low, high), texts):
        axes.annotate(text, (1.0, height), xycoords=("axes fraction", "data"), xytext=(4, 0),
                      textcoords="offset points", va="center", ha="left", fontsize=7, annotation_clip=False)
