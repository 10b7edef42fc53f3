"""What a result depends on and cannot be seen in it: versions, the machine, the data."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse

from comitia._jobs import one_blas_thread
from comitia._version import __version__
from comitia.datasets import Dataset
from comitia.learners import fit_logistic, grow_trees

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")


def versions() -> dict[str, str]:
    """The versions of all that computes."""
    return {
        "comitia": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def machine() -> dict[str, Any]:
    """What computes: the processor and how much of it may be used; nothing that tells whose it is."""
    return {
        "processor": _processor(),
        "cores": joblib.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        **({"memory_gib": round(memory / 2**30, 1)} if (memory := _memory()) else {}),
        **_gpu(),
    }


def _gpu() -> dict[str, str]:
    """The GPU and what speaks to it, where something of this process may have used one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {}
    return {"gpu": torch.cuda.get_device_name(), "torch": str(torch.__version__)}


@lru_cache(maxsize=1)
def rounding() -> str:
    """How this machine rounds: a checksum of small fixed computations.

    Linear algebra picks its kernels, and compiled loops their instructions, by the processor: the same versions may
    give other last bits on another machine.  Names of processors do not tell, so it is tried: a logistic regression in
    both precisions, products with long sums, and a tree.

    Examples
    --------
    >>> rounding() == rounding(), len(rounding())
    (True, 16)
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 40))
    Y = (X[:, :3] + rng.normal(size=(600, 3)) > 0).astype(np.int8)
    fit = fit_logistic(X, Y, n_jobs=1)
    (tree,) = grow_trees(X, Y, seeds=[0], n_jobs=1)
    with one_blas_thread():
        products = [long @ long.T for long in (X.reshape(10, -1), X.reshape(10, -1).astype(np.float32))]
    digest = hashlib.sha256()
    for array in (fit.coef, fit.intercept, tree.apply(X), tree.leaf_marginals().toarray(), *products):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def worker() -> dict[str, Any]:
    """Which process computes, by a name that tells nothing of whose it is, on what, and how that rounds."""
    return {"worker": _name_of_process(os.getpid()), "processor": _processor(), "rounding": rounding()}


def now() -> str:
    """The time, in UTC and to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def describe(dataset: Dataset, name: str) -> dict[str, Any]:
    """What a dataset is: its size, its labels, and a checksum of every value in it.

    Examples
    --------
    >>> from comitia.datasets import load_seven_segment
    >>> described = describe(load_seven_segment(), "digits")
    >>> described["name"], described["n"], described["K"], described["label_names"]
    ('digits', 1797, 7, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    """
    return {
        "name": name,
        "n": dataset.n_instances,
        "d": dataset.n_features,
        "K": dataset.n_labels,
        "cardinality": dataset.cardinality,
        "density": dataset.density,
        "values_per_instance": dataset.X.nnz / max(dataset.n_instances, 1)
        if issparse(dataset.X)
        else dataset.n_features,
        "label_names": list(dataset.label_names),
        "label_frequencies": dataset.Y.mean(axis=0).tolist(),
        "checksum": checksum(dataset),
    }


def checksum(dataset: Dataset) -> str:
    """A checksum of every value of a dataset, and of its names."""
    digest = hashlib.sha256(repr((dataset.feature_names, dataset.label_names)).encode())
    for array in _arrays(dataset):
        digest.update(repr((array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes() if array.dtype != object else repr(array.tolist()).encode())
    return digest.hexdigest()


def _arrays(dataset: Dataset) -> Iterator[np.ndarray]:
    yield dataset.Y
    if dataset.sample_weight is not None:
        yield dataset.sample_weight
    X = dataset.X
    if issparse(X):
        yield from (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data)
    elif hasattr(X, "columns"):
        for column in X.columns:
            values = np.asarray(X[column])
            yield values if values.dtype.kind in "biufM" else np.asarray([str(value) for value in values], dtype=object)
    else:
        yield X


@lru_cache(maxsize=1)
def _name_of_process(_: int) -> str:
    return uuid.uuid4().hex[:8]


@lru_cache(maxsize=1)
def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or "unknown"


def _memory() -> int | None:
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
