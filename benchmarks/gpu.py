"""A GPU: EBR and ECC at mediamill's size, transfers included, against all cores; and whether its points are optimal.

The certificate of the compiled solver, in double precision on the processor, must accept the points of the GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.case import Case, median_time
from benchmarks.logistic import bootstraps, chain_orders, mediamill
from comitia.learners import fit_chains, fit_logistic
from comitia.learners._device import DeviceError, get_device
from comitia.learners._logistic import _design
from comitia.learners._logistic_kernels import Sample
from comitia.learners._logistic_solver import Objectives, padded

M = 50
TOL = 1e-5


def run(quick: bool = False) -> list[Case]:
    try:
        get_device("cuda")
    except (ImportError, DeviceError) as error:
        print(f"no GPU was measured: {error}", flush=True)
        return []
    members = 5 if quick else M
    X, Y = mediamill(4_000 if quick else 39_516)
    weights, orders = bootstraps(len(X), members), chain_orders(Y.shape[1], members)
    fits: dict[str, Callable[[str], Any]] = {
        "EBR": lambda device: fit_logistic(X, Y, sample_weight=weights, n_jobs=-1, device=device),
        "ECC": lambda device: fit_chains(X, Y, orders, sample_weight=weights, n_jobs=-1, device=device),
    }
    cases = []
    for (name, fit), limit in zip(fits.items(), (0.8, 2.0), strict=True):
        there, here = fit("cuda"), fit("cpu")  # compiles, starts CUDA
        assert there.converged.all()
        gap = float(np.abs(there.objective - here.objective).max() / here.objective.max())
        assert (np.abs(there.objective - here.objective) <= TOL * here.objective).all(), gap
        if name == "EBR":
            assert worst_bound(X, Y, weights, there) <= 1.001
        taken, cores = median_time(lambda fit=fit: fit("cuda")), median_time(lambda fit=fit: fit("cpu"))
        note = f"{taken:.2f} s, {cores:.2f} s"
        cases.append(Case(f"{name} fit on a GPU", "all cores", cores / taken, None if quick else 5, note))
        cases.append(Case(f"{name} fit on a GPU", "a limit", taken, None if quick else limit, "", True, "s"))
    return cases


def worst_bound(X: np.ndarray, Y: np.ndarray, weights: np.ndarray, fit: Any, sample: int = 200) -> float:
    """Return the largest bound of a gap, as a share of what is allowed, among some of the problems."""
    design, order, centre = _design(X, True)
    penalty = np.append(np.ones(X.shape[1]), 0.0)
    worst = 0.0
    for b in np.linspace(0, len(fit.coef) - 1, sample).astype(int):
        if not np.isfinite(fit.intercept[b]):
            continue
        m, label = divmod(int(b), Y.shape[1])
        rows = np.flatnonzero(weights[:, m])
        rest = Sample(rows, weights[rows, m].astype(np.float64), padded(Y[rows, label : label + 1]))
        point = np.append(fit.coef[b][order], fit.intercept[b] + fit.coef[b] @ centre)
        value, gradient = Objectives(design, design, rest, penalty, None).at(point[None])
        bound = (gradient[0, :-1] ** 2).sum() / 2 + abs(gradient[0, -1])
        worst = max(worst, bound / (TOL * value[0]))
    return worst
