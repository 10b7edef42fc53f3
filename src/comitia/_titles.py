"""How losses, aggregations and ensembles are called where people read of them.

Each is described where it is defined, and enters itself here when it gets its name: reports, which know nothing of
losses and ensembles, look it up.
"""

from __future__ import annotations

LOSSES: dict[str, tuple[str, bool, bool]] = {}
"""Title of each named loss or measure; whether people read one minus it, of which more is better; and whether it is of
a whole set, not of an instance."""

OWN_LOSSES: dict[str, tuple[str, str]] = {}
"""Of losses that a plan gave a name: how Python writes them, and the statement that imports what stands there."""

AGGREGATIONS: dict[str, str] = {}
"""Title of each named aggregation."""

CHOSEN_BY_OOB = "oob"
"""In place of an aggregation: the one with the smallest out-of-bag loss."""

OTHER_WAYS = {CHOSEN_BY_OOB: "OOB choice"}
"""Title of what is asked for in place of an aggregation."""

ENSEMBLES: dict[str, str] = {}
"""Title of each named ensemble."""


def all_titles() -> dict[str, str]:
    """Return how everything that has a name here is printed."""
    return {**{name: shown[0] for name, shown in LOSSES.items()}, **ENSEMBLES, **AGGREGATIONS, **OTHER_WAYS}
