"""Correlation of two heads' phases in each cell of a sweep: 0 independent, 1 always together."""
import numpy as np
from matplotlib.figure import Figure

from lib.page import GUIDE, legend_below, legend_shape, new_page
from lib.run_folder import Run
from lib.sweep import NUMBERS, cell_texts, cells_of, draw_estimates, draw_interval, grid_of, is_logarithmic, varied
from lib.tables import Table

MOST_CELLS = 40


def first_axis(cells: Table) -> str | None:
    axes = varied(cells)
    return axes[0] if axes and axes[0] in NUMBERS else None


def draw(run: Run) -> Figure | None:
    cells = cells_of(run)
    if cells is None or not cells.has("correlation"):
        return None
    grid = grid_of(cells, first_axis(cells))
    by_name = grid is None or (cells[grid.x].min() == 0 and not is_logarithmic(grid.x, cells[grid.x]))
    if by_name and len(cells) > MOST_CELLS:
        return None
    lines = 0 if by_name or grid.line is None else len(np.unique(cells[grid.line]))
    rows, columns = legend_shape(lines, 5)
    figure = new_page(5.4, 3.0, run.title, rows)
    axes = figure.subplots()
    axes.axhline(0, **GUIDE)
    if by_name:
        places = np.arange(len(cells))
        draw_interval(axes, places, cells, "correlation", {"color": "black", "linestyle": "", "marker": "o",
                                                           "markerfacecolor": "white"})
        texts = cell_texts(cells)
        crowded = sum(map(len, texts)) > 60
        axes.set_xticks(places, texts, rotation=30 if crowded else 0, ha="right" if crowded else "center",
                        rotation_mode="anchor")
        axes.set_xlim(-0.6, len(cells) - 0.4)
    else:
        drawn = draw_estimates(axes, cells, grid, "correlation")
        if lines:
            legend_below(figure, [line for line, _ in drawn], [text for _, text in drawn], columns)
    axes.set_ylabel("correlation of two heads\n(95% interval)")
    axes.annotate("independent", (1, 0), xycoords=("axes fraction", "data"), xytext=(3, 0), fontsize=7,
                  textcoords="offset points", va="center", annotation_clip=False)
    return figure
