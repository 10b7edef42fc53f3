"""One cell: data in, rows out.  It reads no file and writes none, so that it can be computed anywhere."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import KFold

from comitia._compiled import seconds_compiling
from comitia._errors import ComitiaError
from comitia._interrupts import pass_on
from comitia._labels import LabelArray
from comitia._rows import Row
from comitia._titles import CHOSEN_BY_OOB
from comitia.datasets import Dataset, MultilabelStratifiedKFold
from comitia.ensembles._out_of_bag import Judging
from comitia.experiments._choose import choose
from comitia.experiments._details import Details
from comitia.experiments._plan import Cell, Plan
from comitia.experiments._provenance import now, versions
from comitia.experiments._score import Way, losses_of
from comitia.experiments._settings import OF_ONE_MEMBER, OWN, EnsembleSetting
from comitia.learners._device import gains
from comitia.measures._registry import loss_of

DIGITS = "seven-segment"
"""The example whose predictions can be drawn."""


@dataclass(frozen=True)
class Computed:
    """What became of a cell.

    Attributes
    ----------
    seconds : float
        How long it took.
    compiling : float
        How much of that was compiling, which no other cell will wait for.
    rows : list of dict
        One for every decision, as `Row` has them.
    provenance : dict
        Seeds, times, warnings and versions.
    digits : dict or None
        Handwritten digits and the displays that the aggregations light, of the one cell that they are drawn for.
    error : dict or None
        The error of a cell that failed; it has no rows.
    details : dict or None
        What its report shows besides; see `Details`.
    lacks_data : bool
        Whether nothing was computed, for want of the data.
    """

    seconds: float
    rows: list[dict[str, Any]] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    digits: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    details: dict[str, Any] | None = None
    lacks_data: bool = False
    compiling: float = 0.0


def compute_cell(plan: Plan, threads: int, cell: Cell, data: Dataset) -> Computed:
    """Fit and score one cell with so many threads; an error is a part of what is returned."""
    started, clock = now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught, seconds_compiling() as compiling:
            warnings.simplefilter("always")
            ensemble, test = fit_cell(plan, cell, data, n_jobs=threads)
            fitted = time.perf_counter() - clock
            held_out = data.take(test)
            watched = Details(ensemble, held_out.Y, test)
            rows = _rows(plan, cell, ensemble, held_out, watched)
            seen = np.delete(data.Y, test, axis=0)
            details = watched.found(seen, plan.targets, held_out.X, fitted)
            digits = _digits(plan, ensemble, held_out) if _is_drawn(plan, cell, data) else None
    except Exception as error:
        return Computed(time.perf_counter() - clock, error=plain_error(error))
    seconds = time.perf_counter() - clock
    provenance = {
        "cell": asdict(cell),
        "seed_of_folds": plan.seed_of_folds(cell),
        "seed_of_members": plan.seed_of_members(cell),
        "started": started,
        "seconds": round(seconds, 3),
        "seconds_to_fit": round(fitted, 3),
        "threads": threads,
        **({"device": device} if (device := ensemble.get_params(deep=False).get("device", "cpu")) != "cpu" else {}),
        "chosen": {name: ensemble.get_params()[name] for name in plan.setting(cell.ensemble).choose},
        "decided_by": _decided_by(plan, cell, ensemble),
        "wrapped": plan.setting(cell.ensemble).foreign and ensemble.members_.members[0].is_wrapped,
        "warnings": list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught)),
        "versions": versions(),
    }
    return Computed(seconds, rows, provenance, digits, details=details, compiling=compiling())


def fit_cell(plan: Plan, cell: Cell, data: Dataset, n_jobs: int | None = None) -> tuple[Any, NDArray[np.intp]]:
    """Fit the ensemble of a cell; return it and the positions of the instances to test it on."""
    folds = MultilabelStratifiedKFold if plan.stratified else KFold
    splits = folds(plan.folds, shuffle=True, random_state=plan.seed_of_folds(cell)).split(data.X, data.Y)
    train, test = next(split for fold, split in enumerate(splits) if fold == cell.fold)
    setting = plan.setting(cell.ensemble)
    judged: dict[str, Any] = {"oob_score": True, "aggregation": CHOSEN_BY_OOB} if _judges(plan, cell) else {}
    if setting.leaves_out and plan.measures:
        judged["oob_score"] = True
    ensemble = setting.build(random_state=plan.seed_of_members(cell), n_jobs=n_jobs, **judged)
    if judged.get("aggregation") == CHOSEN_BY_OOB:
        ensemble._judging = Judging(losses=tuple(plan.targets.values()))
    part = data.take(train)
    if _gains_by_device(plan, setting, part):
        ensemble.set_params(device=plan.device)
    ensemble.set_params(**choose(ensemble, setting.choose, part.X, part.Y, sample_weight=part.sample_weight))
    return ensemble.fit(part.X, part.Y, sample_weight=part.sample_weight), test


def _gains_by_device(plan: Plan, setting: EnsembleSetting, data: Dataset) -> bool:
    """Whether an ensemble is fitted where the plan says, and not where its own parameters do."""
    if plan.device == "cpu" or setting.foreign or "device" in setting.parameters:
        return False
    problems = setting.n_members * data.n_labels
    return "device" in setting.build().get_params(deep=False) and gains(int(data.X.size), problems)


def _judges(plan: Plan, cell: Cell) -> bool:
    """Whether a way of deciding is chosen by out-of-bag losses."""
    return CHOSEN_BY_OOB in plan.aggregations and plan.setting(cell.ensemble).leaves_out


def plain_error(error: BaseException) -> dict[str, Any]:
    """What is kept of an error: the words, and where it was raised, without the paths of this machine.

    An interrupt that became another error on its way is raised again: it is not for who keeps errors and goes on.
    """
    pass_on(error)
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": f"{type(error).__name__}: {error}",
        "where": [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames],
    }


def _rows(plan: Plan, cell: Cell, ensemble: Any, held_out: Dataset, watched: Details) -> list[dict[str, Any]]:
    foreign = plan.setting(cell.ensemble).foreign
    found: dict[Way, float] = {}
    if aggregations := _aggregations(plan, cell):
        found |= losses_of(
            ensemble,
            held_out.X,
            held_out.Y,
            losses=plan.targets,
            aggregations=aggregations,
            pools=plan.pools,
            sizes=() if foreign else plan.sizes,
            watch=watched.watch,
        )
    if foreign:
        labeling = _own(ensemble, held_out.X)
        for loss, target in plan.targets.items():
            way = Way(loss, OWN, "", 1)
            found[way] = loss_of(target, held_out.Y, labeling)
            watched.count(way, labeling)
    n_test = held_out.n_instances
    return [
        asdict(Row(**asdict(cell), **asdict(decision), value=value, n_test=n_test)) for decision, value in found.items()
    ]


def _decided_by(plan: Plan, cell: Cell, ensemble: Any) -> dict[str, str]:
    """Which way of deciding the out-of-bag losses have chosen for each loss."""
    if not _judges(plan, cell):
        return {}
    before = ensemble.loss
    chosen = {loss: ensemble.set_params(loss=target).oob_choice_ for loss, target in plan.targets.items()}
    ensemble.set_params(loss=before)
    return chosen


def _aggregations(plan: Plan, cell: Cell) -> tuple[str, ...]:
    """What can be decided by in every fold: an ensemble may choose in a fit whether it has joint beliefs."""
    setting = plan.setting(cell.ensemble)
    if setting.foreign:
        return tuple(name for name in plan.aggregations if name in OF_ONE_MEMBER)
    return tuple(name for name in plan.aggregations if setting.offers(name))


def _own(ensemble: Any, X: Any) -> LabelArray:
    """What the only member predicts by itself."""
    (member,) = ensemble.members_.members
    varies = member.constant < 0
    predicted = member.estimator.predict(member.features(X))
    predicted = predicted.toarray() if issparse(predicted) else np.asarray(predicted)
    labeling = np.tile(np.maximum(member.constant, 0), (X.shape[0], 1)).astype(np.int8)
    if varies.any():
        predicted = predicted.reshape(X.shape[0], -1)
        if predicted.shape[1] != varies.sum() or not np.isin(predicted, (0, 1)).all():
            raise ComitiaError(
                f"{type(member.estimator).__name__} must predict zeros and ones of shape "
                f"{(X.shape[0], int(varies.sum()))}; got shape {predicted.shape}."
            )
        labeling[:, varies] = predicted
    return labeling


def _is_drawn(plan: Plan, cell: Cell, data: Dataset) -> bool:
    """Whether the digits of this cell are those that a report draws: the first ensemble's, on the first fold."""
    return cell == Cell(DIGITS, plan.ensembles[0].name, 0, 0) and (data.n_features, data.n_labels) == (64, 7)


def _digits(plan: Plan, ensemble: Any, held_out: Dataset) -> dict[str, Any]:
    known = [loss for loss in plan.losses if isinstance(loss, str) and loss not in plan.measures]
    loss = "subset01" if "subset01" in known else next(iter(known), "hamming")
    cell = Cell(DIGITS, plan.ensembles[0].name, 0, 0)
    names = [name for name in _aggregations(plan, cell) if name != CHOSEN_BY_OOB]
    before = {name: ensemble.get_params()[name] for name in ("loss", "aggregation")}
    lit = {name: ensemble.set_params(loss=loss, aggregation=name).predict(held_out.X) for name in names}
    ensemble.set_params(**before)
    if plan.setting(cell.ensemble).foreign:
        lit[OWN] = _own(ensemble, held_out.X)
    return {
        "images": np.asarray(held_out.X).reshape(-1, 8, 8).tolist(),
        "truth": held_out.Y.tolist(),
        "labelings": {name: np.asarray(labeling).astype(int).tolist() for name, labeling in lit.items()},
        "loss": loss,
    }
