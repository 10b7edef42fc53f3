"""Ensembles of multi-objective decision trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, distinct_rows
from comitia.aggregation import Aggregation
from comitia.ensembles._members import Crew
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.ensembles.bootstrap import BootstrapEnsemble
from comitia.learners.tree import MultiObjectiveTree, apply_trees, grow_trees, mean_marginals
from comitia.losses import Loss
from comitia.relevance import LabelSets, Marginals, Pool, Relevance, Shared


class EMODTClassifier(BootstrapEnsemble):
    """Ensemble of multi-objective decision trees: a random forest whose leaves hold the proportion of every label.

    A leaf also keeps how often each labelset occurred in it, so that the members' joint distributions can be pooled
    (``aggregation="ctp-joint"``).

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_features : "sqrt", int, float or None
        Features tried at a split: the square root of their number, a number, a share, or all.
    min_samples_leaf : int
        Fewest instances in a leaf.  With one, leaves are pure, and what a tree votes for depends on the loss no more;
        a few leave it something to decide.
    min_samples_split, max_depth, min_impurity_decrease
        As in scikit-learn's forests.
    loss, aggregation, pool, bootstrap, max_samples, oob_score, n_jobs, random_state, warm_start, verbose
        As in :class:`EBRClassifier`.

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

    _nominal = "ordinal"

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        max_features: Literal["sqrt"] | int | float | None = "sqrt",
        min_samples_leaf: int = 4,
        min_samples_split: int = 2,
        max_depth: int | None = None,
        min_impurity_decrease: float = 0.0,
        loss: str | Loss | Callable[..., Any] = "hamming",
        aggregation: str | Aggregation | None = None,
        pool: str | Pool = "mean",
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

    @property
    def supports_joint(self) -> bool:
        """Whether members give labelset distributions: trees do."""
        return True

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean share of each feature in the decrease of impurity."""
        check_is_fitted(self, "members_")
        return np.asarray(np.mean([tree.feature_importances_ for tree in self.members_.trees], axis=0))

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        draws = data.draws if data.draws is not None else np.tile(data.weight[:, None], (1, len(members)))
        table, labelset = distinct_rows(data.Y)
        trees = grow_trees(
            data.X,
            data.Y,
            member_integers(self._entropy, members),
            sample_weight=draws,
            labelsets=labelset,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            min_samples_split=self.min_samples_split,
            max_depth=self.max_depth,
            min_impurity_decrease=self.min_impurity_decrease,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        return TreeCrew(tuple(trees), table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class TreeCrew:
    """Trees, and the table of the labelsets that their leaves count."""

    trees: tuple[MultiObjectiveTree, ...]
    table: LabelArray

    def __len__(self) -> int:
        return len(self.trees)

    def relevances(self, X: Any, joint: bool = False) -> LeafBeliefs:
        leaves = apply_trees(self.trees, X)
        return LeafBeliefs(self, leaves, joint)

    def joined(self, other: TreeCrew) -> TreeCrew:
        return TreeCrew(self.trees + other.trees, self.table)

    def beliefs(self, joint: bool) -> list[tuple[Relevance, dict[Any, Any]]]:
        """The beliefs of each tree's leaves, with what losses have decided for them so far."""
        kept: dict[bool, list[tuple[Relevance, dict[Any, Any]]]] = self.__dict__.setdefault("_beliefs", {})
        if joint not in kept:
            of = (
                [LabelSets._trusted(table=self.table, weights=tree.leaf_labelsets(), total=1.0) for tree in self.trees]
                if joint
                else [LeafMarginals._trusted(proportions=tree.leaf_marginals()) for tree in self.trees]
            )
            kept[joint] = [(belief, {}) for belief in of]
        return kept[joint]

    def __getstate__(self) -> dict[str, Any]:
        return {"trees": self.trees, "table": self.table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for tree in self.trees:
            tree.check()
            if tree.labelsets is not None and self.table.shape != (tree.n_labelsets, tree.n_labels):
                raise ComitiaError(f"the table of labelsets has shape {self.table.shape}, and the trees know others.")


@dataclass(frozen=True)
class LeafBeliefs:
    """What each tree believes about some instances: what the leaf believes that they fall into."""

    crew: TreeCrew
    leaves: NDArray[np.int32]
    joint: bool

    def __iter__(self) -> Iterator[Relevance]:
        for (belief, memory), leaves in zip(self.crew.beliefs(self.joint), self.leaves, strict=True):
            yield Shared._trusted(of=belief, index=leaves.astype(np.intp), memory=memory)

    def mean(self) -> FloatArray:
        """Return the mean of the leaves' marginals, added up from sparse counts."""
        return mean_marginals(self.crew.trees, self.leaves)


@dataclass(frozen=True, eq=False)
class LeafMarginals(Relevance):
    """Label proportions of a tree's leaves, kept sparse: memory follows the labels that occur."""

    proportions: csr_array

    @property
    def n_instances(self) -> int:
        return int(self.proportions.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.proportions.shape[1])

    def marginals(self) -> FloatArray:
        return np.asarray(self.proportions.toarray())

    def take(self, rows: IntArray) -> Marginals:
        return Marginals._trusted(p=np.ascontiguousarray(self.proportions[rows].toarray()))
