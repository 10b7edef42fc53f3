"""The members of an ensemble, fitted, and what they believe about new instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from comitia._arrays import check_finite, check_form
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelRows, Labels, checked, dense, distinct_rows, listed
from comitia._threads import over_slices
from comitia.aggregation import Decision, Votes
from comitia.ensembles._leaf_beliefs import LeafBeliefs, LeafMarginals
from comitia.ensembles._logistic import scaled
from comitia.ensembles._member_marginals import MemberMarginals, StackedMarginals
from comitia.learners._boosting import BoostedTrees, common_rounds, predict_boosted
from comitia.learners._chain_joint import chain_joint
from comitia.learners._chains import ChainFit, ChainPredictor
from comitia.learners._few_rows import FEW, are_few, chains_for_few, logistic_for_few
from comitia.learners._logistic_predict import LogisticPredictor
from comitia.learners._tree import MultiObjectiveTree
from comitia.learners._tree_apply import apply_trees
from comitia.losses._base import OFTEN
from comitia.relevance import LabelSets, Marginals, Observed, Relevance
from comitia.relevance._base import Held, Memory
from comitia.relevance._labelsets import distinct_entries


@dataclass(frozen=True)
class Asked:
    """What members are asked for.

    Parameters
    ----------
    joint : bool
        Whether for labelset distributions, not for marginals.
    observed : Observed
        The labelsets of the training data, which go with every belief.
    n_jobs : int or None
        Jobs that may work on it.
    about : array of bool, shape (M, n), optional
        Which members are asked about which instances; what they say of others is not used.
    """

    joint: bool
    observed: Observed
    n_jobs: int | None = None
    about: NDArray[np.bool_] | None = None


ChainMethod: TypeAlias = Literal["predict", "predict_proba", "joint"]

# Labelsets of a chain's joint distribution that together have less than this may be left out.
_MISSING = 1e-3


class Crew(Protocol):
    """The members of an ensemble.

    Where ``is_compiled`` is true, several threads may ask them at a time, which gains something.
    """

    def __len__(self) -> int: ...

    def relevances(self, X: Any, asked: Asked) -> Iterable[Relevance]:
        """Return what each member believes about the rows of X."""

    def joined(self, other: Any) -> Any:
        """Return these members followed by others."""


class Member(Protocol):
    """One multilabel classifier."""

    def belief(self, X: Any, observed: Observed) -> Relevance: ...


@dataclass(frozen=True)
class MemberList:
    """Members of any kind, asked one after another."""

    members: tuple[Member, ...]

    def __len__(self) -> int:
        return len(self.members)

    def relevances(self, X: Any, asked: Asked) -> Iterator[Relevance]:
        return (member.belief(X, asked.observed) for member in self.members)

    def joined(self, other: MemberList) -> MemberList:
        return MemberList(self.members + other.members)


@dataclass(frozen=True)
class LogisticCrew:
    """Members with a logistic regression for each label.

    Parameters
    ----------
    coef : array, shape (M, K, d)
        For the features as they are given: scaling is folded in.
    intercept : array, shape (M, K)
    """

    is_compiled = True

    coef: FloatArray
    intercept: FloatArray

    def __post_init__(self) -> None:
        check_form("coef", self.coef, np.float64, (None, None, None))
        check_form("intercept", self.intercept, np.float64, self.coef.shape[:2])
        check_finite("coef", self.coef)
        check_finite("intercept", self.intercept, or_infinite=True)

    @property
    def n_labels(self) -> int:
        return int(self.coef.shape[1])

    def __len__(self) -> int:
        return len(self.coef)

    def relevances(self, X: Any, asked: Asked) -> Iterable[Relevance]:
        if are_few(X):
            return StackedMarginals(logistic_for_few(X, self.coef, self.intercept), asked.observed)
        shape = len(self), X.shape[0], self.n_labels
        return MemberMarginals(LogisticPredictor.of(X, self.coef, self.intercept), shape, asked.observed, asked.n_jobs)

    def repeated(self, times: int) -> LogisticCrew:
        """Return so many copies of the one member that all of them are."""
        return LogisticCrew(np.tile(self.coef, (times, 1, 1)), np.tile(self.intercept, (times, 1)))

    def joined(self, other: LogisticCrew) -> LogisticCrew:
        return LogisticCrew(np.concatenate([self.coef, other.coef]), np.concatenate([self.intercept, other.intercept]))


@dataclass(frozen=True)
class ChainCrew:
    """Members that are chains of logistic regressions, walked together."""

    is_compiled = True

    fit: ChainFit
    centre: FloatArray
    scale: FloatArray
    method: ChainMethod

    def __post_init__(self) -> None:
        if not isinstance(self.fit, ChainFit):
            raise ComitiaError(f"fit must be a ChainFit; got {type(self.fit).__name__}.")
        for name in ("centre", "scale"):
            check_form(name, getattr(self, name), np.float64, self.fit.coef.shape[2:])
            check_finite(name, getattr(self, name))
        if not (self.scale > 0).all():
            raise ComitiaError(f"scale must be positive; got {self.scale.min()}.")
        if self.method not in ("predict", "predict_proba", "joint"):
            raise ComitiaError(f"method must be 'predict', 'predict_proba' or 'joint'; got {self.method!r}.")

    @property
    def n_labels(self) -> int:
        return int(self.fit.orders.shape[1])

    def __len__(self) -> int:
        return len(self.fit.orders)

    def relevances(self, X: Any, asked: Asked) -> Iterable[Relevance]:
        X = scaled(X, self.centre, self.scale)
        if self.method == "joint":
            return self._joint(X, asked)
        if are_few(X):
            return StackedMarginals(chains_for_few(self.fit, X, self.method == "predict"), asked.observed)
        shape = len(self), X.shape[0], self.n_labels
        return MemberMarginals(ChainPredictor.of(self.fit, X, self.method), shape, asked.observed, asked.n_jobs)

    def _joint(self, X: Any, asked: Asked) -> Iterator[Relevance]:
        known = asked.observed
        for weights in chain_joint(
            self.fit,
            X,
            known.array,
            known.counts,
            own=known.own,
            own_weight=known.own_weight,
            # A reading may yet multiply by counts, and so what is missing, in proportion to what is not.
            missing=_MISSING * known.counts.min() / known.counts.max(),
            about=asked.about,
            n_jobs=asked.n_jobs,
        ):
            yield LabelSets.unchecked(table=known.array, weights=weights, total=1.0, observed=known, flat=True)

    def joined(self, other: ChainCrew) -> ChainCrew:
        both = {
            name: np.concatenate([getattr(self.fit, name), getattr(other.fit, name)])
            for name in ChainFit.__dataclass_fields__
        }
        return ChainCrew(ChainFit(**both), self.centre, self.scale, self.method)


@dataclass(frozen=True, eq=False)
class TreeCrew:
    """Trees, and the table of the labelsets that their leaves count.

    Trees that were grown later may count labelsets that earlier ones do not know; the table has those of all.
    """

    is_compiled = True

    trees: tuple[MultiObjectiveTree, ...]
    table: Labels
    _leaves: dict[bool, tuple[Relevance, IntArray, Memory]] = field(default_factory=dict, init=False, repr=False)
    _stacked: dict[bool, csr_array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise ComitiaError unless the trees know the same features, labels and labelsets."""
        if not self.trees or not all(isinstance(tree, MultiObjectiveTree) for tree in self.trees):
            raise ComitiaError("trees must hold at least one MultiObjectiveTree.")
        if not isinstance(self.table, LabelRows):
            check_form("table", self.table, np.int8, (None, self.n_labels))
        if checked(self.table, "table").shape[1] != self.n_labels:
            raise ComitiaError(f"table must have {self.n_labels} labels, as the trees; got {self.table.shape[1]}.")
        if len(distinct_rows(self.table)[0]) < len(self.table):
            raise ComitiaError("table must hold each labelset once; some rows are equal.")
        for tree in self.trees:
            if (tree.n_features, tree.n_labels) != (self.trees[0].n_features, self.n_labels):
                raise ComitiaError("trees must have been grown on the same features and labels.")
            if tree.labelsets is None or tree.n_labelsets > len(self.table):
                raise ComitiaError(
                    f"trees must count the {len(self.table)} labelsets of the table; got {tree.n_labelsets}."
                )

    @property
    def n_labels(self) -> int:
        return self.trees[0].n_labels

    def __len__(self) -> int:
        return len(self.trees)

    def relevances(self, X: Any, asked: Asked) -> LeafBeliefs:
        return LeafBeliefs(self, apply_trees(self.trees, X, asked.about), asked.observed, asked.joint)

    def joined(self, other: TreeCrew) -> TreeCrew:
        return TreeCrew(self.trees + other.trees, other.table)

    def leaves(self, joint: bool, observed: Observed) -> tuple[Relevance, IntArray, Memory]:
        """Return what the leaves of all trees believe, each belief once, and which of these beliefs each leaf has.

        And what losses have decided for them of late.  Where leaves are pure, few are unlike all others.
        """
        if joint not in self._leaves:
            held, place = self._distinct(joint)
            known = observed.in_general()
            beliefs = (
                LabelSets.unchecked(table=dense(self.table), weights=held, total=1.0, observed=known)
                if joint
                else LeafMarginals(held, known)
            )
            self._leaves[joint] = beliefs, place, Memory()
        return self._leaves[joint]

    def _distinct(self, joint: bool) -> tuple[csr_array, IntArray]:
        """Return the distinct rows of what is stacked, and which of them each leaf has: found tree by tree first."""
        of_tree: dict[int, tuple[csr_array, IntArray]] = {}

        def find(some: slice) -> None:
            for m, held in enumerate(self._proportions(joint, some), some.start):
                first, place = distinct_entries(held, 1.0)
                of_tree[m] = held[first], place

        over_slices(find, len(self), at_least=1)
        parts = [of_tree[m] for m in range(len(self))]
        starts = np.cumsum([0, *(held.shape[0] for held, _ in parts)])
        held = csr_array(vstack([held for held, _ in parts], format="csr"))
        first, among = distinct_entries(held, 1.0)
        return held[first], np.concatenate(
            [among[start + place] for start, (_, place) in zip(starts, parts, strict=False)]
        )

    def get_ready(self, decisions: Iterable[Decision], observed: Observed, n: int) -> None:
        """Find what all threads would look for that ask about n instances: beliefs of leaves, and what each votes for.

        Where the instances reach few leaves, their votes are left to the threads.
        """
        for decision in decisions:
            over, about = decision.over, None if observed.own is None else observed
            if not over.joint and not isinstance(over, Votes):
                continue
            beliefs, _, memory = self.leaves(over.joint, observed)
            held = Held(beliefs, np.arange(beliefs.n_instances), memory, about).read_by(decision.reading)
            if held is not None and isinstance(over, Votes) and n * len(self) * OFTEN > beliefs.n_instances:
                over.loss.minimise_shared(held.where(None))

    def _proportions(self, joint: bool, some: slice = slice(None)) -> list[csr_array]:
        """Return the proportions of labels, or labelsets, in each tree's leaves, (leaves, labels or labelsets)."""
        if not joint:
            return [tree.leaf_marginals() for tree in self.trees[some]]
        return [_wider(tree.leaf_labelsets(), len(self.table)) for tree in self.trees[some]]

    def stacked(self, joint: bool) -> csr_array:
        """Return the same of all trees, the leaves of one below those of the other; found once."""
        if joint not in self._stacked:
            self._stacked[joint] = csr_array(vstack(self._proportions(joint), format="csr"))
        return self._stacked[joint]

    @property
    def first_leaves(self) -> IntArray:
        """Where the leaves of each tree begin there, (M,)."""
        return np.cumsum([0] + [tree.n_leaves for tree in self.trees])[:-1]

    @cached_property
    def lists(self) -> LabelRows:
        """The table as lists."""
        return listed(self.table)

    def __getstate__(self) -> dict[str, Any]:
        return {"trees": self.trees, "table": self.table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _leaves={}, _stacked={})


