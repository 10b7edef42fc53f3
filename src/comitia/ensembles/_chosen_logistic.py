"""The scaling and the C of the default learner, chosen out of bag."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, dense
from comitia.ensembles._chosen import AUTO, Trial
from comitia.ensembles._logistic import FastLogistic, Scaling, scaled
from comitia.ensembles._samples import TrainingSet
from comitia.learners._logistic import fit_logistic
from comitia.learners._logistic_predict import predict_logistic

# The path along C, and where it begins for each scaling.
_PATH = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_STARTS: dict[Scaling, float] = {"none": 1.0, "range": 1.0, "standard": 0.1}
_MEMBERS = 5
# A scaling whose first score is so many times that of the best is not followed.
_HOPELESS = 1.1
# Features that a scaling changes by no more than this are as good as unscaled.
_NEARLY = 0.05
_TOLERANCE, _STEPS = 1e-3, 40


def choose_logistic(
    data: TrainingSet, entropy: int, *, C: Any, scaling: Any, n_jobs: int | None = None
) -> FastLogistic:
    """Return the default learner for the data: what is given as it is, and what is ``"auto"`` chosen.

    Each scaling is followed along C, in steps of ten for as long as the score of a :class:`Trial` falls.  Chains take
    what is found for the labels one by one.  Costs some ten fits of five members on at most 2,000 instances and 48
    labels.
    """
    usual = FastLogistic()
    given = FastLogistic(C=usual.C if C == AUTO else C, scaling=usual.scaling if scaling == AUTO else scaling)
    if AUTO not in (C, scaling) or (trial := Trial.of(data, entropy, _MEMBERS)) is None:
        return given
    X, Y = _safe_indexing(data.X, trial.rows), dense(data.Y[trial.rows])[:, trial.labels]
    best: dict[Scaling, tuple[float, float]] = {}
    paths = {}
    for kind, (centre, shares) in _scalings(data, scaling).items():
        score = _scored(trial, scaled(X, centre, shares), Y, n_jobs)
        start = _STARTS[kind] if C == AUTO else C
        best[kind], paths[kind] = (score(start), start), score
    least = min(first for first, _ in best.values())
    if not np.isfinite(least):
        return given
    if C == AUTO:
        followed = [kind for kind, (first, _) in best.items() if first <= _HOPELESS * least]
        best = {kind: _descended(paths[kind], *best[kind]) for kind in followed}
    kind = min(best, key=lambda name: best[name][0])
    return replace(given, C=best[kind][1], scaling=kind)


def _scalings(data: TrainingSet, scaling: Any) -> dict[Scaling, tuple[FloatArray, FloatArray]]:
    """Return the centre and scale of each scaling that is tried; none twice."""
    kinds: Sequence[Scaling] = tuple(_STARTS) if scaling == AUTO else (scaling,)
    found: dict[Scaling, tuple[FloatArray, FloatArray]] = {}
    for kind in kinds:
        centre, shares = FastLogistic(scaling=kind).centre_and_scale(data.X, data.weight)
        if not (np.isfinite(centre).all() and np.isfinite(shares).all()):
            continue
        if kind == "range" and "none" in found and np.allclose(shares, 1.0, rtol=_NEARLY):
            continue
        found[kind] = centre, shares
    return found or {"none": (np.zeros(data.X.shape[1]), np.ones(data.X.shape[1]))}


def _scored(trial: Trial, X: Any, Y: Any, n_jobs: int | None) -> Callable[[float], float]:
    """Return the function that gives the score of a C; infinite where the solver does not get there soon."""

    def score(C: float) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fit = fit_logistic(X, Y, sample_weight=trial.draws, C=C, tol=_TOLERANCE, max_iter=_STEPS, n_jobs=n_jobs)
            if not fit.converged.all():
                return float("inf")
            L = Y.shape[1]
            members = (slice(m * L, (m + 1) * L) for m in range(len(trial.unseen)))
            beliefs = (
                predict_logistic(_safe_indexing(X, np.flatnonzero(unseen)), fit.coef[part], fit.intercept[part])
                for unseen, part in zip(trial.unseen, members, strict=True)
            )
            return float(trial.judged(beliefs).sum())
        except ComitiaError:  # features or weights too large for this C
            return float("inf")

    return score


def _descended(score: Callable[[float], float], least: float, start: float) -> tuple[float, float]:
    """Follow the path from its start, down, where fits take fewer steps, or else up, for as long as the score falls."""
    at = _PATH.index(start)
    for way in (_PATH[:at][::-1], _PATH[at + 1 :]):
        best, chosen = least, start
        for C in way:
            if not (found := score(C)) < best:
                break
            best, chosen = found, C
        if best < least:
            return best, chosen
    return least, start
