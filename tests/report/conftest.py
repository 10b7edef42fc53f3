"""A small real run for the report's tests: forests on small data, decided by exhaustive search over all labelings."""

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import KFold

from comitia.report import Run, write_report
from comitia.report.figures import SevenSegments

SCRIPT = "<script>alert(1)</script>"
SEGMENTS = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")
ENSEMBLES = {"emodt": RandomForestClassifier, "extra": ExtraTreesClassifier}
SIZES = (1, 5, 12)


@dataclass(frozen=True)
class Data:
    name: str
    X: np.ndarray
    Y: np.ndarray
    labels: list[str]


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    """The results of a run on disk: rows.parquet, datasets.json, provenance.json, digits.npz."""
    folder = tmp_path_factory.mktemp("run")
    digits = digits_data()
    data = [digits, invented("weather", 1), invented("sea & <b>land</b>", 2), invented(SCRIPT, 3)]
    rows = [row for part in data for name in ENSEMBLES for row in score(part, name)]
    pd.DataFrame(rows).to_parquet(folder / "rows.parquet")
    (folder / "datasets.json").write_text(json.dumps([describe(part) for part in data]))
    provenance = {
        "command": f"comitia compare {SCRIPT}",
        "versions": {"comitia": "0.1", "numpy": np.__version__},
        "seeds": {"folds": 0, "members": 0},
        "seconds": 12.5,
        "plan": "[plan]\nfolds = 3\n",
    }
    (folder / "provenance.json").write_text(json.dumps(provenance))
    np.savez(folder / "digits.npz", **display(digits))
    return folder


@pytest.fixture(scope="session")
def run(run_folder) -> Run:
    return read_run(run_folder)


@pytest.fixture(scope="session")
def report_folder(run, tmp_path_factory) -> Path:
    """Everything that is written about the run, in a folder that was not there before."""
    folder = tmp_path_factory.mktemp("report") / "new"
    assert write_report(run, folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="session")
def rows(run) -> pd.DataFrame:
    return run.rows


def read_run(folder: Path) -> Run:
    arrays = dict(np.load(folder / "digits.npz"))
    images, truth = arrays.pop("images"), arrays.pop("truth")
    return Run(
        pd.read_parquet(folder / "rows.parquet"),
        json.loads((folder / "datasets.json").read_text()),
        json.loads((folder / "provenance.json").read_text()),
        [{"cell": f"ecc {SCRIPT} 0 2", "error": "ValueError: label 'rain' is constant"}],
        digits=SevenSegments(images, truth, arrays, loss="subset01"),
    )


def digits_data() -> Data:
    images, numbers = load_digits(return_X_y=True)
    lit = np.array([[segment in SEGMENTS[number] for segment in "abcdefg"] for number in numbers], dtype=np.int8)
    return Data("digits", images[:360], lit[:360], [f"segment {segment}" for segment in "abcdefg"])


def invented(name: str, seed: int) -> Data:
    X, Y = make_multilabel_classification(240, 12, n_classes=5, n_labels=2, random_state=seed)
    return Data(name, X, Y, ["rain", "wind_speed", "a | b", f"{SCRIPT}{seed}", "100 % & more"])


def describe(data: Data) -> dict:
    cardinality = float(data.Y.sum(axis=1).mean())
    return {
        "name": data.name,
        "n": len(data.X),
        "d": data.X.shape[1],
        "K": data.Y.shape[1],
        "cardinality": cardinality,
        "density": cardinality / data.Y.shape[1],
        "label_names": data.labels,
        "label_frequencies": data.Y.mean(axis=0).tolist(),
    }


def display(data: Data) -> dict[str, np.ndarray]:
    """Digits on which the aggregations' displays differ, with the segments each lights for subset 0/1 loss."""
    Y, train, test = data.Y, slice(0, 60), slice(60, None)
    members = fit(data.X[train], Y[train], RandomForestClassifier, data.X[test])
    lit = {name: decision for name, decision in decide(members, "subset01").items() if name != "ptc-mbr"}
    chosen = SevenSegments(data.X[test].reshape(-1, 8, 8), Y[test], lit).most_disputed(8)
    return {"images": chosen.images, "truth": chosen.truth, **chosen.labelings}


def score(data: Data, ensemble: str) -> list[dict]:
    rows = []
    folds = KFold(3, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(data.X)):
        members = fit(data.X[train], data.Y[train], ENSEMBLES[ensemble], data.X[test])
        for loss, size in product(("hamming", "subset01", "f1"), SIZES):
            for aggregation, labelings in decide(members[:size], loss).items():
                value = float(LOSSES[loss](data.Y[test][:, np.newaxis], labelings[:, np.newaxis]).mean())
                rows.append(
                    {
                        "dataset": data.name,
                        "ensemble": ensemble,
                        "repeat": 0,
                        "fold": fold,
                        "loss": loss,
                        "aggregation": aggregation,
                        "pool": "mean",
                        "size": size,
                        "value": value,
                        "n_test": len(test),
                    }
                )
    return rows


def fit(X, Y, forest, X_test) -> np.ndarray:
    """Marginals of every tree: (members, instances, labels)."""
    trees = forest(max(SIZES), min_samples_leaf=3, max_features="sqrt", random_state=0).fit(X, Y).estimators_
    both = np.array(
        [[p[:, -1] if p.shape[1] > 1 else p[:, 0] * 0 for p in tree.predict_proba(X_test)] for tree in trees]
    )
    return both.transpose(0, 2, 1)


def decide(members: np.ndarray, loss: str) -> dict[str, np.ndarray]:
    """Every aggregation of the members' marginals, from its definition."""
    K = members.shape[2]
    labelings = np.array(list(product((0, 1), repeat=K)), dtype=np.int8)
    risk = LOSSES[loss](labelings[:, np.newaxis], labelings[np.newaxis])  # truth x decision

    def minimise(distribution: np.ndarray) -> np.ndarray:
        return (distribution @ risk).argmin(axis=-1)

    def joint(marginals: np.ndarray) -> np.ndarray:
        p = marginals[..., np.newaxis, :]
        return np.where(labelings == 1, p, 1 - p).prod(axis=-1)

    pooled = members.mean(axis=0)
    cast = np.array([minimise(joint(member)) for member in members])
    counts = np.array([np.bincount(votes, minlength=len(labelings)) for votes in cast.T]) / len(members)
    return {
        "gmv": (pooled > 0.5).astype(np.int8),
        "bmv": ((members > 0.5).mean(axis=0) >= 0.5).astype(np.int8),
        "ctp": (pooled > 0.5).astype(np.int8) if loss != "f1" else labelings[minimise(joint(pooled))],
        "ptc-lw": (labelings[cast].mean(axis=0) >= 0.5).astype(np.int8),
        "ptc-mode": labelings[counts.argmax(axis=1)],
        "ptc-mbr": labelings[minimise(counts)],
    }


def f1_loss(truth: np.ndarray, decided: np.ndarray) -> np.ndarray:
    total = truth.sum(axis=-1) + decided.sum(axis=-1)
    return 1 - np.where(total == 0, 1, 2 * (truth & decided).sum(axis=-1) / np.maximum(total, 1))


LOSSES = {
    "hamming": lambda truth, decided: (truth != decided).mean(axis=-1),
    "subset01": lambda truth, decided: (truth != decided).any(axis=-1).astype(float),
    "f1": f1_loss,
}
