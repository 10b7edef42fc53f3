"""Ensembles of binary relevance classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from joblib import Parallel, delayed
from sklearn.utils import get_tags

from comitia.aggregation import Aggregation
from comitia.ensembles._logistic import FastLogistic, LogisticCrew, scaled
from comitia.ensembles._members import BinaryRelevance, Crew, MemberList
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.ensembles.bootstrap import BootstrapEnsemble
from comitia.learners.logistic import fit_logistic
from comitia.losses import Loss
from comitia.relevance import Pool


class EBRClassifier(BootstrapEnsemble):
    """Ensemble of binary relevance classifiers: one binary classifier for each label and member.

    Parameters
    ----------
    estimator : classifier, optional
        Base learner of every label and member; by default logistic regression on standardised features, fitted for
        all labels and members at once.  A ``LogisticRegression`` that differs from the default in C and fit_intercept
        alone is fitted in the same way, on the features as they are; anything else by scikit-learn.
    n_estimators : int
        Number of members.
    loss : str, Loss or callable
        What predictions are made for: a name of :data:`comitia.LOSSES`, a loss, or a function of (truth, labeling).
    aggregation : str, Aggregation or None
        How members decide together: a name of :data:`comitia.AGGREGATIONS`; ``"oob"``, the one with the smallest
        out-of-bag loss; or None, the paper's advice for the loss.
    pool : str or Pool
        How marginals are pooled: a name of :data:`comitia.POOLS`.
    bootstrap : bool
        Whether each member learns from a bootstrap sample; otherwise from all instances.
    max_samples : int, float or None
        Instances drawn for each member, as a number or a share; None draws as many as there are.
    oob_score : bool
        Whether to judge every aggregation on the instances that members have not seen.
    n_jobs : int, optional
        Jobs that fit members, through joblib.  The result is the same for any number.
    random_state : int, RandomState or None
        Seed of draws and members.
    warm_start : bool
        Whether ``fit`` keeps the members it has and adds those that are missing.
    verbose : int
        Shows the progress of long fits.

    Attributes
    ----------
    label_names_ : array of K names
        The columns of y where it was a frame, otherwise y0, y1, ...
    members_ : the fitted members
    oob_table_ : dict
        For each named loss, the out-of-bag loss of each aggregation (with ``oob_score=True``).
    oob_aggregation_, oob_loss_, oob_score_, oob_losses_, oob_proba_
        The aggregation in use, its out-of-bag loss for ``loss``, one minus that, the loss of each instance and its
        pooled out-of-bag marginals, NaN for an instance that every member has seen.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2009), Mining multi-label data.  Nguyen, Hüllermeier, Rapp, Loza Mencía and
    Fürnkranz (2020), On aggregation in ensembles of multilabel classifiers.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from comitia import EBRClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> ebr = EBRClassifier(n_estimators=10, loss="f1", random_state=0).fit(X, Y)
    >>> ebr.predict(X[:2])
    array([[0, 0, 1, 1, 1],
           [0, 0, 1, 0, 0]])
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
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
        self.estimator = estimator

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        fast = FastLogistic.standing_in_for(self.estimator)
        if fast is None:
            return self._fit_by_scikit_learn(data, members)
        centre, scale = fast.scaling(data.X, data.weight)
        fit = fit_logistic(
            scaled(data.X, centre, scale),
            data.Y,
            sample_weight=data.draws,
            C=fast.C,
            fit_intercept=fast.fit_intercept,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        coef = fit.coef / scale
        intercept = fit.intercept - coef @ centre
        shape = (-1, data.Y.shape[1])
        crew = LogisticCrew(coef.reshape(*shape, data.X.shape[1]), intercept.reshape(shape))
        return crew if data.draws is not None else crew.repeated(len(members))

    def _fit_by_scikit_learn(self, data: TrainingSet, members: range) -> Crew:
        seeds = member_integers(self._entropy, members)
        fitted = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(BinaryRelevance.fitted)(self.estimator, data.X, data.Y, data.sample(m), int(seed))
            for m, seed in enumerate(seeds)
        )
        return MemberList(tuple(fitted))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags
