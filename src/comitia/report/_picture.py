"""The picture that a page begins with: the losses of every aggregation with intervals, and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from comitia.report._blocks import Block
from comitia.report._presentation import style
from comitia.report._vocabulary import title
from comitia.report._words import number

if TYPE_CHECKING:
    from comitia.report._results import Results

_FAR = 1.5
"""A baseline further off than so many times the span of the others stands at the edge: it would press them together."""


@dataclass(frozen=True)
class Axis:
    """A scale from the first to the last percent that is drawn."""

    low: float
    high: float

    def at(self, percent: float) -> float:
        """Where a value stands, in percent of the width."""
        share = (percent - self.low) / (self.high - self.low or 1.0)
        return round(100 * min(max(share, 0.0), 1.0), 2)


def picture(results: Results) -> list[dict[str, Any]]:
    """Gather for each loss the lanes of the picture: a lane is an aggregation of an ensemble, with its interval.

    Over several datasets a value is their mean, and its interval has the standard error of that mean, over the folds.
    """
    return [_panel(results, results.blocks_of(loss)) for loss in results.losses]


def _panel(results: Results, blocks: Sequence[Block]) -> dict[str, Any]:
    measure = blocks[0].measure
    values = [(block, block.means, mean_errors(block)) for block in blocks]
    ends = np.concatenate([np.concatenate([means - errors, means + errors]) for _, means, errors in values])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    span = high - low or 1.0
    baseline = _baseline(results, blocks[0])
    far = baseline is not None and not low - _FAR * span <= baseline[1] <= high + _FAR * span
    if baseline is not None and not far:
        low, high = min(low, baseline[1]), max(high, baseline[1])
    axis = Axis(low - 0.04 * (high - low), high + 0.04 * (high - low))
    best = np.nanmax if measure.higher_is_better else np.nanmin
    leading = float(best(np.concatenate([means for _, means, _ in values])))
    groups: list[dict[str, Any]] = [
        {"ensemble": title(block.ensemble), "lanes": _lanes(block, means, errors, axis, leading)}
        for block, means, errors in values
    ]
    return {
        "measure": measure,
        "baseline": None
        if baseline is None
        else {"title": baseline[0], "value": number(baseline[1]), "at": axis.at(baseline[1]), "far": far},
        "groups": groups,
        "longest": max((len(lane["title"]) for group in groups for lane in group["lanes"]), default=0),
        "low": number(low),
        "high": number(high),
    }


def _lanes(block: Block, means: Any, errors: Any, axis: Axis, leading: float) -> list[dict[str, Any]]:
    lanes = []
    for method in block.all_methods:
        if method in block.same:
            continue
        place = block.index(method)
        mean, error = float(means[place]), float(np.nan_to_num(errors[place]))
        if np.isnan(mean):
            continue
        colour = style(method, block.all_methods).colour
        twins = [title(name) for name, twin in block.same.items() if twin == method]
        first = axis.at(mean - error)
        lanes.append(
            {
                "title": title(method),
                "twins": ", ".join(twins),
                "value": number(mean),
                "error": number(error) if error else "",
                "at": axis.at(mean),
                "from": first,
                "width": round(axis.at(mean + error) - first, 2),
                "colour": "var(--ink)" if colour == "#000000" else colour,
                "best": round(mean, 9) == round(leading, 9),
            }
        )
    return lanes


def mean_errors(block: Block) -> Any:
    """Standard error of the mean over the datasets that enter it, zero where it is not known: (methods,)."""
    errors = np.nan_to_num(block.errors[block.complete] if block.complete.any() else block.errors)
    return np.sqrt((errors**2).sum(axis=0)) / max(len(errors), 1)


def _baseline(results: Results, block: Block) -> tuple[str, float] | None:
    found = results.scored.best_baseline(block)
    if found is None:
        return None
    scores = results.scored.scores(*found)
    return title(found[1]), float(scores.groupby("dataset").mean().mean())
