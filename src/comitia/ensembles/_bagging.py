"""Bagging of any multilabel classifier."""

from __future__ import annotations

from typing import Any, ClassVar

from comitia.columns import TableEncoder
from comitia.ensembles._bootstrap import BootstrapEnsemble
from comitia.ensembles._crews import Crew, MemberList
from comitia.ensembles._features import input_tags, needs_numbers, pass_features
from comitia.ensembles._foreign import AnyMultilabel, BinaryRelevance, fit_each
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    check_classifier,
    documented,
)
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.losses import Constraints


@documented
class MultilabelBaggingClassifier(BootstrapEnsemble):
    """Bags any multilabel classifier of scikit-learn's kind, and decides for a loss.

    Parameters
    ----------
    estimator : classifier
        Anything that fits a 0/1 matrix: ``ClassifierChain``, ``MultiOutputClassifier``, ``RandomForestClassifier``,
        ``KNeighborsClassifier``, ``MLPClassifier``, a ``Pipeline``, ...  One without ``predict_proba`` votes.  One that
        takes no sample weights is fitted on repeated instances; one that refuses labels that are constant in its
        sample, on the others.  Columns of frames that are no numbers become some, unless it is a pipeline, which does
        that itself.
    n_estimators : int, default=10
        Number of members.
    [[sampling parameters]]

    Attributes
    ----------
    [[sampling attributes]]

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from comitia import MultilabelBaggingClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> bagged = MultilabelBaggingClassifier(KNeighborsClassifier(), n_estimators=5, loss="f1", random_state=0)
    >>> bagged.fit(X, Y).predict(X[:2]).shape
    (2, 5)
    """

    title: ClassVar[str] = "Bagging"

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 10,
        *,
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
        self.estimator = estimator

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), MemberList, AnyMultilabel, BinaryRelevance)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_classifier("estimator", self.estimator)

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        seeds = member_integers(self._entropy, members)
        each = [(self.estimator, m, int(seed)) for m, seed in enumerate(seeds)]
        return MemberList(tuple(fit_each(AnyMultilabel.fitted, data, each, self.n_jobs, self.verbose)))

    def _features(self, X: Any, fit: bool = False) -> Any:
        known = getattr(self, "_encoder", None)
        if needs_numbers(self.estimator, X) if fit else isinstance(known, TableEncoder):
            return super()._features(X, fit)
        self._encoder = None
        return pass_features(self, X, fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = input_tags(self.estimator)
        tags.input_tags.sparse, tags.input_tags.allow_nan = known.sparse, known.allow_nan
        return tags
