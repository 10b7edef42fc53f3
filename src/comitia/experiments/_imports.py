"""Code that a plan names: told apart from names that are known, imported only with consent, made, and described."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comitia._errors import ComitiaError
from comitia._names import unknown

OURS = "comitia"
"""Nobody has to consent to what is imported already."""


class PlanError(ComitiaError):
    """A plan asks for something that does not exist or does not fit together.

    Examples
    --------
    >>> from comitia.experiments import PlanError, read_plan
    >>> try:
    ...     read_plan("table3")
    ... except PlanError as error:
    ...     print(error)
    unknown plan 'table3': did you mean 'table2'? There are: figure2, table2. A path of a TOML file is a plan as well.
    """


@dataclass(frozen=True)
class Absent:
    """Stands for what a plan was given or names, where only the plan's file is looked at and no code is imported."""

    path: str


def paths_in(value: Any) -> list[str]:
    """The import paths that a value of a plan names, at any depth.

    Examples
    --------
    >>> paths_in({"estimator": {"class": "lightgbm.LGBMClassifier", "n_estimators": 50}})
    ['lightgbm.LGBMClassifier']
    """
    return list(dict.fromkeys(_paths(value)))


def check_trust(values: Iterable[Any], trust: bool, folder: str | Path | None = None) -> None:
    """Refuse values that name code of others, unless somebody has consented: importing is running.

    With consent, modules are also looked for in a folder and where this process is, after all other places.
    """
    asked = [path for path in paths_in(list(values)) if path.partition(".")[0] != OURS]
    if asked and not trust:
        raise PlanError(
            f"{', '.join(asked)} would be imported, which runs code that the plan only names: consent with --trust "
            "(trust=True in Python) if you know whose code that is."
        )
    for place in dict.fromkeys(str(Path(one).resolve()) for one in (folder, ".") if asked and one is not None):
        if place not in sys.path:
            sys.path.append(place)


def imported(path: str) -> Any:
    """Find what an import path names.

    Examples
    --------
    >>> imported("comitia.losses.FLoss").__name__
    'FLoss'
    """
    module, _, name = path.rpartition(".")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        raise PlanError(f"{path!r} must be an import path, such as package.module.Class.")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise PlanError(f"{path!r} cannot be imported: {type(error).__name__}: {error}.") from error
    if not hasattr(found, name):
        public = [known for known in vars(found) if not known.startswith("_")]
        raise PlanError(unknown(f"name in {module}:", name, public))
    return getattr(found, name)


def made(value: Any, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    """Make what a value of a plan describes.

    A table with ``class`` is an object of that class, one with ``kind`` of a kind that has a name, and one in a list
    that has a ``name`` as well is a pair of name and object, as pipelines and votes are made of.  All other values stay
    what they are.
    """
    if isinstance(value, Mapping):
        if "class" in value or "kind" in value:
            return _object(value, kinds)
        return {key: made(entry, kinds) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_pair(entry, kinds) for entry in value]
    return value


def called(what: str, call: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a class with parameters from a plan, and say in a sentence what is wrong with them."""
    known = inspect.signature(call).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        for name in given:
            if name not in known:
                raise PlanError(unknown(f"parameter of {what}:", name, known))
    try:
        return call(**given)
    except Exception as error:
        raise PlanError(f"{what} cannot be made with {dict(given)!r}: {error}") from error


def code_of(paths: Iterable[str]) -> dict[str, str]:
    """Which code stands behind import paths: the version of its package, or else a checksum of its file."""
    return {path: _version(path) for path in paths if path.partition(".")[0] != OURS}


def described(value: Any, leave_out: Iterable[str] = ()) -> Any:
    """An object in plain values that are the same in every process: its class and its parameters, to the bottom."""
    if isinstance(value, np.generic):
        return described(value.item())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [described(entry) for entry in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if not isinstance(value, type) and (hasattr(value, "get_params") or is_dataclass(value)):
        given = value.get_params(deep=False) if hasattr(value, "get_params") else _fields(value)
        kept = {name: described(given[name]) for name in sorted(given) if name not in leave_out}
        return {"class": path_of(type(value)), **kept}
    if callable(value) and hasattr(value, "__qualname__"):
        return path_of(value)
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def path_of(thing: Any) -> str:
    """Where a class or a function is defined."""
    return f"{thing.__module__}.{thing.__qualname__}"


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if key in ("class", "function") and isinstance(entry, str):
                yield entry
            else:
                yield from _paths(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _paths(entry)


def _object(value: Mapping[str, Any], kinds: Mapping[str, Callable[..., Any]]) -> Any:
    given = {key: made(entry, kinds) for key, entry in value.items() if key not in ("class", "kind", "name")}
    if "class" in value:
        found = imported(value["class"])
        if not isinstance(found, type):
            raise PlanError(f"{value['class']!r} must be a class; got {found!r}.")
        return called(value["class"], found, given)
    if value["kind"] not in kinds:
        raise PlanError(unknown("kind", str(value["kind"]), kinds))
    return called(repr(value["kind"]), kinds[value["kind"]], given)


def _pair(entry: Any, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(entry, Mapping) and ("class" in entry or "kind" in entry):
        short = entry["name"] if "name" in entry else str(entry.get("class", entry.get("kind"))).rpartition(".")[2]
        return str(short), made(entry, kinds)
    return made(entry, kinds)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _version(path: str) -> str:
    imported(path)
    top, module = path.partition(".")[0], path.rpartition(".")[0]
    version = getattr(sys.modules[top], "__version__", None)
    if isinstance(version, str):
        return version
    file = getattr(sys.modules[module], "__file__", None)
    return "unknown" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
