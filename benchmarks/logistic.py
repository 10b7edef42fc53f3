"""Many logistic regressions and chains at once, against loops over scikit-learn's on the same weights and cores."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler

from benchmarks.case import DATA, Case, median_time, peak_memory
from benchmarks.mediamill import mediamill_size
from comitia.datasets import load_mulan
from comitia.learners._chains import ChainFit, fit_chains, predict_chains
from comitia.learners._logistic import fit_logistic

M = 50
N_JOBS = 2
ROWS = 2_048  # predicted at a time, as an ensemble does


def run(quick: bool = False) -> list[Case]:
    members = 5 if quick else M
    X, Y = mediamill(4_000 if quick else 39_516)
    weights = bootstraps(len(X), members)
    fit_chains(X[:200], Y[:200, :3], [[0, 1, 2]] * 4, sample_weight=weights[:200, :4] + 1)  # compiles
    fit_logistic(sp.csr_array(X[:200]), Y[:200, :3], sample_weight=weights[:200, :4] + 1)
    cases = [ebr_fit("mediamill's size", X, Y, members, 24, 50)]
    for name, sample, target in (("yeast", 140, 20), ("cal500", 174, 10), ("bibtex", 48, 12)):
        cases.append(ebr_fit(name, *mulan(name), members, sample, target))
    cases += ecc(X, Y, members)
    if quick:
        return [replace(case, target=None) for case in cases]
    return [*cases, *growth(X, Y), memory("EBR fit", "ebr"), memory("ECC fit", "ecc")]


def ebr_fit(name: str, X: Any, Y: np.ndarray, members: int, sample: int, target: float) -> Case:
    weights = bootstraps(len(Y), members)
    ours = median_time(lambda: ebr(X, Y, weights))
    problems = [(b // Y.shape[1], b % Y.shape[1]) for b in range(members * Y.shape[1])]
    problems = [(m, k) for m, k in problems if 0 < Y[weights[:, m] > 0, k].mean() < 1]
    chosen = [problems[at] for at in np.linspace(0, len(problems) - 1, min(sample, len(problems))).astype(int)]
    with tempfile.TemporaryDirectory() as folder:
        shared = as_memory_map(X, Path(folder))
        tasks = [joblib.delayed(fit_one)(shared, Y[:, k], weights[:, m]) for m, k in chosen]
        theirs = median_time(lambda: joblib.Parallel(N_JOBS)(tasks)) * len(problems) / len(chosen)
    note = f"{ours:.2f} s; peer from {len(chosen)} of {len(problems):,} problems"
    return Case(f"EBR fit, {name}", "LogisticRegression in a loop", theirs / ours, target, note)


def ecc(X: np.ndarray, Y: np.ndarray, members: int) -> Iterator[Case]:
    weights = bootstraps(len(X), members)
    orders = chain_orders(Y.shape[1], members)
    fits: list[ChainFit] = []
    ours = median_time(lambda: fits.append(ecc_fit(X, Y, weights, orders)))
    with tempfile.TemporaryDirectory() as folder:
        shared = as_memory_map(X, Path(folder))
        tasks = [joblib.delayed(fit_chain)(shared, Y, weights[:, m], orders[m]) for m in range(N_JOBS)]
        chains: list[ClassifierChain] = []
        theirs = median_time(lambda: chains.extend(joblib.Parallel(N_JOBS)(tasks))) * members / N_JOBS
        note = f"{ours:.2f} s; peer from {N_JOBS} of {members} chains"
        yield Case("ECC fit, mediamill's size", "ClassifierChain in a loop", theirs / ours, 100, note)

        walks = [joblib.delayed(chain.predict)(shared) for chain in chains[:N_JOBS]]
        theirs = median_time(lambda: joblib.Parallel(N_JOBS)(walks)) * members / N_JOBS
    ours = median_time(lambda: [ecc_predict(fits[-1], X[at : at + ROWS]) for at in range(0, len(X), ROWS)])
    note = f"{ours:.2f} s; peer from {N_JOBS} of {members} chains"
    yield Case("ECC predict, mediamill's size", "ClassifierChain in a loop", theirs / ours, 20, note)


def growth(X: np.ndarray, Y: np.ndarray) -> Iterator[Case]:
    """Exponents of the cost as the instances, the labels and the members double."""
    n, K, members = len(X) // 2, Y.shape[1] // 2, M // 2
    common = np.argsort(-Y.sum(axis=0), kind="stable")[: 2 * K]
    common = np.concatenate([common[::2], common[1::2]])  # either half has common and rare labels

    def cost(n: int, K: int, members: int) -> float:
        part, labels, weights = X[:n], Y[:n, common[:K]], bootstraps(n, members)
        return median_time(lambda: ebr(part, labels, weights))

    base = cost(n, K, members)
    for name, larger in (("n", (2 * n, K, members)), ("K", (n, 2 * K, members)), ("M", (n, K, 2 * members))):
        exponent = math.log2(cost(*larger) / base)
        note = f"cost ~ {name}^{exponent:.2f}; from n = {n:,}, K = {K}, M = {members}"
        yield Case(f"EBR fit, {name} doubled", "itself", 2**exponent, None, note)


def memory(name: str, kind: str) -> Case:
    """Peak memory of a process that makes the data and fits once."""
    code = f"from benchmarks.logistic import memory_of_fit; print(memory_of_fit({kind!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak = float(done.stdout) / 2**30
    return Case(f"{name}, mediamill's size: peak memory", "2 GiB", peak / 2, 1, f"{peak:.2f} GiB", at_most=True)


def memory_of_fit(kind: str) -> int:
    X, Y = mediamill(39_516)
    weights = bootstraps(len(X), M)
    if kind == "ebr":
        ebr(X, Y, weights)
    else:
        ecc_fit(X, Y, weights, chain_orders(Y.shape[1], M))
    return peak_memory()


def ebr(X: Any, Y: np.ndarray, weights: np.ndarray) -> object:
    return fit_logistic(X, Y, sample_weight=weights, n_jobs=N_JOBS)


def ecc_fit(X: np.ndarray, Y: np.ndarray, weights: np.ndarray, orders: np.ndarray) -> ChainFit:
    return fit_chains(X, Y, orders, sample_weight=weights, n_jobs=N_JOBS)


def ecc_predict(fit: ChainFit, X: np.ndarray) -> np.ndarray:
    return predict_chains(fit, X, n_jobs=N_JOBS)


def fit_one(X: Any, y: np.ndarray, weights: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LogisticRegression().fit(X, y, sample_weight=weights)


def fit_chain(X: np.ndarray, Y: np.ndarray, weights: np.ndarray, order: np.ndarray) -> ClassifierChain:
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        base = LogisticRegression().set_fit_request(sample_weight=True)
        return ClassifierChain(base, order=list(order)).fit(X, Y, sample_weight=weights)


def mediamill(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, Y = mediamill_size(DATA, n)
    return StandardScaler().fit_transform(X), Y


def mulan(name: str) -> tuple[Any, np.ndarray]:
    """Read a dataset; dense features are standardised, and a label that never occurs is left out."""
    data = load_mulan(DATA / name / f"{name}.arff", DATA / name / f"{name}.xml")
    X = data.X if sp.issparse(data.X) else StandardScaler().fit_transform(data.X)
    return X, data.Y[:, data.Y.any(axis=0)]


def bootstraps(n: int, members: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(members)], axis=1)


def chain_orders(K: int, members: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.permutation(K) for _ in range(members)])


def as_memory_map(X: Any, folder: Path) -> Any:
    """Put X where the peer's worker processes read it without a copy."""
    if sp.issparse(X):
        return X
    joblib.dump(X, folder / "X.joblib")
    return joblib.load(folder / "X.joblib", mmap_mode="r")
