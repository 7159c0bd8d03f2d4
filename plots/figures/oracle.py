"""Oracle weights as heat maps over block and offset, key beside value for each head."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lib.page import head_grid, head_panels, new_page
from lib.run_folder import Run
from lib.tables import Table

ANNOTATED_CELLS = 64  # larger maps carry no numbers


def weight_map(table: Table, column: str, blocks: list[int], offsets: list[int]) -> np.ndarray:
    """Weights [block][offset] of one head, NaN where the table has none."""
    grid = np.full((len(blocks), len(offsets)), np.nan)
    grid[np.searchsorted(blocks, table["block"]), np.searchsorted(offsets, table["offset"])] = table[column]
    return grid


def number(weight: float) -> str:
    """A weight in few characters: 1, 0, .25."""
    if abs(weight - 1) < 5e-3 or weight < 5e-3:
        return f"{round(weight)}"
    return f"{weight:.2f}".lstrip("0")


def draw_map(axes: Axes, grid: np.ndarray, blocks: list[int], offsets: list[int]):
    image = axes.imshow(grid, vmin=0, vmax=1, cmap="Greys", aspect="auto")
    axes.spines[:].set_visible(True)
    axes.set_xticks(spaced(len(offsets)), [offsets[i] for i in spaced(len(offsets))])
    axes.set_yticks(spaced(len(blocks)), [blocks[i] for i in spaced(len(blocks))])
    axes.set_xticks(np.arange(len(offsets) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(blocks) - 1) + 0.5, minor=True)
    axes.tick_params(which="minor", length=0)
    axes.grid(which="minor", color="0.75", linewidth=0.5)
    if grid.size <= ANNOTATED_CELLS:
        for (row, column), weight in np.ndenumerate(grid):
            if np.isfinite(weight):
                axes.text(column, row, number(weight), ha="center", va="center", fontsize=6.5,
                          color="white" if weight > 0.55 else "0.2")
    return image


def spaced(count: int) -> np.ndarray:
    """At most ten tick places among so many cells."""
    return np.arange(0, count, max(1, -(-count // 10)))


def draw(run: Run) -> Figure | None:
    table = run.tables.get("oracle_weights")
    if table is None or not (table.has("key") or table.has("value")):
        return None
    heads, blocks, offsets = table.levels("head"), table.levels("block"), table.levels("offset")
    rows, pairs = head_grid(len(heads))
    cell = min(0.2, 1.9 / len(blocks))
    figure = new_page(5.2 if pairs == 1 else 3.6 * pairs + 0.8, rows * (cell * len(blocks) + 0.35) + 0.5, run.title)
    panels = head_panels(figure, len(heads), "offset (0-based)", "block (0-based)")
    image = None
    for head, pair in zip(heads, panels):
        for axes, column in zip(pair, ("key", "value")):
            grid = weight_map(table.where(head=head), column, blocks, offsets)
            image = draw_map(axes, grid, blocks, offsets)
            axes.set_title(f"head {head}: {column} weights")
    figure.colorbar(image, ax=panels.ravel().tolist(), label="weight (share)", pad=0.02,
                    shrink=min(0.9, 3.0 / figure.get_figheight()), aspect=25)
    return figure
