"""Outcomes over two numbers of the model as cells, with theory's curves where N is on an axis."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lib.page import legend_below, legend_shape, new_page, plain_decades
from lib.run_folder import Run
from lib.tables import Table

LABELS = {"N": "vocabulary $N$ (tokens)", "beta": r"scale of the logits $\beta$", "rho": r"radius of the start $\rho$",
          "H": "heads $H$", "S": "tokens of a block $S$", "gamma": r"scale of the scores $\gamma$",
          "kappa": r"overlap of embeddings $\kappa$"}
# Face and hatch of each outcome, in order of the legend, and its name there by question.
STYLES = {"proved": ("#4f7cac", ""), "selection": ("#d4dde8", ""), "distinct": ("#4f7cac", ""),
          "colliding": ("#d4dde8", "...."), "interior": ("#f2b36b", "////"), "unfinished": ("white", "xxxx"),
          "always_stable": ("#d4dde8", "...."), "threshold": ("white", ""), "assumption": ("0.93", "")}
NAMES = {"proved": "selection optimal (proved)", "selection": "nothing better found", "interior": "mixed gate",
         "distinct": "most seeds: distinct", "colliding": "most seeds: colliding", "unfinished": "most seeds: undecided",
         "always_stable": "stable at every $N$", "assumption": "not examined"}
SOLID = {"color": "black", "linewidth": 1.6, "linestyle": "-"}
DASHED = {"color": "black", "linewidth": 1.6, "linestyle": (0, (4, 1.6))}
# Curves by question: column, style, name.
CURVES = {"theorem1": {"n_sufficient": (SOLID, "sufficient: $\\min(N_0, N_1, N_2)$"),
                       "n_star": (DASHED, "necessary: $N^*$")},
          "theorem2": {"n_star_pair": (SOLID, "$N^*$ of two heads colliding"),
                       "n_star": (DASHED, "$N^*$ of distinct heads")}}
TITLES = {"theorem1": "optimal compression", "theorem2": "where static flows end",
          "n_star": "least $N$ of stable distinct selections"}


def rectangles(table: Table) -> np.ndarray:
    x = np.stack([table[name] for name in ("x_low", "x_high", "x_high", "x_low")], axis=1)
    y = np.stack([table[name] for name in ("y_low", "y_low", "y_high", "y_high")], axis=1)
    return np.stack([x, y], axis=2)


def draw_outcomes(axes: Axes, table: Table, outcomes: list[str]) -> None:
    for outcome in outcomes:
        face, hatch = STYLES[outcome]
        axes.add_collection(PolyCollection(rectangles(table.where(outcome=outcome)), facecolor=face, edgecolor="0.35",
                                           linewidth=0.15, hatch=hatch, zorder=1))


def draw_thresholds(axes: Axes, figure: Figure, table: Table) -> None:
    """Cells shaded by log10 N*."""
    rows = table.take(np.isfinite(table["log10_n_star"]))
    cells = PolyCollection(rectangles(rows), array=rows["log10_n_star"], cmap="Blues", edgecolor="face", linewidth=0.2)
    axes.add_collection(cells)
    figure.colorbar(cells, ax=axes, label=r"$\log_{10} N^*$", pad=0.02, aspect=25)


def draw_curves(axes: Axes, curves: Table, n_on_x: bool, what: str) -> list[tuple[Line2D, str]]:
    drawn = []
    curves = curves.sorted_by("at")
    for column, (style, name) in CURVES[what].items():
        if curves.has(column):
            places = (curves[column], curves["at"]) if n_on_x else (curves["at"], curves[column])
            axes.plot(*places, color="white", linewidth=3.2, zorder=3)  # sets the curve off from cells
            drawn.append((axes.plot(*places, **style, zorder=4)[0], name))
    return drawn


def set_axis(axes: Axes, side: str, facts: dict, table: Table) -> None:
    axis = getattr(axes, f"{side}axis")
    if facts.get("logarithmic"):
        getattr(axes, f"set_{side}scale")("log")
        if facts["high"] >= 100 * facts["low"]:
            plain_decades(axis)
    elif len(np.unique(table[f"{side}_low"])) <= 12 and facts["number"] in ("H", "S", "N"):
        axis.set_ticks(np.unique(table[f"{side}_low"]) + 0.5)
    getattr(axes, f"set_{side}lim")(table[f"{side}_low"].min(), table[f"{side}_high"].max())
    axis.set_label_text(LABELS[facts["number"]])


def axis_facts(run: Run, side: str) -> dict | None:
    facts = run.results.get(side)
    return facts if isinstance(facts, dict) and facts.get("number") in LABELS else None


def draw(run: Run) -> Figure | None:
    table, x, y = run.tables.get("diagram"), axis_facts(run, "x"), axis_facts(run, "y")
    if table is None or x is None or y is None:
        return None
    what = run.results.get("what")
    shaded = table.has("log10_n_star")
    present = set(table["outcome"])
    outcomes = [outcome for outcome in STYLES if outcome in present and not (shaded and outcome == "threshold")]
    curves = run.tables.get("curves") if what in CURVES else None  # the table is empty unless N is on an axis
    labels = len(outcomes) + (2 if curves is not None else 0)
    rows, columns = legend_shape(labels, 3)
    figure = new_page(5.4, 3.9, run.title, rows)
    axes = figure.subplots()
    axes.spines[:].set_visible(True)
    set_axis(axes, "x", x, table)
    set_axis(axes, "y", y, table)
    draw_outcomes(axes, table, outcomes)
    if shaded:
        draw_thresholds(axes, figure, table.take(table["outcome"] == "threshold"))
    lines = draw_curves(axes, curves, x["number"] == "N", what) if curves is not None else []
    axes.set_title(TITLES.get(what, ""))
    patches = [Patch(facecolor=STYLES[o][0], hatch=STYLES[o][1], edgecolor="0.35") for o in outcomes]
    legend_below(figure, patches + [line for line, _ in lines], [NAMES[o] for o in outcomes] + [name for _, name in lines],
                 columns)
    return figure
