"""The measures by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from comitia import _titles
from comitia._errors import ComitiaError
from comitia._names import looked_up
from comitia.losses import LOSSES, Loss, get_loss
from comitia.losses._registry import LossLike
from comitia.measures._averages import BalancedAccuracy, MacroF, MacroJaccard, MicroF
from comitia.measures._base import Measure
from comitia.measures._custom import CountMeasure

MeasureName = Literal["macro-f1", "micro-f1", "macro-jaccard", "balanced-accuracy"]
MeasureLike: TypeAlias = MeasureName | str | Measure | Callable[..., Any]
TargetLike: TypeAlias = LossLike | MeasureName | Measure

MEASURES: dict[str, type[Measure]] = {
    "macro-f1": MacroF,
    "micro-f1": MicroF,
    "macro-jaccard": MacroJaccard,
    "balanced-accuracy": BalancedAccuracy,
}
"""Every measure of a set that has a name.  Tests iterate over it."""

_titles.LOSSES.update({name: (measure.title, True, True) for name, measure in MEASURES.items()})
_titles.TERMS.update({name: measure.terms for name, measure in MEASURES.items()})


def get_measure(measure: MeasureLike, **parameters: Any) -> Measure:
    """Return a measure by its name, a user's function of (tp, fp, fn, tn) as a measure, or the measure itself.

    Parameters
    ----------
    measure : str, Measure or callable
    **parameters
        Of the measure that a name or a function stands for, such as ``beta``.

    Examples
    --------
    >>> from comitia.measures import get_measure
    >>> get_measure("macro-f1", beta=2)
    MacroF(estimate='calibrated', beta=2, zero_division=0.0)
    """
    if isinstance(measure, Measure):
        if parameters:
            raise ComitiaError(f"parameters go with a name: {measure!r} has its own; got {sorted(parameters)} as well.")
        return measure
    if isinstance(measure, str):
        return looked_up("measure", measure, MEASURES, lambda kind: kind.title)(**parameters)
    if callable(measure):
        return CountMeasure(measure, **parameters)
    raise ComitiaError(f"measure must be a name, a Measure or a function of (tp, fp, fn, tn); got {measure!r}.")


def get_target(loss: TargetLike) -> Loss | Measure:
    """Return what predictions are made for: a loss of an instance, or a measure of a whole set.

    A name is one of :data:`comitia.LOSSES` or :data:`MEASURES`; a function is a loss of (truth, labeling).

    Examples
    --------
    >>> from comitia.measures import get_target
    >>> get_target("f1"), get_target("micro-f1")
    (FLoss(beta=1.0, zero_division=1.0), MicroF(estimate='calibrated', beta=1.0, zero_division=0.0))
    """
    if isinstance(loss, Measure):
        return loss
    if isinstance(loss, str):
        known: dict[str, type[Loss] | type[Measure]] = {**LOSSES, **MEASURES}
        return looked_up("loss", loss, known, lambda kind: kind.title)()
    return get_loss(loss)


def loss_of(loss: str | Loss | Measure, truth: ArrayLike, labeling: ArrayLike) -> float:
    """Return the mean loss of answers; for a measure of a whole set, one minus its value."""
    target = get_target(loss)
    if isinstance(target, Measure):
        return 1 - target.value(truth, labeling)
    return float(target.value(truth, labeling).mean())
