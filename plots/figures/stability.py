"""N* against beta for each number of heads on one offset, with the model's own N and beta."""
import numpy as np
from matplotlib.figure import Figure

from lib.page import GUIDE, legend_below, legend_shape, new_page, plain_decades, series_style, spaced_marks
from lib.run_folder import Run
from lib.tables import Table


def label(heads: int) -> str:
    return "distinct offsets" if heads == 1 else f"{heads} heads on one offset"


def draw_threshold(axes, table: Table, index: int, total: int):
    rows = table.sorted_by("beta").take(np.isfinite(table.sorted_by("beta")["N_star"]))
    return axes.plot(rows["beta"], rows["N_star"], **series_style(index, total),
                     **spaced_marks(len(rows), index, total), zorder=3)[0]


def draw(run: Run) -> Figure | None:
    table = run.tables.get("stability_map")
    if table is None or not table.has("N_star"):
        return None
    levels = table.levels("heads")
    rows, columns = legend_shape(len(levels), 4)
    figure = new_page(4.8, 3.2, run.title, rows)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    lines = [draw_threshold(axes, table.where(heads=k), i, len(levels)) for i, k in enumerate(levels)]
    low, high = axes.get_ylim()
    if high < 1e3 * low:  # a decade or two: leave the map some air
        axes.set_ylim(low / 2, high * 2)
    if "vocabulary" in run.model and "beta" in run.model:
        axes.axhline(run.model["vocabulary"], **GUIDE)
        axes.axvline(run.model["beta"], **GUIDE)
        axes.plot(run.model["beta"], run.model["vocabulary"], linestyle="", marker="*", markersize=9, color="black",
                  markeredgecolor="white", zorder=5)
        axes.annotate("the model", (run.model["beta"], run.model["vocabulary"]), xytext=(6, -10),
                      textcoords="offset points", fontsize=7.5)
    plain_decades(axes.yaxis)
    axes.set_xlabel(r"scale of the logits $\beta$ (dimensionless)")
    axes.set_ylabel("least $N$ of a stable pattern, $N^*$ (tokens)")
    legend_below(figure, lines, [label(k) for k in levels], columns)
    return figure
