"""Which loss: a name, a name with parameters, one's own by its import path, or an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from comitia import _titles
from comitia._names import as_known, unknown
from comitia._titles import Written
from comitia.experiments._calls import read_call, spelt
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
from comitia.losses import LOSSES, CustomLoss, Loss
from comitia.measures import MEASURES, Measure, get_target

TARGETS: dict[str, type[Loss] | type[Measure]] = {**LOSSES, **MEASURES}
"""What predictions can be made for by a name alone: losses, and measures of a whole set."""


@dataclass(frozen=True)
class LossSetting:
    """A loss that a name alone does not describe.

    Parameters
    ----------
    kind : str
        A name of `comitia.LOSSES` or `comitia.MEASURES`, or the import path of a class of losses or of a function of
        (truth, labeling), which becomes a `comitia.losses.CustomLoss`.
    parameters : mapping
        Passed to the class.
    name : str
        What the loss is called in results; by default kind and parameters, ``f1(beta=2)``.
    loss : Loss, Measure or callable, optional
        In place of a kind: the loss as an object.

    Examples
    --------
    >>> from comitia.experiments import LossSetting
    >>> setting = LossSetting("f1", {"beta": 2})
    >>> setting.name, setting.target()
    ('f1(beta=2)', FLoss(beta=2, zero_division=1.0))
    """

    kind: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    loss: Any = None

    def __post_init__(self) -> None:
        if self.loss is not None and not isinstance(self.loss, Absent) and (self.kind or self.parameters):
            raise PlanError(f"loss must stand alone; got kind={self.kind!r} and {dict(self.parameters)!r} beside it.")
        if not self.kind and self.loss is None:
            raise PlanError("a loss must have a kind, a class or a function; got none.")
        titles = {name: one.title for name, one in TARGETS.items()}
        object.__setattr__(self, "kind", as_known(self.kind, TARGETS, titles))
        name = self.name or self._usual_name()
        if name in TARGETS:
            raise PlanError(f"name {name!r} is that of a loss; choose another for {self._usual_name()}.")
        object.__setattr__(self, "name", name)
        # Reports, which know nothing of losses, look up how this one is shown.
        _titles.LOSSES[name] = (name, self.of_a_set or bool(getattr(self._kind(), "measure", False)), self.of_a_set)
        _titles.OWN_LOSSES[name] = Written() if isinstance(self.loss, Absent) else _written(self.target())

    def target(self) -> Loss | Measure:
        """What predictions are made for."""
        if isinstance(self.loss, Absent):
            raise PlanError(f"loss {self.name!r} is {self.loss.path}, which was not imported: consent with --trust.")
        if self.loss is not None:
            return get_target(self.loss)
        given = {name: _frozen(made(value, TARGETS)) for name, value in self.parameters.items()}
        if "." not in self.kind:
            if self.kind not in TARGETS:
                raise PlanError(unknown("loss", self.kind, TARGETS))
            return called(repr(self.kind), TARGETS[self.kind], given)  # type: ignore[no-any-return]
        found = imported(self.kind)
        if isinstance(found, Loss | Measure) and not given:
            return found
        if isinstance(found, type):
            found = called(self.kind, found, given)
        elif callable(found):
            found = called(self.kind, CustomLoss, {"function": found, **given})
        if not isinstance(found, Loss | Measure):
            raise PlanError(
                f"{self.kind!r} must be a loss, a measure or a function of (truth, labeling); got {found!r}."
            )
        return found

    def entry(self) -> dict[str, Any]:
        """The setting as a plan's file has it."""
        if self.object is not None:
            return {"object": self.object, "name": self.name}
        return {"class" if "." in self.kind else "kind": self.kind, "name": self.name, **self.parameters}

    def identity(self) -> dict[str, Any]:
        """All that decides what the loss is, as plain values."""
        code = code_of([self.kind] if "." in self.kind else [])
        return {"name": self.name, "loss": described(self.target()), **({"code": code} if code else {})}

    @property
    def of_a_set(self) -> bool:
        """Whether it is a measure of a whole set; unknown code counts as a loss."""
        return issubclass(self._kind(), Measure)

    @property
    def object(self) -> str | None:
        """Where an object is defined; None for a kind."""
        if self.kind or self.loss is None:
            return None
        if isinstance(self.loss, Absent):
            return self.loss.path
        return path_of(self.loss if hasattr(self.loss, "__qualname__") else type(self.loss))

    def _usual_name(self) -> str:
        if self.kind:
            text = spelt({"kind": self.kind, **self.parameters})
            return text.removesuffix("()")
        if isinstance(self.loss, Absent):
            return self.loss.path.rpartition(".")[2]
        if isinstance(self.loss, CustomLoss):
            return str(getattr(self.loss.function, "__name__", "custom"))
        if isinstance(self.loss, Loss | Measure):
            option = _option(self.loss)
            own = f"{type(self.loss).__name__}({', '.join(_changed(self.loss))})".removesuffix("()")
            return own if option in TARGETS else option or own
        return str(getattr(self.loss, "__name__", type(self.loss).__name__))

    def _kind(self) -> type:
        return TARGETS.get(self.kind, Loss) if isinstance(self.loss, Absent) else type(self.target())


def read_loss(text: str) -> LossSetting:
    """Return a loss that is written with parameters; code of others is not imported.

    Examples
    --------
    >>> read_loss("F1(beta=2)").name
    'f1(beta=2)'
    """
    table = read_call(text)
    if paths_in(table):
        raise PlanError(f"{text!r} names code of others, which Python imports: fit with it there.")
    return LossSetting(str(table.pop("kind")), table)


def name_of(loss: Any) -> str:
    """Return what a loss or a measure is called where people read of it.

    Examples
    --------
    >>> from comitia.losses import FLoss
    >>> name_of(FLoss(beta=2)), name_of(FLoss()), name_of("f1")
    ('f1(beta=2)', 'f1', 'f1')
    """
    known = loss if isinstance(loss, str) else _option(loss)
    return known if known in TARGETS else LossSetting(loss=loss).name


def _written(target: Loss | Measure) -> Written:
    """How a loss is written in Python, with the statement that imports it, and on the command line."""
    if isinstance(target, CustomLoss):
        name, module = getattr(target.function, "__name__", ""), getattr(target.function, "__module__", "")
        known = name.isidentifier() and not _changed(target)[1:]
        return Written(name, _import(module, name)) if known else Written()
    kind = type(target)
    module = kind.__module__.partition("._")[0]
    code = f"{kind.__name__}({', '.join(_changed(target))})"
    return Written(code, _import(module, kind.__name__), _option(target))


def _option(target: Any) -> str:
    """How the command line writes a loss; empty where it cannot."""
    kind = next((name for name, one in TARGETS.items() if one is type(target)), "")
    return kind and f"{kind}({', '.join(_changed(target))})".removesuffix("()")


def _import(module: str, name: str) -> str:
    """The statement that imports a name; who has written it in a notebook has it already."""
    return "" if module == "__main__" else f"from {module} import {name}"


def _changed(loss: Any) -> list[str]:
    """The parameters in which a loss differs from the defaults of its class, as Python writes them."""
    return [
        f"{one.name}={getattr(loss, one.name)!r}"
        for one in fields(loss)
        if one.init and (one.default is MISSING or getattr(loss, one.name) != one.default)
    ]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
