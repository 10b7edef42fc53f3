"""Members made of any scikit-learn classifiers, and the one place where their probabilities get one shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import has_fit_parameter

from comitia._clusters import Common, on_cluster
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, dense
from comitia.columns import TableEncoder
from comitia.ensembles._features import encoded, needs_numbers, number_of_rows, with_names
from comitia.ensembles._samples import TrainingSet
from comitia.learners._chain_joint import chain_joint_of_links
from comitia.relevance import LabelSets, Marginals, Observed, Relevance

Fitted = TypeVar("Fitted")


def fit_each(
    fit: Callable[..., Fitted], data: TrainingSet, members: Sequence[tuple[Any, ...]], n_jobs: int | None, verbose: int
) -> list[Fitted]:
    """Fit members, where joblib was told to: by jobs of this machine, or on a cluster.

    Parameters
    ----------
    fit : callable
        Takes a classifier, features, labels, the weights of a sample, and whatever else a member has.
    data : TrainingSet
    members : sequence of tuples
        Classifier, number of its sample, and whatever else ``fit`` takes.
    n_jobs : int or None
    verbose : int
    """
    Y = dense(data.Y)
    elsewhere = on_cluster(_fit_there, Common(lambda: (fit, data, Y)), members, n_jobs)
    if elsewhere is not None:
        return elsewhere
    jobs = (delayed(fit)(estimator, data.X, Y, data.sample(m), *rest) for estimator, m, *rest in members)
    n_jobs = n_jobs if n_jobs is None or n_jobs < 1 else min(n_jobs, max(1, len(members)))
    return list(Parallel(n_jobs=n_jobs, verbose=verbose)(jobs))


def _fit_there(shared: tuple[Callable[..., Fitted], TrainingSet, LabelArray], member: tuple[Any, ...]) -> Fitted:
    fit, data, Y = shared
    estimator, m, *rest = member
    return fit(estimator, data.X, Y, data.sample(m), *rest)


@dataclass(frozen=True)
class BinaryRelevance:
    """One binary classifier a label."""

    estimators: tuple[Any, ...]

    @classmethod
    def fitted(
        cls, estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None, seed: int | None
    ) -> BinaryRelevance:
        seeds = [None if seed is None else seed + k for k in range(Y.shape[1])]
        return cls(tuple(fit_binary(estimator, X, y, weight, own) for y, own in zip(Y.T, seeds, strict=True)))

    def belief(self, X: Any, observed: Observed) -> Relevance:
        return Marginals(self.marginals(X), observed)

    def marginals(self, X: Any) -> FloatArray:
        return np.column_stack([marginals_of(estimator, X, 1)[:, 0] for estimator in self.estimators])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what each classifier predicts by itself, (n, K)."""
        return np.column_stack([estimator.predict(X) for estimator in self.estimators])


@dataclass(frozen=True)
class Chain:
    """One binary classifier a label, each seeing the labels before it in the chain's order."""

    estimators: tuple[Any, ...]
    order: IntArray
    method: Literal["predict", "predict_proba", "joint"]
    head: Any = None
    """Turns texts into numbers, which labels can be put beside."""

    @classmethod
    def fitted(
        cls, estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None, seed: int, order: IntArray, method: Any
    ) -> Chain:
        head = None
        if X.ndim == 1:
            head, estimator = _taken_apart(estimator, X, Y, weight, seed)
            X = head.transform(X)
        links = []
        for position, label in enumerate(order):
            augmented = _augmented(X, Y[:, order[:position]])
            links.append(fit_binary(estimator, augmented, Y[:, label], weight, seed + position))
        return cls(tuple(links), order, method, head)

    def belief(self, X: Any, observed: Observed) -> Relevance:
        X = X if self.head is None else self.head.transform(X)
        return self._joint(X, observed) if self.method == "joint" else Marginals(self._walked(X), observed)

    def _joint(self, X: Any, observed: Observed) -> LabelSets:
        def link(position: int, before: LabelArray, rows: IntArray) -> FloatArray:
            return marginals_of(self.estimators[position], _augmented(_safe_indexing(X, rows), before), 1)[:, 0]

        weights = chain_joint_of_links(
            link,
            self.order,
            X.shape[0],
            observed.array,
            observed.counts,
            own=observed.own,
            own_weight=observed.own_weight,
        )
        return LabelSets.unchecked(table=observed.array, weights=weights, total=1.0, observed=observed, flat=True)

    def _walked(self, X: Any) -> FloatArray:
        n = X.shape[0]
        p = np.zeros((n, len(self.order)))
        passed = np.zeros((n, len(self.order)))
        for position, (label, link) in enumerate(zip(self.order, self.estimators, strict=True)):
            augmented = _augmented(X, passed[:, :position])
            p[:, label] = marginals_of(link, augmented, 1)[:, 0]
            passed[:, position] = link.predict(augmented) if self.method == "predict" else p[:, label]
        return p


