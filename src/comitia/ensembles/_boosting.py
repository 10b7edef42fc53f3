"""Ensembles of boosted multi-objective trees."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from comitia._labels import FloatArray, dense
from comitia.ensembles._bootstrap import BootstrapEnsemble
from comitia.ensembles._crews import BoostedCrew, Crew
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    documented,
)
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.ensembles._size import Size
from comitia.learners._boosting import boost_trees
from comitia.losses import Constraints


@documented
class EMOBTClassifier(BootstrapEnsemble):
    """Ensemble of multi-objective boosted trees: each member is a whole boosted sequence, grown on a bootstrap.

    A tree of a sequence serves all labels at once, and sequences end where the log loss of instances that members have
    not seen is smallest on average over the members.  So nothing needs tuning, and ten members do what a hundred trees
    of a forest do.  The number of trees is common to all members: no instance has told its judges when to stop.

    Parameters
    ----------
    n_estimators : int, default=10
        Number of boosted sequences.
    learning_rate : float, default=0.1
        Share of Newton's step that each tree takes.
    max_rounds : int, default=500
        Most trees of a sequence.  Without a bootstrap and without ``max_samples`` nothing is unseen, and all are grown.
    max_leaves : int, default=15
        Most leaves of a tree; the leaf that gains the most is split first.
    max_depth : int or None, default=None
        Most questions on the way to a leaf; None sets no limit.
    min_samples_leaf : float, default=3
        Fewest instances in a leaf, one that was drawn twice counting twice.
    l2 : float, default=3
        Penalty on the values of leaves.
    max_features : int, float or None, default=0.2
        Features that each tree is grown on: a number, a share (but five at least), or all.
    subsample : float, default=0.6
        Share of a member's instances that decide on the splits of each tree.
    max_bins : int, default=64
        Most bins that the values of a feature are put into.
    sketch : "auto", int or None, default="auto"
        Outputs that the gradients of all labels are projected to before a tree is grown; ``None`` for all labels,
        ``"auto"`` for 15 if there are more than 23.
    patience : int, default=25
        No more trees are grown after so many that did not lower the loss of the instances a member has not seen.
    [[sampling parameters]]

    Attributes
    ----------
    [[sampling attributes]]
    n_rounds_ : int
        Trees of each sequence that are used; one that ended before has fewer.

    See Also
    --------
    comitia.learners._boosting.boost_trees : The formulas.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of Statistics 29.
    Iosipoi and Vakhrushev (2022), SketchBoost: fast gradient boosted decision tree for multioutput problems, NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from comitia import EMOBTClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> ensemble = EMOBTClassifier(n_estimators=3, loss="f1", random_state=0).fit(X, Y)
    >>> ensemble.predict(X[:2]).shape
    (2, 5)
    """

    title: ClassVar[str] = "EMOBT"
    brief: ClassVar[str] = "boosted trees"
    about: ClassVar[str] = "ensemble of multi-objective boosted trees"
    _nominal = "ordinal"

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        learning_rate: float = 0.1,
        max_rounds: int = 500,
        max_leaves: int = 15,
        max_depth: int | None = None,
        min_samples_leaf: float = 3,
        l2: float = 3.0,
        max_features: int | float | None = 0.2,
        subsample: float = 0.6,
        max_bins: int = 64,
        sketch: Literal["auto"] | int | None = "auto",
        patience: int = 25,
        loss: TargetLike = "hamming",
        aggregation: HowLike | None = None,
        pool: PoolLike = "mean",
        reading: ReadingLike = "auto",
        calibration: CalibrationLike | None = None,
        constraints: Constraints | None = None,
        sparse_output: SparseOutput = "auto",
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            loss=loss,
            aggregation=aggregation,
            pool=pool,
            reading=reading,
            calibration=calibration,
            constraints=constraints,
            sparse_output=sparse_output,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.sketch = sketch
        self.patience = patience

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean share of each feature in what the splits of a member gain."""
        check_is_fitted(self, "members_")
        shares = [model.feature_importances(self.n_rounds_) for model in self.members_.models]
        return np.asarray(np.mean(shares, axis=0))

    @property
    def n_rounds_(self) -> int:
        """Trees of each sequence that are used."""
        check_is_fitted(self, "members_")
        return int(self.members_.n_rounds)

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), BoostedCrew)

    @staticmethod
    def _work(size: Size) -> float:
        return 300 * size.members * size.n * (sqrt(size.values) + sqrt(size.labels))

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        models = boost_trees(
            data.X,
            dense(data.Y),
            member_integers(self._entropy, members),
            sample_weight=self._counts(data, len(members)),
            unseen_weight=data.weight,
            learning_rate=self.learning_rate,
            max_rounds=self.max_rounds,
            max_leaves=self.max_leaves,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2=self.l2,
            max_features=self.max_features,
            subsample=self.subsample,
            max_bins=self.max_bins,
            sketch=self.sketch,
            patience=self.patience,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        return BoostedCrew(tuple(models))

    def _counts(self, data: TrainingSet, n_members: int) -> FloatArray:
        """Return the weights in each member's sample; those that sum to less than the instances drawn are shares."""
        draws = data.draws if data.draws is not None else np.tile(data.weight[:, None], (1, n_members))
        drawn = np.count_nonzero(draws, axis=0)
        return np.asarray(draws * np.maximum(1.0, drawn / draws.sum(axis=0)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
