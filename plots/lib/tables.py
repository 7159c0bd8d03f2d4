"""Reads the CSV tables of a folder as its tables.json describes them, and refuses what is malformed, naming file and line.

Lines that start with '#' are comments, the first other line is the header. An empty cell of a number or share means
"not available".
"""
import csv
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BRANCHES = ("K", "V")
SLACK = 1e-9  # rounding that the ends of a share forgive


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


def read_number(cell: str) -> float:
    """A number; NaN where there is none. ValueError says what is wrong with it."""
    if not cell:
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        raise ValueError(f"'{cell[:40]}', not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"'{cell[:40]}', not a finite number (leave a cell empty if not available)")
    return value


def read_share(cell: str) -> float:
    value = read_number(cell)
    if not math.isnan(value) and not -SLACK <= value <= 1 + SLACK:
        raise ValueError(f"{cell[:40]}, it must be from 0 to 1")
    return value


def read_integer(cell: str) -> float:
    if not cell:
        raise ValueError("empty")
    value = read_number(cell)
    if value != int(value):
        raise ValueError(f"{cell[:40]}, it must be a whole number")
    return value


READERS: dict[str, Callable] = {"number": read_number, "share": read_share, "integer": read_integer, "text": str}


def read_rows(lines: list[str], types: dict[str, str]) -> dict[str, list]:
    """Columns of a table from its lines; ValueError(line number, what)."""
    columns: dict[str, list] = {}
    rows = csv.reader("" if line.startswith("#") else line for line in lines)
    for cells in rows:
        if not cells:
            continue
        if not columns:
            if cells != list(types):
                raise ValueError(rows.line_num, f"the header is not that of tables.json: {','.join(types)}")
            columns = {name: [] for name in cells}
            continue
        if len(cells) != len(columns):
            raise ValueError(rows.line_num, f"{len(cells)} cells, but the header names {len(columns)} columns")
        for (name, column), cell in zip(columns.items(), cells):
            try:
                column.append(READERS[types[name]](cell))
            except ValueError as problem:
                raise ValueError(rows.line_num, f"{name} is {problem}") from None
    if not columns:
        raise ValueError(max(1, len(lines)), "no header row")
    return columns


def read_table(path: Path, types: dict[str, str]) -> Table:
    try:
        columns = read_rows(path.read_text(encoding="utf-8-sig").splitlines(), types)
    except UnicodeDecodeError:
        raise Malformed(f"{path}:1: not UTF-8 text") from None
    except ValueError as problem:
        number, what = problem.args
        raise Malformed(f"{path}:{number}: {what}") from None
    return Table({name: np.array(values) for name, values in columns.items()})


def read_types(path: Path) -> dict[str, dict[str, str]]:
    """The types of the columns, by table and column."""
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))
        types = {Path(file).stem: {column["name"]: column["type"] for column in table["columns"]}
                 for file, table in tables.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Malformed(f"{path}:1: does not describe tables") from None
    for table, columns in types.items():
        unknown = next((name for name, kind in columns.items() if kind not in READERS), None)
        if unknown:
            raise Malformed(f"{path}:1: {table}: {unknown} is of an unknown type")
    return types


class Tables:
    """The tables of a folder by name without the ending; each is read when it is first asked for."""

    def __init__(self, folder: Path):
        self.folder, self.read = folder, {}
        description = folder / "tables.json"
        if description.exists():
            self.types = read_types(description)
        elif any(folder.glob("*.csv")):
            raise Malformed(f"{description}: missing, so what the tables hold is not known\n"
                            "they are of an older version; run again, or export")
        else:
            self.types = {}

    def get(self, name: str) -> Table | None:
        """A table, or None if there is none or it has no rows."""
        if name not in self.types:
            return None
        if name not in self.read:
            self.read[name] = read_table(self.folder / f"{name}.csv", self.types[name])
        return self.read[name] if len(self.read[name]) else None

    def __getitem__(self, name: str) -> Table:
        return self.get(name)

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None
