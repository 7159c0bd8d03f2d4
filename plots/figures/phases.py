"""Accuracy and answer probability by the phase of the query, at the first and the last time, mean and worst marked."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from lib.page import DARK, LIGHT, label_ends, legend_below, legend_shape, new_page
from lib.run_folder import Run
from lib.tables import Table

FIRST = {"facecolor": LIGHT, "edgecolor": DARK, "hatch": "////"}
LAST = {"facecolor": "#4a6a97", "edgecolor": DARK}
MEAN_FIRST = {"color": "0.35", "linestyle": (0, (1.2, 1.2)), "linewidth": 1.2}
MEAN_LAST = {"color": "black", "linestyle": (0, (6, 2)), "linewidth": 1.2}
WORST = {"marker": "v", "color": "black", "markersize": 6, "linestyle": ""}
PANELS = (("accuracy", "accuracy (share of queries)"), ("probability", "probability of the answer (0 to 1)"))


def draw_bars(axes: Axes, states: list[Table], column: str) -> None:
    """Bars of one or two states side by side, with their means and the worst phase of the last one."""
    looks, means = ([FIRST, LAST], [MEAN_FIRST, MEAN_LAST]) if len(states) == 2 else ([LAST], [MEAN_LAST])
    width = 0.8 / len(states)
    heights, texts = [], []
    for index, (state, look) in enumerate(zip(states, looks)):
        at = state["phase"] + (index - (len(states) - 1) / 2) * width
        axes.bar(at, state[column], width, **look)
        if state.has(column):
            mean = float(np.nanmean(state[column]))
            axes.axhline(mean, **means[index], zorder=4)
            heights.append(mean)
            texts.append(f"{mean:.2g}" if mean < 0.1 else f"{mean:.2f}")
    if states[-1].has(column):
        worst = int(np.nanargmin(states[-1][column]))
        at = states[-1]["phase"][worst] + (len(states) - 1) / 2 * width
        axes.plot([at], [states[-1][column][worst]], **WORST, zorder=6, clip_on=False,
                  transform=axes.transData + raised(axes))
    tallest = max(float(np.nanmax(state[column])) for state in states if state.has(column))
    axes.set_ylim(0, 1.06 if column == "accuracy" else min(max(1.15 * tallest, 1e-12), 1.06))
    label_ends(axes, heights, texts, gap=0.06)


def raised(axes: Axes) -> ScaledTranslation:
    """Shifts a mark upwards so that it stands on its bar."""
    return ScaledTranslation(0, 5 / 72, axes.figure.dpi_scale_trans)


def time_name(time: float) -> str:
    """A time in words of a legend, e.g. 't = 3.2e4'."""
    mantissa, _, exponent = f"{time:.3g}".partition("e")
    if not exponent:
        return f"$t$ = {mantissa}"
    factor = "" if mantissa == "1" else rf"{mantissa} \times "
    return rf"$t$ = ${factor}10^{{{int(exponent)}}}$"


def legend_entries(states: list[Table]) -> tuple[list, list[str]]:
    times = [time_name(float(state["t"][0])) for state in states]
    last = [Patch(**LAST), Line2D([], [], **MEAN_LAST), Line2D([], [], **WORST)]
    names = [f"last, {times[-1]}", "mean, last", "worst phase, last"]
    if len(states) == 1:
        return last, names
    first = [Patch(**FIRST), Line2D([], [], **MEAN_FIRST)]
    return first + last, [f"first, {times[0]}", "mean, first"] + names


def draw(run: Run) -> Figure | None:
    table = run.tables.get("phases")
    panels = [panel for panel in PANELS if table is not None and table.has(panel[0])]
    if not panels:
        return None
    times = np.unique(table["t"])
    ends = [times[0], times[-1]] if len(times) > 1 else [times[-1]]
    states = [table.where(t=t).sorted_by("phase") for t in ends]
    handles, labels = legend_entries(states)
    rows, columns = legend_shape(len(labels), 5)
    figure = new_page(7.0, 2.7, run.title, rows)
    for axes, (column, label) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        draw_bars(axes, states, column)
        axes.set_ylabel(label)
        axes.set_xlabel("phase of the query (0-based offset in its block)")
        axes.xaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
        axes.margins(x=0.04)
    legend_below(figure, handles, labels, columns)
    return figure
