"""Shares of seeds by number of distinct phases against the occupancy law, and of phases against uniform,
of a run of one cell."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from lib.page import DARK, LIGHT, legend_below, new_page
from lib.run_folder import Run
from lib.tables import Table

SHARE = {"facecolor": LIGHT, "edgecolor": DARK, "hatch": "...."}
INTERVAL = {"ecolor": "black", "elinewidth": 1.1, "capthick": 1.1, "fmt": "none", "zorder": 5}
LAW = {"color": "black", "linestyle": (0, (2.5, 1)), "linewidth": 1.8}


def draw_shares(axes: Axes, table: Table, key: str, law: str) -> None:
    """Bars of the shares, their intervals, and the law they are compared with as a dashed level across each bar."""
    table = table.sorted_by(key)
    axes.bar(table[key], table["share"], 0.62, **SHARE)
    bounded = np.isfinite(table["share"]) & np.isfinite(table["low"]) & np.isfinite(table["high"])
    if bounded.any():
        rows = table.take(bounded)
        reach = [np.maximum(rows["share"] - rows["low"], 0), np.maximum(rows["high"] - rows["share"], 0)]
        axes.errorbar(rows[key], rows["share"], yerr=reach, **INTERVAL)
    if table.has(law):
        axes.hlines(table[law], table[key] - 0.42, table[key] + 0.42, **LAW, zorder=4)
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
    axes.set_xlim(table[key].min() - 0.7, table[key].max() + 0.7)
    tops = np.concatenate([table[name][np.isfinite(table[name])] for name in ("share", "high", law)])
    axes.set_ylim(0, max(1.1 * tops.max(), 0.02))


def count_name(table: Table, what: str, seeds: int) -> str:
    """How many were counted, and of how many seeds if not all selected."""
    total = int(np.nansum(table["count"])) if table.has("count") else 0
    others = f" of {seeds:,}" if what == "selected seeds" and seeds > total else ""
    return f"{total:,} {what}{others}" if total else ""


def draw(run: Run) -> Figure | None:
    panels = [panel for panel in (
        ("coverage", "distinct", "occupancy", "distinct phases among the heads (count)", "share of selected seeds",
         "selected seeds"),
        ("positions", "position", "uniform", "selected key offset (0-based)", "share of selections", "selections"),
    ) if panel[0] in run.tables and run.tables[panel[0]].has("share")
        and len(run.tables[panel[0]].levels("cell")) == 1]
    if not panels:
        return None
    seeds = int(run.tables["cells"]["seeds"][0]) if "cells" in run.tables else 0
    figure = new_page(7.0 if len(panels) > 1 else 4.6, 2.7, run.title, 1)
    for axes, (name, key, law, xlabel, ylabel, what) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        draw_shares(axes, run.tables[name], key, law)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.set_title(count_name(run.tables[name], what, seeds))
    names = {"coverage": "occupancy law", "positions": "uniform"}
    law_name = " (left) / ".join(names[panel[0]] for panel in panels) + (" (right)" if len(panels) > 1 else "")
    bar = Line2D([], [], color="black", marker="$\\mathrm{I}$", markersize=9, linestyle="")
    legend_below(figure, [Patch(**SHARE), bar, Line2D([], [], **LAW)],
                 ["flow", "95% interval (of seeds: simultaneous)", law_name], 3)
    return figure
