"""The losses by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from comitia import _titles
from comitia._errors import ComitiaError
from comitia._names import looked_up
from comitia.losses._base import Loss
from comitia.losses._custom import CustomLoss
from comitia.losses._fmeasure import FLoss
from comitia.losses._hamming import Hamming
from comitia.losses._jaccard import JaccardLoss
from comitia.losses._subset import SubsetZeroOne

LossName = Literal["hamming", "subset01", "f1", "jaccard"]
LossLike: TypeAlias = LossName | str | Loss | Callable[..., Any]
"""What :func:`get_loss` takes.  Editors complete the names, also where any other text is allowed."""

LOSSES: dict[str, type[Loss]] = {
    "hamming": Hamming,
    "subset01": SubsetZeroOne,
    "f1": FLoss,
    "jaccard": JaccardLoss,
}
"""Every loss that has a name.  Tests iterate over it: a loss is tested the day it is added."""

_titles.LOSSES.update({name: (loss.title, loss.measure, False) for name, loss in LOSSES.items()})
_titles.TERMS.update({name: loss.terms for name, loss in LOSSES.items()})


def get_loss(loss: LossLike, **parameters: Any) -> Loss:
    """Return a loss by its name, a user's function as a loss, or the loss itself.

    Parameters
    ----------
    loss : str, Loss or callable
        A name of :data:`LOSSES`, also as it is printed (``"F1-measure"``); a :class:`Loss`; or a function of (truth,
        labeling), which becomes a :class:`CustomLoss`.
    **parameters
        Parameters of a loss given by name or function.

    Examples
    --------
    >>> from comitia.losses import get_loss
    >>> get_loss("f1")
    FLoss(beta=1.0, zero_division=1.0)
    """
    if isinstance(loss, Loss):
        if parameters:
            raise ComitiaError(f"parameters go with a name: {loss!r} has its own; got {sorted(parameters)} as well.")
        return loss
    if isinstance(loss, str):
        return looked_up("loss", loss, LOSSES, lambda kind: kind.title)(**parameters)
    if callable(loss):
        return CustomLoss(loss, **parameters)
    raise ComitiaError(f"loss must be a name, a Loss or a function of (truth, labeling); got {loss!r}.")
