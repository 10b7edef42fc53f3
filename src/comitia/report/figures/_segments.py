"""Handwritten digits beside the seven-segment display that each aggregation lights."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from comitia.report._digits import SevenSegments
from comitia.report._vocabulary import title
from comitia.report.figures._look import INK, MUTED, SMALL, TEXT

_OFF, _ON, _WRONG = "#ececec", INK, "#d55e00"
_SLANT, _THICK, _GAP = 0.12, 0.2, 0.035

# Ends of the segments a to g on a display one wide and two high: a top, b top right, c bottom right, d bottom,
# e bottom left, f top left, g middle.
_ENDS = (
    ((0, 2), (1, 2)),
    ((1, 2), (1, 1)),
    ((1, 1), (1, 0)),
    ((0, 0), (1, 0)),
    ((0, 1), (0, 0)),
    ((0, 2), (0, 1)),
    ((0, 1), (1, 1)),
)


def seven_segments(digits: SevenSegments) -> Figure:
    """Draw a column for each digit: the handwriting, the display it should light, and each aggregation's.

    Segments that are lit rightly are black, wrongly lit ones hatched and red, missed ones outlined with dashes.

    Parameters
    ----------
    digits : SevenSegments
        The handwriting and the displays, such as `comitia.Results.digits`.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.report import SevenSegments
    >>> from comitia.report.figures import seven_segments
    >>> one = [[0, 1, 1, 0, 0, 0, 0]]
    >>> digits = SevenSegments(np.zeros((1, 8, 8)), one, {"gmv": [[0, 1, 0, 0, 0, 0, 0]], "ctp": one})
    >>> len(seven_segments(digits).axes)  # the handwriting, the right display, and those of two aggregations
    4
    """
    images, truth = np.asarray(digits.images), np.asarray(digits.truth)
    labels = ["handwritten", "should light", *map(title, digits.labelings)]
    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.02, wspace=0.0, hspace=0.0)
    figure = Figure(figsize=(1.25 + 0.62 * len(images), 0.45 + 0.92 * len(labels)), layout=layout)
    panels = figure.subplots(len(labels), len(images), squeeze=False)
    for column, image in enumerate(images):
        axes = panels[0, column]
        axes.imshow(image, cmap="Greys", interpolation="nearest")
        axes.spines[:].set(color="#c8c8c8", linewidth=0.5)
        axes.set(xticks=[], yticks=[])
        for row, lit in enumerate([truth, *map(np.asarray, digits.labelings.values())], start=1):
            _draw_display(panels[row, column], lit[column], truth[column])
    for row, label in enumerate(labels):
        panels[row, 0].annotate(
            label,
            (0, 0.5),
            xycoords="axes fraction",
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=TEXT,
            color=INK if row != 1 else MUTED,
            parse_math=False,
        )
    figure.supxlabel("black: rightly lit    hatched: wrongly lit    dashed: should be lit", fontsize=SMALL, color=MUTED)
    return figure


def _draw_display(axes: Axes, lit: NDArray[np.int8], truth: NDArray[np.int8]) -> None:
    axes.set(xlim=(-0.3, 1.55), ylim=(-0.3, 2.3), aspect="equal")
    axes.set_axis_off()
    for ends, on, wanted in zip(_ENDS, lit, truth, strict=True):
        look: dict[str, Any] = {"facecolor": _OFF, "edgecolor": "none"}
        if on and wanted:
            look = {"facecolor": _ON, "edgecolor": "none"}
        elif on:
            look = {"facecolor": "#f3b48c", "edgecolor": _WRONG, "hatch": "//////", "linewidth": 0.6}
        elif wanted:
            look = {"facecolor": "white", "edgecolor": _WRONG, "linestyle": (0, (2, 1.2)), "linewidth": 0.9}
        axes.add_patch(Polygon(_outline(*ends), zorder=2 if on != wanted else 1, **look))


def _outline(start: tuple[int, int], end: tuple[int, int]) -> NDArray[np.float64]:
    """Outline a segment: a bar with pointed ends, slanted as on a display."""
    first, last = np.array(start, dtype=float), np.array(end, dtype=float)
    along = last - first
    across = np.array([-along[1], along[0]]) * _THICK / 2
    first, last = first + along * _GAP, last - along * _GAP
    inner = along * _THICK / 2
    points = np.array(
        [first, first + inner + across, last - inner + across, last, last - inner - across, first + inner - across]
    )
    points[:, 0] += _SLANT * points[:, 1]
    return points
