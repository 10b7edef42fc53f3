"""What a choice is held against: the usual vote, answers that learn nothing, and the other ensembles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from comitia import statistics
from comitia._baselines import BASELINES
from comitia.report._blocks import LEVEL, Block
from comitia.report._vocabulary import title
from comitia.report._words import p_text, signed

VOTE = "gmv"
"""The aggregation that is usual: average the members and cut at one half."""

Kind = Literal["vote", "baseline", "ensemble"]


@dataclass(frozen=True)
class Rival:
    """Something a choice is held against.

    Attributes
    ----------
    kind : {"vote", "baseline", "ensemble"}
        The usual vote of the same members, the best answer that learns nothing, or another ensemble.
    ensemble, method : str
        Which; a baseline has the ensemble ``"baseline"``.
    percent : float
        Its mean on what both were run on, as it is shown.
    points : float
        Points by which the choice is better; negative where it is worse.
    p_value : float or None
        Chance of such a difference between equals, after Holm's correction for all rivals of its kind; None where
        one fold says nothing about chance.

    Examples
    --------
    >>> from comitia.report import Rival
    >>> rival = Rival("ensemble", "ebr", "ctp", percent=64.0, points=2.5, p_value=0.03)
    >>> rival.title, rival.beaten
    ('EBR', True)
    """

    kind: Kind
    ensemble: str
    method: str
    percent: float
    points: float
    p_value: float | None = None

    @property
    def beaten(self) -> bool:
        """Whether the choice is better by more than chance explains."""
        return self.points > 0 and self.p_value is not None and self.p_value < LEVEL

    @property
    def title(self) -> str:
        return {"vote": "the usual vote", "baseline": title(self.method), "ensemble": title(self.ensemble)}[self.kind]

    def as_record(self, percent: bool = True) -> dict[str, Any]:
        """Give it as plain values, for JSON; ``percent`` is whether the loss is shown so."""
        names = {"kind": self.kind, "ensemble": self.ensemble, "aggregation": self.method}
        shown = {"percent": self.percent if percent else None, "value": self.percent}
        return {**names, **shown, "points_better": self.points, "p_value": self.p_value}


@dataclass(frozen=True, eq=False)
class Scored:
    """All that was scored, fold by fold.

    Attributes
    ----------
    rows, baselines : DataFrame
        Checked rows, see `comitia.report._blocks.checked_rows`; of baselines there may be none.
    sizes : mapping of str to int
        Number of instances of each dataset.
    """

    rows: pd.DataFrame
    baselines: pd.DataFrame | None
    sizes: Mapping[str, int]

    def rivals(self, block: Block, method: str, others: Iterable[tuple[Block, str]]) -> tuple[Rival, ...]:
        """Hold a method of a block against the usual vote, the best baseline and the best of each other ensemble.

        On one dataset by the corrected resampled t-test across folds; over several by Wilcoxon's signed-rank test, and
        ensembles, where there are three or more, only after Friedman's test has found that they differ.
        """
        other = list(others)
        candidates: list[tuple[Kind, Block, str]] = []
        if VOTE in block.all_methods and not is_vote(block, method):
            candidates.append(("vote", block, VOTE))
        if (baseline := self.best_baseline(block)) is not None:
            candidates.append(("baseline", *baseline))
        candidates += [("ensemble", *one) for one in other]
        held = (self._held(kind, block, method, *one) for kind, *one in candidates)  # type: ignore[arg-type]
        found = [one for one in held if one is not None]
        rivals = [rival for rival, _ in found]
        # Each kind is a question of its own.
        for kind in ("vote", "baseline", "ensemble"):
            asked = {k: p for k, (one, p) in enumerate(found) if p is not None and one.kind == kind}
            for place, p_value in zip(asked, statistics.holm(list(asked.values())), strict=True):
                rivals[place] = replace(rivals[place], p_value=float(p_value))
        if (alike := self.friedman(block, [(block, method), *other])) is not None and alike.p_value >= LEVEL:
            rivals = [
                replace(one, p_value=max(one.p_value or 0.0, alike.p_value)) if one.kind == "ensemble" else one
                for one in rivals
            ]
        return tuple(rivals)

    def friedman(self, block: Block, choices: Sequence[tuple[Block, str]]) -> statistics.TestResult | None:
        """Whether ensembles, each with its best method, differ over the datasets; None for fewer than three or two."""
        if len(choices) < 3 or len(block.datasets) < 2:
            return None
        table = pd.concat([self.scores(one, method).groupby("dataset").mean() for one, method in choices], axis=1)
        table = table.dropna()
        return statistics.friedman(table.to_numpy()) if len(table) > 1 else None

    def best_baseline(self, block: Block) -> tuple[Block, str] | None:
        """Find the answer that learns nothing and does best, as a block and a method."""
        if self.baselines is None:
            return None
        of_loss = self.baselines[self.baselines["loss"] == block.measure.loss]
        of_loss = of_loss[of_loss["dataset"].isin(block.datasets)]
        if of_loss.empty:
            return None
        means = block.measure.shown(of_loss.groupby("method")["value"].mean())
        best = str(means.idxmax() if block.measure.higher_is_better else means.idxmin())
        return replace(block, ensemble="baseline", methods=tuple(BASELINES), same={}, size=0), best

    def scores(self, block: Block, method: str) -> pd.Series:
        """Percent of a method in each dataset, repeat and fold."""
        rows = self.baselines if block.ensemble == "baseline" else self.rows
        assert rows is not None
        part = rows[
            (rows["ensemble"] == block.ensemble)
            & (rows["loss"] == block.measure.loss)
            & (rows["size"] == block.size)
            & (rows["method"] == method)
        ]
        values = part.set_index(["dataset", "repeat", "fold"])["value"].sort_index()
        return values.map(block.measure.shown)

    def _held(
        self, kind: Kind, block: Block, method: str, other: Block, theirs: str
    ) -> tuple[Rival, float | None] | None:
        """Hold a method against another where both were scored; None where that is nowhere."""
        both = pd.concat([self.scores(block, method), self.scores(other, theirs)], axis=1, keys=["ours", "theirs"])
        both = both.dropna()
        if both.empty:
            return None
        means = both.groupby("dataset", sort=False).mean()
        sign = 1 if block.measure.higher_is_better else -1
        points = sign * (means["ours"] - means["theirs"])
        rival = Rival(kind, other.ensemble, theirs, float(means["theirs"].mean()), float(points.mean()))
        if len(means) > 1:
            return rival, statistics.wilcoxon(points.to_numpy()).p_value
        if len(both) < 2:
            return rival, None
        name = str(means.index[0])
        of_a_fold, of_all_folds = block.tested[name]
        share = of_a_fold / self.sizes.get(name, of_all_folds)
        if not 0 < share < 1:
            return rival, None
        return rival, statistics.corrected_t_test(sign * (both["ours"] - both["theirs"]), share).p_value


def tested_against(rivals: Sequence[Rival], datasets: int) -> str:
    """Write by how many points a choice is better than each rival, with p-values and the test; empty without rivals."""
    if not rivals:
        return ""
    parts = []
    for one in rivals:
        name = f"{one.title} with {title(one.method)}" if one.kind == "ensemble" else one.title
        chance = "" if one.p_value is None else f" ({p_text(one.p_value)})"
        parts.append(f"{name} {signed(one.points)}{chance}")
    test = (
        "corrected resampled t-test across the folds"
        if datasets == 1
        else "Wilcoxon's signed-rank test over the datasets, ensembles after Friedman's"
    )
    return f"Points better than {', '.join(parts)}: {test}, with Holm's correction among ensembles."


def is_vote(block: Block, method: str) -> bool:
    """Whether a method is the usual vote, or equals it in every fold."""
    return VOTE in block.all_methods and block.index(method) == block.index(VOTE)
