"""Time to escape the symmetric saddle against the scale of the start, with the prediction."""
import numpy as np
from matplotlib.figure import Figure

from page import DARK, new_page
from run_folder import Run


def draw(run: Run) -> Figure | None:
    table = run.tables.get("escape")
    if table is None or not (table.has("time") or table.has("predicted")):
        return None
    scale = np.log10(1 / table["sigma_b"])
    order = np.argsort(scale, kind="stable")
    figure = new_page(4.6, 3.0, run.title)
    axes = figure.subplots()
    predicted = order[np.isfinite(table["predicted"][order])]
    if len(predicted):
        axes.plot(scale[predicted], table["predicted"][predicted], color="0.35", linestyle=(0, (5, 2)),
                  marker="_" if len(predicted) < 2 else "", label="predicted", zorder=2)
    axes.plot(scale, table["time"], linestyle="", marker="o", color=DARK, markerfacecolor="white", label="flow",
              zorder=3)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.06)
    axes.set_xlabel(r"scale of the start, $\log_{10}(1/\sigma_b)$ (decades)")
    axes.set_ylabel("escape time (flow time, dimensionless)")
    axes.legend(loc="upper left")
    return figure
