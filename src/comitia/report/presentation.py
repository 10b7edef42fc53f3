"""How losses and aggregations are named, ordered, drawn and turned into percent, in every table and figure.

Colours are those of Okabe and Ito, which people with any colour vision tell apart: blues for combine-then-predict,
warm ones for predict-then-combine, black and grey for the two votes.  Each aggregation has a line style and a marker
of its own as well, so that a figure printed in grey can still be read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AGGREGATIONS",
    "MEASURES",
    "Measure",
    "Style",
    "in_order",
    "measure",
    "method_name",
    "shortened",
    "style",
    "title",
]

Value = TypeVar("Value", float, NDArray[np.float64])


@dataclass(frozen=True)
class Measure:
    """How a loss is shown: as itself, or as the measure it is one minus of.  Always in percent."""

    loss: str
    title: str
    higher_is_better: bool = False

    def shown(self, loss: Value) -> Value:
        """Turn a loss from 0 to 1 into the percentage that people read.

        Examples
        --------
        >>> measure("hamming").shown(0.25), measure("f1").shown(0.25)
        (25.0, 75.0)
        """
        return 100.0 * (1.0 - loss) if self.higher_is_better else 100.0 * loss

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"

    @property
    def arrow(self) -> str:
        return "↑" if self.higher_is_better else "↓"


@dataclass(frozen=True)
class Style:
    """How an aggregation is drawn; dashes and markers carry matplotlib's name and Plotly's."""

    method: str
    title: str
    colour: str
    dashes: tuple[str, str]
    markers: tuple[str, str]


MEASURES = (
    Measure("hamming", "Hamming loss"),
    Measure("subset01", "Subset 0/1 loss"),
    Measure("f1", "F1-measure", higher_is_better=True),
    Measure("jaccard", "Jaccard index", higher_is_better=True),
)

AGGREGATIONS = (
    Style("gmv", "GMV", "#000000", ("--", "dash"), ("s", "square")),
    Style("bmv", "BMV", "#7f7f7f", (":", "dot"), ("D", "diamond")),
    Style("ctp", "CTP", "#0072b2", ("-", "solid"), ("o", "circle")),
    Style("ptc-lw", "PTC-lw", "#e69f00", ("-.", "dashdot"), ("^", "triangle-up")),
    Style("ptc-mode", "PTC-mode", "#d55e00", ("-", "solid"), ("v", "triangle-down")),
    Style("ptc-mbr", "PTC-mbr", "#cc79a7", ("--", "longdash"), ("P", "cross")),
    Style("ctp-joint", "CTP-joint", "#56b4e9", ("-.", "longdashdot"), ("X", "x")),
    Style("oob", "OOB choice", "#009e73", (":", "dot"), ("*", "star")),
)

_MEASURES = {entry.loss: entry for entry in MEASURES}
_STYLES = {entry.method: entry for entry in AGGREGATIONS}
_SPARE_MARKERS = (
    ("p", "pentagon"),
    ("h", "hexagon"),
    ("<", "triangle-left"),
    (">", "triangle-right"),
    ("d", "diamond-tall"),
    ("8", "octagon"),
)
_ENSEMBLES = {"emodt": "EMODT", "ecc": "ECC", "ebr": "EBR"}
_SEPARATOR = " · "


def measure(loss: str) -> Measure:
    """Look up how a loss is shown; one that is not known is shown under its own name, lower is better."""
    return _MEASURES.get(loss, Measure(loss, loss))


def method_name(aggregation: str, pool: str) -> str:
    """Name an aggregation together with its pool, where that is not the usual mean.

    Examples
    --------
    >>> method_name("ctp", "mean"), method_name("ctp", "median")
    ('ctp', 'ctp · median')
    """
    return aggregation if pool in ("mean", "") else f"{aggregation}{_SEPARATOR}{pool}"


def title(name: str) -> str:
    """Write a method or an ensemble as people do.

    Examples
    --------
    >>> title("ptc-mode"), title("ctp · median"), title("ecc"), title("mine")
    ('PTC-mode', 'CTP · median', 'ECC', 'mine')
    """
    known, separator, pool = name.partition(_SEPARATOR)
    return (_STYLES[known].title if known in _STYLES else _ENSEMBLES.get(known, known)) + separator + pool


def shortened(name: str, length: int = 18) -> str:
    """Cut a long name where a figure has no room for it.

    Examples
    --------
    >>> shortened("emotions"), shortened("a name that goes on and on")
    ('emotions', 'a name that goes…')
    """
    return name if len(name) <= length else name[: length - 1].rstrip() + "…"


def style(method: str, methods: Iterable[str]) -> Style:
    """Choose how to draw a method among those of a figure.

    An aggregation with another pool has the colour of the aggregation; one that is not known has a colour that is
    free, while there is one.  Both have markers that no known aggregation has.
    """
    if method in _STYLES:
        return _STYLES[method]
    names = [*methods, method]
    place = [name for name in names if name not in _STYLES].index(method)
    free = [entry for entry in AGGREGATIONS if entry.method not in names] or list(AGGREGATIONS)
    known = _STYLES.get(method.partition(_SEPARATOR)[0], free[place % len(free)])
    return Style(method, title(method), known.colour, (":", "dot"), _SPARE_MARKERS[place % len(_SPARE_MARKERS)])


def in_order(names: Iterable[str]) -> list[str]:
    """Sort losses or methods: the known ones in their usual order, then others, then those with another pool.

    Examples
    --------
    >>> in_order(["mine", "f1", "hamming"]), in_order(["ctp · median", "ptc-lw", "ctp", "gmv"])
    (['hamming', 'f1', 'mine'], ['gmv', 'ctp', 'ptc-lw', 'ctp · median'])
    """
    usual = [*_MEASURES, *_STYLES]

    def place(name: str) -> tuple[int, int]:
        known, separator, _ = name.partition(_SEPARATOR)
        return (len(separator), usual.index(known) if known in usual else len(usual))

    return sorted(dict.fromkeys(names), key=place)
