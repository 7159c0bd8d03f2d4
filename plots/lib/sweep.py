"""The cells of a sweep as the figures see them: what varies, in which words, and values against an axis."""
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from lib.page import plain_decades, series_style
from lib.run_folder import Run
from lib.tables import Table

# Symbol and label of the axes that are numbers.
NUMBERS = {"model.vocabulary": ("N", "vocabulary $N$ (tokens)"), "model.beta": (r"\beta", r"scale of the logits $\beta$"),
           "initial.radius": (r"\rho", r"radius of the start $\rho$"), "model.heads": ("H", "heads $H$"),
           "model.positions": ("S", "tokens of a block $S$"), "model.blocks": ("L", "blocks of a context $L$"),
           "model.gamma": (r"\gamma", r"scale of the scores $\gamma$"),
           "geometry.kappa": (r"\kappa", r"overlap of embeddings $\kappa$"),
           "coordination.repulsion": ("", "repulsion of the heads (nats)")}
COORDINATION = "coordination."


@dataclass(frozen=True)
class Grid:
    """Axes of a sweep that a figure can show: x, and one line for each level of `line` if there is one.

    `step` changes together with x."""

    x: str
    line: str | None
    step: str | None = None


def varied(cells: Table) -> list[str]:
    """The axes that take more than one value, in order of the scenario."""
    return [name for name in cells.columns if "." in name and len(np.unique(cells[name])) > 1]


def grid_of(cells: Table, first: str | None = None) -> Grid | None:
    """How to show a sweep over one or two numbers: x is `first` if it varies, else the axis with most values.

    Axes that step together are one axis. None for no axis, more than two, or others than numbers."""
    axes = varied(cells)
    if not axes or len(axes) > 2 or any(axis not in NUMBERS for axis in axes):
        return None
    sizes = [len(np.unique(cells[axis])) for axis in axes]
    if len(axes) == 2 and len(cells) != sizes[0] * sizes[1]:
        return Grid(axes[0], None, axes[1]) if len(cells) == sizes[0] else None
    x = first if first in axes else axes[int(np.argmax(sizes))]
    return Grid(x, next((axis for axis in axes if axis != x), None))


def is_logarithmic(axis: str, values: np.ndarray) -> bool:
    return bool(values.min() > 0 and (axis == "model.vocabulary" or values.max() >= 8 * values.min()))


