"""What the paper concludes, held against a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from comitia.report._blocks import LEVEL, Beside, Block
from comitia.report._paper import PAPER
from comitia.report._vocabulary import Measure, title


@dataclass(frozen=True)
class Claim:
    """A conclusion of the paper for one ensemble, whether it holds in a run, and the numbers that say so."""

    sentence: str
    ensemble: str
    holds: bool
    because: str


@dataclass(frozen=True)
class MeanBeside:
    """A mean beside the paper's, and whether it holds.

    Attributes
    ----------
    ensemble, measure, method
        Of what; the method is empty for the mean over the paper's aggregations.
    beside : Beside
        The two means.
    """

    ensemble: str
    measure: Measure
    method: str
    beside: Beside

    @property
    def allowed(self) -> float:
        """Points by which ours may be worse: one, or two of its standard errors if that is more."""
        return max(1.0, 2 * self.beside.error)

    @property
    def holds(self) -> bool:
        return self.beside.difference * (-1 if self.measure.higher_is_better else 1) <= self.allowed


def claims(blocks: Iterable[Block]) -> list[Claim]:
    """Hold the paper's conclusions against blocks of the paper's aggregations, with ranks among these."""
    found = []
    for block in blocks:
        loss, known = block.measure.loss, block.all_methods
        if loss == "subset01" and "ptc-mode" in known:
            found.append(_best(block, "ptc-mode"))
        if loss == "f1" and "ctp" in known:
            found.append(_best(block, "ctp"))
        if loss == "f1" and {"gmv", "bmv"} <= set(known):
            found.append(_last(block, ("gmv", "bmv")))
        if block.friedman is not None and loss in ("hamming", "subset01", "f1"):
            found.append(_differ(block, expected=loss != "hamming"))
    return found


def means_beside(blocks: Iterable[Block]) -> Iterator[MeanBeside]:
    """Set the means of each ensemble, loss and aggregation beside the paper's."""
    for block in blocks:
        for method in block.methods:
            beside = block.beside_paper(method)
            if beside is not None:
                yield MeanBeside(block.ensemble, block.measure, method, beside)


def means_over_aggregations(lines: Iterable[MeanBeside]) -> Iterator[MeanBeside]:
    """Average the means of each ensemble and measure over the aggregations.

    Aggregations of the same members err on the same instances: the standard error is the mean of theirs.
    """
    groups: dict[tuple[str, str], list[MeanBeside]] = {}
    for line in lines:
        groups.setdefault((line.ensemble, line.measure.loss), []).append(line)
    for group in groups.values():
        means = np.mean([(line.beside.ours, line.beside.published, line.beside.error) for line in group], axis=0)
        yield MeanBeside(group[0].ensemble, group[0].measure, "", Beside(*map(float, means)))


@dataclass(frozen=True)
class Beyond:
    """The mean of an aggregation that the paper does not have, beside the paper's best, in percent."""

    ensemble: str
    measure: Measure
    method: str
    ours: float
    best_published: str
    published: float


def beyond(blocks: Iterable[Block]) -> Iterator[Beyond]:
    """Set the means of aggregations that the paper does not have beside the best that it has."""
    for block in blocks:
        if block.paper is None:
            continue
        known = [column for column, method in enumerate(block.methods) if method in PAPER]
        both = np.isfinite(block.paper[:, known]).all(axis=1)
        if not both.any():
            continue
        means = block.paper[both][:, known].mean(axis=0)
        best = int(means.argmax() if block.measure.higher_is_better else means.argmin())
        for method in block.all_methods:
            if method in PAPER:
                continue
            ours = float(block.values[both, block.index(method)].mean())
            yield Beyond(block.ensemble, block.measure, method, ours, block.methods[known[best]], float(means[best]))


def _best(block: Block, method: str) -> Claim:
    rank = block.average_ranks[block.index(method)]
    best = int(np.argmin(block.average_ranks))
    holds = bool(rank <= block.average_ranks[best] + 1e-9)
    because = (
        f"{rank:.2f}" if holds else f"{rank:.2f}, {title(block.methods[best])} has {block.average_ranks[best]:.2f}"
    )
    return Claim(f"{block.measure.title}: {title(method)} has the best average rank", block.ensemble, holds, because)


def _last(block: Block, methods: tuple[str, ...]) -> Claim:
    columns = {block.index(method) for method in methods}
    ranks = block.average_ranks
    others = [rank for column, rank in enumerate(ranks) if column not in columns]
    holds = bool(others) and max(others) < min(ranks[column] for column in columns)
    shown = ", ".join(f"{title(block.methods[i])} {ranks[i]:.2f}" for i in np.argsort(-ranks, kind="stable"))
    names = " and ".join(title(method) for method in methods)
    return Claim(f"{block.measure.title}: {names} are last", block.ensemble, holds, shown)


def _differ(block: Block, *, expected: bool) -> Claim:
    assert block.friedman is not None
    p = block.friedman.p_value
    sentence = "the aggregations differ (Friedman, p < 0.05)" if expected else "they do not differ (Friedman, p > 0.05)"
    return Claim(f"{block.measure.title}: {sentence}", block.ensemble, (p < LEVEL) == expected, f"p = {p:.2g}")
