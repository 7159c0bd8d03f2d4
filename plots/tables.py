"""Reads the CSV tables of a run folder and refuses what is malformed, naming file and line.

Lines that start with '#' are comments (units of the columns), the first other line is the header, an
empty cell means "not available". Columns beyond those listed here are allowed and ignored, but for the axes of
a sweep in cells.csv: columns named after a scenario key with a dot, filled in every row.
"""
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Columns of each table. Key columns must be filled in every row, value columns may be empty.
KEYS = {
    "trajectory": ("t",),
    "gates": ("t", "branch", "head", "offset"),
    "offsets": ("t", "branch", "head"),
    "phases": ("t", "phase"),
    "oracle_weights": ("head", "block", "offset"),
    "starts": ("start",),
    "coverage": ("cell", "distinct"),
    "positions": ("cell", "position"),
    "cells": ("cell", "blocks", "positions", "heads", "vocabulary", "gamma", "beta", "kappa", "rho", "gates", "seeds"),
    "shapes": ("cell", "shape", "taken"),
    "pairs": ("cell", "r", "s"),
    "escape": ("cell", "t_low", "t_high"),
    "escape_law": ("cell", "smaller_cell", "rho", "smaller_rho"),
    "toy": ("run", "t"),
    "toy_field": ("p1", "p2"),
    "stability_map": ("beta", "heads"),
    "diagram": ("x_low", "x_high", "y_low", "y_high", "outcome"),
    "curves": ("at",),
}
ESTIMATES = ("selected", "certified", "all_distinct", "collision", "together", "correlation", "escape", "agrees")
VALUES = {
    "trajectory": ("loss", "residual", "residual_law"),
    "gates": ("weight",),
    "offsets": ("static_offsets", "avg_offsets"),
    "phases": ("loss", "probability", "accuracy"),
    "oracle_weights": ("key", "value"),
    "starts": ("loss",),
    "coverage": ("count", "share", "low", "high", "occupancy"),
    "positions": ("count", "share", "low", "high", "uniform"),
    "cells": tuple(name + end for name in ESTIMATES for end in ("", "_low", "_high"))
             + ("mean_loss", "worst_loss", "mean_accuracy", "worst_accuracy", "occupancy_p", "uniform_p",
                "independent_p", "n_star_distinct", "n_star_pair", "n_star_all"),
    "shapes": ("count", "share", "low", "high", "law", "mean_loss", "worst_loss", "mean_accuracy", "worst_accuracy"),
    "pairs": ("share", "independent"),
    "escape": ("count", "share"),
    "escape_law": ("ratio", "low", "high", "p", "predicted", "measured"),
    "toy": ("p1", "p2"),
    "toy_field": ("dp1", "dp2"),
    "stability_map": ("N_star",),
    "diagram": ("selected", "colliding", "interior", "log10_n_star"),
    "curves": ("n_sufficient", "n_star", "n_star_pair"),
}
# Columns that a table may lack, and what stands for them: tables of one cell may be without its number.
DEFAULTS = {("coverage", "cell"): 0.0, ("positions", "cell"): 0.0}
WHOLE = {"head", "heads", "offset", "phase", "block", "start", "distinct", "count", "position", "run", "cell",
         "smaller_cell", "blocks", "positions", "vocabulary", "seeds", "taken", "r", "s", "model.blocks",
         "model.positions", "model.heads", "model.vocabulary"}
BRANCHES = ("K", "V")
# Columns of words, and which.
WORDS = {"branch": BRANCHES,
         "gates": ("static", "linear"),
         "coordination.orthogonal": ("false", "true"),
         "outcome": ("assumption", "proved", "selection", "interior", "distinct", "colliding", "unfinished",
                     "always_stable", "threshold")}
SHAPE = re.compile(r"[1-9]\d*(\+[1-9]\d*)*")  # heads at each occupied offset, as 2+1
# Axes of a sweep that are numbers; others may hold words.
NUMBER_AXES = re.compile(r"model\..*|geometry\.kappa|initial\.radius|coordination\..*")
SLACK = 1e-9  # rounding that a bound forgives

# Smallest and largest value of a column; columns not listed take any finite number.
# What the column means in one table alone stands under (table, column).
BOUNDS = {name: (0.0, math.inf) for name in WHOLE | {"t", "residual", "residual_law", "beta", "N_star", "rho",
                                                     "smaller_rho", "gamma", "t_low", "t_high", "mean_loss",
                                                     "worst_loss", "predicted", "measured", "n_star_distinct",
                                                     "n_star_pair", "n_star_all", "initial.radius",
                                                     "coordination.repulsion"}}
BOUNDS |= {name: (0.0, 1.0) for name in ("weight", "probability", "accuracy", "key", "value", "share",
                                         "low", "high", "occupancy", "uniform", "p1", "p2",
                                         "selected", "colliding", "interior", "law", "independent", "p",
                                         "mean_accuracy", "worst_accuracy", "occupancy_p", "uniform_p",
                                         "independent_p")}
