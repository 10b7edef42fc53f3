"""Ensembles of binary relevance classifiers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from comitia._labels import dense
from comitia.ensembles._bootstrap import BaseLearnerEnsemble
from comitia.ensembles._crews import Crew, LogisticCrew, MemberList
from comitia.ensembles._foreign import BinaryRelevance, fit_each
from comitia.ensembles._logistic import scaled
from comitia.ensembles._parameters import documented
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.ensembles._size import Size
from comitia.learners._logistic import fit_logistic


@documented
class EBRClassifier(BaseLearnerEnsemble):
    """Ensemble of binary relevance classifiers: one binary classifier for each label and member.

    Parameters
    ----------
    estimator : classifier, optional
        Base learner of every label and member; by default logistic regression, fitted for all labels and members at
        once.  A ``LogisticRegression`` that differs from its defaults in C and fit_intercept alone is fitted in the
        same way, on the features as they are; anything else by scikit-learn.
    n_estimators : int, default=50
        Number of members.
    C : "auto" or float, default="auto"
        Inverse of the penalty of the default learner.  ``"auto"`` chooses it out of bag: a few members are fitted along
        a path of powers of ten, and the one of the smallest Brier score is taken.
    scaling : {"auto", "none", "standard", "range"}, default="auto"
        Whether the default learner takes features as they are, divided by their standard deviation, or by the distance
        from their smallest to their largest value, which unlike the deviation does not blow up a feature that is one in
        a few instances.  ``"auto"`` chooses it with C.  With fewer than 20 distinct instances, or if all labels are
        constant, nothing is chosen: the features are standardised and C is 1.
    [[sampling parameters]]
    device : {"cpu", "cuda", "cuda:N"}, default="cpu"
        Where logistic regressions are fitted; a GPU needs the extra ``gpu``.  What is fitted is NumPy's, and predicts
        anywhere.

    Attributes
    ----------
    [[sampling attributes]]
    C_, scaling_ : float, str
        What the default learner has: what was given, or what was chosen in the first fit.

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
    >>> ebr.predict(X[:2]).shape, ebr.scaling_ in ("none", "standard", "range")
    ((2, 5), True)
    """

    title: ClassVar[str] = "EBR"
    brief: ClassVar[str] = "binary relevance"
    about: ClassVar[str] = "ensemble of binary relevance: one classifier for each label"

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), LogisticCrew, MemberList, BinaryRelevance)

    @staticmethod
    def _work(size: Size) -> float:
        return 0.8 * size.members * size.n * size.labels * size.values

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        fast = self._learner(data, members)
        if fast is None:
            return self._fit_by_scikit_learn(data, members)
        centre, scale = fast.centre_and_scale(data.X, data.weight)
        fit = fit_logistic(
            scaled(data.X, centre, scale),
            dense(data.Y),
            sample_weight=data.draws,
            C=fast.C,
            fit_intercept=fast.fit_intercept,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            device=self.device,
        )
        coef = np.divide(fit.coef, scale, out=fit.coef)  # in place: M × K × d numbers are many
        intercept = fit.intercept - coef @ centre
        shape = (-1, data.Y.shape[1])
        crew = LogisticCrew(coef.reshape(*shape, data.X.shape[1]), intercept.reshape(shape))
        return crew if data.draws is not None else crew.repeated(len(members))

    def _fit_by_scikit_learn(self, data: TrainingSet, members: range) -> Crew:
        seeds = member_integers(self._entropy, members)
        each = [(self.estimator, m, int(seed)) for m, seed in enumerate(seeds)]
        return MemberList(tuple(fit_each(BinaryRelevance.fitted, data, each, self.n_jobs, self.verbose)))
