"""What is compared: our ensembles and the peers, each with its defaults and one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from comitia import CommitteeClassifier, EBRClassifier, ECCClassifier, EMOBTClassifier, EMODTClassifier

LOSSES = ("hamming", "subset01", "f1")
GRID = np.linspace(0.05, 0.95, 19)
BY_CHOICE: dict[str, Any] = {"oob_score": True, "aggregation": "oob"}


@dataclass(frozen=True)
class Ours:
    """One of our ensembles, and the ways in which it decides: parameters by name, set without a refit."""

    name: str
    make: Callable[..., Any]
    ways: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Peer:
    """A classifier of another library: ``fit`` gives what it believes and, where it decides itself, how it decides."""

    name: str
    distribution: str
    module: str
    fit: Callable[[Any, np.ndarray, int], Fitted]

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def version(self) -> str:
        name = self.distribution
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:  # the same module by another distribution, such as xgboost for xgboost-cpu
            return f"{self.module} {version(self.module)}"


@dataclass(frozen=True)
class Fitted:
    """Probabilities of the labels, (n, K); and the labeling for a loss, which is the cut at one half if not given."""

    probabilities: Callable[[Any], np.ndarray]
    decide: Callable[[Any, str], np.ndarray] | None = None


def ours() -> tuple[Ours, ...]:
    ways = {"oob": {"aggregation": "oob"}, "default": {"aggregation": None}}
    return (
        Ours("Committee", CommitteeClassifier, {"oob": {}}),
        Ours("EMOBT", partial(EMOBTClassifier, **BY_CHOICE), ways),
        Ours("EMODT", partial(EMODTClassifier, **BY_CHOICE), ways),
        Ours("ECC, joint", partial(ECCClassifier, chain_method="joint", **BY_CHOICE), ways),
        Ours("ECC", partial(ECCClassifier, **BY_CHOICE), ways),
        Ours("EBR", partial(EBRClassifier, **BY_CHOICE), ways),
    )


def peers() -> tuple[Peer, ...]:
    learn = ("scikit-learn", "sklearn")
    return (
        Peer("logistic regression a label", *learn, by_label(lambda seed: LogisticRegression())),  # noqa: ARG005
        Peer("random forest", *learn, at_once(lambda seed: RandomForestClassifier(random_state=seed))),
        Peer("extra trees", *learn, at_once(lambda seed: ExtraTreesClassifier(random_state=seed))),
        Peer("LightGBM a label", "lightgbm", "lightgbm", by_label(lightgbm)),
        Peer("XGBoost a label", "xgboost-cpu", "xgboost", at_once(partial(xgboost, "one_output_per_tree"))),
        Peer("XGBoost, one tree for all", "xgboost-cpu", "xgboost", at_once(partial(xgboost, "multi_output_tree"))),
        Peer("BOOMER", "mlrl-boomer", "mlrl", partial(boomer, "logistic-decomposable", None)),
        Peer("BOOMER, set for the loss", "mlrl-boomer", "mlrl", partial(boomer, "logistic-decomposable", FOR_THE_LOSS)),
        Peer("BOOMER, joint loss", "mlrl-boomer", "mlrl", partial(boomer, "logistic-non-decomposable", FOR_THE_LOSS)),
        Peer("CatBoost MultiLogloss", "catboost", "catboost", at_once(catboost)),
    )


# BOOMER's own predictors: each label by itself, the likeliest of the label sets seen, and the F1-maximiser over them.
FOR_THE_LOSS = {"hamming": "output-wise", "subset01": "example-wise", "f1": "gfm"}
SLOW = ("BOOMER, joint loss", "CatBoost MultiLogloss")  # minutes a fold
ONE_THREAD = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false", "parallel_prediction": "false"}


def lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)


def xgboost(strategy: str, seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(multi_strategy=strategy, n_jobs=1, random_state=seed)


def catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        loss_function="MultiLogloss", verbose=0, thread_count=1, random_seed=seed, allow_writing_files=False
    )


def boomer(loss: str, predictors: dict[str, str] | None, X: Any, Y: np.ndarray, seed: int) -> Fitted:
    """Fit BOOMER; one model decides for every loss, by the predictor that is made for it."""
    from mlrl.boosting import BoomerClassifier

    model = BoomerClassifier(
        random_state=seed + 1,
        loss=loss,
        binary_predictor="auto" if predictors is None else "gfm",  # keeps the label sets that were seen
        prediction_format="dense",
        **ONE_THREAD,
    ).fit(X, Y)

    def decide(X: Any, loss: str) -> np.ndarray:
        assert predictors is not None
        return np.asarray(model.set_params(binary_predictor=predictors[loss]).predict(X))

    return Fitted(lambda X: np.asarray(model.predict_proba(X)), None if predictors is None else decide)


def at_once(make: Callable[[int], Any]) -> Callable[[Any, np.ndarray, int], Fitted]:
    """Fit a classifier that takes all labels."""
    return lambda X, Y, seed: _by_probabilities(make(seed).fit(X, Y))


def by_label(make: Callable[[int], Any]) -> Callable[[Any, np.ndarray, int], Fitted]:
    """Fit one classifier to each label, with scikit-learn's loop."""
    return lambda X, Y, seed: _by_probabilities(MultiOutputClassifier(make(seed)).fit(X, Y))