@dataclass(frozen=True)
class AnyMultilabel:
    """Any multilabel classifier, and the labels that were constant where it could not be fitted on them.

    A classifier of one label at a time is a `BinaryRelevance` of such.
    """

    estimator: Any
    constant: NDArray[np.int8]
    encoder: TableEncoder | None = None
    """Turns frames into numbers for a classifier that takes nothing else."""
    takes_sparse: bool = True

    def __post_init__(self) -> None:
        if not (hasattr(self.estimator, "predict") or hasattr(self.estimator, "predict_proba")):
            raise ComitiaError(f"a member must be a classifier; got {type(self.estimator).__name__}.")
        if check := getattr(self.estimator, "_check_opened", None):
            check()
        if isinstance(inner := getattr(self.estimator, "_encoder", None), TableEncoder):
            inner.check()
        if self.encoder is not None:
            if type(self.encoder) is not TableEncoder or type(self.takes_sparse) is not bool:
                raise ComitiaError("a member must have an encoder of columns, or none.")
            self.encoder.check()

    @classmethod
    def fitted(
        cls, estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None, seed: int | None
    ) -> AnyMultilabel:
        """Fit a clone; one that refuses labels that are constant in its sample is fitted on the others.

        One that refuses several labels and does not say that it takes them is fitted for each label; one that does not
        take columns which are no numbers gets numbers.
        """
        if needs_numbers(estimator, X):
            tags = get_tags(estimator).input_tags
            options = getattr(X, "attrs", {}).get("columns", {})
            encoder = TableEncoder(missing="keep" if tags.allow_nan else "impute", **options)
            numbers = encoded(encoder.fit_transform, with_names(X))
            numbers = numbers if tags.sparse or not issparse(numbers) else numbers.toarray()
            member = cls.fitted(estimator, numbers, Y, weight, seed)
            return replace(member, encoder=encoder, takes_sparse=bool(tags.sparse))
        X, Y, weight = _sample(estimator, X, Y, weight)
        constant = np.where((Y[:1] == Y).all(axis=0), Y[0], -1).astype(np.int8)
        try:
            return cls(_fit(estimator, X, Y, weight, seed), np.full_like(constant, -1))
        except ValueError:
            if not _takes_several(estimator):
                each = BinaryRelevance.fitted(estimator, X, Y, weight, seed)
                return cls(each, np.full_like(constant, -1))
            if (constant < 0).all():
                raise
            if (constant >= 0).all():
                return cls(_fit(DummyClassifier(strategy="prior"), X, Y, None, None), constant)
            return cls(_fit(estimator, X, Y[:, constant < 0], weight, seed), constant)

    def belief(self, X: Any, observed: Observed) -> Relevance:
        return Marginals(self.marginals(X), observed)

    @property
    def is_wrapped(self) -> bool:
        """Whether the classifier alone could not have been fitted on this."""
        return self.encoder is not None or isinstance(self.estimator, BinaryRelevance)

    def features(self, X: Any) -> Any:
        """Return what the classifier takes."""
        if self.encoder is None:
            return X
        numbers = encoded(self.encoder.transform, with_names(X))
        return numbers if self.takes_sparse or not issparse(numbers) else numbers.toarray()

    def marginals(self, X: Any) -> FloatArray:
        """Return the classifier's probabilities, and certainty about labels that were constant."""
        X = self.features(X)
        if isinstance(self.estimator, BinaryRelevance):
            return self.estimator.marginals(X)
        varies = self.constant < 0
        if varies.all():
            return marginals_of(self.estimator, X, len(varies))
        p = np.tile(np.maximum(self.constant, 0).astype(np.float64), (number_of_rows(X), 1))
        if varies.any():
            p[:, varies] = marginals_of(self.estimator, X, int(varies.sum()))
        return p


def _takes_several(estimator: Any) -> bool:
    """Whether a classifier says that it takes several labels; one that says nothing may."""
    try:
        tags = get_tags(estimator)
    except AttributeError:
        return True
    several = tags.classifier_tags is None or tags.classifier_tags.multi_label
    return bool(several or tags.target_tags.multi_output)


