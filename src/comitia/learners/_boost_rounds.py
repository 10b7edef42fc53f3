"""Boosting one sequence: round after round a sketch, a tree, Newton's values, and a look at what is unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comitia._threads import Helpers
from comitia.learners._boost_bins import Bins, cut_codes
from comitia.learners._boost_growth import TreeLimits, find_leaves, grow_boosted
from comitia.learners._boost_histograms import BLOCK
from comitia.learners._boost_input import Settings
from comitia.learners._boost_scores import HIGHEST_SUM, curvature, log_loss, newton_values, project, quantise, step
from comitia.learners._tree_codes import FeatureCodes, thresholds

BALANCE = 0.25
"""Gradients of a label are divided by this power of its mean curvature.

Zero takes them as they are, a half turns the gain into Newton's for a curvature that does not vary.
"""

LABELS_AT_ONCE = 8
"""Labels are given to threads so many at a time."""

_CELLS_OF_A_PART = 1 << 17
"""Scores that are worth a thread: it takes a tenth of a millisecond to renew them."""


class Round(NamedTuple):
    """One tree in terms of bins, as :func:`grow_boosted` returns it, and the values of its leaves."""

    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    right: NDArray[np.int32]
    gain: NDArray[np.float64]
    values: NDArray[np.float32]


def boost(
    codes: FeatureCodes,
    bins: Bins,
    Y: NDArray[np.int8],
    weight: NDArray[np.float64],
    judged: NDArray[np.float64],
    settings: Settings,
    seed: int,
    helpers: Helpers,
) -> tuple[NDArray[Any], ...]:
    """Boost one sequence; return the arrays of :class:`comitia.learners._boosting.BoostedTrees` after its sizes."""
    sequence = _Sequence(bins, Y, weight, judged, settings, np.random.default_rng(seed), helpers)
    rounds: list[Round] = []
    losses = [sequence.unseen_loss()]
    least, without = losses[0], 0
    while len(rounds) < settings.max_rounds and without < settings.patience:
        grown = sequence.grow()
        without += 1
        if grown is None:  # no feature that was drawn can be cut
            continue
        rounds.append(grown)
        losses.append(sequence.unseen_loss())
        if not sequence.has_unseen or losses[-1] < least:
            least, without = losses[-1], 0
    helpers.finish()
    return (
        sequence.base,
        *_joined(codes, bins, rounds, Y.shape[1]),
        np.array(losses if sequence.has_unseen else []),
    )


@dataclass
class _Sequence:
    """The scores of all instances, and what the next tree needs to know of them.

    Helpers are given parts of the instances, or of the labels where sums are over instances: no sum depends on them.
    """

    bins: Bins
    Y: NDArray[np.int8]
    weight: NDArray[np.float64]
    judged: NDArray[np.float64]
    settings: Settings
    rng: np.random.Generator
    helpers: Helpers
    base: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        n, K = self.Y.shape
        # Compiled anew for arrays that cannot be written to, which broadcast weights are.
        self.weight, self.judged = np.array(self.weight), np.array(self.judged)
        self.seen = np.flatnonzero(self.weight > 0).astype(np.uint32)
        self.unseen = np.flatnonzero((self.weight == 0) & (self.judged > 0)).astype(np.uint32)
        self.all = np.concatenate([self.seen, self.unseen])
        self.uniform = bool((self.judged[self.unseen] == 1).all())
        total = float(self.weight.sum())
        # Half an instance of either kind keeps the log-odds of constant labels finite.
        share = (self.weight @ self.Y + 0.5) / (total + 1.0)
        self.base = np.log(share / (1.0 - share))
        self.scores = np.tile(self.base.astype(np.float32), (n, 1))
        self.gradient = np.zeros((n, K), np.float32)
        self.leaves = np.zeros(n, np.int32)
        self._step(np.zeros((1, K), np.float32))
        outputs = self.settings.n_outputs
        self.sketch = np.empty((n, -(-outputs // BLOCK) * BLOCK), np.float32) if outputs < K else self.gradient
        self.channels = np.zeros((n, -(-(outputs + 1) // BLOCK) * BLOCK), np.int32)
        counts = bool((self.weight == np.rint(self.weight)).all()) and total < HIGHEST_SUM
        self.unit = 1.0 if counts else (HIGHEST_SUM - len(self.seen)) / total
        self.sums, self.products = np.empty(K), np.empty(K)

    @property
    def has_unseen(self) -> bool:
        return len(self.unseen) > 0

    def unseen_loss(self) -> float:
        """Return the mean log loss over labels and unseen instances."""
        if not self.has_unseen:
            return 0.0

        def add_up(labels: slice) -> None:
            its = labels.start, labels.stop
            log_loss(self.unseen, self.judged, self.uniform, self.gradient, *its, self.products, self.sums)

        self._over_labels(add_up)
        return float(self.sums.mean() / self.judged[self.unseen].sum())

    def grow(self) -> Round | None:
        """Grow one tree and take its step; None if it has one leaf only."""
        settings = self.settings
        rows = self.seen
        if settings.subsample < 1:
            drawn = rows[self.rng.random(len(rows)) < settings.subsample]
            rows = drawn if len(drawn) else rows
        chosen = np.sort(self.rng.permutation(len(self.bins.n_bins))[: settings.n_features])
        gradient_unit = self._sketch(rows)
        limits = TreeLimits(
            min(settings.max_leaves, len(rows)),
            settings.max_depth,
            settings.min_samples_leaf * self.unit,
            settings.l2 * self.unit,
        )
        feature, cut, missing_left, right, gain = grow_boosted(self.bins, self.channels, rows.copy(), chosen, limits)
        if len(feature) == 1:
            return None

        def find(part: slice) -> None:
            find_leaves(self.bins, self.all[part], feature, cut, missing_left, right, self.leaves)

        self._over_rows(find, len(self.all))
        values = np.empty((len(feature) // 2 + 1, self.Y.shape[1]), np.float32)

        def aim(labels: slice) -> None:
            its = labels.start, labels.stop
            shrunk = settings.l2, settings.learning_rate
            sums = np.zeros((2, len(values), labels.stop - labels.start))
            newton_values(self.seen, self.leaves, self.weight, self.gradient, *shrunk, *its, sums, values)

        self._over_labels(aim)
        self._step(values)
        return Round(feature, cut, missing_left, right, gain * (self.unit / gradient_unit**2), values)

    def _sketch(self, rows: NDArray[np.uint32]) -> float:
        """Write the channels of the rows; return what one of the gradients' units is."""
        K, outputs = self.Y.shape[1], self.settings.n_outputs

        def add_up(labels: slice) -> None:
            curvature(rows, self.weight, self.gradient, labels.start, labels.stop, self.sums)

        self._over_labels(add_up)
        scale = np.maximum(self.sums / self.sums.max(), 1e-6) ** -BALANCE
        if outputs < K:
            signs = self.rng.choice(np.array([-1.0, 1.0]), (K, outputs)) / np.sqrt(outputs)
            # Columns of zeros fill up the last block: eight outputs are added at once.
            projection = np.zeros((K, self.sketch.shape[1]), np.float32)
            projection[:, :outputs] = signs * scale[:, np.newaxis]
            self._over_rows(lambda part: project(rows[part], self.gradient, projection, self.sketch), len(rows))
            scale = np.ones(outputs)
        return float(quantise(rows, self.sketch, scale, self.weight, self.unit, np.zeros(len(scale)), self.channels))

    def _step(self, values: NDArray[np.float32]) -> None:
        def renew(part: slice) -> None:
            step(self.all[part], self.leaves, values, self.Y, self.scores, self.gradient)

        self._over_rows(renew, len(self.all))

    def _over_rows(self, work: Callable[[slice], None], n: int) -> None:
        self.helpers.over(work, n, at_least=max(1, _CELLS_OF_A_PART // self.Y.shape[1]))

    def _over_labels(self, work: Callable[[slice], None]) -> None:
        n, K = self.Y.shape
        self.helpers.over(work, K, at_least=LABELS_AT_ONCE if n * K >= _CELLS_OF_A_PART else K)


def _joined(codes: FeatureCodes, bins: Bins, rounds: list[Round], K: int) -> tuple[NDArray[Any], ...]:
    """Return the trees as arrays, tree after tree."""
    none = np.empty(0, np.int32)
    feature = np.concatenate([none, *(r.feature for r in rounds)])
    cut = np.concatenate([none, *(r.cut for r in rounds)])
    return (
        np.cumsum([0, *(len(r.feature) for r in rounds)], dtype=np.int64),
        np.cumsum([0, *(len(r.values) for r in rounds)], dtype=np.int64),
        feature,
        thresholds(codes, feature, *cut_codes(bins, feature, cut)),
        np.concatenate([none, *(r.right for r in rounds)]),
        np.concatenate([np.empty(0, np.bool_), *(r.missing_left for r in rounds)]),
        np.concatenate([np.empty(0), *(r.gain for r in rounds)]),
        np.concatenate([np.empty((0, K), np.float32), *(r.values for r in rounds)]),
    )
