"""How losses, aggregations and ensembles are called, ordered and turned into percent, wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from comitia import _titles
from comitia._baselines import BASELINES
from comitia._names import as_known
from comitia._titles import BETWEEN

Value = TypeVar("Value", float, NDArray[np.float64])


@dataclass(frozen=True)
class Measure:
    """How a loss is shown: as itself, or as the measure it is one minus of; in percent, if it is from 0 to 1."""

    loss: str
    title: str
    higher_is_better: bool = False
    of_a_set: bool = False
    """Whether it is a measure of a whole test set, for which decisions are tuned out of bag."""
    percent: bool = True
    """Whether it is shown in percent; costs, which may be larger than one, are shown as they are."""

    def shown(self, loss: Value) -> Value:
        """Turn a loss into the number that people read.

        Examples
        --------
        >>> measure("hamming").shown(0.25), measure("f1").shown(0.25), Measure("cost", "cost", percent=False).shown(3.5)
        (25.0, 75.0, 3.5)
        """
        return self.scale * (1.0 - loss) if self.higher_is_better else self.scale * loss

    @property
    def scale(self) -> float:
        return 100.0 if self.percent else 1.0

    @property
    def unit(self) -> str:
        """What stands behind a value."""
        return " %" if self.percent else ""

    @property
    def with_unit(self) -> str:
        """What stands beside an axis."""
        return f"{self.title} (%)" if self.percent else self.title

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"

    @property
    def arrow(self) -> str:
        return "↑" if self.higher_is_better else "↓"

    @property
    def heading(self) -> str:
        """What stands above a table of values."""
        return f"{self.title}{self.in_percent}, {self.direction}"

    @property
    def in_percent(self) -> str:
        return " in percent" if self.percent else ""


_AT_MOST = 18
"""Characters of a name that a figure has room for."""

# Ways of deciding that are no aggregations: chosen out of bag, and what a classifier predicts by itself.
_OTHER_WAYS = {**_titles.OTHER_WAYS, "own": "own predictions", **BASELINES}
_titles.EXPLAINED["own"] = "what the classifier predicts by itself"


def measure(loss: str) -> Measure:
    """Look up how a loss is shown; one that is not known is shown under its own name, lower is better."""
    return Measure(loss, *_titles.LOSSES.get(loss, (loss,)))


def title(name: str) -> str:
    """Write a method or an ensemble as people do.

    Examples
    --------
    >>> title("ptc-mode"), title("ctp · median"), title("ecc"), title("mine")
    ('PTC-mode', 'CTP · median', 'ECC', 'mine')
    """
    known, separator, pool = name.partition(BETWEEN)
    titles = {**_titles.ENSEMBLES, **_titles.AGGREGATIONS, **_OTHER_WAYS}
    return titles.get(known, known) + separator + pool


def explained(names: Iterable[str]) -> dict[str, str]:
    """Say what the abbreviations among names of ensembles and methods mean, by their titles, each once.

    Examples
    --------
    >>> explained(["own", "mine", "own · median"])  # doctest: +NORMALIZE_WHITESPACE
    {'own predictions': 'what the classifier predicts by itself',
     'median': "of the members' probabilities the middle one, in place of the mean"}
    """
    parts = dict.fromkeys(part for name in names for part in name.split(BETWEEN))
    words = {part: part.partition(" ")[0] if part.startswith("seen ") else part for part in parts}
    return {title(part): text for part, word in words.items() if (text := _titles.EXPLAINED.get(word))}


def named(name: str, known: Iterable[str]) -> str:
    """Return which of the known losses, methods or ensembles is meant by a name, in any letters or as it is printed.

    Examples
    --------
    >>> named("PTC-mode", ["gmv", "ptc-mode"]), named("OOB choice", ["oob"]), named("f2", ["f1"])
    ('ptc-mode', 'oob', 'f2')
    """
    found = list(known)
    return as_known(name, found, {one: measure(one).title if one in _titles.LOSSES else title(one) for one in found})


def in_order(names: Iterable[str]) -> list[str]:
    """Sort losses or methods: the known ones in their usual order, then others, then those with another pool.

    Examples
    --------
    >>> in_order(["mine", "f1", "hamming"]), in_order(["ctp · median", "ptc-lw", "ctp", "gmv"])
    (['hamming', 'f1', 'mine'], ['gmv', 'ctp', 'ptc-lw', 'ctp · median'])
    """
    usual = [*_titles.LOSSES, *_titles.AGGREGATIONS, *_OTHER_WAYS]

    def place(name: str) -> tuple[int, int]:
        known, separator, _ = name.partition(BETWEEN)
        return (len(separator), usual.index(known) if known in usual else len(usual))

    return sorted(dict.fromkeys(names), key=place)


def shortened(name: str) -> str:
    """Cut a long name where a figure has no room for it.

    Examples
    --------
    >>> shortened("emotions"), shortened("a name that goes on and on")
    ('emotions', 'a name that goes…')
    """
    return name if len(name) <= _AT_MOST else name[: _AT_MOST - 1].rstrip() + "…"