def _wider(matrix: csr_array, width: int) -> csr_array:
    return csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))


@dataclass(frozen=True)
class BoostedCrew:
    """Boosted sequences of trees, asked one after another."""

    is_compiled = True

    models: tuple[BoostedTrees, ...]

    def __post_init__(self) -> None:
        if not self.models or not all(isinstance(model, BoostedTrees) for model in self.models):
            raise ComitiaError("models must hold at least one BoostedTrees.")
        if len({(model.n_features, model.n_labels) for model in self.models}) > 1:
            raise ComitiaError("models must have been grown on the same features and labels.")

    @property
    def n_labels(self) -> int:
        return self.models[0].n_labels

    def __len__(self) -> int:
        return len(self.models)

    def relevances(self, X: Any, asked: Asked) -> Iterable[Relevance]:
        if X.shape[0] <= FEW:
            return StackedMarginals(np.stack(list(predict_boosted(self.models, X, self.n_rounds))), asked.observed)
        beliefs = predict_boosted(self.models, X, self.n_rounds)
        return (Marginals.unchecked(p=p, observed=asked.observed) for p in beliefs)

    @cached_property
    def n_rounds(self) -> int:
        """How many trees of each sequence are used, so far as it has them."""
        return common_rounds(self.models)

    def __getstate__(self) -> dict[str, Any]:
        return {"models": self.models}

    def joined(self, other: BoostedCrew) -> BoostedCrew:
        return BoostedCrew(self.models + other.models)
