"""Ensembles of multi-objective decision trees."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from comitia._labels import FloatArray, distinct_rows, stacked
from comitia.ensembles._bootstrap import BootstrapEnsemble
from comitia.ensembles._chosen import AUTO
from comitia.ensembles._chosen_trees import choose_tree_size
from comitia.ensembles._crews import Crew, TreeCrew
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
from comitia.learners._tree import grow_trees
from comitia.losses import Constraints


@documented
class EMODTClassifier(BootstrapEnsemble):
    """Ensemble of multi-objective decision trees: a random forest whose leaves hold the proportion of every label.

    A leaf also keeps how often each labelset occurred in it, so that the members' joint distributions can be pooled
    (``aggregation="ctp-joint"``).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : "auto", "sqrt", int, float or None, default="auto"
        Features tried at a split: the square root of their number, a number, a share, or all.  ``"auto"`` is the square
        root, or twice that where a few trees do better with it out of bag.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    min_samples_split : "auto" or int, default="auto"
        Fewest instances in a node that is split.  With two, leaves are pure, and what a tree votes for depends on the
        loss no more; a few leave it something to decide, and unlike a limit on leaves still let rare labels be split
        off.  ``"auto"`` is 4, or 2, 8, 16 or 32 where a few trees, cut back to it, do better out of bag: by the Brier
        score that a whole forest would have, and by more than two standard errors.  With fewer than 20 distinct
        instances, or if all labels are constant, nothing is chosen.  Where ``min_samples_leaf`` is given, it is 2.
    max_depth : int or None, default=None
        Most questions on the way to a leaf; None sets no limit.
    min_impurity_decrease : float, default=0
        Least decrease of the impurity, weighted by the share of the instances, for which a node is split.
    splitter : {"best", "random"}, default="best"
        Whether a feature is cut where that is best, or at random: extra-random trees, which differ more from each other
        and grow faster.
    [[sampling parameters]]

    Attributes
    ----------
    [[sampling attributes]]
    max_features_, min_samples_split_ : "sqrt", int, float or None; int
        What the trees were grown with: what was given, or what was chosen in the first fit.

    References
    ----------
    Kocev, Vens, Struyf and Džeroski (2007), Ensembles of multi-objective decision trees, ECML.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from comitia import EMODTClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> forest = EMODTClassifier(n_estimators=10, loss="f1", random_state=0).fit(X, Y)
    >>> forest.predict(X[:2]).shape
    (2, 5)
    >>> forest.set_params(loss="subset01", aggregation="ctp-joint").predict(X[:2]).shape
    (2, 5)
    """

    title: ClassVar[str] = "EMODT"
    brief: ClassVar[str] = "trees"
    about: ClassVar[str] = "ensemble of multi-objective decision trees: each tree predicts all labels"
    supports_joint: ClassVar[bool] = True
    _nominal = "ordinal"
    _takes_lists: ClassVar[bool] = True

    max_features_: Any
    min_samples_split_: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Literal["auto", "sqrt"] | int | float | None = "auto",
        min_samples_leaf: int = 1,
        min_samples_split: Literal["auto"] | int = "auto",
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        splitter: Literal["best", "random"] = "best",
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
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.splitter = splitter

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean share of each feature in the decrease of impurity."""
        check_is_fitted(self, "members_")
        return np.asarray(np.mean([tree.feature_importances_ for tree in self.members_.trees], axis=0))

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), TreeCrew)

    @staticmethod
    def _work(size: Size) -> float:
        return 12 * size.members * size.n * sqrt(size.values) * (1 + size.cardinality)

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        draws = data.draws if data.draws is not None else np.tile(data.weight[:, None], (1, len(members)))
        # Members that are there already count the labelsets of a table that only grows.
        known = self.members_.table if members.start else data.Y[:0]
        table, place = distinct_rows(stacked(known, data.Y))
        growth: dict[str, Any] = {
            "min_samples_leaf": self.min_samples_leaf,
            "max_depth": self.max_depth,
            "min_impurity_decrease": self.min_impurity_decrease,
            "splitter": self.splitter,
            "n_jobs": self.n_jobs,
        }
        if not members.start:
            self._choose_size(data, growth)
        trees = grow_trees(
            data.X,
            data.Y,
            member_integers(self._entropy, members),
            sample_weight=draws,
            labelsets=place[len(known) :],
            max_features=self.max_features_,
            min_samples_split=self.min_samples_split_,
            verbose=self.verbose,
            **growth,
        )
        return TreeCrew(tuple(trees), table)

    def _choose_size(self, data: TrainingSet, growth: dict[str, Any]) -> None:
        # Who says how large leaves are has said how far trees grow.
        leaves_given = self.min_samples_split == AUTO and self.min_samples_leaf != 1
        found = choose_tree_size(
            data,
            self._entropy,
            min_samples_split=2 if leaves_given else self.min_samples_split,
            max_features=self.max_features,
            **growth,
        )
        self.max_features_, self.min_samples_split_ = found.max_features, found.min_samples_split

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
