"""Share of seeds whose heads are all distinct against one or two axes of a sweep, and the level of independent heads."""
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lib.page import legend_below, legend_shape, new_page
from lib.run_folder import Run
from lib.sweep import COORDINATION, cells_of, draw_estimates, grid_of, line_levels
from lib.tables import Table

LAW = {"color": "black", "linestyle": (0, (2.5, 1)), "linewidth": 1.2, "zorder": 1.5}


def independent_levels(rows: Table, coverage: Table) -> np.ndarray:
    """The occupancy law's share of all distinct heads in each cell; NaN where the table has none."""
    law = {(cell, distinct): share for cell, distinct, share in
           zip(coverage["cell"], coverage["distinct"], coverage["occupancy"])}
    return np.array([law.get((cell, heads), np.nan) for cell, heads in zip(rows["cell"], rows["heads"])])


def draw(run: Run) -> Figure | None:
    cells, coverage = cells_of(run), run.tables.get("coverage")
    if cells is None or coverage is None or not cells.has("all_distinct") or cells["heads"].max() < 2:
        return None
    grid = grid_of(cells)
    if grid is None or grid.x.startswith(COORDINATION) or (grid.line or "").startswith(COORDINATION):
        return None
    lines = line_levels(cells, grid)
    rows, columns = legend_shape(len(lines) + 1, 5)
    figure = new_page(5.4, 3.0, run.title, rows)
    axes = figure.subplots()
    drawn = draw_estimates(axes, cells, grid, "all_distinct")
    levels = [independent_levels(cells, coverage) for _, cells in lines]
    one_each = [len(np.unique(values)) == 1 for values in levels]
    apart = len({values[0] for values in levels}) > 1 and all(one_each)
    for (text, rows_of_line), values, one in zip(lines, levels, one_each):
        if not one:
            axes.plot(rows_of_line[grid.x], values, **LAW)
        elif np.isfinite(values[0]):
            axes.axhline(values[0], **LAW)
            if apart:
                axes.annotate(text, (0.995, values[0]), xycoords=("axes fraction", "data"), xytext=(0, 1), fontsize=6.5,
                              textcoords="offset points", va="bottom", ha="right")
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel("all heads distinct\n(share of selected seeds, 95% interval)")
    other = axes.secondary_yaxis("right", functions=(lambda share: 1 - share, lambda share: 1 - share))
    other.set_ylabel("some heads collide (share)")
    other.spines["right"].set_visible(True)
    if grid.line is None:
        drawn = [(drawn[0][0], "flow, 95% interval")]
    legend_below(figure, [line for line, _ in drawn] + [Line2D([], [], **LAW)],
                 [text for _, text in drawn] + ["independent heads"], columns)
    return figure
