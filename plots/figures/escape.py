"""Escape times of each cell as densities on a log time axis, and measured against predicted medians over rho."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator

from lib.page import DARK, GUIDE, LIGHT, MARKERS, legend_below, new_page, plain_decades
from lib.run_folder import Run
from lib.sweep import cell_texts, number_text
from lib.tables import Table

MOST_CELLS = 30
ROW_INCHES, DENSE_ROW_INCHES = 0.30, 0.22
MEDIAN = {"color": "black", "linewidth": 1.4}
INTERVAL = {"fmt": "", "linestyle": "", "color": "black", "markerfacecolor": "white", "elinewidth": 0.9, "capsize": 2.2}


def draw_density(axes: Axes, bins: Table, base: float) -> None:
    """A cell's density in log10 t above its base line, scaled to 0.8 at its highest."""
    density = bins["share"] / np.log10(bins["t_high"] / bins["t_low"])
    axes.bar(bins["t_low"], 0.8 * density / density.max(), bins["t_high"] - bins["t_low"], bottom=base, align="edge",
             facecolor=LIGHT, edgecolor=DARK, linewidth=0.5)


def draw_cells(axes: Axes, cells: Table, escape: Table) -> None:
    """Densities one below the other, each named at its left, in order of the cells."""
    texts = cell_texts(cells)
    for i, cell in enumerate(cells["cell"]):
        base = len(cells) - 1 - i
        axes.axhline(base, color="0.8", linewidth=0.5, zorder=0)
        draw_density(axes, escape.where(cell=cell), base)
        if np.isfinite(cells["escape"][i]):
            axes.plot([cells["escape"][i]] * 2, [base, base + 0.9], **MEDIAN, solid_capstyle="butt")
    axes.set_yticks(len(cells) - 1 - np.arange(len(cells)) + 0.2, texts)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-0.1, len(cells))
    axes.set_xscale("log")
    low, high = escape["t_low"].min(), escape["t_high"].max()
    axes.set_xlim(low / 1.08, high * 1.08)
    if high >= 30 * low:
        plain_decades(axes.xaxis)
    else:
        digits = (1, 2, 5) if high >= 10 * low else (1, 1.5, 2, 2.5, 3, 4, 5, 7)
        places = MaxNLocator(6, steps=[1, 2, 5, 10]) if high < 4 * low else LogLocator(10, subs=digits)
        ticks = [t for t in places.tick_values(low, high) if low / 1.08 <= t <= high * 1.08]
        axes.set_xticks(ticks, [number_text(t) for t in ticks])
        axes.set_xticks([], minor=True)
    axes.set_xlabel("escape time $T$ (dimensionless)")


def draw_law(axes: Axes, law: Table, cells: Table) -> list[tuple[Line2D, str]]:
    """Measured medians with their intervals against predicted ones; one mark for each rho predicted from."""
    place = {cell: i for i, cell in enumerate(cells["cell"])}
    law = law.take(np.array([cell in place for cell in law["smaller_cell"]]))
    drawn = []
    sources = np.unique(law["rho"])[::-1]
    for i, rho in enumerate(sources):
        rows = law.take(law["rho"] == rho)
        at = [place[cell] for cell in rows["smaller_cell"]]
        reach = [np.nan_to_num(np.maximum(rows["measured"] - cells["escape_low"][at], 0)),
                 np.nan_to_num(np.maximum(cells["escape_high"][at] - rows["measured"], 0))]
        mark = axes.errorbar(rows["predicted"], rows["measured"], yerr=reach, **INTERVAL | {"marker": MARKERS[i % 12]})
        drawn.append((mark, f"law from $\\rho$ = {number_text(rho)}"))
    both = np.concatenate([law["predicted"], law["measured"]])
    low, high = np.nanmin(both) * 0.95, np.nanmax(both) * 1.05
    axes.plot([low, high], [low, high], **GUIDE)
    axes.set_xlabel("predicted median escape time")
    axes.set_ylabel("measured median escape time")
    return drawn


def draw(run: Run) -> Figure | None:
    cells, escape, law = (run.tables.get(name) for name in ("cells", "escape", "escape_law"))
    if cells is None or escape is None or not escape.has("share"):
        return None
    escape = escape.take((escape["share"] > 0) & (escape["t_low"] > 0) & (escape["t_high"] > escape["t_low"]))
    all_cells = cells.sorted_by("cell")
    cells = all_cells.take(np.isin(all_cells["cell"], escape["cell"]))
    if not len(cells):
        return None
    if len(cells) > MOST_CELLS:
        cells = cells.take(np.unique(np.linspace(0, len(cells) - 1, MOST_CELLS).astype(int)))
    escape = escape.take(np.isin(escape["cell"], cells["cell"]))
    beside = law is not None and law.has("predicted") and law.has("measured")
    height = max(2.7 if beside else 1.3, (ROW_INCHES if len(cells) <= 12 else DENSE_ROW_INCHES) * len(cells) + 0.7)
    figure = new_page(7.0 if beside else 5.4, height, run.title, 2 if beside else 1)
    panels = figure.subplots(1, 2 if beside else 1, squeeze=False)[0]
    draw_cells(panels[0], cells, escape)
    some = f", {len(cells)} of {len(all_cells)} cells" if len(cells) < len(all_cells) else ""
    panels[0].set_title(f"densities in $\\log T$, to a common height{some}" if len(cells) > 1 else "density in $\\log T$")
    marks = draw_law(panels[1], law, all_cells) if beside else []
    if beside:
        panels[1].set_title("medians: law and flow (95% intervals)")
        marks.append((Line2D([], [], **GUIDE), "equal"))
    legend_below(figure, [Patch(facecolor=LIGHT, edgecolor=DARK), Line2D([], [], **MEDIAN)] + [mark for mark, _ in marks],
                 ["seeds that escape", "median"] + [text for _, text in marks], 4)
    return figure