def _taken_apart(estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None, seed: int) -> tuple[Any, Any]:
    """The steps of a pipeline that turn texts into numbers, fitted, and its last step, which learns from them."""
    if not isinstance(estimator, Pipeline) or len(estimator) < 2:
        raise ComitiaError(
            f"estimator must be a Pipeline whose first steps turn texts into numbers; got {type(estimator).__name__}."
        )
    X, Y, _ = _sample(estimator, X, Y, weight)
    return _fit(estimator[:-1], X, Y, None, seed), estimator[-1]


def fit_binary(estimator: Any, X: Any, y: NDArray[np.int8], weight: FloatArray | None, seed: int | None) -> Any:
    """Fit a clone of a binary classifier on one label; a label that is constant needs none."""
    X, Y, weight = _sample(estimator, X, y[:, None], weight)
    if Y.min() == Y.max():
        return DummyClassifier(strategy="constant", constant=Y[0, 0]).fit(np.zeros((1, 1)), Y[:1, 0])
    return _fit(estimator, X, Y[:, 0], weight, seed)


def _fit(estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None, seed: int | None) -> Any:
    fitted = clone(estimator)
    if seed is not None:
        # Only where the user has left it open: a fixed random_state stays what it is.
        open_ = [name for name, value in fitted.get_params().items() if name.split("__")[-1] == "random_state"
                 and value is None]  # fmt: skip
        fitted.set_params(**dict.fromkeys(open_, int(seed) % (2**31 - 1)))
    return fitted.fit(X, Y) if weight is None else fitted.fit(X, Y, sample_weight=weight)


def _sample(
    estimator: Any, X: Any, Y: LabelArray, weight: FloatArray | None
) -> tuple[Any, LabelArray, FloatArray | None]:
    """The instances of positive weight; repeated by their weight where the classifier takes no weights."""
    if weight is None:
        return X, Y, None
    if has_fit_parameter(estimator, "sample_weight"):
        rows = np.flatnonzero(weight)
        return _safe_indexing(X, rows), Y[rows], weight[rows]
    if not np.array_equal(weight, np.round(weight)):
        raise ComitiaError(
            f"{type(estimator).__name__} takes no sample weights, so an instance can only count a whole number of"
            " times; sample_weight holds fractions. Use bootstrap=True or another base learner."
        )
    rows = np.repeat(np.arange(len(weight)), weight.astype(np.int64))
    return _safe_indexing(X, rows), Y[rows], None


def marginals_of(estimator: Any, X: Any, n_labels: int) -> FloatArray:
    """Return the marginals (n, K) of any fitted scikit-learn classifier.

    Multilabel ``predict_proba`` comes as a list of (n, classes) arrays, as one (n, K) array, or, for a single label,
    as (n, 2); a label with one class in training has one column.  A classifier without probabilities is certain of
    what it predicts.
    """
    if not hasattr(estimator, "predict_proba"):
        predicted = estimator.predict(X)
        predicted = predicted.toarray() if issparse(predicted) else np.asarray(predicted)
        return _checked(predicted.reshape(number_of_rows(X), -1).astype(np.float64), estimator, n_labels)
    proba = estimator.predict_proba(X)
    if isinstance(proba, list):
        columns = [_relevant(p, classes) for p, classes in zip(proba, estimator.classes_, strict=True)]
        return _checked(np.column_stack(columns), estimator, n_labels)
    proba = proba.toarray() if issparse(proba) else np.asarray(proba)
    if n_labels == 1 and getattr(estimator, "classes_", None) is not None:
        classes = estimator.classes_[0] if isinstance(estimator.classes_, list) else estimator.classes_
        if len(classes) == proba.shape[1]:
            return _checked(_relevant(proba, classes)[:, None], estimator, n_labels)
    return _checked(proba, estimator, n_labels)


def _relevant(proba: FloatArray, classes: NDArray[Any]) -> FloatArray:
    """The column of class 1, or zeros where training had none."""
    at = np.flatnonzero(np.asarray(classes) == 1)
    return np.asarray(proba)[:, at[0]] if len(at) else np.zeros(len(proba))


def _checked(p: FloatArray, estimator: Any, n_labels: int) -> FloatArray:
    if p.ndim != 2 or p.shape[1] != n_labels:
        raise ComitiaError(f"{type(estimator).__name__} gives probabilities of shape {p.shape} for {n_labels} labels.")
    return p


def _augmented(X: Any, labels: NDArray[Any]) -> Any:
    if not labels.shape[1]:
        return X
    if issparse(X):
        return hstack([X, labels.astype(X.dtype)], format="csr")
    return np.hstack([X, labels])
