"""What lies beneath losses: which labels are hard, where decisions differ, whether probabilities can be believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from comitia._titles import method_name
from comitia.report._presentation import STYLES
from comitia.report._vocabulary import title
from comitia.report._words import counted, duration

if TYPE_CHECKING:
    from comitia.report._recommendation import Recommendation
    from comitia.report._results import Results

_HARDEST = 30
_SHOWN = 3
_RELIABILITY_BINS = 10


def beneath(results: Results) -> list[dict[str, Any]]:
    """Gather for each dataset what was counted besides losses; empty where nothing was."""
    found = []
    for described in results.datasets:
        name = str(described["name"])
        details = {str(one["ensemble"]): one for one in results.details if one["dataset"] == name}
        labels = [str(label) for label in described.get("label_names", ())]
        if not details or not labels:
            continue
        repeats = int(results.plan.get("repeats", 1))
        advice = [one for one in results.recommendations if one.ensemble in details]
        found.append(
            {
                "name": name,
                "labels": [table for one in advice if (table := _labels(one, details[one.ensemble], labels, repeats))],
                "disputed": [shown for one in advice if (shown := _disputed(one, details[one.ensemble], labels))],
                "reliability": list(_lines(details, reliability)),
                "coverage": list(_lines(details, coverage)),
                "wrong": _wrong(details),
                "times": [_times(ensemble, one["seconds"]) for ensemble, one in details.items()],
            }
        )
    return found


def reliability(bins: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Turn counted probabilities into points of a reliability diagram: what was said, and how often it came true.

    Examples
    --------
    >>> bins = np.zeros((3, 50))
    >>> bins[:, 10] = 8, 1.7, 2
    >>> reliability(bins)
    [(0.2125, 0.25)]
    """
    count, said, true = bins.reshape(3, _RELIABILITY_BINS, -1).sum(axis=2)
    return [(float(s / n), float(t / n)) for n, s, t in zip(count, said, true, strict=True) if n]


def coverage(bins: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Turn counted probabilities into a risk–coverage curve: share of answers kept, and share of those that are wrong.

    Labels are cut at one half; those whose probability is nearest to it are left open first, as Hamming loss with a
    cost for open labels does (Nguyen and Hüllermeier 2021).

    Examples
    --------
    >>> bins = np.zeros((3, 50))
    >>> bins[:, 0], bins[:, 30] = (6, 0, 0), (4, 2.4, 3)
    >>> coverage(bins)
    [(0.6, 0.0), (1.0, 0.1)]
    """
    count, _, true = bins
    half = len(count) // 2
    wrong = np.where(np.arange(len(count)) < half, true, count - true)
    # The surest of either side first.
    kept = np.cumsum(count[:half] + count[half:][::-1])
    lost = np.cumsum(wrong[:half] + wrong[half:][::-1])
    total = kept[-1] or 1.0
    points = dict.fromkeys((float(k / total), float(w / k)) for k, w in zip(kept, lost, strict=True) if k)
    return list(points)


def _lines(details: Mapping[str, Mapping[str, Any]], made: Any) -> Iterator[dict[str, Any]]:
    colours = [look.colour for name, look in STYLES.items() if name not in ("gmv", "bmv")]
    for place, (ensemble, one) in enumerate(details.items()):
        points = made(np.asarray(one["bins"], dtype=np.float64))
        if points:
            line = {
                "title": title(ensemble),
                "colour": colours[place % len(colours)],
                "dash": 3 * (place // len(colours)),
            }
            yield {**line, "points": points}


def _wrong(details: Mapping[str, Mapping[str, Any]]) -> float:
    """The largest share of wrong answers of the curves, which they are drawn up to."""
    shares = [share for one in details.values() for _, share in coverage(np.asarray(one["bins"], dtype=np.float64))]
    return max([*shares, 0.01])


def _labels(
    advice: Recommendation, detail: Mapping[str, Any], names: Sequence[str], repeats: int
) -> dict[str, Any] | None:
    for one in detail["labels"]:
        if (one["loss"], one["aggregation"]) == (advice.loss, advice.aggregation) and _pool(one) == advice.pool:
            rows = [_label(name, counts, repeats) for name, *counts in zip(names, *one["counts"], strict=True)]
            rows.sort(key=lambda row: (row["f1"] is not None, row["f1"]))
            return {
                "measure": advice.measure,
                "choice": advice.choice,
                "rows": rows[:_HARDEST],
                "note": f"the hardest {_HARDEST} of {counted(len(rows), 'label')}" if len(rows) > _HARDEST else "",
            }
    return None


def _pool(one: Mapping[str, Any]) -> str:
    return one["pool"] or "mean"


def _label(name: str, counts: Sequence[int], repeats: int) -> dict[str, Any]:
    right, wrong, missed = counts

    def percent(part: int, whole: int) -> float | None:
        return 100 * part / whole if whole else None

    return {
        "name": name,
        "examples": round((right + missed) / repeats),
        "found": percent(right, right + missed),
        "right": percent(right, right + wrong),
        "f1": percent(2 * right, 2 * right + wrong + missed),
    }


def _disputed(advice: Recommendation, detail: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    instances = [
        {"number": one["instance"] + 1, "truth": _set(one["truth"], names), "answers": _answers(one, names)}
        for one in detail["disputed"]
        if one["loss"] == advice.loss
    ]
    if not instances:
        return None
    return {"measure": advice.measure, "ensemble": title(advice.ensemble), "instances": instances[:_SHOWN]}


def _answers(one: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str, bool]]:
    """For each answer that was given its labels, who gave it, and whether it is right."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for answer in one["answers"]:
        method = title(method_name(answer["aggregation"], answer["pool"]))
        groups.setdefault(tuple(answer["labels"]), []).append(method)
    return [(_set(given, names), ", ".join(who), list(given) == list(one["truth"])) for given, who in groups.items()]


def _set(places: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[place] for place in places) or "none"


def _times(ensemble: str, seconds: Mapping[str, float]) -> tuple[str, str, str]:
    return title(ensemble), duration(seconds["fit"], 2), duration(seconds["predict"], 3)