def number_text(value: float) -> str:
    """A number for a label: 1000, 0.3, or a power of ten."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.2e}".split("e")
        power = f"10^{{{int(exponent)}}}"
        return f"${power}$" if float(mantissa) == 1 else f"${float(mantissa):g} \\cdot {power}$"
    return f"{value:g}"


def part_text(axis: str, value: float | str) -> str:
    """What an axis has set, in words, e.g. 'N = 100'."""
    if isinstance(value, str):
        return f"{axis.rsplit('.', 1)[-1]} {value}".replace("_", " ").replace("$", "")
    symbol = NUMBERS.get(axis, ("", ""))[0]
    name = f"${symbol}$ =" if symbol else axis.rsplit(".", 1)[-1].replace("_", " ")
    return f"{name} {number_text(value)}"


def coordination_text(row: dict) -> str:
    """How heads are coordinated in a cell, e.g. 'anneal N = 100 to t = 1000', or 'none'."""
    parts = []
    if row.get("coordination.repulsion"):
        parts.append(f"repulsion {number_text(row['coordination.repulsion'])}")
    if row.get("coordination.orthogonal") == "true":
        parts.append("orthogonal")
    early = [f"${symbol}$ = {number_text(row[COORDINATION + key])}"
             for key, symbol in (("anneal_beta", r"\beta"), ("anneal_vocabulary", "N")) if row.get(COORDINATION + key)]
    if early and row.get("coordination.anneal_until", 1):
        until = row.get("coordination.anneal_until")
        parts.append("anneal " + ", ".join(early) + (f" to $t$ = {number_text(until)}" if until else ""))
    elif row.get("coordination.anneal_until") and "coordination.anneal_beta" not in row \
            and "coordination.anneal_vocabulary" not in row:
        parts.append(f"anneal to $t$ = {number_text(row['coordination.anneal_until'])}")
    return ", ".join(parts) or "none"


def cell_texts(cells: Table) -> list[str]:
    """What tells each cell from the others."""
    axes = varied(cells)
    coordinated = [axis for axis in axes if axis.startswith(COORDINATION)]
    texts = []
    for i in range(len(cells)):
        parts = [part_text(axis, cells[axis][i].item()) for axis in axes if axis not in coordinated]
        if coordinated:
            parts.append(coordination_text({axis: cells[axis][i].item() for axis in coordinated}))
        texts.append(", ".join(parts))
    return texts


def cells_of(run: Run) -> Table | None:
    """The cells of a sweep of more than one, in order."""
    cells = run.tables.get("cells")
    return cells.sorted_by("cell") if cells is not None and len(cells) > 1 else None


def number_axis(axes: Axes, axis: str, values: np.ndarray) -> None:
    """Makes x the axis of a sweep, with a tick at each value where they are few."""
    values = np.unique(values)
    axes.set_xlabel(NUMBERS[axis][1])
    if is_logarithmic(axis, values):
        axes.set_xscale("log")
        if values.max() >= 100 * values.min():
            plain_decades(axes.xaxis)
            return
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    if len(values) <= 8:
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.set_xticks(values, [number_text(v) for v in values])


def name_steps(axes: Axes, cells: Table, grid: Grid) -> None:
    """Names what changes together with x: at the ticks where they are few, else in the label alone."""
    axes.set_xlabel(f"{NUMBERS[grid.x][1]}, {NUMBERS[grid.step][1]} in step")
    if len(cells) <= 8:
        texts = [f"{number_text(x)}\n{part_text(grid.step, step.item())}" for x, step in zip(cells[grid.x], cells[grid.step])]
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(cells[grid.x], texts)


def line_levels(cells: Table, grid: Grid) -> list[tuple[str, Table]]:
    """The cells of each line, in order of x, with what sets the line apart."""
    if grid.line is None:
        return [("", cells.sorted_by(grid.x))]
    return [(part_text(grid.line, level.item()), cells.take(cells[grid.line] == level).sorted_by(grid.x))
            for level in np.unique(cells[grid.line])]


def draw_estimates(axes: Axes, cells: Table, grid: Grid, name: str) -> list[tuple[ErrorbarContainer, str]]:
    """An estimate with its intervals against the grid's x; lines are set apart a little so that intervals stay legible."""
    number_axis(axes, grid.x, cells[grid.x])
    if grid.step:
        name_steps(axes, cells, grid)
    lines = line_levels(cells, grid)
    span = cells[grid.x].max() - cells[grid.x].min()
    drawn = []
    for i, (text, rows) in enumerate(lines):
        shift = 0.008 * (i - (len(lines) - 1) / 2)
        ratio = cells[grid.x].max() / cells[grid.x].min() if axes.get_xscale() == "log" else 1.0
        x = rows[grid.x] * ratio**shift if axes.get_xscale() == "log" else rows[grid.x] + shift * span
        drawn.append((draw_interval(axes, x, rows, name, series_style(i, len(lines))), text))
    return drawn


def draw_interval(axes: Axes, x: np.ndarray, rows: Table, name: str, style: dict) -> ErrorbarContainer:
    value = rows[name]
    reach = [np.nan_to_num(np.maximum(value - rows[f"{name}_low"], 0)),
             np.nan_to_num(np.maximum(rows[f"{name}_high"] - value, 0))]
    return axes.errorbar(x, value, yerr=reach, elinewidth=0.9, capsize=2.2, capthick=0.9, **style)
