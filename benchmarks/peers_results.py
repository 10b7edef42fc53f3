"""The rows of ``python -m benchmarks peers`` as tables: means, standard errors, ranks, tests and times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.peers_methods import LOSSES
from comitia.statistics import average_ranks, corrected_t_test

COMMITTEE = "Committee"
SUFFIX = {
    "oob": ", out-of-bag choice",
    "default": ", as it comes",
    "half": "",
    "cuts": ", tuned cuts",
    "decided": ", our decision",
}


@dataclass(frozen=True)
class Difference:
    """One method minus another over the folds that both have: in points, with its standard error, and the test's p."""

    mean: float
    error: float
    p_value: float
    folds: int

    @property
    def worse(self) -> bool:
        """More than one standard error above the other."""
        return self.mean > self.error

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.error:.2f} (p = {self.p_value:.2g})"


class Results:
    """Losses in percent by dataset, method and fold; F1 is a loss here, and shown as a measure by the page."""

    def __init__(self, rows: Iterable[dict[str, Any]], datasets: Iterable[str], order: Iterable[str]) -> None:
        self.rows = list(rows)
        self._losses: dict[tuple[str, str], dict[int, np.ndarray]] = {}
        for row in self.rows:
            for way, losses in row["losses"].items():
                title = title_of(row["method"], way)
                self._losses.setdefault((row["dataset"], title), {})[row["fold"]] = 100 * np.array(losses)
        present = {dataset for dataset, _ in self._losses}
        self.datasets = [dataset for dataset in datasets if dataset in present]
        known = {title for _, title in self._losses}
        titles = dict.fromkeys(title_of(name, way) for way in SUFFIX for name in order)
        self.titles = [title for title in titles if title in known]
        self.ours = {title_of(row["method"], way) for row in self.rows for way in row["losses"] if way in OURS}

    @property
    def peers(self) -> list[str]:
        """Peers as their users have them: cut at one half, with tuned cuts, or by their own decision."""
        return [title for title in self.titles if title not in self.ours and not title.endswith(SUFFIX["decided"])]

    @cached_property
    def folds(self) -> dict[str, int]:
        """How many folds the most complete method of each dataset has."""
        return {
            dataset: max(len(found) for (where, _), found in self._losses.items() if where == dataset)
            for dataset in self.datasets
        }

    def losses(self, dataset: str, title: str, loss: str) -> dict[int, float]:
        found = self._losses.get((dataset, title), {})
        return {fold: float(found[fold][LOSSES.index(loss)]) for fold in sorted(found)}

    def mean(self, dataset: str, title: str, loss: str) -> float | None:
        found = list(self.losses(dataset, title, loss).values())
        return float(np.mean(found)) if found else None

    def error(self, dataset: str, title: str, loss: str) -> float:
        """Standard error of the mean over the folds."""
        return standard_error(list(self.losses(dataset, title, loss).values()))

    def complete(self, title: str) -> bool:
        """Whether a method has all folds of every dataset, so that its means compare with the others'."""
        return all(len(self._losses.get((dataset, title), {})) == self.folds[dataset] for dataset in self.datasets)

    def ranks(self, titles: list[str], loss: str) -> dict[str, float]:
        """Average the ranks of the methods that are complete."""
        ranked = [title for title in titles if self.complete(title)]
        if len(ranked) < 2:
            return {}
        table = [[self.mean(dataset, title, loss) for title in ranked] for dataset in self.datasets]
        return dict(zip(ranked, average_ranks(table), strict=True))

    def compare(self, dataset: str, one: str, other: str, loss: str) -> Difference | None:
        """Compare two methods by the corrected resampled test on the folds that both have, two or more."""
        first, second = self.losses(dataset, one, loss), self.losses(dataset, other, loss)
        differences = [first[fold] - second[fold] for fold in first if fold in second]
        if len(differences) < 2:
            return None
        test = corrected_t_test(differences, test_share=1 / self.n_folds)
        return Difference(float(np.mean(differences)), standard_error(differences), test.p_value, len(differences))

    def best_peer(self, dataset: str, loss: str, against: str) -> str | None:
        """Return the peer with the smallest loss next to ``against``, on the folds that it shares with that."""
        found = {peer: self.compare(dataset, against, peer, loss) for peer in self.peers}
        known = {peer: difference.mean for peer, difference in found.items() if difference is not None}
        return max(known, key=lambda peer: known[peer]) if known else None

    @property
    def n_folds(self) -> int:
        return int(self.rows[0]["folds"])

    def labels(self, dataset: str) -> int:
        return next(int(row["K"]) for row in self.rows if row["dataset"] == dataset)

    def seconds(self, dataset: str, method: str, kind: str = "cpu", cuts: bool = False) -> float | None:
        """Seconds of a whole cross-validation on one core: the mean fold's, times the number of folds."""
        parts = ("fit", "predict", "cuts") if cuts else ("fit", "predict")
        found = [
            sum(row[kind].get(part, 0.0) for part in parts)
            for row in self.rows
            if row["dataset"] == dataset and row["method"] == method
        ]
        return self.n_folds * float(np.mean(found)) if found else None

    def weights(self, dataset: str) -> dict[str, float]:
        """Weights of the committee's members, averaged over the folds."""
        found = [row["weights"] for row in self.rows if row["dataset"] == dataset and "weights" in row]
        names = dict.fromkeys(name for weights in found for name in weights)
        return {name: float(np.mean([weights.get(name, 0.0) for weights in found])) for name in names}


OURS = ("oob", "default")


def title_of(method: str, way: str) -> str:
    return method if method == COMMITTEE else method + SUFFIX[way]


def standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
