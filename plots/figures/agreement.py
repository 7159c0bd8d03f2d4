"""How often the flow of linear gates and the static flow from the same start select the same."""
from matplotlib.figure import Figure

from lib.page import legend_below, legend_shape, new_page
from lib.run_folder import Run
from lib.sweep import cells_of, draw_estimates, grid_of


def draw(run: Run) -> Figure | None:
    cells = cells_of(run)
    grid = grid_of(cells, "initial.radius") if cells is not None else None
    if grid is None or not cells.has("agrees"):
        return None
    lines = 0 if grid.line is None else len(set(cells[grid.line]))
    rows, columns = legend_shape(lines, 5)
    figure = new_page(5.4, 2.9, run.title, rows)
    axes = figure.subplots()
    drawn = draw_estimates(axes, cells, grid, "agrees")
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("same selection as the static flow\n(share of selected linear flows, 95% interval)")
    if lines:
        legend_below(figure, [line for line, _ in drawn], [text for _, text in drawn], columns)
    return figure
