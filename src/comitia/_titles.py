"""How losses, aggregations and ensembles are called where people read of them.

Each is described where it is defined, and enters itself here when it gets its name: reports, which know nothing of
losses and ensembles, look it up.
"""

from __future__ import annotations

from typing import NamedTuple


class Terms(NamedTuple):
    """A loss or a measure in a reader's terms: what stands around its value in a sentence.

    Attributes
    ----------
    before, after : str
        The sentence; ``{title}``, ``{base}``, ``{things}`` and ``{of_things}`` are filled in.
    counts : bool
        Whether the value counts things, "37 of 100"; otherwise it is written as it is shown.
    complement : bool
        Whether one minus the value is told: how many are right, where the loss counts those that are not.
    """

    before: str = "the {title} is "
    after: str = ""
    counts: bool = False
    complement: bool = False


LOSSES: dict[str, tuple[str, bool, bool]] = {}
"""Title of each named loss or measure; whether people read one minus it, of which more is better; and whether it is of
a whole set, not of an instance."""

TERMS: dict[str, Terms] = {}
"""Each named loss or measure in a reader's terms."""


class Written(NamedTuple):
    """How a loss that no name stands for is written.

    Attributes
    ----------
    python, imports : str
        In Python, and the statement that imports what stands there; empty where that is not known.
    option : str
        On the command line; empty where it cannot.
    """

    python: str = ""
    imports: str = ""
    option: str = ""


OWN_LOSSES: dict[str, Written] = {}
"""How losses are written that a plan gave a name."""

AGGREGATIONS: dict[str, str] = {}
"""Title of each named aggregation."""

CHOSEN_BY_OOB = "oob"
"""In place of an aggregation: the one with the smallest out-of-bag loss."""

OTHER_WAYS = {CHOSEN_BY_OOB: "OOB choice"}
"""Title of what is asked for in place of an aggregation."""

ENSEMBLES: dict[str, str] = {}
"""Title of each named ensemble."""

EXPLAINED = {CHOSEN_BY_OOB: "the way of deciding that did best out of bag: on instances that members had not seen"}
"""What is said of ensembles, aggregations, pools and readings, in a line, where their names are printed."""

POOLS: list[str] = []
"""The named pools, which are printed as they are."""

BETWEEN = " · "
"""Stands between the name of an aggregation and what else is said of it: a pool, a reading, a calibration."""


def aggregation_and_pool(method: str) -> tuple[str, str]:
    """Take a name apart that may end in a pool; the mean, which is usual, is not named.

    Examples
    --------
    >>> import comitia
    >>> aggregation_and_pool("ctp"), aggregation_and_pool("ctp · median"), aggregation_and_pool("ctp · seen 0.3")
    (('ctp', 'mean'), ('ctp', 'median'), ('ctp · seen 0.3', 'mean'))
    """
    aggregation, _, pool = method.rpartition(BETWEEN)
    return (aggregation, pool) if pool in POOLS and aggregation else (method, "mean")


def method_name(aggregation: str, pool: str) -> str:
    """Name an aggregation together with its pool, where that is not the usual mean.

    Examples
    --------
    >>> method_name("ctp", "mean"), method_name("ctp", "median")
    ('ctp', 'ctp · median')
    """
    return aggregation if pool in ("mean", "") else f"{aggregation}{BETWEEN}{pool}"


def all_titles() -> dict[str, str]:
    """Return how everything that has a name here is printed."""
    return {**{name: shown[0] for name, shown in LOSSES.items()}, **ENSEMBLES, **AGGREGATIONS, **OTHER_WAYS}
