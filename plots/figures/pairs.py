"""How often two heads are at two key offsets, against independent heads, of a run of one cell."""
import numpy as np
from matplotlib.figure import Figure

from lib.page import new_page
from lib.run_folder import Run

MOST_WRITTEN = 10  # offsets up to which each share is written into its place


def draw(run: Run) -> Figure | None:
    pairs = run.tables.get("pairs")
    if pairs is None or len(pairs.levels("cell")) != 1 or not pairs.has("share"):
        return None
    offsets = int(max(pairs["r"].max(), pairs["s"].max())) + 1
    share, level = np.full((offsets, offsets), np.nan), np.full((offsets, offsets), np.nan)
    places = pairs["r"].astype(int), pairs["s"].astype(int)
    share[places], level[places] = pairs["share"], pairs["independent"]
    beyond = share - level
    reach = max(float(np.nanmax(np.abs(beyond))), 1e-3)
    figure = new_page(4.4, 3.2, run.title)
    axes = figure.subplots()
    axes.spines[:].set_visible(True)
    mesh = axes.pcolormesh(np.arange(offsets + 1) - 0.5, np.arange(offsets + 1) - 0.5, beyond, cmap="Blues",
                           vmin=-reach, vmax=2.2 * reach, edgecolors="white", linewidth=0.8)
    bar = figure.colorbar(mesh, ax=axes, label="share, beyond independent heads", pad=0.03, aspect=25)
    bar.ax.set_ylim(-reach, reach)
    if offsets <= MOST_WRITTEN:
        for r, s in np.argwhere(np.isfinite(share)):
            axes.text(s, r, f"{share[r, s]:.3f}\n({beyond[r, s]:+.3f})" if offsets <= 5 else f"{share[r, s]:.2f}",
                      ha="center", va="center", fontsize=7.5 if offsets <= 5 else 6)
        axes.set_xticks(range(offsets))
        axes.set_yticks(range(offsets))
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_xlabel("key offset of the other head (0-based)")
    axes.set_ylabel("key offset of a head (0-based)")
    axes.set_title("two heads of a seed: share of pairs")
    return figure
