"""Ensembles whose members learn from samples of the data: draws, warm starts, and what is out of bag."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array, check_random_state
from sklearn.utils.validation import validate_data

from comitia._arrays import as_count, check_sparse
from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._jobs import local_threads
from comitia._labels import FloatArray, Labels
from comitia._threads import over_parts
from comitia.columns import TableEncoder
from comitia.columns._encoders import Categories, Medians, Words
from comitia.ensembles._chosen_logistic import choose_logistic
from comitia.ensembles._crews import Crew
from comitia.ensembles._features import as_texts, encoded, input_tags, with_names
from comitia.ensembles._judged import JudgedEnsemble
from comitia.ensembles._logistic import FastLogistic, Scaling, check_learner
from comitia.ensembles._out_of_bag import OutOfBag
from comitia.ensembles._parameters import (
    CalibrationLike,
    HowLike,
    PoolLike,
    ReadingLike,
    SparseOutput,
    TargetLike,
    check_classifier,
)
from comitia.ensembles._samples import Instances, TrainingSet, check_max_samples, draw, member_seed
from comitia.ensembles._targets import Targets, check_lengths, check_weights
from comitia.learners._device import check_device
from comitia.losses import Constraints


class BootstrapEnsemble(JudgedEnsemble):
    """Base of ensembles that sample the data for every member."""

    # How categories become numbers.
    _nominal: Literal["one-hot", "ordinal"] = "one-hot"

    def __init__(
        self,
        n_estimators: int = 50,
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
        self.n_estimators = n_estimators
        self.loss = loss
        self.aggregation = aggregation
        self.pool = pool
        self.reading = reading
        self.calibration = calibration
        self.constraints = constraints
        self.sparse_output = sparse_output
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), TableEncoder, Categories, Words, Medians)

    @abstractmethod
    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        """Fit the members of these numbers, each on its sample of the data."""

    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None:
        self._check_parameters()
        done = self._members_to_keep(targets)
        X = self._features(X, fit=not done)
        n = check_lengths(X, targets)
        if done and self.oob_score and n != self.oob_mask_.shape[1]:
            raise ComitiaError(
                f"warm_start=True goes on with the same data: it has {n} instances, it had {self.oob_mask_.shape[1]}."
            )
        weight = check_weights(sample_weight, n)
        check_max_samples(self.max_samples, n, self.bootstrap)
        self.__dict__.pop("_oob", None)
        if not self.oob_score:
            self.__dict__.pop("oob_mask_", None)
        if not done:
            self._entropy = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._remember(targets, weight)
        new = range(done, self.n_estimators)
        if new:
            instances, draws = self._draw(X, targets.Y, weight, sample_weight is None, new)
            data = TrainingSet(_safe_indexing(X, instances.rows), targets.Y[instances.rows], instances.weight, draws)
            crew = self._fit_members(data, new)
            self.members_ = self.members_.joined(crew) if done else crew
            if self.oob_score:
                unseen = _unseen(instances, draws)
                self.oob_mask_ = np.vstack([self.oob_mask_, unseen]) if done else unseen
        if self.oob_score:
            self._oob = OutOfBag.of(self, X, targets.Y, weight, self.oob_mask_)

    def _check_parameters(self) -> None:
        as_count("n_estimators", self.n_estimators, 1, 2**31 - 1)
        if self.oob_score and not self.bootstrap and self.max_samples is None:
            raise ComitiaError(
                "oob_score=True needs members that leave instances out: set bootstrap=True or max_samples."
            )

    def _members_to_keep(self, targets: Targets) -> int:
        if not (self.warm_start and hasattr(self, "members_")):
            return 0
        done = len(self.members_)
        if self.n_estimators < done:
            raise ComitiaError(
                f"n_estimators={self.n_estimators} is fewer than the {done} members that warm_start=True keeps."
            )
        if len(targets.names) != len(self.label_names_):
            raise ComitiaError(
                f"warm_start=True goes on with the same data: y has {len(targets.names)} labels, it had"
                f" {len(self.label_names_)}."
            )
        if self.oob_score and not hasattr(self, "oob_mask_"):
            raise ComitiaError("oob_score=True cannot be turned on by a warm start: fit anew.")
        return done

    def _draw(
        self, X: Any, Y: Labels, weight: FloatArray, unweighted: bool, members: range
    ) -> tuple[Instances, FloatArray | None]:
        if self.bootstrap or self.max_samples is not None:
            instances = Instances.of(X, Y, weight)
            draws = np.empty((len(instances.weight), len(members)))

            def draw_for(m: int) -> None:
                seed = member_seed(self._entropy, m, 0)
                draws[:, m - members.start] = draw(instances, seed, self.bootstrap, self.max_samples)

            over_parts(draw_for, members, local_threads(self.n_jobs))
            return instances, draws
        # All members see all instances: leave them as they are.
        rows = np.flatnonzero(weight > 0)
        place = np.full(len(weight), -1, np.intp)
        place[rows] = np.arange(len(rows))
        instances = Instances(rows, weight[rows], place)
        return instances, None if unweighted else np.tile(weight[rows][:, None], (1, len(members)))

    # How features become numbers without missing ones, if members need that; None where they are as they come.
    _encoder: TableEncoder | Medians | None

    def _takes_texts(self) -> bool:
        """Whether members take texts, one an instance."""
        return False

    def _takes_missing(self) -> bool:
        """Whether members take missing numbers; others get the median, and a column that says where."""
        return bool(self.__sklearn_tags__().input_tags.allow_nan)

    def _features(self, X: Any, fit: bool = False) -> Any:
        if fit:
            self._encoder = None
        texts = as_texts(X)
        if texts is not None:
            if not self._takes_texts():
                raise ComitiaError(
                    f"X must hold numbers, or be a frame; got texts, as {str(texts[0])[:40]!r}. In a frame, "
                    "comitia.columns.TableEncoder(text=['title']) before this makes numbers of a column of them."
                )
            if fit:
                # An earlier fit may have seen columns.
                self.__dict__.pop("n_features_in_", None)
                self.__dict__.pop("feature_names_in_", None)
            return texts
        if is_frame(X) and (fit or isinstance(self._encoder, TableEncoder)):
            return self._of_frame(X, fit)
        if isinstance(self._encoder, TableEncoder):
            strange = [name for name, kind in self._encoder.kinds_.items() if kind not in ("number", "left out")]
            if strange:
                raise ComitiaError(
                    "X must be a frame, as it was in fit: columns that are no numbers are known by name, "
                    f"{', '.join(map(repr, strange))}."
                )
        found = self._checked(validate_data, self, X, reset=fit)
        if isinstance(self._encoder, TableEncoder):
            return self._encoder.transform(found.toarray() if issparse(found) else found)
        if fit and not issparse(found) and not self._takes_missing():
            self._encoder = Medians.of(found)
        return found if self._encoder is None or issparse(found) else self._encoder.encode(found)

    def _of_frame(self, X: Any, fit: bool) -> Any:
        validate_data(self, X, reset=fit, skip_check_array=True)
        X = with_names(X)
        if fit:
            options = getattr(X, "attrs", {}).get("columns", {})
            missing: Literal["keep", "impute"] = "keep" if self._takes_missing() else "impute"
            self._encoder = TableEncoder(self._nominal, missing=missing, **options)
            found = encoded(self._encoder.fit_transform, X)
            if self.verbose:
                print(f"columns: {self._encoder.describe()}")
        else:
            assert isinstance(self._encoder, TableEncoder)
            found = encoded(self._encoder.transform, X)
        if issparse(found) and not self.__sklearn_tags__().input_tags.sparse:
            found = found.toarray()
        return self._checked(check_array, found, input_name="X")

    def _checked(self, check: Callable[..., Any], *given: Any, **how: Any) -> Any:
        """Return features as scikit-learn checks them."""
        sparse = issparse(given[-1])
        found = check(
            *given,
            **how,
            dtype=(np.float64, np.float32),
            accept_sparse="csr",
            ensure_all_finite=True if sparse and not self._takes_missing() else "allow-nan",
            ensure_min_samples=1 if how.get("reset") else 0,
        )
        if issparse(found):
            check_sparse("X", found)
        return found


class BaseLearnerEnsemble(BootstrapEnsemble):
    """Base of ensembles whose members are made of one binary base learner, ``estimator``."""

    C_: float
    scaling_: Scaling

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        C: Literal["auto"] | float = "auto",
        scaling: Literal["auto"] | Scaling = "auto",
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
        self.device = device
        self.C = C
        self.scaling = scaling

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learner(self.estimator, self.C, self.scaling)
        check_device(self.device)
        self._check_estimator()

    def _check_opened(self) -> None:
        self._check_estimator()
        super()._check_opened()

    def _check_estimator(self) -> None:
        if self.estimator is not None:
            check_classifier("estimator", self.estimator, ", or None for logistic regression")

    def _learner(self, data: TrainingSet, members: range) -> FastLogistic | None:
        """Return the logistic regression that the fast solver fits, or None where scikit-learn has to."""
        if self.estimator is not None:
            self.__dict__.pop("C_", None), self.__dict__.pop("scaling_", None)
            return FastLogistic.standing_in_for(self.estimator)
        if members.start and hasattr(self, "C_"):
            return FastLogistic(C=self.C_, scaling=self.scaling_)
        # The ensembles of a committee share what they chose, on the same draws, from the same.
        known = self.__dict__.get("_choices", {})
        asked = self._entropy, self.C, self.scaling
        if asked not in known:
            known[asked] = choose_logistic(data, self._entropy, C=self.C, scaling=self.scaling, n_jobs=self.n_jobs)
        chosen: FastLogistic = known[asked]
        self.C_, self.scaling_ = chosen.C, chosen.scaling
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = input_tags(self.estimator).sparse
        tags.input_tags.allow_nan = True
        return tags

    def _takes_texts(self) -> bool:
        return self.estimator is not None

    def _takes_missing(self) -> bool:
        return self.estimator is not None and bool(input_tags(self.estimator).allow_nan)


def _unseen(instances: Instances, draws: FloatArray | None) -> NDArray[np.bool_]:
    """Which given instances each member has not seen, (members, n)."""
    assert draws is not None, "without draws every member sees every instance"
    # The last row serves instances of weight zero, which are at place -1: nobody is judged by them.
    seen = np.vstack([draws > 0, np.ones((1, draws.shape[1]), np.bool_)])
    return ~seen[instances.distinct_of].T
