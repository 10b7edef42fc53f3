"""What every ensemble does: members believe, an aggregation decides, and the decision needs no refit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from comitia._errors import ComitiaError
from comitia._labels import FloatArray
from comitia.aggregation import Aggregation, CombineThenPredict, get_aggregation
from comitia.ensembles._targets import Targets, check_targets, encode
from comitia.losses import Loss, get_loss
from comitia.relevance import Pool, Relevance, get_pool, mixture

# Predictions stream over instances: this many member × instance × label beliefs are in memory at a time.
BELIEFS_AT_ONCE = 1 << 23


class MultilabelEnsemble(ClassifierMixin, BaseEstimator):
    """Base of all ensembles.  The parameters ``loss``, ``aggregation`` and ``pool`` may change after ``fit``."""

    loss: str | Loss | Callable[..., Any]
    aggregation: str | Aggregation | None
    pool: str | Pool
    members_: Any
    label_names_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array, sparse matrix or frame, shape (n, d)
        y : array, sparse matrix or frame of 0/1, shape (n, K); or a binary target of shape (n,)
        sample_weight : array-like of shape (n,), optional
            An instance of weight w counts as w copies of it.
        """
        if is_joint(self._decision()[0]) and not self.supports_joint:
            raise ComitiaError(
                f"aggregation={self.aggregation!r} pools labelset distributions, and members of {type(self).__name__}"
                " give marginals: it needs an ensemble of trees (EMODTClassifier)."
            )
        targets = check_targets(y, type(self).__name__)
        self._fit(X, targets, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labeling of the smallest expected loss, (n, K) of 0/1; or (n,) classes of a binary target."""
        aggregation, loss, pool = self._decision()
        labeling = self._over_chunks(X, lambda members: aggregation(members, loss, pool, self._weights()), aggregation)
        return self._form.labels(labeling)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the pooled marginals, (n, K); or one column a class of a binary target."""
        pool = get_pool(self.pool)
        p = self._over_chunks(X, lambda members: pool(members, self._weights()).marginals())
        return self._form.probabilities(p)

    def predict_members(self, X: Any, joint: bool = False) -> Iterator[Relevance]:
        """Yield what each member believes about X: marginals, or labelset distributions with ``joint``.

        Give them to :func:`comitia.decide` to decide many times without asking the members again.
        """
        check_is_fitted(self, "members_")
        yield from self.members_.relevances(self._features(X), joint)

    def expected_loss(self, X: Any) -> FloatArray:
        """Return the loss that the ensemble expects of each of its predictions, (n,).

        The expectation is over the ensemble's belief: the joint mixture for ``"ctp-joint"``, and otherwise the pooled
        marginals, read as independent labels.
        """
        aggregation, loss, pool = self._decision()
        belief = mixture if is_joint(aggregation) else pool

        def risk(members: Any) -> FloatArray:
            members = list(members)
            labeling = aggregation(members, loss, pool, self._weights())
            return loss.risk(belief(members, self._weights()), labeling)

        return self._over_chunks(X, risk, aggregation)

    def staged_predict(self, X: Any, sizes: Sequence[int]) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the first m members for each m in ``sizes``, ascending, without refitting."""
        aggregation, loss, pool = self._decision()
        if self._weights() is not None:
            raise ComitiaError("staged_predict takes members of equal weight.")
        stages = self._over_chunks(
            X, lambda members: np.stack(list(aggregation.staged(members, loss, sizes, pool)), axis=1), aggregation
        )
        for stage in np.moveaxis(stages, 1, 0):
            yield self._form.labels(stage)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions: accuracy for Hamming loss, F1 for ``"f1"``, and so on."""
        check_is_fitted(self, "members_")
        known = self._form.classes, len(self.label_names_), type(self).__name__
        truth, predicted = encode(y, *known), encode(self.predict(X), *known)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(1 - np.average(get_loss(self.loss).value(truth, predicted), weights=weights))

    @property
    def supports_joint(self) -> bool:
        """Whether members give labelset distributions, which ``aggregation="ctp-joint"`` needs."""
        return False

    @abstractmethod
    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None: ...

    @abstractmethod
    def _features(self, X: Any) -> Any:
        """Check new instances and bring them to the form that the members know."""

    def _weights(self) -> FloatArray | None:
        """Weights of the members in a decision."""
        return None

    def decisive(self, loss: str | Loss | Callable[..., Any]) -> Loss:
        """Return what is minimised for ``loss``.

        Where every instance in training had a label, an empty prediction is not rewarded: on scene, whose labels nearly
        exclude each other, the F1-measure of binary relevance then rises from 66 to 76 percent.
        """
        target = get_loss(loss)
        return target.given_some_label() if getattr(self, "_all_labelled", False) else target

    def _decision(self) -> tuple[Aggregation, Loss, Pool]:
        loss = self.decisive(self.loss)
        return get_aggregation(self.aggregation, loss), loss, get_pool(self.pool)

    def _remember(self, targets: Targets) -> None:
        self.label_names_ = targets.names
        self._form = targets.form
        self._all_labelled = bool(targets.Y.any(axis=1).all())
        self.classes_ = np.arange(len(targets.names)) if targets.classes is None else targets.classes

    def _over_chunks(
        self, X: Any, decide: Callable[[Any], NDArray[Any]], aggregation: Aggregation | None = None
    ) -> NDArray[Any]:
        """Decide chunk by chunk, so that memory follows the chunk and not the input."""
        check_is_fitted(self, "members_")
        features = self._features(X)
        n = features.shape[0] if hasattr(features, "shape") else len(features)
        size = max(1, BELIEFS_AT_ONCE // (len(self.members_) * len(self.label_names_)))
        joint = aggregation is not None and is_joint(aggregation)
        parts = [
            decide(self.members_.relevances(features[start : start + size], joint))
            for start in range(0, max(n, 1), size)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


def check_lengths(X: Any, targets: Targets) -> int:
    """Return the number of instances, of which X and y must have as many."""
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n != len(targets.Y):
        raise ComitiaError(
            f"Found input variables with inconsistent numbers of samples: X has {n} instances, y has {len(targets.Y)}."
        )
    return n


def check_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return sample weights of shape (n,), ones by default."""
    weight = _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ComitiaError("Sample weights must contain at least one non-zero number.")
    return np.asarray(weight)


def is_joint(aggregation: Aggregation) -> bool:
    """Whether an aggregation pools joint distributions."""
    return isinstance(aggregation, CombineThenPredict) and aggregation.pool == mixture