BOUNDS |= {("cells", name + end): (0.0, 1.0) for name in ESTIMATES for end in ("", "_low", "_high")}
BOUNDS |= {("cells", "correlation" + end): (-1.0, 1.0) for end in ("", "_low", "_high")}
BOUNDS |= {("cells", "escape" + end): (0.0, math.inf) for end in ("", "_low", "_high")}
BOUNDS |= {("escape_law", name): (-math.inf, math.inf) for name in ("low", "high")}
BOUNDS |= {name: (1.0, math.inf) for name in ("static_offsets", "avg_offsets")}


class Malformed(Exception):
    """A table or JSON file that cannot be understood; the text says where and why."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name: numbers (NaN = not available), or words."""

    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def has(self, name: str) -> bool:
        """Whether any row has a number in this column."""
        return bool(np.isfinite(self.columns[name]).any())

    def where(self, **wanted) -> "Table":
        """The rows whose columns equal the wanted values, e.g. where(branch="K", head=0)."""
        keep = np.ones(len(self), dtype=bool)
        for name, value in wanted.items():
            keep &= self.columns[name] == value
        return self.take(keep)

    def take(self, rows: np.ndarray) -> "Table":
        return Table({name: column[rows] for name, column in self.columns.items()})

    def sorted_by(self, name: str) -> "Table":
        return self.take(np.argsort(self.columns[name], kind="stable"))

    def levels(self, name: str) -> list[int]:
        """The different values of a whole-number column, in order."""
        return [int(v) for v in np.unique(self.columns[name])]


def read_number(kind: str, name: str, cell: str, may_be_empty: bool) -> float:
    """One cell as a number; ValueError says what is wrong with it."""
    if not cell:
        if may_be_empty:
            return math.nan
        raise ValueError(f"{name} is empty")
    try:
        value = float(cell)
    except ValueError:
        raise ValueError(f"{name} is '{cell[:40]}', not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} is '{cell[:40]}', not a finite number (leave a cell empty if not available)")
    low, high = BOUNDS.get((kind, name), BOUNDS.get(name, (-math.inf, math.inf)))
    if not low - SLACK <= value <= high + SLACK:
        allowed = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} is {cell[:40]}, it must be {allowed}")
    if name == "sigma_b" and value <= 0:
        raise ValueError(f"{name} is {cell[:40]}, it must be positive")
    if name in WHOLE and value != int(value):
        raise ValueError(f"{name} is {cell[:40]}, it must be a whole number")
    return value


def read_cell(kind: str, name: str, cell: str, is_key: bool) -> float | str:
    if name == "shape":
        if not SHAPE.fullmatch(cell):
            raise ValueError(f"shape is '{cell[:40]}', it must be numbers of heads such as 2+1")
        return cell
    if "." in name and name not in WORDS and not NUMBER_AXES.fullmatch(name):
        if not cell:
            raise ValueError(f"{name} is empty")
        return cell
    if name not in WORDS:
        return read_number(kind, name, cell, may_be_empty=not is_key)
    if cell not in WORDS[name]:
        *others, last = WORDS[name]
        raise ValueError(f"{name} is '{cell[:40]}', it must be {', '.join(others)} or {last}")
    return cell


def read_rows(kind: str, lines: list[str]) -> dict[str, list]:
    """Columns of a table from its lines; ValueError(line number, what)."""
    wanted = KEYS[kind] + VALUES[kind]
    needed = [name for name in wanted if (kind, name) not in DEFAULTS]
    places: list[int] = []
    width = 0
    columns: dict[str, list] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if not places:
            missing = [name for name in needed if name not in cells]
            if missing:
                raise ValueError(number, f"the header lacks the column {missing[0]} (needed: {','.join(needed)})")
            axes = [name for name in cells if "." in name] if kind == "cells" else []
            columns = {name: [] for name in [*wanted, *axes] if name in cells}
            places, width = [cells.index(name) for name in columns], len(cells)
            continue
        if len(cells) != width:
            raise ValueError(number, f"{len(cells)} cells, but the header names {width} columns")
        for name, place in zip(columns, places):
            try:
                columns[name].append(read_cell(kind, name, cells[place], name in KEYS[kind] or "." in name))
            except ValueError as problem:
                raise ValueError(number, str(problem)) from None
    if not places:
        raise ValueError(max(1, len(lines)), "no header row")
    rows = len(next(iter(columns.values())))
    return {**{name: [value] * rows for (table, name), value in DEFAULTS.items() if table == kind}, **columns}


def read_table(path: Path) -> Table | None:
    """The table in a file, or None if it is absent or has no rows."""
    if not path.exists():
        return None
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise Malformed(f"{path}:1: not UTF-8 text") from None
    try:
        columns = read_rows(path.stem, lines)
    except ValueError as problem:
        number, what = problem.args
        raise Malformed(f"{path}:{number}: {what}") from None
    table = Table({name: np.array(values) for name, values in columns.items()})
    return table if len(table) else None


def read_tables(folder: Path) -> dict[str, Table]:
    """All known tables of a folder, by name without the ending."""
    found = {name: read_table(folder / f"{name}.csv") for name in KEYS}
    return {name: table for name, table in found.items() if table is not None}
