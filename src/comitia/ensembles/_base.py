"""What every ensemble does: members believe, an aggregation decides, and the decision needs no refit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from comitia._errors import ComitiaError
from comitia._jobs import limited_to
from comitia._labels import FloatArray, IntArray, LabelArray, LabelRows, listed
from comitia.aggregation import Beliefs
from comitia.columns import TableEncoder
from comitia.ensembles._asking import Asking, Part, joined
from comitia.ensembles._deciding import Deciding
from comitia.ensembles._parameters import SparseOutput
from comitia.ensembles._size import Size
from comitia.ensembles._targets import Form, Targets, check_targets, check_weights, encode
from comitia.losses import Abstaining, cost_for_rate, rank_by
from comitia.losses._topk import Order
from comitia.measures import Measure, RecallAtLeast, get_target
from comitia.relevance import Observed, Relevance, get_pool


class MultilabelEnsemble(Deciding, Asking, ClassifierMixin, BaseEstimator):
    """Base of all ensembles.

    ``loss``, ``aggregation``, ``pool``, ``reading``, ``calibration`` and ``constraints`` may change after ``fit``.

    Examples
    --------
    >>> from comitia import ENSEMBLES
    >>> from comitia.ensembles import MultilabelEnsemble
    >>> all(issubclass(ensemble, MultilabelEnsemble) for ensemble in ENSEMBLES.values())
    True
    """

    title: ClassVar[str] = ""
    """What people call it."""

    brief: ClassVar[str] = ""
    """What its members are, in a word or two."""

    about: ClassVar[str] = ""
    """What its name stands for, in a line, for who meets it in a report."""

    supports_joint: ClassVar[bool] = False
    """Whether members give labelset distributions, which ``aggregation="ctp-joint"`` needs."""

    sparse_output: SparseOutput

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members.  Where that fails, everything is as it was before.

        Parameters
        ----------
        X : array, sparse matrix or frame, shape (n, d)
        y : array, sparse matrix or frame of 0/1, shape (n, K); n lists of names; or a binary target of shape (n,)
            The labels that lists name are sorted in ``label_names_``, which is the order of what is predicted.
        sample_weight : array-like of shape (n,), optional
            An instance of weight w counts as w copies of it.
        """
        self._check_decision()
        targets = check_targets(y, type(self).__name__)
        self._limits(targets.names)
        self._gives_sparse(targets.form)
        if getattr(self, "verbose", 0):
            targets.say_what_is_hard()
        before = dict(self.__dict__)
        try:
            with limited_to(getattr(self, "n_jobs", None)):
                self._fit(X, targets if self._takes_lists else targets.as_array(), sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def predict(self, X: Any) -> Any:
        """Return the labeling of the smallest expected loss, (n, K) of 0/1; or (n,) classes of a binary target.

        It is a CSR matrix where the targets were sparse, unless ``sparse_output`` says otherwise.
        """
        check_is_fitted(self, "members_")
        decision = self.decision()
        sparse = self._gives_sparse(self._form)
        return self._form.labels(self._labelings(X, lambda beliefs: beliefs.decide(decision), decision, sparse))

    def predict_partial(
        self, X: Any, *, cost: float | None = None, rate: float | None = None, guarantee: float | None = None
    ) -> LabelArray:
        """Return labels where the ensemble decides, and −1 where it is better left open, (n, K).

        Exactly one of the three says when that is.

        Parameters
        ----------
        X : array, sparse matrix or frame, shape (n, d)
        cost : float, optional
            The price of deciding nothing, in units of the loss: see :class:`comitia.losses.Abstaining`.
        rate : float, optional
            The share of labels that may be left open, in [0, 1].  The cost is found on instances that members have not
            seen, with marginals that are read as for ``predict``, so that the share is about this for new ones; where
            joint distributions decide (``"ctp-joint"``) it may be another.
        guarantee : float, optional
            The share of an instance's labels that is expected not to be denied, in (0, 1): a label is denied only where
            that keeps the promise on instances that members have not seen, and asserted where it is more probable than
            not (Angelopoulos et al. 2024, Conformal risk control).  Out-of-bag beliefs keep it approximately.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from comitia import EMODTClassifier
        >>> X, Y = make_multilabel_classification(random_state=0)
        >>> forest = EMODTClassifier(n_estimators=20, oob_score=True, random_state=0).fit(X, Y)
        >>> (forest.predict_partial(X, rate=0.2) == -1).mean() <= 0.3
        np.True_
        """
        check_is_fitted(self, "members_")
        if sum(given is not None for given in (cost, rate, guarantee)) != 1:
            raise ComitiaError("predict_partial takes exactly one of cost, rate and guarantee.")
        if self.constraints is not None:
            raise ComitiaError("a partial answer cannot keep limits: predict_partial needs constraints=None.")
        if guarantee is not None:
            held = self._tuned_on()
            cuts = RecallAtLeast(guarantee).resolve_partial(held.p, held.Y)
            pooled = self._belief(get_pool(self.pool), calibration=self.calibration_)
            return self._gathered(X, lambda beliefs: cuts.minimise(beliefs.distribution(pooled)))
        loss = self._target(self.loss)
        if rate is not None:
            cost = cost_for_rate(self._read_unseen(), loss, rate)
        assert cost is not None
        partial_loss, belief = Abstaining(loss, cost), self._pooled_belief()
        return self._gathered(X, lambda beliefs: partial_loss.minimise(beliefs.distribution(belief)))

    def rank(self, X: Any, measure: Order = "rank") -> IntArray:
        """Return each instance's labels in the order that is best for a measure of orders, the first first, (n, K).

        See Also
        --------
        comitia.losses.rank_by : the measures; they differ where beliefs are joint, as with ``"ctp-joint"``.
        """
        check_is_fitted(self, "members_")
        belief = self._pooled_belief()
        return self._gathered(X, lambda beliefs: rank_by(beliefs.distribution(belief), measure))

    def predict_proba(self, X: Any) -> Any:
        """Return the pooled marginals, calibrated, (n, K); or one column a class of a binary target.

        They are a CSR matrix where predictions are.
        """
        belief = self._belief(get_pool(self.pool), calibration=self.calibration_)
        sparse = self._gives_sparse(self._form)
        p = self._labelings(X, lambda beliefs: beliefs.distribution(belief).marginals(), belief, sparse)
        return self._form.probabilities(p)

    def predict_members(self, X: Any, joint: bool = False) -> Iterator[Relevance]:
        """Yield what each member believes about X: marginals, or labelset distributions with ``joint``.

        Give them to :func:`comitia.decide` to decide many times without asking the members again: with the same loss,
        aggregation, pool, reading, constraints and ``calibration_``, and with the members' weights where they have
        some, it decides what :meth:`predict` does.  Where only some have joint distributions, others give marginals.
        """
        check_is_fitted(self, "members_")
        if joint and not self._some_joint:
            raise ComitiaError(f"joint=True asks for joint distributions; members of {type(self).__name__} have none.")
        yield from self._believed(self._features(X), self.observed_, joint)

    def beliefs(self, X: Any) -> Iterator[Beliefs]:
        """Yield what the members believe about X, so many instances at a time as fit in memory, to decide many times.

        See Also
        --------
        comitia.aggregation.Beliefs : what can be asked of them.
        """
        check_is_fitted(self, "members_")
        return self._asked(self._features(X))

    def expected_loss(self, X: Any) -> FloatArray:
        """Return the loss that the ensemble expects of each of its predictions, (n,).

        The expectation is over the ensemble's belief: the joint mixture where that decides (``"ctp-joint"``), and
        otherwise the pooled marginals as they are read.  For a measure of a whole set it is of the loss it resolves to.
        """
        check_is_fitted(self, "members_")
        decision, loss, belief = self.decision(), self._target(self.loss), self._pooled_belief()
        return self._gathered(
            X, lambda beliefs: loss.risk(beliefs.distribution(belief), beliefs.decide(decision)), once=False
        )

    def staged_predict(self, X: Any, sizes: Sequence[int]) -> Iterator[Any]:
        """Yield the prediction of the first m members for each m in ``sizes``, ascending, without refitting."""
        check_is_fitted(self, "members_")
        decision, sparse, K = self.decision(), self._gives_sparse(self._form), len(self.label_names_)

        def staged(part: Part) -> list[Any]:
            return [part.in_full(stage, K, sparse) for stage in part.beliefs.stages(decision, sizes)]

        with limited_to(getattr(self, "n_jobs", None)):
            parts = self._over_parts(staged, self._features(X), [decision])
        for stage in zip(*parts, strict=True):
            yield self._form.labels(joined(stage, sparse))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions: accuracy for Hamming loss, F1 for ``"f1"``, and so on.

        For a measure of a whole set, such as ``"macro-f1"``, it is the measure.
        """
        check_is_fitted(self, "members_")
        known = self._form.classes, self.label_names_, type(self).__name__
        truth, predicted = encode(y, *known), encode(self.predict(X), *known)
        if isinstance(truth, LabelRows) != isinstance(predicted, LabelRows):
            truth, predicted = listed(truth), listed(predicted)
        weights = None if sample_weight is None else check_weights(sample_weight, len(truth))
        target = get_target(self.loss)
        if isinstance(target, Measure):
            return target.value(truth, predicted, weights)
        return float(1 - np.average(target.value(truth, predicted), weights=weights))

    @property
    def columns_(self) -> str:
        """What each column of a frame was taken for, in a line; there is none after a fit on an array."""
        known = [self, *getattr(self.members_, "ensembles", ())]
        encoders = [one for one in (getattr(one, "_encoder", None) for one in known) if isinstance(one, TableEncoder)]
        if not encoders:
            raise AttributeError(f"this {type(self).__name__} was not fitted on a frame with columns to tell apart.")
        return encoders[0].describe()

    reads_frames: ClassVar[bool] = True
    """Whether it takes frames as they are, and makes numbers of columns that are none."""

    # Whether members learn from lists of labels; others need an array of all of them.
    _takes_lists: ClassVar[bool] = False

    def _gives_sparse(self, form: Form) -> bool:
        """Whether predictions are CSR matrices, for targets of this form."""
        if not isinstance(self.sparse_output, bool) and self.sparse_output != "auto":
            raise ComitiaError(f"sparse_output must be 'auto', True or False; got {self.sparse_output!r}.")
        return form.classes is None and (form.sparse if self.sparse_output == "auto" else self.sparse_output)

    @property
    def _some_joint(self) -> bool:
        """Whether members give labelset distributions, or at least some of them."""
        return self.supports_joint

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        """The types of ours that a fitted ensemble may hold: its model files are made of nothing else."""
        return (Form, Observed, LabelRows)

    @abstractmethod
    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None: ...

    def _remember(self, targets: Targets, weight: FloatArray | None = None) -> None:
        self.label_names_ = targets.names
        self._form = targets.form
        self.observed_ = Observed.of(targets.Y, weight)
        self.classes_ = np.arange(len(targets.names)) if targets.classes is None else targets.classes

    @staticmethod
    def _work(size: Size) -> float:
        """Return what a fit costs, in no unit, for estimates of time.

        The factors of the ensembles were measured on the datasets of the paper; they only need to be about right.
        """
        return size.members * size.n * size.labels * size.values

    def _check_opened(self) -> None:
        """Check what was opened from a file, beyond what its parts say of themselves."""
        self.get_params()
        self.__sklearn_tags__()
        if not hasattr(self.members_, "relevances") or not isinstance(getattr(self, "n_features_in_", 0), int):
            raise ComitiaError(f"members and a number of features must be known; got {type(self.members_).__name__}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
