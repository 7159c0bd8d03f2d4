"""Phase portrait of the toy example: the field as arrows, and trajectories with start and end."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lib.page import DARK, GUIDE, legend_below, new_page
from lib.run_folder import Run
from lib.tables import Table

PATH = {"color": DARK, "linewidth": 1.5}
START = {"marker": "o", "markersize": 5, "markerfacecolor": "white", "markeredgecolor": "black", "linestyle": ""}
END = {"marker": "s", "markersize": 6.5, "markerfacecolor": "black", "markeredgecolor": "white", "linestyle": ""}


def draw_field(axes: Axes, field: Table) -> None:
    """Arrows along the field; their length is the square root of the speed, so that slow places still show."""
    field = field.take(np.isfinite(field["dp1"]) & np.isfinite(field["dp2"]))
    if not len(field):
        return
    speed = np.hypot(field["dp1"], field["dp2"])
    fastest = speed.max() or 1.0
    spacing = 1 / max(len(np.unique(field["p1"])), 2)
    shrink = np.divide(0.9 * spacing, np.sqrt(speed * fastest), out=np.zeros_like(speed), where=speed > 0)
    axes.quiver(field["p1"], field["p2"], field["dp1"] * shrink, field["dp2"] * shrink, angles="xy",
                scale_units="xy", scale=1, pivot="mid", color="0.55", width=0.0035, headwidth=4.5, headlength=5,
                headaxislength=4.5, minlength=0.5, zorder=2)


def draw_paths(axes: Axes, table: Table) -> None:
    for number in table.levels("run"):
        path = table.where(run=number).sorted_by("t")
        path = path.take(np.isfinite(path["p1"]) & np.isfinite(path["p2"]))
        if len(path):
            axes.plot(path["p1"], path["p2"], **PATH, zorder=4)
            axes.plot(path["p1"][:1], path["p2"][:1], **START, zorder=6, clip_on=False)
            axes.plot(path["p1"][-1:], path["p2"][-1:], **END, zorder=7, clip_on=False)


def draw(run: Run) -> Figure | None:
    paths, field = run.tables.get("toy"), run.tables.get("toy_field")
    if paths is None and field is None:
        return None
    figure = new_page(4.4, 4.1, run.title, 2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], **GUIDE)
    if field is not None:
        draw_field(axes, field)
    if paths is not None:
        draw_paths(axes, paths)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.set_xlabel("weight $p_1$ of the first head on the first phase (share)")
    axes.set_ylabel("weight $p_2$ of the second head on the first phase (share)")
    handles = [Line2D([], [], **PATH), Line2D([], [], **START), Line2D([], [], **END),
               Line2D([], [], color="0.55", marker=r"$\rightarrow$", markersize=10, linestyle=""),
               Line2D([], [], **GUIDE)]
    legend_below(figure, handles, ["trajectory", "start", "end", "flow field", "equal heads"], 3)
    return figure
