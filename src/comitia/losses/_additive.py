"""Limits on answers of losses that add up over labels: most answers keep them unasked, and the others are mended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from comitia._labels import FloatArray, LabelArray
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _sizes, _within
from comitia.losses._hamming import Hamming
from comitia.losses._rules import Rules

Labels = NDArray[np.int64] | slice

# Takes the sign of a number off what its bits mean as an integer.
_BUT_SIGN = np.int64(np.iinfo(np.int64).max)


def least_hamming(loss: Hamming, p: FloatArray, rules: Rules) -> LabelArray:
    """Return the allowed labels of the smallest expected Hamming loss; rules must be greedy or a walk."""
    fp, fn = loss._costs(p.shape[1])
    take_level = loss.ties == "relevant"
    if rules.greedy and not (fp.ndim or fn.ndim):
        return _kept(loss._minimise_marginals(p), p, rules, None, float(fp / (fp + fn)), take_level)
    costs = np.broadcast_to(fp, p.shape[1]), np.broadcast_to(fn, p.shape[1])

    def gain(q: FloatArray, labels: Labels) -> FloatArray:
        return np.asarray(q * costs[1][labels] - (1 - q) * costs[0][labels])

    return _kept(loss._minimise_marginals(p), p, rules, gain, 0.0, take_level)


def most_probable(p: FloatArray, rules: Rules) -> LabelArray:
    """Return the allowed labeling of the largest probability, labels independent; rules must be greedy or a walk."""
    return _kept((p > 0.5).view(np.int8), p, rules, None if rules.greedy else _log_odds, 0.5 if rules.greedy else 0.0)


def _log_odds(p: FloatArray, labels: Labels) -> FloatArray:  # noqa: ARG001  # all labels gain alike
    """Return what predicting a label gains in log probability; certainty outweighs all that is uncertain."""
    certain = 1000.0 * p.shape[1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(p) - np.log1p(-p), -certain, certain))


def _kept(
    labeling: LabelArray,
    p: FloatArray,
    rules: Rules,
    gain: Callable[[FloatArray, Labels], FloatArray] | None,
    cut: float,
    take_level: bool = False,
) -> LabelArray:
    """Give the rows that break the rules the labels of the largest gain.

    ``labeling`` has all labels whose gain is above the cut.  ``gain`` is a function of probabilities and of the labels
    that these are of; where None, they are the gains.
    """
    # Where any size will do, labels that no rule names stay as they are.
    labels, some = rules.of_some if rules.any_size else (slice(None), rules)

    def keep(rows: slice) -> None:
        part = labeling[rows]
        if gain is None and not rules.exclusive:
            # Probabilities have no sign: their bits are in their order.
            _to_size(p[rows].view(np.int64), rules, part)
            return
        broken = np.flatnonzero(~rules.allows(part))
        if broken.size:
            there = broken if isinstance(labels, slice) else np.ix_(broken, labels)
            q, answers = p[rows][there], part[there]
            _mend(q if gain is None else gain(q, labels), answers, some, cut, take_level)
            part[there] = answers

    size = rows_at_once(p.shape[1])
    # Fewer take less time than a thread to start.
    over_slices(keep, len(p), at_least=2 * size, at_most=size // 2)
    return labeling


def _mend(worth: FloatArray, labeling: LabelArray, rules: Rules, cut: float, take_level: bool) -> None:
    if not rules.greedy:
        assert rules.walk
        labeling[:] = 0
        _within.best_walks(worth, *rules.walk, rules.at_least, rules.at_most, labeling)
        return
    if not rules.exclusive:
        _to_size(_in_order(worth), rules, labeling)
        return
    _sizes.settle_groups(worth, *rules.groups, labeling)
    broken = np.flatnonzero(~rules.allows(labeling))
    if broken.size:
        answers = np.zeros((len(broken), labeling.shape[1]), np.int8)
        _within.best_gains(
            worth[broken], cut, take_level, rules.group_of, len(rules.exclusive),
            rules.at_least, rules.at_most, answers,
        )  # fmt: skip
        labeling[broken] = answers


def _to_size(keys: NDArray[np.int64], rules: Rules, labeling: LabelArray) -> None:
    late = np.empty(len(keys), np.bool_)
    if not _sizes.bring_to_size(keys, rules.at_least, rules.at_most, labeling, late):
        return
    at = np.flatnonzero(late)
    answers, keys = labeling[at], keys[at]
    large = answers.sum(axis=1, dtype=np.int64) > rules.at_most
    sizes = np.where(large, rules.at_most, rules.at_least)
    cuts = np.empty(len(at), np.int64)
    for size, those in ((rules.at_most, large), (rules.at_least, ~large)):
        if those.any():
            last = keys.shape[1] - size
            cuts[those] = np.partition(keys[those], last, axis=1)[:, last]
    _sizes.cut_to_size(keys, cuts, sizes, answers)
    labeling[at] = answers


def _in_order(worth: FloatArray) -> NDArray[np.int64]:
    """Return integers in the order of the numbers: their bits, for negative ones in reverse."""
    bits = np.ascontiguousarray(worth).view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & _BUT_SIGN))
