"""Draws the figures of a phaselock run folder.

usage: draw.py DIR
Reads the tables of DIR and of each DIR/examples/NAME, writes PNG and SVG figures into DIR/figures (those of
an example as NAME-figure) and prints the path of each. Exit codes: 0 done, 64 bad arguments, 65 a malformed
table or nothing to draw, 70 matplotlib missing, 73 figures cannot be written, 74 DIR missing or unreadable.
"""
import importlib
import logging
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # leave no files beside the sources
os.environ["MPLBACKEND"] = "Agg"
logging.getLogger("matplotlib").setLevel(logging.ERROR)

BAD_ARGUMENTS, BAD_DATA, INTERNAL, CANNOT_WRITE, CANNOT_READ, INTERRUPTED = 64, 65, 70, 73, 74, 130


class Stop(Exception):
    """Ends the program with an exit code and a message."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def load_figures() -> dict:
    """The modules of figures/ by name, which is the figure's; imported late, for matplotlib may be missing."""
    names = sorted(path.stem for path in Path(__file__).with_name("figures").glob("*.py"))
    try:
        return {name: importlib.import_module(f"figures.{name}") for name in names}
    except ModuleNotFoundError as problem:
        raise Stop(INTERNAL, f"the Python module {problem.name} is missing; Debian packages: "
                             "python3-numpy python3-matplotlib") from None


def draw(folder: Path, figures: dict) -> dict:
    """Each figure of each run that has the tables for it, by name; all tables that they use are read before anything is
    written."""
    from lib.run_folder import read_runs
    from lib.tables import Malformed
    if not folder.is_dir():
        raise Stop(CANNOT_READ, f"{folder}: no such folder")
    try:
        drawn = {f"{run.name}-{name}" if run.name else name: module.draw(run)
                 for run in read_runs(folder) for name, module in figures.items()}
        return {name: figure for name, figure in drawn.items() if figure is not None}
    except Malformed as problem:
        raise Stop(BAD_DATA, str(problem)) from None
    except OSError as problem:
        raise Stop(CANNOT_READ, f"{problem.filename or folder}: {problem.strerror}") from None


def save(figure, stem: Path) -> list[Path]:
    """Writes a figure as PNG and SVG; a file appears only when it is whole."""
    written = []
    for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": "phaselock"})):
        path = stem.with_name(f"{stem.name}.{ending}")
        partial = stem.with_name(f".{stem.name}.{ending}.partial")
        try:
            figure.savefig(partial, format=ending, metadata=metadata)
            os.replace(partial, path)
        except OSError as problem:
            raise Stop(CANNOT_WRITE, f"{path}: {problem.strerror or problem}") from None
        finally:
            if partial.exists():  # only after a failure
                partial.unlink()
        figure.set_layout_engine("none")  # the first file laid the page out, the second keeps it
        written.append(path)
    return written


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise Stop(BAD_ARGUMENTS, "usage: draw.py DIR")
    figures = load_figures()
    folder = Path(arguments[0])
    from matplotlib import style
    style.use(["default", str(Path(__file__).parent / "lib/phaselock.mplstyle")])
    drawn = draw(folder, figures)
    if not drawn:
        if (folder / "sweep.sqlite").exists() and not (folder / "result.json").exists():
            raise Stop(BAD_DATA, f"{folder}: the sweep is not finished\nrun it with --resume, or merge the other shards; "
                                 "export writes what is there")
        raise Stop(BAD_DATA, f"{folder}: nothing to draw\nno table with rows here or in its examples; a run or verify "
                             "with --out writes tables (trajectory.csv, gates.csv, ...)")
    target = folder / "figures"
    try:
        target.mkdir(exist_ok=True)
    except OSError as problem:
        raise Stop(CANNOT_WRITE, f"{target}: {problem.strerror}") from None
    for name, figure in drawn.items():
        for path in save(figure, target / name):
            print(path, flush=True)


def start() -> int:
    """Runs main with a cache folder of its own if the user has no home folder; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="phaselock-plot-") as cache:
        if "MPLCONFIGDIR" not in os.environ and not os.access(os.environ.get("HOME", ""), os.W_OK):
            os.environ["MPLCONFIGDIR"] = cache
        try:
            main(sys.argv[1:])
        except Stop as stop:
            print(f"draw.py: {stop}", file=sys.stderr)
            return stop.code
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as problem:  # numbers that no figure can hold, for instance: say so instead of a traceback
            print(f"draw.py: internal: {type(problem).__name__}: {problem}", file=sys.stderr)
            return INTERNAL
    return 0


if __name__ == "__main__":
    sys.exit(start())
