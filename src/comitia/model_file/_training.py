"""A classifier that is fitted to be kept, and what it is worth by what its members have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from comitia._baselines import BASELINES, constant_answers
from comitia._errors import ComitiaError
from comitia._titles import CHOSEN_BY_OOB, method_name
from comitia.datasets import Dataset
from comitia.ensembles import ENSEMBLES
from comitia.ensembles._out_of_bag import Judging
from comitia.measures import Measure, get_target
from comitia.measures._registry import loss_of
from comitia.model_file._model import Model

THIS_MODEL = "this model"


@dataclass(frozen=True)
class Trained:
    """A fitted model with what is told of it.

    Attributes
    ----------
    model : Model
    judged : dict of str to float
        Its out-of-bag loss (``"this model"``) beside that of answers which learn nothing; empty where nothing is out of
        bag.
    way : str or None
        The aggregation in use, where one was asked for or chosen.
    """

    model: Model
    judged: dict[str, float]
    way: str | None


def trained(kind: str, wished: Mapping[str, Any], dataset: Dataset, *, oob: bool | None = None) -> Trained:
    """Fit an ensemble of a kind and judge it out of bag.

    Parameters
    ----------
    kind : str
        A name of `comitia.ENSEMBLES`.
    wished : mapping
        Its parameters, ``loss`` among them; those that this kind does not have are left out.
    dataset : Dataset
    oob : bool, optional
        Whether the model is to keep its out-of-bag losses.  By default it does where it decides by them, and else they
        are only told, of the decisions that were asked for, where there are any.

    Examples
    --------
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(120, 4, 3, dependence=0.7, random_state=1).dataset
    >>> found = trained("emodt", {"n_estimators": 20, "loss": "f1", "random_state": 0}, data)
    >>> found.judged["this model"] < found.judged["no label at all"], found.model.ensemble.oob_score
    (True, False)
    """
    needed = wished.get("aggregation") == CHOSEN_BY_OOB or isinstance(get_target(wished["loss"]), Measure)
    given = {**wished, "oob_score": needed or oob is not False}
    made = ENSEMBLES[kind]
    # A committee has members of its own and knows its out-of-bag losses anyway.
    takes = made._get_param_names()
    classifier: Any = made(**{key: value for key, value in given.items() if key in takes})
    only_told = not (needed or oob or "oob_score" not in takes)
    if only_told:
        classifier._judging = Judging(losses=(), all_ways=False)
    with warnings.catch_warnings():
        if not needed:
            warnings.filterwarnings("ignore", message=".*have no out-of-bag decision")
        try:
            model = Model.fit(classifier, dataset)
        except ComitiaError:
            if not only_told:
                raise
            # A few instances leave nothing out of bag, and nobody has asked for it.
            model = Model.fit(classifier.set_params(oob_score=False), dataset)
    judged = _judged(classifier, dataset.Y)
    told = needed or oob or classifier.aggregation == CHOSEN_BY_OOB
    asked = method_name(wished["aggregation"], wished["pool"]) if "aggregation" in wished else None
    way = getattr(classifier, "oob_aggregation_", None) if told else asked
    if only_told:
        # The file need not hold it.
        classifier.set_params(oob_score=False)
        for name in ("_judging", "_oob"):
            vars(classifier).pop(name, None)
    return Trained(model, judged, way)


def _judged(classifier: Any, Y: Any) -> dict[str, float]:
    if not hasattr(classifier, "_oob"):
        return {}
    known = {
        BASELINES[name]: loss_of(classifier.loss, Y, np.tile(row, (len(Y), 1)))
        for name, row in constant_answers(Y).items()
    }
    return {THIS_MODEL: classifier.oob_loss_, **known}
