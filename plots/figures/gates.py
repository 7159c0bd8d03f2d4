"""Average gate weight of each offset over log time, one row a head, K beside V."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lib.page import (GUIDE, TIME_LABEL, head_grid, head_panels, label_ends, legend_below, legend_shape, new_page,
                      series_style, spaced_marks, time_axis)
from lib.run_folder import Run
from lib.tables import BRANCHES, Table


def labelled_above(offsets: int) -> float:
    """Final weights above this, clear of a uniform gate's, are named at the end of the line."""
    return max(0.12, 1.15 / offsets)


def draw_panel(axes: Axes, gate: Table, offsets: list[int]) -> None:
    """The weights of one gate, a line for each offset."""
    axes.axhline(1 / len(offsets), **GUIDE)
    heights, texts = [], []
    shown = time_axis(axes, gate["t"]) if len(gate) else None
    visible = gate.take(shown) if shown is not None else gate
    for index, offset in enumerate(offsets):
        line = visible.where(offset=offset).sorted_by("t")
        known = line.take(np.isfinite(line["weight"]))
        if not len(known):
            continue
        style = series_style(index, len(offsets))
        axes.plot(known["t"], known["weight"], **style, **spaced_marks(len(known), index, len(offsets)),
                  clip_on=False, zorder=3)
        if known["weight"][-1] > labelled_above(len(offsets)):
            heights.append(float(known["weight"][-1]))
            texts.append(f"offset {offset}")
    axes.set_ylim(0, 1.0)
    axes.set_yticks([0, 0.5, 1])
    axes.margins(x=0.02)
    label_ends(axes, heights, texts, gap=0.13)


def draw(run: Run) -> Figure | None:
    table = run.tables.get("gates")
    if table is None or not table.has("weight"):
        return None
    heads, offsets = table.levels("head"), table.levels("offset")
    rows, pairs = head_grid(len(heads))
    width = 7.0 if pairs < 2 else 3.6 * pairs + 1.0
    legend_rows, columns = legend_shape(len(offsets) + 1, int(width / 1.05))
    figure = new_page(width, 1.15 * rows + 0.55, run.title, legend_rows)
    panels = head_panels(figure, len(heads), TIME_LABEL, "mean weight\n" r"$\mathrm{E}[p_h(r)]$ (share)")
    for head, pair in zip(heads, panels):
        for axes, branch in zip(pair, BRANCHES):
            draw_panel(axes, table.where(head=head, branch=branch), offsets)
            axes.set_title(f"head {head}: {'key' if branch == 'K' else 'value'} gate ({branch})")
    handles = [Line2D([], [], **series_style(i, len(offsets))) for i in range(len(offsets))]
    legend_below(figure, handles + [Line2D([], [], **GUIDE)],
                 [f"offset {r}" for r in offsets] + ["uniform"], columns)
    return figure
