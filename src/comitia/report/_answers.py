"""Which aggregation to use for a loss, by how much it is better, and whether that could be chance; in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from comitia import statistics
from comitia.report._blocks import LEVEL, Block
from comitia.report._vocabulary import Measure, title
from comitia.report._words import capital, listed, p_text


@dataclass(frozen=True)
class Answer:
    """What the results of one ensemble under one loss say.

    Attributes
    ----------
    ensemble : str
        Name of the ensemble.
    measure : Measure
        How the loss is shown.
    best : str
        The aggregation to use: best average rank over the datasets, or best mean where there is one dataset.
    better_than : tuple of str
        Aggregations that it beats significantly at the level 0.05.
    undecided : tuple of str
        Aggregations from which it cannot be told apart.
    p_value : float or None
        Of Friedman's test over the datasets, or against the second best across the folds of one dataset.
    test : str
        The test in words; empty when none is possible.
    text : str
        All of this in a sentence or two.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> cell = {"dataset": "mine", "ensemble": "ecc", "repeat": 0, "loss": "f1", "pool": "mean", "size": 50}
    >>> ways = [("gmv", 0, 0.36), ("gmv", 1, 0.38), ("ctp", 0, 0.31), ("ctp", 1, 0.32)]
    >>> rows = [cell | {"aggregation": way, "fold": fold, "value": value, "n_test": 9} for way, fold, value in ways]
    >>> results = Results(pd.DataFrame(rows))
    >>> (answer,) = results.answers
    >>> answer.best, answer.better_than, answer.undecided
    ('ctp', (), ('gmv',))
    """

    ensemble: str
    measure: Measure
    best: str
    better_than: tuple[str, ...]
    undecided: tuple[str, ...]
    p_value: float | None
    test: str
    text: str


def answers(blocks: Iterable[Block], sizes: Mapping[str, int] | None = None) -> list[Answer]:
    """Answer for each ensemble and loss, that is for each block.

    Over several datasets the aggregations are compared by Friedman's and Nemenyi's tests.  On a single one they are
    compared across its folds, by the corrected resampled t-test with Holm's correction: that speaks about this
    dataset alone.

    Parameters
    ----------
    blocks : iterable of Block
        Results; see `comitia.report._blocks.blocks`.
    sizes : mapping of str to int, optional
        Number of instances of each dataset.  Where it is not given, the folds of a repeat are taken to cover it.
    """
    return [_answer_of(block, sizes or {}) for block in blocks]


def _answer_of(block: Block, sizes: Mapping[str, int]) -> Answer:
    if len(block.methods) == 1:
        return _alone(block)
    return _over_datasets(block) if block.complete.sum() > 1 else _across_folds(block, sizes)


def _alone(block: Block) -> Answer:
    (method,) = block.methods
    others = [title(name) for name in block.same]
    text = f"{title(method)} scores {block.measure.title} {np.nanmean(block.values):.2f}{block.measure.unit}."
    if others:
        text += f" {capital(listed(others))} did the same in every fold: any of them will do."
    return Answer(block.ensemble, block.measure, method, (), (), None, "", capital(text))


def _over_datasets(block: Block) -> Answer:
    result = block.nemenyi
    assert result is not None
    means = block.values[block.complete].mean(axis=0)
    order = _ranking(block, means)
    best, others = order[0], order[1:]
    friedman = block.friedman
    beaten = [i for i in others if block.differ and result.p_values[best, i] < LEVEL]
    datasets = int(block.complete.sum())
    first = (
        f"{title(block.methods[best])} has the best average rank ({result.average_ranks[best]:.2f} of "
        f"{len(block.methods)}, {datasets} datasets) and {block.measure.title} {means[best]:.2f}{block.measure.unit} "
        f"on average, {_margins(block, means, order)}."
    )
    if friedman is None:
        p_value = float(result.p_values[best, others[0]])
        second = f"The difference is {'' if beaten else 'not '}significant (Nemenyi, {p_text(p_value)})."
        test = "Nemenyi's test over the datasets"
    else:
        p_value = friedman.p_value
        second = _friedman_sentence(block, others, beaten, p_value)
        test = "Friedman's test over the datasets, then Nemenyi's"
    if datasets < 5 and not beaten:
        second += f" Over only {datasets} datasets these tests find little."
    return _answer(block, best, others, beaten, p_value, test, f"{first} {second}")


def _friedman_sentence(block: Block, others: Sequence[int], beaten: Sequence[int], p_value: float) -> str:
    if p_value >= LEVEL:
        return f"That could be chance: the aggregations do not differ significantly (Friedman, {p_text(p_value)})."
    if not beaten:
        return (
            f"The aggregations differ (Friedman, {p_text(p_value)}), but it is not significantly better than any one "
            f"of them (Nemenyi, α\u00a0=\u00a0{LEVEL})."
        )
    text = (
        f"The aggregations differ (Friedman, {p_text(p_value)}); it is significantly better than "
        f"{listed([title(block.methods[i]) for i in beaten])}"
    )
    rest = [title(block.methods[i]) for i in others if i not in beaten]
    return text + (f", not than {listed(rest, 'or')}" if rest else "") + f" (Nemenyi, α\u00a0=\u00a0{LEVEL})."


def _across_folds(block: Block, sizes: Mapping[str, int]) -> Answer:
    # At most one dataset is complete here; where none is, the one with the most methods still says something.
    row = int(np.isfinite(block.values).sum(axis=1).argmax())
    name = block.datasets[row]
    means, folds = block.values[row], block.folds[name]
    order = [i for i in _ranking(block, means) if np.isfinite(means[i])]
    best, others = order[0], order[1:]
    error = block.errors[row, best]
    spread = f" ± {error:.2f}" if np.isfinite(error) else ""
    value = f"{means[best]:.2f}{spread}{block.measure.unit}"
    first = f"{title(block.methods[best])} does best on {name}: {block.measure.title} {value}"
    first += f", {_margins(block, means, order)}." if others else "."
    if len(folds) < 2 or not others:
        why = "One fold says nothing about chance." if others else "There is nothing to compare it with."
        return _answer(block, best, others, [], None, "", f"{first} {why}")
    sign = 1 if block.measure.higher_is_better else -1
    of_a_fold, of_all_folds = block.tested[name]
    share = of_a_fold / sizes.get(name, of_all_folds)
    tests = [statistics.corrected_t_test(sign * (folds[:, best] - folds[:, i]), share) for i in others]
    p_values = statistics.holm([test.p_value for test in tests])
    beaten = [i for i, p, test in zip(others, p_values, tests, strict=True) if p < LEVEL and test.statistic > 0]
    p_value = float(p_values[0])
    rest = [title(block.methods[i]) for i in others if i not in beaten]
    if beaten:
        second = f"It is significantly better than {listed([title(block.methods[i]) for i in beaten])}"
        second += f", not than {listed(rest, 'or')}" if rest else ""
    else:
        second = "That could be chance: it is not significantly better than any other"
    second += (
        f", across the {len(folds)} folds of this one dataset (corrected resampled t-test with Holm's correction, "
        f"α\u00a0=\u00a0{LEVEL}; {p_text(p_value)} against {title(block.methods[others[0]])})."
    )
    test = f"corrected resampled t-test across {len(folds)} folds of one dataset, with Holm's correction"
    return _answer(block, best, others, beaten, p_value, test, f"{first} {second}")


def _answer(
    block: Block,
    best: int,
    others: Sequence[int],
    beaten: Sequence[int],
    p_value: float | None,
    test: str,
    text: str,
) -> Answer:
    same = [title(method) for method, twin in block.same.items() if twin == block.methods[best]]
    if same:
        text += f" {capital(listed(same))} did the same in every fold."
    better_than = tuple(block.methods[i] for i in beaten)
    undecided = tuple(block.methods[i] for i in others if i not in beaten)
    return Answer(
        block.ensemble, block.measure, block.methods[best], better_than, undecided, p_value, test, capital(text)
    )


def _ranking(block: Block, means: np.ndarray) -> list[int]:
    """Order the methods by average rank, then by mean."""
    signed = -means if block.measure.higher_is_better else means
    ranks = block.average_ranks.round(9) if np.isfinite(block.average_ranks).all() else np.zeros_like(means)
    return [int(i) for i in np.lexsort((signed, ranks))]


def _margins(block: Block, means: np.ndarray, order: Sequence[int]) -> str:
    """Say by how much the first is better than the second, and than the usual vote."""
    best, second = order[0], order[1]
    parts = [f"{_margin(block, means, best, second)} {title(block.methods[second])}, the second"]
    usual = block.methods.index("gmv") if "gmv" in block.methods else best
    if usual not in (best, second) and usual in order:
        parts.append(f"{_margin(block, means, best, usual)} GMV, the usual vote")
    return ", and ".join(parts)


def _margin(block: Block, means: np.ndarray, best: int, other: int) -> str:
    points = round(float(means[best] - means[other]), 2) * (1 if block.measure.higher_is_better else -1)
    if points == 0:
        return "as good as"
    return f"{abs(points):.2f} points {'better' if points > 0 else 'worse'} than"
