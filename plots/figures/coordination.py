"""What coordination of the heads buys and costs: how seeds end, and the loss over phases, for each way side by side."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lib.page import DARK, MIDDLE, legend_below, new_page
from lib.run_folder import Run
from lib.sweep import COORDINATION, cell_texts, cells_of, varied
from lib.tables import Table

# Face and hatch of each end of a seed, in order of the bar.
ENDS = (("selected, all distinct", MIDDLE, ""), ("selected, some collide", "#d4dde8", "...."),
        ("not selected", "white", "////"))
MEAN = {"marker": "o", "color": DARK, "linestyle": ""}
WORST = {"marker": "s", "color": DARK, "markerfacecolor": "white", "linestyle": ""}


def draw_ends(axes: Axes, cells: Table, rows: np.ndarray) -> None:
    distinct = cells["selected"] * np.nan_to_num(cells["all_distinct"])  # of selected seeds to of all
    left = np.zeros(len(cells))
    for (_, face, hatch), share in zip(ENDS, (distinct, cells["selected"] - distinct, 1 - cells["selected"])):
        axes.barh(rows, share, 0.62, left=left, facecolor=face, hatch=hatch, edgecolor=DARK)
        left = left + share
    axes.set_xlim(0, 1.01)
    axes.set_xlabel("share of seeds")


def draw_losses(axes: Axes, cells: Table, rows: np.ndarray) -> None:
    axes.hlines(rows, cells["mean_loss"], cells["worst_loss"], color="0.6", linewidth=1.0, zorder=1)
    axes.plot(cells["worst_loss"], rows, **WORST, markersize=5.6)
    axes.plot(cells["mean_loss"], rows, **MEAN, markersize=3.2)
    axes.set_xlabel("loss of selected seeds (nats)")
    low, high = np.nanmin(cells["mean_loss"]), np.nanmax(cells["worst_loss"])
    margin = max(0.08 * (high - low), 0.01 * abs(high), 1e-6)
    axes.set_xlim(low - margin, high + margin)
    axes.ticklabel_format(axis="x", useOffset=False)


def draw(run: Run) -> Figure | None:
    cells = cells_of(run)
    if cells is None or not any(axis.startswith(COORDINATION) for axis in varied(cells)) or not cells.has("selected"):
        return None
    rows = np.arange(len(cells))[::-1]
    losses = cells.has("mean_loss") and cells.has("worst_loss")
    figure = new_page(7.0, max(1.5, 0.27 * len(cells) + 0.6), run.title, 2 if losses else 1)
    panels = figure.subplots(1, 2 if losses else 1, squeeze=False, sharey=True)[0]
    draw_ends(panels[0], cells, rows)
    panels[0].set_yticks(rows, cell_texts(cells))
    panels[0].tick_params(axis="y", length=0)
    panels[0].set_ylim(-0.6, len(cells) - 0.4)
    handles = [Patch(facecolor=face, hatch=hatch, edgecolor=DARK) for _, face, hatch in ENDS]
    names = [name for name, _, _ in ENDS]
    if losses:
        draw_losses(panels[1], cells, rows)
        panels[1].tick_params(axis="y", length=0)
        handles += [Line2D([], [], **MEAN, markersize=3.2), Line2D([], [], **WORST, markersize=5.6)]
        names += ["mean over phases", "worst phase"]
        by_row = [0, 3, 1, 4, 2]  # a legend is filled by columns
        handles, names = [handles[i] for i in by_row], [names[i] for i in by_row]
    legend_below(figure, handles, names, 3)
    return figure
