"""Voting of heterogeneous multilabel classifiers, fitted here or already fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, dense
from comitia.columns import TableEncoder
from comitia.columns._encoders import Categories, Medians, Words
from comitia.ensembles._base import MultilabelEnsemble
from comitia.ensembles._crews import Asked, MemberList
from comitia.ensembles._features import input_tags, pass_features
from comitia.ensembles._foreign import AnyMultilabel, BinaryRelevance, fit_each
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    are_pairs,
    check_pairs,
    chosen_out_of_bag,
    documented,
)
from comitia.ensembles._samples import TrainingSet
from comitia.ensembles._targets import Targets, check_lengths, check_weights, encode
from comitia.ensembles._unseen import Unseen
from comitia.losses import Constraints
from comitia.relevance import Observed, Relevance, get_pool


@documented
class MultilabelVotingClassifier(MultilabelEnsemble, _BaseComposition):
    """Lets multilabel classifiers of different kinds decide together, for a loss.

    Parameters
    ----------
    estimators : list of (name, classifier)
        The voters.  One that is set to ``"drop"`` is left out.  An ensemble of this library is there with each of its
        members, and with their joint distributions where all voters have such; any other classifier is one member.
    weights : array-like of float, optional
        Weight of each voter in the pool and in votes, which the members of an ensemble share; equal by default.
    prefit : bool, default=False
        Whether the members are fitted already.  They are then used as they are, and ``fit`` only learns the labels'
        names and their number.
    [[decision parameters]]
    [[work parameters]]

    Attributes
    ----------
    [[fitted attributes]]

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from comitia import MultilabelVotingClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> members = [("forest", RandomForestClassifier(random_state=0)), ("neighbours", KNeighborsClassifier())]
    >>> MultilabelVotingClassifier(members, weights=[2, 1], loss="jaccard").fit(X, Y).predict(X[:2]).shape
    (2, 5)
    """

    title: ClassVar[str] = "Voting"

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        weights: ArrayLike | None = None,
        prefit: bool = False,
        loss: TargetLike = "hamming",
        aggregation: HowLike | None = None,
        pool: PoolLike = "mean",
        reading: ReadingLike = "auto",
        calibration: CalibrationLike | None = None,
        constraints: Constraints | None = None,
        sparse_output: SparseOutput = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.prefit = prefit
        self.loss = loss
        self.aggregation = aggregation
        self.pool = pool
        self.reading = reading
        self.calibration = calibration
        self.constraints = constraints
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        made = (MemberList, Voters, AnyMultilabel, BinaryRelevance, Unseen, TableEncoder, Categories, Words, Medians)
        return (*super()._made_of(), *made)

    @property
    def supports_joint(self) -> bool:  # type: ignore[override]
        """Whether all voters are ensembles that give joint distributions."""
        if hasattr(self, "members_"):
            voters = [voter.estimator for voter in self.members_.members]
        else:
            voters = [voter for _, voter in self.estimators or () if not isinstance(voter, str)]
        return bool(voters) and all(isinstance(one, MultilabelEnsemble) and one.supports_joint for one in voters)

    @property
    def _some_joint(self) -> bool:
        return any(getattr(voter.estimator, "_some_joint", False) for voter in self.members_.members)

    def tune(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn how to decide from instances that no member has learnt from; the members stay as they are.

        Measures of a whole set (``loss="macro-f1"``) need it, ``predict_partial`` with ``rate`` or ``guarantee``, and
        ``calibration``.
        What is decided may change afterwards without tuning again, as long as the pool and the weights do not.

        Parameters
        ----------
        X : array, sparse matrix or frame, shape (n, d)
        y : array, sparse matrix or frame of 0/1, shape (n, K); or a binary target of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How much each instance counts; equal by default.
        """
        check_is_fitted(self, "members_")
        Y = dense(encode(y, self._form.classes, self.label_names_, type(self).__name__))
        pool = get_pool(self.pool)
        belief = self._belief(pool)
        p = self._gathered(X, lambda beliefs: beliefs.distribution(belief).marginals())
        if len(p) != len(Y):
            raise ComitiaError(f"X and y must be of the same instances; X has {len(p)}, y has {len(Y)}.")
        self._tuned = Unseen(p, Y, check_weights(sample_weight, len(Y)), repr(pool))
        return self

    def _unseen(self) -> Unseen:
        if not hasattr(self, "_tuned"):
            raise ComitiaError("nothing is known about instances that members have not learnt from: tune(X, y) first.")
        self._tuned.check(self.pool)
        return self._tuned

    def _known_beside(self, held: Unseen) -> Observed:  # noqa: ARG002 - they are no part of the training data
        return self.observed_

    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None:
        check_pairs("estimators", self.estimators, left_out="drop")
        if not self.estimators:
            raise ComitiaError("estimators must name at least one (name, classifier).")
        names = [name for name, _ in self.estimators]
        self._validate_names(names)
        chosen = [estimator for _, estimator in self.estimators if estimator != "drop"]
        if not chosen:
            raise ComitiaError("all estimators are dropped: at least one is needed.")
        self._given_weights()
        if hasattr(self, "_tuned"):
            del self._tuned
        X = self._features(X, fit=True)
        n = check_lengths(X, targets)
        self._remember(targets)
        if self.prefit:
            for estimator in chosen:
                check_is_fitted(estimator)
            nothing_constant = np.full(targets.Y.shape[1], -1, np.int8)
            self.members_ = Voters(tuple(AnyMultilabel(estimator, nothing_constant) for estimator in chosen))
            for estimator in chosen:
                if isinstance(estimator, MultilabelEnsemble) and len(estimator.label_names_) != targets.Y.shape[1]:
                    raise ComitiaError(
                        f"voters must know the {targets.Y.shape[1]} labels of y; {type(estimator).__name__} knows "
                        f"{len(estimator.label_names_)}."
                    )
            return
        weight = check_weights(sample_weight, n)
        data = TrainingSet(X, targets.Y, weight, None if sample_weight is None else weight[:, np.newaxis])
        each = [(estimator, 0, None) for estimator in chosen]
        self.members_ = Voters(tuple(fit_each(AnyMultilabel.fitted, data, each, self.n_jobs, self.verbose)))

    @property
    def named_estimators_(self) -> dict[str, Any]:
        """The fitted members by name."""
        check_is_fitted(self, "members_")
        names = [name for name, estimator in self.estimators if estimator != "drop"]
        return {name: member.estimator for name, member in zip(names, self.members_.members, strict=True)}

    def _weights(self) -> FloatArray | None:
        check_pairs("estimators", self.estimators, left_out="drop")
        kept = [not isinstance(estimator, str) for _, estimator in self.estimators]
        of_voters = self._given_weights()[kept]
        shares = [voter_shares(voter.estimator) for voter in self.members_.members]
        if self.weights is None and len({share.tobytes() for share in shares}) == 1 and np.ptp(shares[0]) == 0:
            return None
        return np.concatenate([weight * share for weight, share in zip(of_voters, shares, strict=True)])

    def _given_weights(self) -> FloatArray:
        n = len(self.estimators)
        weights = np.ones(n) if self.weights is None else as_floats("weights", self.weights)
        if weights.shape != (n,):
            raise ComitiaError(f"weights must have one entry for each of {n} estimators; got {self.weights!r}.")
        return weights

    def _check_opened(self) -> None:
        super()._check_opened()
        if not all(isinstance(name, str) for name, _ in self.estimators):
            raise ComitiaError("estimators must have names.")

    def _values_per_belief(self) -> int:
        inner = (voter.estimator for voter in self.members_.members)
        return max(one._values_per_belief() if isinstance(one, MultilabelEnsemble) else 1 for one in inner) + len(
            self.label_names_
        )

    def _features(self, X: Any, fit: bool = False) -> Any:
        return pass_features(self, X, fit)

    @property
    def _encoder(self) -> TableEncoder | None:
        """What the columns of a frame were taken for: voters that make numbers of them have all seen the same frame."""
        known = [voter.encoder or getattr(voter.estimator, "_encoder", None) for voter in self.members_.members]
        columns = list(getattr(self, "feature_names_in_", ()))
        same = (one for one in known if isinstance(one, TableEncoder) and list(one.feature_names_in_) == columns)
        return next(same, None)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` those of the members as ``name__parameter``."""
        return dict(self._get_params("estimators", deep=deep))

    def set_params(self, **params: Any) -> MultilabelVotingClassifier:
        """Set parameters, a member by its name, or a member's parameter as ``name__parameter``."""
        if chosen_out_of_bag(params.get("aggregation")):
            raise ComitiaError("aggregation='oob' chooses by out-of-bag losses, and a vote has none.")
        self._set_params("estimators", **params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = [input_tags(e) for _, e in self.estimators if e != "drop"] if are_pairs(self.estimators) else []
        tags.input_tags.sparse = all(known.sparse for known in given)
        tags.input_tags.allow_nan = all(known.allow_nan for known in given)
        return tags


@dataclass(frozen=True)
class Voters(MemberList):
    """Classifiers that vote; an ensemble of ours stands for its members."""

    members: tuple[AnyMultilabel, ...]

    def __len__(self) -> int:
        return sum(len(voter_shares(voter.estimator)) for voter in self.members)

    def relevances(self, X: Any, asked: Asked) -> Iterator[Relevance]:
        for voter in self.members:
            ensemble = voter.estimator
            if isinstance(ensemble, MultilabelEnsemble):
                # What it has observed itself: it may have been fitted elsewhere.
                yield from ensemble._believed(ensemble._features(X), ensemble.observed_, asked.joint)
            else:
                yield voter.belief(X, asked.observed)


def voter_shares(voter: Any) -> FloatArray:
    """Return the shares of a voter's members in its weight; they add up to one."""
    if not isinstance(voter, MultilabelEnsemble):
        return np.ones(1)
    weights = voter._weights()
    weights = np.ones(len(voter.members_)) if weights is None else weights
    return np.asarray(weights / weights.sum(), dtype=np.float64)
