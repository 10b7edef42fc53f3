"""Ensembles of classifier chains."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia._errors import ComitiaError
from comitia._labels import dense
from comitia.ensembles._bootstrap import BaseLearnerEnsemble
from comitia.ensembles._chosen import AUTO
from comitia.ensembles._chosen_chains import MEMBERS as TRIED
from comitia.ensembles._chosen_chains import choose_chain_method
from comitia.ensembles._crews import ChainCrew, ChainMethod, Crew, MemberList
from comitia.ensembles._foreign import Chain, fit_each
from comitia.ensembles._logistic import FastLogistic, Scaling, scaled
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    documented,
)
from comitia.ensembles._samples import TrainingSet, member_integers, member_seed
from comitia.ensembles._size import Size
from comitia.learners._chains import fit_chains
from comitia.losses import Constraints


@documented
class ECCClassifier(BaseLearnerEnsemble):
    """Ensemble of classifier chains: each member predicts the labels one after another, each link seeing those before.

    A chain models dependence between labels; members have orders of their own, so that no label is always last.

    Parameters
    ----------
    estimator : classifier, optional
        Base learner of every link; by default logistic regression on scaled features and the labels as they are,
        fitted for all links of all members at once.  See :class:`EBRClassifier`.
    n_estimators : int, default=50
        Number of chains.
    C : "auto" or float, default="auto"
    scaling : {"auto", "none", "standard", "range"}, default="auto"
        Of the default learner, as in :class:`EBRClassifier`; chosen for the labels one by one.
    chain_method : {"auto", "predict", "predict_proba", "joint"}, default="auto"
        What a link passes on to the next: its decision, as in the paper, or its probability.  ``"joint"`` passes on
        nothing that is uncertain: each chain gives every labelset of the training data its probability by the chain
        rule, P(y) = Π_k P(y_k | x, y_<k), so that members have joint beliefs, and marginals that are true if no other
        labelsets occur.  ``"auto"`` is ``"predict"``, or ``"joint"`` where a few chains have a smaller Brier score with
        it out of bag, by more than two standard errors; nothing is tried with a base learner of one's own, or if
        labelsets times labels exceed 10,000.
    order : "random" or array-like of int, default="random"
        ``"random"`` gives each member a random order of its own; an array of shape (K,) is the order of all members,
        one of shape (M, K) has an order for each.
    [[sampling parameters]]
    device : {"cpu", "cuda", "cuda:N"}, default="cpu"
        Where logistic regressions are fitted; a GPU needs the extra ``gpu``.  What is fitted is NumPy's, and predicts
        anywhere.

    Attributes
    ----------
    [[sampling attributes]]
    orders_ : array of int, shape (M, K)
        The order of each member's chain.
    chain_method_ : str
        What links pass on: what was given, or what was chosen in the first fit.
    C_, scaling_ : float, str
        What the default learner has: what was given, or what was chosen in the first fit.

    References
    ----------
    Read, Pfahringer, Holmes and Frank (2011), Classifier chains for multi-label classification, Machine Learning 85.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from comitia import ECCClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> ecc = ECCClassifier(n_estimators=10, loss="subset01", random_state=0).fit(X, Y)
    >>> ecc.predict(X[:2]).shape, ecc.scaling_ in ("none", "standard", "range")
    ((2, 5), True)
    """

    title: ClassVar[str] = "ECC"
    brief: ClassVar[str] = "chains"
    about: ClassVar[str] = "ensemble of classifier chains: each label is predicted knowing the labels before it"

    @property
    def supports_joint(self) -> bool:  # type: ignore[override]
        """Whether chains give joint distributions; nobody knows before a fit that chooses."""
        method = getattr(self, "chain_method_", None) if self.chain_method == AUTO else self.chain_method
        return bool(method == "joint")

    chain_method_: ChainMethod
    orders_: NDArray[np.intp]

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        C: Literal["auto"] | float = "auto",
        scaling: Literal["auto"] | Scaling = "auto",
        chain_method: Literal["auto", "predict", "predict_proba", "joint"] = "auto",
        order: Literal["random"] | ArrayLike = "random",
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
        device: str = "cpu",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators,
            C=C,
            scaling=scaling,
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
            device=device,
        )
        self.chain_method = chain_method
        self.order = order

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), ChainCrew, MemberList, Chain)

    @staticmethod
    def _work(size: Size) -> float:
        return size.members * size.n * size.labels * (size.labels + size.values)

    @property
    def _believes_in_seen(self) -> bool:
        return self.supports_joint

    def _values_per_belief(self) -> int:
        labels, labelsets = len(self.label_names_), len(self.observed_.table)
        # Of many labelsets few can matter for an instance.
        return max(labels, min(labelsets, 256)) if self.supports_joint else labels

    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        if self.chain_method not in (AUTO, "predict", "predict_proba", "joint"):
            raise ComitiaError(
                f"chain_method must be 'auto', 'predict', 'predict_proba' or 'joint'; got {self.chain_method!r}."
            )
        orders = self._orders(members, data.Y.shape[1])
        crew = self._fit_chains(data, members, orders)
        self.orders_ = orders if not members.start else np.concatenate([self.orders_, orders])
        return crew

    def _fit_chains(self, data: TrainingSet, members: range, orders: NDArray[np.intp]) -> Crew:
        fast = self._learner(data, members)
        if not members.start:
            self.chain_method_ = self._method(data, fast)
        if fast is None:
            seeds = member_integers(self._entropy, members)
            each = [(self.estimator, m, int(seed), orders[m], self.chain_method_) for m, seed in enumerate(seeds)]
            return MemberList(tuple(fit_each(Chain.fitted, data, each, self.n_jobs, self.verbose)))
        centre, scale = fast.centre_and_scale(data.X, data.weight)
        fit = fit_chains(
            scaled(data.X, centre, scale),
            dense(data.Y),
            orders,
            sample_weight=data.draws,
            C=fast.C,
            fit_intercept=fast.fit_intercept,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            device=self.device,
        )
        return ChainCrew(fit, centre, scale, self.chain_method_)

    def _method(self, data: TrainingSet, fast: FastLogistic | None) -> ChainMethod:
        if self.chain_method != AUTO:
            return self.chain_method
        if self.estimator is not None or fast is None:
            return "predict"
        K = data.Y.shape[1]
        orders = self._orders(range(TRIED), K) if isinstance(self.order, str) else np.resize(self.order, (TRIED, K))
        return choose_chain_method(data, self._entropy, fast, orders, self.n_jobs)

    def _orders(self, members: range, n_labels: int) -> NDArray[np.intp]:
        if isinstance(self.order, str):
            if self.order != "random":
                raise ComitiaError(f"order must be 'random' or an array of label numbers; got {self.order!r}.")
            draws = (np.random.default_rng(member_seed(self._entropy, m, 1)) for m in members)
            return np.stack([rng.permutation(n_labels) for rng in draws])
        order = np.asarray(self.order)
        if order.shape not in ((n_labels,), (self.n_estimators, n_labels)):
            raise ComitiaError(
                f"order must have shape ({n_labels},), or ({self.n_estimators}, {n_labels}) for one a member;"
                f" got {order.shape}."
            )
        orders = np.broadcast_to(order, (self.n_estimators, n_labels))[members.start : members.stop]
        if not (np.sort(orders, axis=1) == np.arange(n_labels)).all():
            raise ComitiaError(f"each order must name every label 0..{n_labels - 1} once.")
        return orders.astype(np.intp)
