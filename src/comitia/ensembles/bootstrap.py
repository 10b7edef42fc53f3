"""Ensembles whose members learn from samples of the data: draws, warm starts, and what is out of bag."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_array, check_random_state
from sklearn.utils.validation import validate_data

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray
from comitia.aggregation import AGGREGATIONS, Aggregation, get_aggregation
from comitia.ensembles._features import is_frame, nominal_columns, nominal_encoder
from comitia.ensembles._members import Crew
from comitia.ensembles._samples import Instances, TrainingSet, check_max_samples, draw, member_seed
from comitia.ensembles._targets import Targets
from comitia.ensembles.base import BELIEFS_AT_ONCE, MultilabelEnsemble, check_lengths, check_weights, is_joint
from comitia.ensembles.beliefs import Beliefs
from comitia.losses import LOSSES, Loss, get_loss
from comitia.relevance import Pool, get_pool


class BootstrapEnsemble(MultilabelEnsemble):
    """Base of ensembles that sample the data for every member."""

    _unseen: NDArray[np.bool_]

    # How nominal columns of a frame become numbers.
    _nominal: Literal["one-hot", "ordinal"] = "one-hot"

    def __init__(
        self,
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
        self.n_estimators = n_estimators
        self.loss = loss
        self.aggregation = aggregation
        self.pool = pool
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    @abstractmethod
    def _fit_members(self, data: TrainingSet, members: range) -> Crew:
        """Fit the members of these numbers, each on its sample of the data."""

    def _fit(self, X: Any, targets: Targets, sample_weight: ArrayLike | None) -> None:
        self._check_parameters()
        X = self._features(X, fit=True)
        n = check_lengths(X, targets)
        weight = check_weights(sample_weight, n)
        check_max_samples(self.max_samples, n, self.bootstrap)
        done = self._members_to_keep(targets)
        if not done:
            self._entropy = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._remember(targets)
        new = range(done, self.n_estimators)
        if new:
            instances, draws = self._draw(X, targets.Y, weight, sample_weight is None, new)
            data = TrainingSet(_safe_indexing(X, instances.rows), targets.Y[instances.rows], instances.weight, draws)
            crew = self._fit_members(data, new)
            self.members_ = self.members_.joined(crew) if done else crew
            if self.oob_score:
                unseen = _unseen(instances, draws)
                self._unseen = np.vstack([self._unseen, unseen]) if done else unseen
        if self.oob_score:
            self._score_out_of_bag(X, targets.Y, weight)

    def _check_parameters(self) -> None:
        if not isinstance(self.n_estimators, Integral) or self.n_estimators < 1:
            raise ComitiaError(f"n_estimators must be a positive number of members; got {self.n_estimators!r}.")
        if self.oob_score and not self.bootstrap and self.max_samples is None:
            raise ComitiaError(
                "oob_score=True needs members that leave instances out: set bootstrap=True or max_samples."
            )
        if self.aggregation == "oob" and not self.oob_score:
            raise ComitiaError("aggregation='oob' chooses by the out-of-bag loss: set oob_score=True.")

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
        if self.oob_score and not hasattr(self, "_unseen"):
            raise ComitiaError("oob_score=True cannot be turned on by a warm start: fit anew.")
        return done

    def _draw(
        self, X: Any, Y: LabelArray, weight: FloatArray, unweighted: bool, members: range
    ) -> tuple[Instances, FloatArray | None]:
        if self.bootstrap or self.max_samples is not None:
            instances = Instances.of(X, Y, weight)
            draws = [
                draw(instances, member_seed(self._entropy, m, 0), self.bootstrap, self.max_samples) for m in members
            ]
            return instances, np.stack(draws, axis=1)
        # All members see all instances: leave them as they are.
        rows = np.flatnonzero(weight > 0)
        place = np.full(len(weight), -1, np.intp)
        place[rows] = np.arange(len(rows))
        instances = Instances(rows, weight[rows], place)
        return instances, None if unweighted else np.tile(weight[rows][:, None], (1, len(members)))

    def _features(self, X: Any, fit: bool = False) -> Any:
        checks = {
            "dtype": (np.float64, np.float32),
            "ensure_all_finite": "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True,
            "ensure_min_samples": 1 if fit else 0,
        }
        if fit:
            nominal = nominal_columns(X) if is_frame(X) else []
            self._encoder = nominal_encoder(X, nominal, self._nominal) if nominal else None
        if self._encoder is None:
            return validate_data(self, X, reset=fit, accept_sparse="csr", **checks)
        if not is_frame(X):
            raise ComitiaError(
                f"X must be a frame, as it was in fit: its nominal columns,"
                f" {', '.join(map(repr, self._encoder.transformers_[0][2]))}, are known by name."
            )
        validate_data(self, X, reset=fit, skip_check_array=True)
        return check_array(self._encoder.transform(X), input_name="X", **checks)

    def _decision(self) -> tuple[Aggregation, Loss, Pool]:
        if self.aggregation != "oob":
            return super()._decision()
        loss = self.decisive(self.loss)
        if not hasattr(self, "oob_table_"):
            return get_aggregation(None, loss), loss, get_pool(self.pool)
        name = _loss_name(self.loss)
        if name not in self.oob_table_:
            raise ComitiaError(
                f"no out-of-bag losses are known for {self.loss!r}: fit with this loss, or choose one of"
                f" {', '.join(map(repr, self.oob_table_))}."
            )
        row = self.oob_table_[name]
        return get_aggregation(min(row, key=row.__getitem__), loss), loss, get_pool(self.pool)

    def _score_out_of_bag(self, X: Any, Y: LabelArray, weight: FloatArray) -> None:
        """Decide every instance by the members that have not seen it, with every aggregation for every loss."""
        losses: dict[str, Loss] = {name: make() for name, make in LOSSES.items() if name != "fbeta"}
        losses.setdefault(_loss_name(self.loss), get_loss(self.loss))
        pool = get_pool(self.pool)
        hows = {name: how for name, how in AGGREGATIONS.items() if self.supports_joint or not is_joint(how)}
        if isinstance(self.aggregation, Aggregation) and self.aggregation not in hows.values():
            hows[repr(self.aggregation)] = self.aggregation
        judged = np.flatnonzero((weight > 0) & self._unseen.any(axis=0))
        n_unjudged = np.count_nonzero(weight > 0) - len(judged)
        if n_unjudged:
            warnings.warn(
                f"{n_unjudged} of {len(judged) + n_unjudged} instances, or copies of them, are in the sample of every"
                " member and have no out-of-bag decision: use more members.",
                stacklevel=4,
            )
        if not len(judged):
            raise ComitiaError("no instance is out of bag for any member: use more members or a smaller max_samples.")
        values = {loss: {name: np.full(len(Y), np.nan) for name in hows} for loss in losses}
        self.oob_proba_ = np.full(Y.shape, np.nan)
        size = max(1, BELIEFS_AT_ONCE // (len(self.members_) * Y.shape[1]))
        for start in range(0, len(judged), size):
            rows = judged[start : start + size]
            features = _safe_indexing(X, rows)
            beliefs = Beliefs(
                lambda joint, features=features: list(self.members_.relevances(features, joint)),  # type: ignore[misc]
                self._unseen[:, rows].astype(np.float64),
            )
            self.oob_proba_[rows] = beliefs.pooled(pool).marginals()
            for loss_name, loss in losses.items():
                for name, how in hows.items():
                    labeling = beliefs.decide(how, self.decisive(loss), pool)
                    values[loss_name][name][rows] = loss._value(Y[rows], labeling)
        self.oob_table_ = {
            loss: {name: float(np.average(value[judged], weights=weight[judged])) for name, value in row.items()}
            for loss, row in values.items()
        }
        chosen = self._decision()[0]
        self.oob_aggregation_ = next(name for name, how in hows.items() if how == chosen)
        self.oob_losses_ = values[_loss_name(self.loss)][self.oob_aggregation_]
        self.oob_loss_ = self.oob_table_[_loss_name(self.loss)][self.oob_aggregation_]
        self.oob_score_ = 1 - self.oob_loss_


def _loss_name(loss: Any) -> str:
    """The name a loss goes by in the out-of-bag table."""
    target = get_loss(loss)
    return next((name for name, make in LOSSES.items() if name != "fbeta" and target == make()), repr(target))


def _unseen(instances: Instances, draws: FloatArray | None) -> NDArray[np.bool_]:
    """Which given instances each member has not seen, (members, n)."""
    assert draws is not None, "without draws every member sees every instance"
    # The last row serves instances of weight zero, which are at place -1: nobody is judged by them.
    seen = np.vstack([draws > 0, np.ones((1, draws.shape[1]), np.bool_)])
    return ~seen[instances.distinct_of].T
