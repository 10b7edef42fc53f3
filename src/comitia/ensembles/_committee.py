"""A committee: ensembles of different kinds that decide together, with weights learnt out of bag."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, dense
from comitia.aggregation import Beliefs
from comitia.columns import TableEncoder
from comitia.ensembles._bagging import MultilabelBaggingClassifier
from comitia.ensembles._base import MultilabelEnsemble
from comitia.ensembles._binary_relevance import EBRClassifier
from comitia.ensembles._boosting import EMOBTClassifier
from comitia.ensembles._bootstrap import BootstrapEnsemble
from comitia.ensembles._chains import ECCClassifier
from comitia.ensembles._crews import Asked
from comitia.ensembles._ensemble_crew import EnsembleCrew, believed_together
from comitia.ensembles._features import input_tags, pass_features
from comitia.ensembles._judged import JudgedEnsemble
from comitia.ensembles._out_of_bag import OutOfBag
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    are_pairs,
    check_pairs,
    documented,
)
from comitia.ensembles._size import Size
from comitia.ensembles._targets import Targets, check_lengths, check_weights
from comitia.ensembles._trees import EMODTClassifier
from comitia.ensembles._weights import forward_selection, labelset_likelihood, likelihood_selection
from comitia.losses import Constraints
from comitia.relevance import (
    LabelSets,
    Marginals,
    Observed,
    Relevance,
    Seen,
    get_pool,
    mean,
)


@documented
class CommitteeClassifier(JudgedEnsemble, _BaseComposition):
    """Ensembles of different kinds decide together: what each believes, weighed by what it is worth out of bag.

    Different members make different mistakes.  Every ensemble is fitted with the same seed, so on the same draws; the
    beliefs that its members have of instances they have not seen are pooled, and weights are found for the ensembles by
    greedy forward selection with replacement, such that the weighted mean of their marginals has the smallest log loss;
    and others for mixtures of beliefs about whole labelsets, such that what happened has the smallest joint log loss.
    How that belief is read and decided is chosen out of bag as well, for each loss, without a refit.

    Parameters
    ----------
    members : "auto" or list of (name, classifier), default="auto"
        The ensembles.  A classifier that is no ensemble of comitia's is bagged, ten times.  ``"auto"`` takes trees,
        extra-random trees, boosted trees, logistic regressions and chains, as far as the size and kind of the data
        allow: see :meth:`default_members`.
    [[decision parameters]]
    n_jobs : int, optional
        Jobs that fit members, through joblib; None leaves what the members say.
    random_state : int, RandomState or None, default=None
        Seed of draws and members.
    verbose : int, default=0
        Says which ensemble is being fitted.

    Attributes
    ----------
    named_members_ : dict
        The fitted ensembles by name.
    weights_ : dict
        Weight of each ensemble by name; they sum to one.
    joint_weights_ : dict
        Weights with which beliefs about whole labelsets are mixed.
    oob_log_losses_ : dict
        Out-of-bag log loss of each ensemble, and of the committee.
    [[sampling attributes]]

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble selection from libraries of models, ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from comitia import CommitteeClassifier, EBRClassifier, EMODTClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, random_state=0)
    >>> members = [("trees", EMODTClassifier(20)), ("lines", EBRClassifier(n_estimators=20))]
    >>> committee = CommitteeClassifier(members, loss="f1", random_state=0).fit(X, Y)
    >>> sorted(committee.weights_), committee.predict(X[:2]).shape
    (['lines', 'trees'], (2, 5))
    """

    title: ClassVar[str] = "Committee"
    brief: ClassVar[str] = "all of them together"
    about: ClassVar[str] = "ensembles of all kinds together, weighed by how well they did on what they had not seen"

    # A committee always knows its out-of-bag losses.
    oob_score = True

    weights_: dict[str, float]
    joint_weights_: dict[str, float]
    oob_log_losses_: dict[str, float]

    def __init__(
        self,
        members: Literal["auto"] | Sequence[tuple[str, Any]] = "auto",
        *,
        loss: TargetLike = "hamming",
        aggregation: HowLike | None = "oob",
        pool: PoolLike = "mean",
        reading: ReadingLike = "auto",
        calibration: CalibrationLike | None = None,
        constraints: Constraints | None = None,
        sparse_output: SparseOutput = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.members = members
        self.loss = loss
        self.aggregation = aggregation
        self.pool = pool
        self.reading = reading
        self.calibration = calibration
        self.constraints = constraints
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def supports_joint(self) -> bool:  # type: ignore[override]
        """Whether all ensembles give joint distributions; a reading makes them of the others' marginals."""
        if hasattr(self, "members_"):
            return all(ensemble.supports_joint for ensemble in self.members_.ensembles)
        given = [one[1] for one in self.members] if are_pairs(self.members) else []
        return bool(given) and all(isinstance(one, MultilabelEnsemble) and one.supports_joint for one in given)

    @property
    def _some_joint(self) -> bool:
        return any(ensemble._some_joint for ensemble in self.members_.ensembles)

    @property
    def named_members_(self) -> dict[str, Any]:
        """The fitted ensembles by name."""
        check_is_fitted(self, "members_")
        return dict(zip(self.weights_, self.members_.ensembles, strict=True))

    def default_members(self, X: Any, Y: LabelArray) -> list[tuple[str, BootstrapEnsemble]]:
        """Return the ensembles that ``members="auto"`` stands for: by the size and kind of the data alone.

        Trees are left out of wide sparse data, such as texts, where a split looks at thousands of features that are
        nearly always zero; chains where there are so many labels that each link sees a hundred others.  Extra-random
        trees try a fifth of the features a split; of sparse ones, where most say nothing, as many as they choose.
        """
        wide = issparse(X) and X.shape[1] > _WIDE
        found: list[tuple[str, BootstrapEnsemble]] = []
        if not wide:
            found += [
                ("trees", EMODTClassifier()),
                ("random trees", EMODTClassifier(splitter="random", max_features="auto" if issparse(X) else 0.2)),
                ("boosted trees", EMOBTClassifier()),
            ]
        found.append(("lines", EBRClassifier()))
        if Y.shape[1] <= _MANY_LABELS:
            found.append(("chains", ECCClassifier(chain_method="joint")))
        return found

    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None:
        X = pass_features(self, X, fit=True)
        n = check_lengths(X, targets)
        if n < 2:
            raise ComitiaError(f"a committee needs instances that some members have not seen; got n_samples={n}.")
        weight, Y = check_weights(sample_weight, n), dense(targets.Y)
        named = self._named(X, Y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        fitted: list[BootstrapEnsemble] = []
        choices: dict[Any, Any] = {}
        with warnings.catch_warnings():
            # A few instances are in every sample of a small ensemble: they count for no weight.
            warnings.filterwarnings("ignore", message=".*have no out-of-bag decision")
            for name, ensemble in named:
                if self.verbose:
                    print(f"fitting {name} ...", flush=True)
                given = None if sample_weight is None else weight
                prepared = self._prepared(ensemble, seed)
                prepared._choices = choices
                fitted.append(prepared.fit(X, Y, sample_weight=given))
                del prepared._choices
            self._remember(targets, weight)
            self.members_ = EnsembleCrew(tuple(fitted))
            # What ensembles believe together is asked for twice: for their weights, and for the decisions.
            self._heard: dict[Any, list[Relevance]] = {}
            self._weigh([name for name, _ in named], X, Y, weight)
            if hasattr(self, "_oob"):
                del self._oob
            self._oob = OutOfBag.of(self, X, Y, weight, self.oob_mask_)
            del self._heard

    def _prepared(self, ensemble: Any, seed: int) -> Any:
        """Return a clone that is fitted on the draws of all others, and that judges what it has not seen."""
        if isinstance(ensemble, MultilabelEnsemble):
            prepared = clone(ensemble)
        else:
            prepared = MultilabelBaggingClassifier(clone(ensemble), n_estimators=_BAGGED)
        if not isinstance(prepared, BootstrapEnsemble):
            raise ComitiaError(
                f"members must be ensembles with out-of-bag beliefs, or classifiers to be bagged; got"
                f" {type(ensemble).__name__}."
            )
        prepared.set_params(oob_score=True, aggregation=None, calibration=None)
        if prepared.random_state is None:
            prepared.set_params(random_state=seed)
        if self.n_jobs is not None:
            prepared.set_params(n_jobs=self.n_jobs)
        prepared._judges_decisions = False
        return prepared

    def _named(self, X: Any, Y: LabelArray) -> list[tuple[str, Any]]:
        if isinstance(self.members, str):
            if self.members != "auto":
                raise ComitiaError(f"members must be 'auto' or a list of (name, classifier); got {self.members!r}.")
            return list(self.default_members(X, Y))
        if not self.members:
            raise ComitiaError("members must name at least one (name, classifier).")
        check_pairs("members", self.members, "'auto' or ")
        self._validate_names([name for name, _ in self.members])
        return list(self.members)

    def _weigh(self, names: list[str], X: Any, Y: LabelArray, weight: FloatArray) -> None:
        """Find the weights of the ensembles by what they believe of instances that they have not seen."""
        p = np.stack([ensemble.oob_proba_ for ensemble in self.members_.ensembles])
        known = np.isfinite(p).all(axis=(0, 2))
        if not (known & (weight > 0)).any():
            raise ComitiaError("no instance is out of bag for all ensembles: use more members or more instances.")
        self.oob_mask_ = np.tile(known, (len(p), 1))
        judged = known & (weight > 0)
        found = forward_selection(p[:, judged], Y[judged], weight[judged])
        self.weights_ = dict(zip(names, found.weights.tolist(), strict=True))
        self.oob_log_losses_ = {**dict(zip(names, found.alone.tolist(), strict=True)), "committee": found.together}
        likelihood = self._labelset_likelihood(X, np.flatnonzero(judged), Y, weight)
        joint = likelihood_selection(likelihood[:, :, np.newaxis], weight[judged])
        self.joint_weights_ = dict(zip(names, joint.weights.tolist(), strict=True))

    def _labelset_likelihood(self, X: Any, rows: IntArray, Y: LabelArray, weight: FloatArray) -> FloatArray:
        """Return what each ensemble gave, out of bag, to the labelset that an instance has, (E, rows)."""
        found = np.ones((len(self.members_), len(rows)))
        if len(self.observed_.table) == 1:
            return found
        known = self.observed_.leaving_out(Y[rows], weight[rows])
        for part in self._chunks(len(rows)):
            for at, belief in enumerate(self._not_seen(X, rows[part], known.take(part), joint=True)):
                read = Seen()(belief)
                assert isinstance(read, LabelSets)
                found[at, part] = labelset_likelihood(read, Y[rows[part]])
        return found

    def _weights(self) -> FloatArray | None:
        return np.array(list(self.weights_.values()))

    def _check_opened(self) -> None:
        super()._check_opened()
        if not isinstance(self.members, str) and not all(hasattr(member, "fit") for _, member in self.members):
            raise ComitiaError("members must be classifiers.")
        for name in ("weights_", "joint_weights_"):
            found = list(getattr(self, name).values())
            if not all(isinstance(weight, float) and weight >= 0 for weight in found):
                raise ComitiaError(f"{name} must be numbers of zero or more; got {found}.")
            if len(found) != len(self.members_) or not math.isclose(sum(found), 1.0):
                raise ComitiaError(f"{name} must sum to one over {len(self.members_)} ensembles; got {found}.")
        names, number = list(getattr(self, "feature_names_in_", ())), getattr(self, "n_features_in_", None)
        for ensemble in self.members_.ensembles:
            ensemble._check_opened()
            if isinstance(encoder := getattr(ensemble, "_encoder", None), TableEncoder):
                encoder.check()
            for part in (ensemble, encoder):
                known = list(getattr(part, "feature_names_in_", names)), getattr(part, "n_features_in_", number)
                if known != (names, number):
                    raise ComitiaError("ensembles must know the features of the committee.")

    def _features(self, X: Any) -> Any:
        return pass_features(self, X, fit=False)

    @property
    def _encoder(self) -> TableEncoder | None:
        """What the columns of a frame were taken for: all ensembles have seen the same frame."""
        known = (getattr(ensemble, "_encoder", None) for ensemble in self.members_.ensembles)
        return next((one for one in known if isinstance(one, TableEncoder)), None)

    def _values_per_belief(self) -> int:
        values: int = sum(
            len(ensemble.members_) * ensemble._values_per_belief() for ensemble in self.members_.ensembles
        )
        return max(1, values // len(self.members_))

    @staticmethod
    def _work(size: Size) -> float:
        kinds = (EMODTClassifier, EMODTClassifier, EBRClassifier, ECCClassifier)
        forest = sum(kind._work(replace(size, members=50)) for kind in kinds)
        return forest + EMOBTClassifier._work(replace(size, members=10))

    @property
    def _believes_in_seen(self) -> bool:
        return True

    def _asked(
        self,
        features: Any,
        rows: IntArray | None = None,
        weights: FloatArray | None = None,
        observed: Observed | None = None,
        once: bool = False,
    ) -> Iterator[Beliefs]:
        """Yield beliefs a chunk at a time; about rows of the training data, only of members that have not seen them."""
        joint = np.array(list(self.joint_weights_.values()))
        if rows is None:
            for beliefs in super()._asked(features, rows, weights, observed, once):
                yield replace(beliefs, joint_weights=joint)
            return
        known = self.observed_ if observed is None else observed
        for part in self._chunks(len(rows)):
            ask = partial(self._not_seen, features, rows[part], known.take(part))
            yield Beliefs(ask, self._weights(), joint_weights=joint)

    def _not_seen(self, X: Any, rows: IntArray, observed: Observed, joint: bool) -> list[Relevance]:
        """What each ensemble believes about instances, as far as its members have not seen them."""
        key = (int(rows[0]), len(rows), joint)
        heard: dict[Any, list[Relevance]] = self.__dict__.get("_heard", {})
        if key in heard:
            return heard[key]
        some, asked = _safe_indexing(X, rows), Asked(joint, observed, self.n_jobs)
        beliefs: list[Relevance] = []
        for ensemble in self.members_.ensembles:
            if get_pool(ensemble.pool) is mean and not (joint and ensemble.supports_joint):
                # It has said that already, when it judged itself.
                beliefs.append(Marginals.unchecked(p=ensemble.oob_proba_[rows], observed=observed))
            else:
                beliefs.append(believed_together(ensemble, some, asked, ensemble.oob_mask_[:, rows]))
        if sum(n for _, n, _ in heard) + len(rows) <= _HEARD:
            heard[key] = beliefs
        return beliefs

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), EnsembleCrew)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` those of the members as ``name__parameter``."""
        if isinstance(self.members, str):
            return dict(super().get_params(deep=False))
        return dict(self._get_params("members", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, a member by its name, or a member's parameter as ``name__parameter``."""
        if isinstance(params.get("members", self.members), str):
            super().set_params(**params)
        else:
            self._set_params("members", **params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = [input_tags(one[1]) for one in self.members] if are_pairs(self.members) else []
        tags.input_tags.sparse = all(known.sparse for known in given)
        tags.input_tags.allow_nan = bool(given) and all(known.allow_nan for known in given)
        return tags


# Instances whose pooled beliefs are kept during a fit.
_HEARD = 8192
# Sparse features beyond which trees are left out, labels beyond which chains are, and members of a bagged classifier.
_WIDE = 5000
_MANY_LABELS = 100
_BAGGED = 10
