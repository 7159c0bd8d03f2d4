"""Share of colliding seeds over vocabulary and scale of the logits, with the stability thresholds of the patterns."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lib.page import DASHES, legend_below, new_page
from lib.run_folder import Run
from lib.sweep import NUMBERS, cells_of, grid_of, is_logarithmic, number_axis, number_text
from lib.tables import Table

# Column of cells.csv, dashes, marker and name of each threshold.
THRESHOLDS = (("n_star_distinct", DASHES[0], "o", "$N^*$ all distinct"),
              ("n_star_pair", DASHES[1], "s", "$N^*$ two together"),
              ("n_star_all", DASHES[2], "^", "$N^*$ all together"))
X, Y = "model.vocabulary", "model.beta"


def edges(axis: str, values: np.ndarray) -> np.ndarray:
    """Ends of cells around the values: halfway between neighbours, on the axis' own scale."""
    places = np.log(values) if is_logarithmic(axis, values) else values
    middle = (places[1:] + places[:-1]) / 2
    ends = np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])
    return np.exp(ends) if is_logarithmic(axis, values) else ends


def draw_cells(figure: Figure, axes: Axes, cells: Table) -> None:
    n, beta = np.unique(cells[X]), np.unique(cells[Y])
    share = np.full((len(beta), len(n)), np.nan)
    share[np.searchsorted(beta, cells[Y]), np.searchsorted(n, cells[X])] = cells["collision"]
    mesh = axes.pcolormesh(edges(X, n), edges(Y, beta), share, cmap="Blues", vmin=0, vmax=1.25, edgecolors="white",
                           linewidth=0.6)
    bar = figure.colorbar(mesh, ax=axes, label="some heads collide (share of selected seeds)", pad=0.02, aspect=25)
    bar.ax.set_ylim(0, 1)
    axes.set_facecolor("0.9")
    number_axis(axes, X, n)
    if is_logarithmic(Y, beta):
        axes.set_yscale("log")
    if len(beta) <= 10:
        axes.set_yticks(beta, [number_text(value) for value in beta])
        axes.set_yticks([], minor=True)
    axes.set_xlim(edges(X, n)[[0, -1]])
    axes.set_ylim(edges(Y, beta)[[0, -1]])
    axes.set_ylabel(NUMBERS[Y][1])


def draw_thresholds(axes: Axes, cells: Table) -> list[tuple[Line2D, str]]:
    """Curves of N* through the values of beta; what lies beyond the largest N is cut off."""
    drawn = []
    first = cells.take(cells[X] == cells[X].min()).sorted_by(Y)
    for column, dashes, marker, name in THRESHOLDS:
        if not first.has(column):
            continue
        axes.plot(first[column], first[Y], color="white", linewidth=3.6, zorder=3)  # sets the curve off from cells
        line, = axes.plot(first[column], first[Y], color="black", linestyle=dashes, marker=marker,
                          markerfacecolor="white", zorder=4)
        drawn.append((line, name))
    return drawn


def draw(run: Run) -> Figure | None:
    cells = cells_of(run)
    grid = grid_of(cells) if cells is not None else None
    if grid is None or {grid.x, grid.line} != {X, Y} or not cells.has("collision") or cells["heads"].max() < 2:
        return None
    figure = new_page(5.6, 3.1, run.title, 1)
    axes = figure.subplots()
    axes.spines[:].set_visible(True)
    draw_cells(figure, axes, cells)
    lines = draw_thresholds(axes, cells)
    legend_below(figure, [line for line, _ in lines], [name for _, name in lines], 3)
    return figure
