"""Which ensemble: a kind by its name, a class by its import path, or any multilabel classifier as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from comitia._names import unknown
from comitia._titles import CHOSEN_BY_OOB
from comitia.ensembles import (
    ENSEMBLES,
    MultilabelBaggingClassifier,
    MultilabelEnsemble,
    MultilabelVotingClassifier,
)
from comitia.experiments._imports import (
    Absent,
    PlanError,
    called,
    code_of,
    described,
    imported,
    made,
    path_of,
    paths_in,
)

KINDS: dict[str, type[MultilabelEnsemble]] = {
    **ENSEMBLES,
    "bagging": MultilabelBaggingClassifier,
    "voting": MultilabelVotingClassifier,
}
"""The ensembles that a plan knows by name: those with members of their own, and those around classifiers of others."""

OWN = "own"
"""In place of an aggregation: what a classifier that is no ensemble of ours predicts by itself."""

OF_ONE_MEMBER = ("gmv", "ctp")
"""The aggregations that say something about one member: cut at one half, and decided for the loss."""

FOLLOWS = ("random_state", "n_jobs", "oob_score", "warm_start", "verbose", "loss", "aggregation")
"""Parameters of ensembles that follow from the plan."""

_OF_THE_ENSEMBLE = ("n_estimators", "bootstrap", "max_samples", "pool")
"""Parameters that out-of-bag losses of a few members do not compare."""


@dataclass(frozen=True)
class EnsembleSetting:
    """An ensemble: a kind and the parameters in which it differs from the defaults of its class, or an object.

    Parameters
    ----------
    kind : str
        A name of `comitia.ENSEMBLES`, ``"bagging"``, ``"voting"``, or the import path of a class.
    parameters : mapping
        Passed to the class.  A mapping with an entry ``class``, such as ``{class = "lightgbm.LGBMClassifier"}``, or
        with a ``kind`` stands for an object made with its other entries; in a list, with a ``name`` too, for a pair
        of name and object.  An ``estimator`` that has neither, such as ``{C = 1.0}``, stands for scikit-learn's
        ``LogisticRegression`` with these parameters, on the features as they are.
    name : str
        What the ensemble is called in results; the kind, or the class of the object, by default.
    choose : mapping
        Parameters whose values are chosen on the training part of every fold, each with its candidates, such as
        ``{estimator__C = [1.0, 10.0]}``, by the out-of-bag loss of small ensembles.
    estimator : classifier, optional
        In place of a kind: one of our ensembles as an object, or any multilabel classifier of scikit-learn's kind.
        It is cloned for every fold.  Of ours, all that follows from the plan (seed, loss, aggregation) is set; any
        other keeps a ``random_state`` that is not None, and is scored by its own ``predict`` (aggregation ``"own"``)
        and, as an ensemble of one member, by ``"gmv"`` and ``"ctp"``.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from comitia.experiments import EnsembleSetting
    >>> EnsembleSetting(estimator=RandomForestClassifier(20), name="forest").resolved()["n_estimators"]
    20
    >>> EnsembleSetting("bagging", {"estimator": {"class": "sklearn.tree.DecisionTreeClassifier"}}).n_members
    10
    """

    kind: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    choose: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    estimator: Any = None

    def __post_init__(self) -> None:
        if self.estimator is not None:
            self._check_object()
        elif "." in self.kind:
            self._check_class()
        else:
            self._check_kind()
        name = self.name or self.kind.rpartition(".")[2] or type(self.estimator).__name__
        object.__setattr__(self, "name", name)
        self._check_choose()

    def build(self, **parameters: Any) -> Any:
        """Make the classifier, with parameters that are no part of the setting (seed, number of jobs).

        A classifier that is no ensemble of ours comes as one of a single member.
        """
        built = self._made()
        if self.foreign:
            built = MultilabelVotingClassifier([(OWN, built)])
        known, seed = built.get_params(), parameters.pop("random_state", None)
        if "random_state" in known:
            parameters["random_state"] = seed
        else:
            # Only where the user has left it open: a fixed random_state stays what it is.
            open_ = [name for name in known if name.endswith("__random_state") and known[name] is None]
            parameters |= dict.fromkeys(open_, None if seed is None else seed % (2**31 - 1))
        # A committee, for one, judges itself out of bag without being asked to.
        return built.set_params(**{name: value for name, value in parameters.items() if name in known})

    def resolved(self) -> dict[str, Any]:
        """All parameters with their values, also those that the plan leaves to the class."""
        if self.kind in KINDS:
            given = self.build().get_params(deep=False)
            inner = {name for name, value in self.parameters.items() if _is_made(value)}
            values = {
                name: described(value) if name in inner else _plain(value) for name, value in sorted(given.items())
            }
        else:
            values = described(self._made(), leave_out=() if self.foreign else FOLLOWS)
            values.pop("class")
        if self.choose:
            values["choose"] = {name: [_plain(value) for value in self.choose[name]] for name in sorted(self.choose)}
        return values

    def identity(self) -> dict[str, Any]:
        """All that decides what the ensemble is, as plain values; of code by its path also the version."""
        if self.object is not None:
            return {"object": self.object} | ({} if isinstance(self.estimator, Absent) else self.resolved())
        code = code_of(self.paths)
        return {"kind": self.kind, **self.resolved(), **({"code": code} if code else {})}

    @property
    def paths(self) -> list[str]:
        """The import paths that the setting names."""
        return paths_in([{"class": self.kind} if "." in self.kind else {}, self.parameters])

    def in_classes(self) -> dict[str, Any]:
        """The setting as a table of a plan in which everything is named by the import path of its class.

        Examples
        --------
        >>> from comitia.experiments import EnsembleSetting
        >>> EnsembleSetting("ebr", {"estimator": {"C": 10.0}}).in_classes()["estimator"]
        {'class': 'sklearn.linear_model.LogisticRegression', 'C': 10.0}
        """
        head = "class" if "." in self.kind else "kind"
        return _in_classes({head: self.kind, **self.parameters})  # type: ignore[no-any-return]

    @property
    def object(self) -> str | None:
        """Where the class of an object is defined; None for a kind or a class by its name."""
        if self.estimator is None or self.kind:
            return None
        return self.estimator.path if isinstance(self.estimator, Absent) else path_of(type(self.estimator))

    @property
    def foreign(self) -> bool:
        """Whether it is a classifier that is no ensemble of ours."""
        if self.estimator is None:
            return "." in self.kind and not issubclass(imported(self.kind), MultilabelEnsemble)
        return not isinstance(self.estimator, MultilabelEnsemble)

    @property
    def n_members(self) -> int:
        if self.foreign:
            return 1
        return _members_of(self.build())

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
            raise PlanError(f"ensemble {self.name!r} has {', and '.join(missing)}.")

    def offers(self, aggregation: str) -> bool:
        """Whether the ensemble can decide by an aggregation whatever it is fitted to."""
        return not self._lacks(aggregation)

    def _lacks(self, aggregation: str) -> str:
        if aggregation == CHOSEN_BY_OOB and not self.leaves_out:
            return "no out-of-bag losses to choose by: set bootstrap = true or max_samples"
        if aggregation != CHOSEN_BY_OOB and not self.build().can_decide_by(aggregation):
            return f"no joint distributions for {aggregation!r}: trees have them, and chains with chain_method 'joint'"
        return ""

    def _made(self) -> Any:
        """The classifier, as the plan has it."""
        if isinstance(self.estimator, Absent):
            path = self.estimator.path
            if self.kind:
                raise PlanError(f"ensemble {self.name!r} is {path}, which was not imported: consent with --trust.")
            raise PlanError(
                f"ensemble {self.name!r} was given as an object, {path}, which a file cannot hold: run the plan in "
                "Python, with the object."
            )
        if self.estimator is not None:
            return clone(self.estimator)
        given = {name: _made_of(name, value) for name, value in self.parameters.items()}
        if "." in self.kind:
            return called(self.kind, imported(self.kind), given)
        return called(repr(self.kind), KINDS[self.kind], given)

    def _check_kind(self) -> None:
        if self.kind not in KINDS:
            raise PlanError(unknown("ensemble", self.kind, KINDS))
        known = KINDS[self.kind]._get_param_names()
        for parameter in self.parameters:
            if parameter in FOLLOWS:
                raise PlanError(f"parameter {parameter!r} of {self.kind!r} follows from the plan: leave it out.")
            if parameter not in known:
                raise PlanError(unknown(f"parameter of {self.kind!r}:", parameter, known))
        needed = {"bagging": "estimator", "voting": "estimators"}.get(self.kind)
        if needed is not None and not self.parameters.get(needed):
            raise PlanError(f"{self.kind!r} must have {needed!r}: what it is made of.")
        members = self.parameters.get("n_estimators", 1)
        if not isinstance(members, int) or members < 1:
            raise PlanError(f"n_estimators of {self.kind!r} must be a positive number of members; got {members!r}.")
        self._made()

    def _check_class(self) -> None:
        found = imported(self.kind)
        if not isinstance(found, type):
            raise PlanError(f"{self.kind!r} must be a class; got {found!r}.")
        follows = [name for name in self.parameters if name in FOLLOWS and issubclass(found, MultilabelEnsemble)]
        if follows:
            raise PlanError(f"parameter {follows[0]!r} of {self.kind!r} follows from the plan: leave it out.")
        _check_classifier(self._made())

    def _check_object(self) -> None:
        if (self.kind or self.parameters) and not isinstance(self.estimator, Absent):
            raise PlanError(
                f"estimator must stand alone, with its own parameters; got kind={self.kind!r} and "
                f"parameters={dict(self.parameters)!r} beside it."
            )
        if isinstance(self.estimator, Absent):
            return
        _check_classifier(self.estimator)

    def _check_choose(self) -> None:
        if not self.choose or isinstance(self.estimator, Absent):
            return
        known = self.build().get_params()
        what = self.kind or self.name
        for parameter, candidates in self.choose.items():
            if parameter in (*FOLLOWS, *_OF_THE_ENSEMBLE):
                raise PlanError(f"choose: {parameter!r} cannot be chosen by out-of-bag losses: leave it out.")
            if parameter not in known:
                raise PlanError(unknown(f"parameter of {what!r} to choose:", parameter, known))
            if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
                raise PlanError(f"choose: {parameter} must have a list of candidates; got {candidates!r}.")
        if self._lacks(CHOSEN_BY_OOB):
            raise PlanError(f"ensemble {self.name!r} has {self._lacks(CHOSEN_BY_OOB)}.")


def _in_classes(value: Any, name: str = "") -> Any:
    if isinstance(value, list | tuple):
        return [_in_classes(entry) for entry in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _in_classes(entry, key) for key, entry in value.items() if key not in ("class", "kind")}
    if _is_made(value):
        return {"class": value["class"] if "class" in value else f"comitia.{KINDS[value['kind']].__name__}", **inner}
    return {"class": "sklearn.linear_model.LogisticRegression", **inner} if name == "estimator" else inner


def _made_of(name: str, value: Any) -> Any:
    if name == "estimator" and isinstance(value, Mapping) and not _is_made(value):
        return called("logistic regression", LogisticRegression, value)
    return made(value, KINDS)


def _members_of(classifier: Any) -> int:
    if isinstance(classifier, MultilabelVotingClassifier):
        return sum(_members_of(voter) for _, voter in classifier.estimators if not isinstance(voter, str))
    return int(getattr(classifier, "n_estimators", 1)) if isinstance(classifier, MultilabelEnsemble) else 1


def _is_made(value: Any) -> bool:
    """Whether a parameter stands for objects."""
    if isinstance(value, list | tuple):
        return any(map(_is_made, value))
    return isinstance(value, Mapping) and ("class" in value or "kind" in value)


def _check_classifier(given: Any) -> None:
    if isinstance(given, type):
        raise PlanError(f"estimator must be an object; got the class {given.__name__}: call it.")
    lacking = [name for name in ("fit", "predict", "get_params") if not hasattr(given, name)]
    if lacking:
        raise PlanError(
            f"estimator must be a multilabel classifier of scikit-learn's kind; got {given!r}, which has no "
            f"{lacking[0]}."
        )


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
