"""What the figures know of one run: its tables, and the model facts of result.json or model.json."""
import json
from dataclasses import dataclass, field
from pathlib import Path

from lib.tables import Malformed, Tables

# Scenario key of each model number, and the symbol the title shows for it.
SYMBOLS = {"blocks": "$L$", "positions": "$S$", "heads": "$H$", "vocabulary": "$N$",
           "gamma": r"$\gamma$", "beta": r"$\beta$"}


@dataclass(frozen=True)
class Run:
    """One folder of tables. `name` is empty for the run folder itself, else the example's name."""

    name: str
    tables: Tables
    kind: str = ""
    model: dict[str, float] = field(default_factory=dict)
    results: dict = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name and model in one line, e.g. 'collision: L = 4, S = 4, H = 3', without what a sweep varies; may be empty."""
        axes = self.results.get("axes")
        varied = axes if isinstance(axes, list) else []
        facts = ",  ".join(f"{symbol} = {self.model[key]:g}" if abs(self.model[key]) < 1e5
                           else f"{symbol} = {self.model[key]:.6g}"
                           for key, symbol in SYMBOLS.items() if key in self.model and f"model.{key}" not in varied)
        head = (self.name or self.kind).replace("_", " ").replace("$", "")
        return f"{head}:  {facts}" if head and facts else head or facts

    @property
    def positions(self) -> int | None:
        """S, from the model or else from the offsets that the tables mention."""
        if "positions" in self.model:
            return int(self.model["positions"])
        if "gates" in self.tables:
            return self.tables["gates"].levels("offset")[-1] + 1
        return None

    def result(self, name: str) -> float | None:
        """A number of results, or None."""
        value = self.results.get(name)
        return float(value) if is_number(value) else None


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read_json(path: Path) -> dict:
    """The object in a JSON file; empty if the file is absent."""
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise Malformed(f"{path}:1: not UTF-8 text") from None
    except json.JSONDecodeError as problem:
        raise Malformed(f"{path}:{problem.lineno}: {problem.msg}") from None
    if not isinstance(content, dict):
        raise Malformed(f"{path}:1: not a JSON object")
    return content


def read_model(path: Path, content: dict) -> dict[str, float]:
    """The model numbers of a parsed file, which holds them under "model" or is the model itself."""
    model = content.get("model", content if path.name == "model.json" else None)
    if model is None:
        return {}
    if not isinstance(model, dict):
        raise Malformed(f"{path}:1: \"model\" is not an object")
    for key in SYMBOLS:
        if key in model and not is_number(model[key]):
            raise Malformed(f"{path}:1: model.{key} is not a number")
    return {key: model[key] for key in SYMBOLS if key in model}


def read_run(folder: Path, name: str) -> Run:
    result, beside = read_json(folder / "result.json"), read_json(folder / "model.json")
    model = read_model(folder / "result.json", result) or read_model(folder / "model.json", beside)
    results = result.get("results")
    return Run(name=name, tables=Tables(folder), kind=str(result.get("kind") or ""), model=model,
               results=results if isinstance(results, dict) else {})


def read_runs(folder: Path) -> list[Run]:
    """The run folder itself, then each of its examples in order of their names."""
    examples = folder / "examples"
    names = sorted(p.name for p in examples.iterdir() if p.is_dir()) if examples.is_dir() else []
    return [read_run(folder, "")] + [read_run(examples / name, name) for name in names]
