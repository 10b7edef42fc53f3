"""What the figures have in common: sizes of type, quiet axes, lines for aggregations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from comitia.report._presentation import style
from comitia.report._vocabulary import title

SMALL, TEXT, TITLE = 7.0, 8.0, 9.0
INK, MUTED, GRID = "#1a1a1a", "#595959", "#dcdcdc"


def quiet(axes: Axes) -> None:
    """Leave of the axes only what is read: two thin spines, small ticks, a pale grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=MUTED, linewidth=0.6)
    axes.tick_params(labelsize=SMALL, color=MUTED, labelcolor=INK, width=0.6, length=2.5)
    axes.grid(color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def line_look(method: str, methods: Iterable[str]) -> dict[str, Any]:
    """Give matplotlib's properties of an aggregation's line.

    Broken lines lie above unbroken ones, so that two aggregations that agree are both seen.
    """
    look = style(method, methods)
    dash = look.dashes[0]
    return {
        "color": look.colour,
        "linestyle": dash,
        "marker": look.markers[0],
        "markeredgewidth": 0.6,
        "zorder": 2 + ["-", "-.", "--", ":"].index(dash) / 10,
    }


def handle(method: str, methods: Iterable[str], **changes: Any) -> Line2D:
    """Make the legend's entry of an aggregation."""
    look = {"linewidth": 1.3, "markersize": 4.0} | line_look(method, methods) | changes
    return Line2D([], [], label=title(method), **look)
