"""What cells have counted besides losses, summed over the folds: what a page shows of each dataset and ensemble."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from comitia._rows import Row
from comitia.experiments import Cell

DISPUTED = 5
"""Instances that are kept for each loss."""

Kept = tuple[Cell, Mapping[str, Any]]


def baseline_rows(cells: Iterable[Kept], tested: Mapping[tuple[str, int, int], int]) -> list[dict[str, Any]]:
    """Give the baselines' losses as rows; they are the same for all ensembles of a fold, of which one is taken.

    Parameters
    ----------
    cells : iterable of (Cell, mapping)
        What each cell kept.
    tested : mapping of (dataset, repeat, fold) to int
        The number of instances that a fold tests on.
    """
    found: dict[tuple[str, int, int], Mapping[str, Any]] = {}
    for cell, kept in cells:
        found.setdefault((cell.dataset, cell.repeat, cell.fold), kept["baselines"])
    return [
        vars(Row(dataset, "baseline", repeat, fold, loss, name, "", 0, value, tested[dataset, repeat, fold]))
        for (dataset, repeat, fold), losses in found.items()
        for loss, values in losses.items()
        for name, value in values.items()
    ]


def summed(cells: Iterable[Kept]) -> list[dict[str, Any]]:
    """Sum what cells kept over the folds, for each dataset and ensemble.

    Returns
    -------
    list of dict
        ``dataset``, ``ensemble``; ``labels``: for each loss and aggregation how often each label was rightly given,
        wrongly given and missed; ``disputed``: instances on which decisions for a loss differ most; ``bins``: for parts
        of [0, 1] of equal width the number of probabilities, their sum, and how many of them came true; ``seconds``: of
        a fit, and of a prediction for 1,000 instances, on average.
    """
    groups: dict[tuple[str, str], list[tuple[int, Mapping[str, Any]]]] = {}
    for cell, kept in cells:
        groups.setdefault((cell.dataset, cell.ensemble), []).append((cell.repeat, kept))
    return [
        {
            "dataset": dataset,
            "ensemble": ensemble,
            "labels": _labels([kept for _, kept in found]),
            # A repeat tests on all instances again.
            "disputed": _disputed([kept for repeat, kept in found if repeat == found[0][0]]),
            "bins": np.sum([kept["bins"] for _, kept in found], axis=0).round(9).tolist(),
            "seconds": _seconds([kept["seconds"] for _, kept in found]),
        }
        for (dataset, ensemble), found in groups.items()
    ]


def _labels(found: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str, str], Any] = {}
    for one in (one for kept in found for one in kept["labels"]):
        key = one["loss"], one["aggregation"], one["pool"]
        counts[key] = np.asarray(one["counts"]) + counts.get(key, 0)
    names = ("loss", "aggregation", "pool")
    return [{**dict(zip(names, key, strict=True)), "counts": total.tolist()} for key, total in counts.items()]


def _disputed(found: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    by_loss: dict[str, list[dict[str, Any]]] = {}
    for one in (one for kept in found for one in kept["disputed"]):
        by_loss.setdefault(one["loss"], []).append(one)
    order = {loss: sorted(ones, key=lambda one: (-one["doubt"], one["instance"])) for loss, ones in by_loss.items()}
    return [one for ones in order.values() for one in ones[:DISPUTED]]


def _seconds(found: list[Mapping[str, float]]) -> dict[str, float]:
    predicted = sum(one["predicted"] for one in found)
    return {
        "fit": round(sum(one["fit"] for one in found) / len(found), 4),
        "predict": round(1000 * sum(one["predict"] for one in found) / max(predicted, 1), 4),
    }
