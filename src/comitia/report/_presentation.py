"""How aggregations are drawn, in every figure.

Colours are those of Okabe and Ito, which people with any colour vision tell apart: blues for combine-then-predict,
warm ones for predict-then-combine, black and grey for the two votes.  Each aggregation has a line style and a marker
of its own as well, so that a figure printed in grey can still be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from comitia._titles import aggregation_and_pool


@dataclass(frozen=True)
class Style:
    """How an aggregation is drawn; dashes and markers carry matplotlib's name and Plotly's."""

    colour: str
    dashes: tuple[str, str]
    markers: tuple[str, str]


STYLES = {
    "gmv": Style("#000000", ("--", "dash"), ("s", "square")),
    "bmv": Style("#7f7f7f", (":", "dot"), ("D", "diamond")),
    "ctp": Style("#0072b2", ("-", "solid"), ("o", "circle")),
    "ptc-lw": Style("#e69f00", ("-.", "dashdot"), ("^", "triangle-up")),
    "ptc-mode": Style("#d55e00", ("-", "solid"), ("v", "triangle-down")),
    "ptc-mbr": Style("#cc79a7", ("--", "longdash"), ("P", "cross")),
    "ctp-joint": Style("#56b4e9", ("-.", "longdashdot"), ("X", "x")),
    "oob": Style("#009e73", (":", "dot"), ("*", "star")),
}

_SPARE_MARKERS = (
    ("p", "pentagon"),
    ("h", "hexagon"),
    ("<", "triangle-left"),
    (">", "triangle-right"),
    ("d", "diamond-tall"),
    ("8", "octagon"),
)


def style(method: str, methods: Iterable[str]) -> Style:
    """Choose how to draw a method among those of a figure.

    An aggregation with another pool has the colour of the aggregation; one that is not known has a colour that is
    free, while there is one.  Both have markers that no known aggregation has.
    """
    if method in STYLES:
        return STYLES[method]
    names = [*methods, method]
    place = [name for name in names if name not in STYLES].index(method)
    free = [look for name, look in STYLES.items() if name not in names] or list(STYLES.values())
    known = STYLES.get(aggregation_and_pool(method)[0], free[place % len(free)])
    return replace(known, dashes=(":", "dot"), markers=_SPARE_MARKERS[place % len(_SPARE_MARKERS)])
