"""Which ensemble: a kind by its name with parameters, or any multilabel classifier as an object."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from comitia._errors import ComitiaError
from comitia._names import unknown
from comitia.ensembles import ENSEMBLES, MultilabelEnsemble, MultilabelVotingClassifier

CHOSEN_BY_OOB = "oob"
"""In place of an aggregation: the one with the smallest out-of-bag loss."""

OWN = "own"
"""In place of an aggregation: what a classifier that is no ensemble of ours predicts by itself."""

OF_ONE_MEMBER = ("gmv", "ctp")
"""The aggregations that say something about one member: cut at one half, and decided for the loss."""

_FOLLOWS = ("random_state", "n_jobs", "oob_score", "warm_start", "verbose", "loss", "aggregation")
"""Parameters of ensembles that follow from the plan."""

_OF_THE_ENSEMBLE = ("n_estimators", "bootstrap", "max_samples", "pool")
"""Parameters that out-of-bag losses of a few members do not compare."""


class PlanError(ComitiaError):
    """A plan asks for something that does not exist or does not fit together."""


@dataclass(frozen=True)
class Absent:
    """Stands for an object that a plan was given, where only the plan's file is left and names its class."""

    path: str


@dataclass(frozen=True)
class EnsembleSetting:
    """An ensemble: a kind and the parameters in which it differs from the defaults of its class, or an object.

    Parameters
    ----------
    kind : str
        A name of `comitia.ENSEMBLES`.
    parameters : mapping
        Passed to the class.  An ``estimator`` that is a mapping itself, such as ``{C = 1.0}``, stands for
        scikit-learn's ``LogisticRegression`` with these parameters, on the features as they are.
    name : str
        What the ensemble is called in results; the kind, or the class of the object, by default.
    choose : mapping
        Parameters whose values are chosen on the training part of every fold, each with its candidates, such as
        ``{estimator__C = [1.0, 10.0]}``; see `comitia.experiments._choose`.
    estimator : classifier, optional
        In place of a kind: one of our ensembles as an object, or any multilabel classifier of scikit-learn's kind.
        It is cloned for every fold.  Of ours, all that follows from the plan (seed, loss, aggregation) is set; any
        other keeps a ``random_state`` that is not None, and is scored by its own ``predict`` (aggregation ``"own"``)
        and, as an ensemble of one member, by ``"gmv"`` and ``"ctp"``.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> EnsembleSetting(estimator=RandomForestClassifier(20), name="forest").resolved()["n_estimators"]
    20
    """

    kind: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    choose: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    estimator: Any = None

    def __post_init__(self) -> None:
        if self.estimator is None:
            self._check_kind()
        else:
            self._check_object()
        object.__setattr__(self, "name", self.name or self.kind or type(self.estimator).__name__)
        self._check_choose()

    def build(self, **parameters: Any) -> Any:
        """Make the classifier, with parameters that are no part of the setting (seed, number of jobs).

        A classifier that is no ensemble of ours comes as one of a single member.
        """
        if self.estimator is None:
            # A committee judges itself out of bag without being asked to.
            takes = ENSEMBLES[self.kind]._get_param_names()
            given = {**self.parameters, **{name: value for name, value in parameters.items() if name in takes}}
            if isinstance(given.get("estimator"), Mapping):
                given["estimator"] = LogisticRegression(**given["estimator"])
            return ENSEMBLES[self.kind](**given)
        if isinstance(self.estimator, Absent):
            raise PlanError(
                f"ensemble {self.name!r} was given as an object, {self.estimator.path}, which a file cannot hold: "
                "run the plan in Python, with the object."
            )
        built = clone(self.estimator)
        seed = parameters.pop("random_state", None)
        if self.foreign:
            built = MultilabelVotingClassifier([(OWN, built)])
        known = built.get_params()
        if "random_state" in known:
            parameters["random_state"] = seed
        else:
            # Only where the user has left it open: a fixed random_state stays what it is.
            open_ = [name for name in known if name.endswith("__random_state") and known[name] is None]
            parameters |= dict.fromkeys(open_, None if seed is None else seed % (2**31 - 1))
        return built.set_params(**{name: value for name, value in parameters.items() if name in known})

    def resolved(self) -> dict[str, Any]:
        """All parameters with their values, also those that the plan leaves to the class."""
        if self.estimator is None:
            given = self.build().get_params(deep=False)
            values = {name: _plain(value) for name, value in sorted(given.items())}
        else:
            values = _described(self.estimator, leave_out=() if self.foreign else _FOLLOWS)
            values.pop("class")
        if self.choose:
            values["choose"] = {name: [_plain(value) for value in self.choose[name]] for name in sorted(self.choose)}
        return values

    def identity(self) -> dict[str, Any]:
        """All that decides what the ensemble is, as plain values."""
        if self.object is not None:
            return {"object": self.object} | ({} if isinstance(self.estimator, Absent) else self.resolved())
        return {"kind": self.kind, **self.resolved()}

    @property
    def object(self) -> str | None:
        """Where the class of an object is defined; None for a kind by its name."""
        if self.estimator is None:
            return None
        return self.estimator.path if isinstance(self.estimator, Absent) else _path(type(self.estimator))

    @property
    def foreign(self) -> bool:
        """Whether it is a classifier that is no ensemble of ours."""
        return self.estimator is not None and not isinstance(self.estimator, MultilabelEnsemble)

    @property
    def n_members(self) -> int:
        if self.foreign:
            return 1
        built = self.build()
        if hasattr(built, "n_estimators"):
            return int(built.n_estimators)
        return sum(not isinstance(member, str) for _, member in getattr(built, "estimators", [(OWN, None)]))

    @property
    def leaves_out(self) -> bool:
        """Whether members are fitted to samples, so that there are out-of-bag losses."""
        built = self.build()
        if not hasattr(built, "oob_score"):
            return False
        return bool(getattr(built, "bootstrap", True)) or built.max_samples is not None

    def check_offers(self, aggregations: Sequence[str]) -> None:
        """Raise an error where the ensemble can decide by none of these aggregations."""
        if self.foreign:
            return
        missing = [self._lacks(aggregation) for aggregation in aggregations]
        if all(missing):
            raise PlanError(f"ensemble {self.name!r} has {', and '.join(missing)}")

    def _lacks(self, aggregation: str) -> str:
        if aggregation == CHOSEN_BY_OOB and not self.leaves_out:
            return "no out-of-bag losses to choose by: set bootstrap = true or max_samples"
        if aggregation != CHOSEN_BY_OOB and not self.build().can_decide_by(aggregation):
            return f"no joint distributions for {aggregation!r}: trees have them, and chains with chain_method 'joint'"
        return ""

    def _check_kind(self) -> None:
        if self.kind not in ENSEMBLES:
            raise PlanError(unknown("ensemble", self.kind, ENSEMBLES))
        known = ENSEMBLES[self.kind]().get_params(deep=False)
        for parameter in self.parameters:
            if parameter in _FOLLOWS:
                raise PlanError(f"parameter {parameter!r} of {self.kind!r} follows from the plan: leave it out")
            if parameter not in known:
                raise PlanError(unknown(f"parameter of {self.kind!r}:", parameter, known))
        if isinstance(self.parameters.get("estimator"), Mapping):
            known = LogisticRegression().get_params()
            for parameter in self.parameters["estimator"]:
                if parameter not in known:
                    raise PlanError(unknown("parameter of logistic regression:", parameter, known))
        members = self.parameters.get("n_estimators", 1)
        if not isinstance(members, int) or members < 1:
            raise PlanError(f"n_estimators of {self.kind!r} is {members!r}: expected a positive number of members")

    def _check_object(self) -> None:
        if self.kind or self.parameters:
            raise PlanError(
                f"estimator must stand alone, with its own parameters; got kind={self.kind!r} and "
                f"parameters={dict(self.parameters)!r} beside it."
            )
        if isinstance(self.estimator, Absent):
            return
        if isinstance(self.estimator, type):
            raise PlanError(f"estimator must be an object; got the class {self.estimator.__name__}: call it.")
        lacking = [name for name in ("fit", "predict", "get_params") if not hasattr(self.estimator, name)]
        if lacking:
            raise PlanError(
                f"estimator must be a multilabel classifier of scikit-learn's kind; got {self.estimator!r}, which has "
                f"no {lacking[0]}."
            )

    def _check_choose(self) -> None:
        if not self.choose:
            return
        known = self.build().get_params()
        what = self.kind or self.name
        for parameter, candidates in self.choose.items():
            if parameter in (*_FOLLOWS, *_OF_THE_ENSEMBLE):
                raise PlanError(f"choose: {parameter!r} cannot be chosen by out-of-bag losses: leave it out")
            if parameter not in known:
                raise PlanError(unknown(f"parameter of {what!r} to choose:", parameter, known))
            if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
                raise PlanError(f"choose: {parameter} is {candidates!r}: expected a list of candidates")
        if self._lacks(CHOSEN_BY_OOB):
            raise PlanError(f"ensemble {self.name!r} has {self._lacks(CHOSEN_BY_OOB)}")


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _described(value: Any, leave_out: Sequence[str] = ()) -> Any:
    """An object in plain values that are the same in every process: its class and its parameters, to the bottom."""
    if isinstance(value, np.generic):
        return _described(value.item())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): _described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_described(entry) for entry in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if hasattr(value, "get_params") and not isinstance(value, type):
        given = value.get_params(deep=False)
        kept = {name: _described(given[name]) for name in sorted(given) if name not in leave_out}
        return {"class": _path(type(value)), **kept}
    if callable(value) and hasattr(value, "__qualname__"):
        return _path(value)
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _path(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