def _by_probabilities(model: Any) -> Fitted:
    def probabilities(X: Any) -> np.ndarray:
        found = model.predict_proba(X)
        return np.column_stack([p[:, 1] for p in found]) if isinstance(found, list) else np.asarray(found)

    return Fitted(probabilities)


def fit_peer(peer: Peer, X: Any, Y: np.ndarray, seed: int) -> Fitted:
    """Fit a peer to the labels that vary: most refuse one that all or no instances have."""
    varies = Y.min(axis=0) != Y.max(axis=0)
    fitted = peer.fit(X, Y[:, varies], seed)
    decide = fitted.decide

    def all_labels(found: np.ndarray) -> np.ndarray:
        whole = np.repeat(Y[:1].astype(found.dtype), len(found), axis=0)
        whole[:, varies] = found
        return whole

    return Fitted(
        lambda X: all_labels(np.asarray(fitted.probabilities(X), dtype=float)),
        None if decide is None else lambda X, loss: all_labels(decide(X, loss).astype(np.int8)),
    )


def numbers(X: Any) -> Any:
    """Nominal features as codes and sparse ones as SciPy's older matrices: what all peers take."""
    if issparse(X):
        return csr_matrix(X)
    if not hasattr(X, "columns"):
        return X
    return X.apply(lambda column: column.cat.codes if str(column.dtype) == "category" else column).to_numpy(float)


def tuned_cuts(p: np.ndarray, Y: np.ndarray, grid: np.ndarray = GRID) -> np.ndarray:
    """Find a cut for each label with the largest mean F1 of instances: the best common one, then label by label."""
    common = max(grid, key=lambda cut: _mean_f1(Y, p > cut))
    cuts = np.full(Y.shape[1], common)
    predicted = p > cuts
    both, sizes = (Y * predicted).sum(axis=1), Y.sum(axis=1) + predicted.sum(axis=1)
    for k in range(Y.shape[1]):
        trials = p[:, k, None] > grid
        change = trials.astype(int) - predicted[:, k, None]
        hits, totals = both[:, None] + Y[:, k, None] * change, sizes[:, None] + change
        scores = np.where(totals > 0, 2 * hits / np.maximum(totals, 1), 1.0).mean(axis=0)
        best = int(scores.argmax())
        if scores[best] > scores[grid == cuts[k]].max():
            cuts[k], both, sizes = grid[best], hits[:, best], totals[:, best]
            predicted[:, k] = trials[:, best]
    return cuts


def _mean_f1(Y: np.ndarray, predicted: np.ndarray) -> float:
    total = Y.sum(axis=1) + predicted.sum(axis=1)
    return float(np.where(total > 0, 2 * (Y * predicted).sum(axis=1) / np.maximum(total, 1), 1.0).mean())


def asked(methods: str) -> Iterator[Ours | Peer]:
    """Yield what ``methods`` names: ``all``, ``ours``, ``peers``, ``fast`` (peers) or names between semicolons."""
    known: dict[str, tuple[Ours | Peer, ...]] = {"ours": ours(), "peers": peers()}
    known["all"] = (*known["ours"], *known["peers"])
    known["fast"] = tuple(peer for peer in peers() if peer.name not in SLOW)
    by_name = {method.name.lower(): (method,) for method in known["all"]}
    for word in methods.split(";"):
        found = known.get(word.strip()) or by_name.get(word.strip().lower())
        if found is None:
            raise SystemExit(f"--methods names {word.strip()!r}; known are {', '.join(known)} and {'; '.join(by_name)}")
        yield from found
