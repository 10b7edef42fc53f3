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

ENSEMBLES: dict[str, str] = {}
"""Title of each named ensemble."""
