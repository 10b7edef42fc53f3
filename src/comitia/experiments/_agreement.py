"""Whether those who compute agree: the same versions, and the same rounding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from comitia.experiments._engines import ClusterError
from comitia.experiments._imports import code_of
from comitia.experiments._plan import Cell
from comitia.experiments._provenance import machine, rounding, versions


class Agreement:
    """Who computes one run.  Other versions are refused; other rounding is warned of, or refused as well.

    Parameters
    ----------
    kept : iterable of str or None
        How those rounded who computed what is finished; None where it is not known.
    same_bits : bool
        Whether rounding that differs is refused.
    paths : iterable of str
        Import paths of code that the plan names: all must have the same.
    """

    def __init__(self, kept: Iterable[str | None], same_bits: bool, paths: Iterable[str] = ()) -> None:
        self._paths = tuple(paths)
        self._kinds = {kind for kind in kept if kind is not None}
        self._same_bits = same_bits
        if same_bits and len(self._kinds) > 1:
            raise self._refusal()

    def check(self, answers: Mapping[str, dict[str, Any] | Exception]) -> list[dict[str, Any]]:
        """Compare what workers say of themselves, see `about`; return what may be kept of it, without addresses."""
        here, differ, found = about(self._paths)["versions"], [], []
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # it died in the meantime
            if isinstance(answer, Exception):
                raise ClusterError(f"worker {address} cannot compute cells: {type(answer).__name__}: {answer}")
            differ += [
                f"{address} has {name} {version} (here {here.get(name)})"
                for name, version in answer["versions"].items()
                if version != here.get(name)
            ]
            found.append({**answer["machine"], "rounding": answer["rounding"]})
        if differ:
            raise ClusterError("workers must have the versions of this machine; " + ", ".join(differ) + ".")
        for answer in found:
            self.note(answer["rounding"])
        return found

    def note(self, kind: str) -> None:
        """Take note of how somebody rounds."""
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        if len(self._kinds) == 1:
            return
        if self._same_bits:
            raise self._refusal()
        warnings.warn(f"{self._differ()}; every cell says which it was, and same_bits refuses it.", stacklevel=2)

    def _refusal(self) -> ClusterError:
        return ClusterError(f"{self._differ()}, and same_bits refuses that; what is finished is kept.")

    def _differ(self) -> str:
        return (
            f"machines that compute this run round differently ({', '.join(sorted(self._kinds))}): the last digits of "
            "results depend on which of them computed a cell"
        )


def computed_by(cells: Iterable[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
    """Which machines computed what, for people to read; empty where all was computed by the runner.

    Parameters
    ----------
    cells : iterable of (Cell, mapping)
        Finished cells and their provenance.

    Examples
    --------
    >>> kept = {"worker": "1f", "processor": "Some CPU", "rounding": "ab", "data came": "by its path"}
    >>> computed_by([(Cell("songs", "ecc", 0, 0), kept), (Cell("songs", "ecc", 0, 1), kept)])
    {'workers': {'1f, Some CPU, rounding ab, data by its path': 'songs: ecc 2'}}
    """
    found: dict[str, Counter[tuple[str, str]]] = {}
    roundings: set[str] = set()
    for cell, kept in cells:
        if "worker" in kept:
            who = f"{kept['worker']}, {kept['processor']}, rounding {kept['rounding']}"
            who += f", data {kept['data came']}" if "data came" in kept else ""
            found.setdefault(who, Counter())[cell.dataset, cell.ensemble] += 1
            roundings.add(kept["rounding"])
    if not found:
        return {}
    lines = {who: _listed(counts) for who, counts in found.items()}
    differ = f"{len(roundings)} kinds: the last digits of results depend on which machine computed a cell"
    return {"workers": lines, **({"rounding": differ} if len(roundings) > 1 else {})}


def _listed(counts: Mapping[tuple[str, str], int]) -> str:
    datasets = dict.fromkeys(dataset for dataset, _ in counts)
    parts = {name: [f"{kind} {n}" for (dataset, kind), n in counts.items() if dataset == name] for name in datasets}
    return "; ".join(f"{name}: {', '.join(kinds)}" for name, kinds in parts.items())


def about(paths: Iterable[str] = ()) -> dict[str, Any]:
    """What a worker says of itself, and of the code behind import paths."""
    return {"versions": {**versions(), **code_of(paths)}, "machine": machine(), "rounding": rounding()}
