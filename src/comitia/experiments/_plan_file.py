"""Plans as TOML files: read with every mistake named, and written."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from comitia._names import as_known, unknown
from comitia._titles import all_titles
from comitia.datasets._text import STDIN
from comitia.experiments._imports import Absent, PlanError, check_trust, paths_in
from comitia.experiments._losses import LossSetting
from comitia.experiments._plan import TARGET_NAMES, DataSource, Plan, way_named
from comitia.experiments._settings import KINDS, EnsembleSetting

_LISTS = {"aggregations": str, "pools": str, "sizes": int}
_SCALARS = {"name": str, "seed": int, "folds": int, "repeats": int, "stratified": bool, "device": str}
_LABELLED = ("labels_in", "separator", "positive")
_COLUMNS = ("features", "ignore", "categories", "text", "missing_values")
_WORDS = {str: "text", int: "a whole number", bool: "true or false"}


def paper_plans() -> list[str]:
    """The names of the plans that come with the library.

    Examples
    --------
    >>> from comitia.experiments import paper_plans
    >>> paper_plans()
    ['figure2', 'table2']
    """
    return sorted(entry.name.removesuffix(".toml") for entry in _shipped().iterdir() if entry.name.endswith(".toml"))


def read_plan(source: str | Path, *, trust: bool = False) -> Plan:
    """Read a plan that comes with the library, by its name, or a TOML file.

    Parameters
    ----------
    source : str or Path
        A name of `paper_plans`, or the path of a file.  Paths in it are relative to its folder.
    trust : bool
        Consent to import the classes and functions of others that the plan names by their import paths.  Importing is
        running: say so only for plans whose maker you trust.  Modules are also looked for in the plan's
        folder and where this process is.

    Raises
    ------
    PlanError
        When the file is not a plan, with the place and what was expected.

    Examples
    --------
    >>> from comitia.experiments import read_plan
    >>> plan = read_plan("table2")
    >>> plan.folds, [setting.name for setting in plan.ensembles], len(list(plan.cells()))
    (10, ['emodt', 'ecc', 'ebr'], 240)
    """
    path = Path(source)
    if path.is_file():
        try:
            return parse_plan(path.read_text(encoding="utf-8"), folder=path.parent, trust=trust)
        except ValueError as error:
            raise PlanError(f"{path}: {error}") from error
    if str(source) not in paper_plans():
        raise PlanError(f"{unknown('plan', str(source), paper_plans())} A path of a TOML file is a plan as well.")
    return parse_plan(_shipped().joinpath(f"{source}.toml").read_text(encoding="utf-8"))


def parse_plan(text: str, *, objects: bool = False, folder: str | Path | None = None, trust: bool = False) -> Plan:
    r"""Make a plan of the text of a TOML file.

    Parameters
    ----------
    text : str
        The file.
    objects : bool
        Whether to read a plan only to look at it: what was given as an object, or is named by its import path, is not
        there, and nothing is imported.  Such a plan tells what was run, but cannot be run.
    folder : path, optional
        Where paths of data begin; by default where this process is.
    trust : bool
        Consent to import what the plan names; see `read_plan`.

    Examples
    --------
    >>> from comitia.experiments import parse_plan
    >>> plan = parse_plan('name = "mine"\nfolds = 5\ndatasets = ["emotions"]\n[[ensembles]]\nkind = "ecc"\n')
    >>> plan.folds, plan.losses
    (5, ('hamming', 'subset01', 'f1'))
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"a plan must be TOML; {error}.") from error
    known = [field.name for field in fields(Plan)]
    for key in content:
        if key not in known:
            raise PlanError(unknown("entry", key, known))
    for key in ("name", "datasets", "ensembles"):
        if key not in content:
            raise PlanError(f"a plan must have an entry {key!r}; got {', '.join(content) or 'none'}.")
    values: dict[str, Any] = {key: _scalar(key, content[key], kind) for key, kind in _SCALARS.items() if key in content}
    values |= {key: _list(key, content[key], kind) for key, kind in _LISTS.items() if key in content}
    if not objects:
        check_trust((content["ensembles"], content.get("losses")), trust, folder)
    begins = None if folder is None else str(folder)
    values["datasets"] = tuple(_numbered("datasets", content["datasets"], partial(_source, begins)))
    values["ensembles"] = tuple(_numbered("ensembles", content["ensembles"], partial(_setting, objects)))
    if "losses" in content:
        values["losses"] = tuple(_numbered("losses", content["losses"], partial(_loss, objects)))
    if "aggregations" in values:
        values["aggregations"] = tuple(way_named(name) or name for name in values["aggregations"])
    plan = Plan(**values)
    for setting in plan.ensembles if not objects else ():
        if setting.object is not None:
            setting.build()
    return plan


def write_plan(plan: Plan, folder: str | Path | None = None) -> str:
    """Write a plan as TOML, such that `parse_plan` gives it back; paths are written as seen from ``folder``.

    Examples
    --------
    >>> from comitia.experiments import DataSource, EnsembleSetting, Plan, write_plan
    >>> print(write_plan(Plan("mine", (DataSource("emotions"),), (EnsembleSetting("ecc", {"n_estimators": 10}),))))
    name = "mine"
    losses = ["hamming", "subset01", "f1"]
    aggregations = ["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr", "ctp-joint", "oob"]
    pools = ["mean"]
    sizes = []
    folds = 10
    repeats = 1
    stratified = false
    seed = 0
    device = "cpu"
    <BLANKLINE>
    [[datasets]]
    name = "emotions"
    <BLANKLINE>
    [[ensembles]]
    kind = "ecc"
    name = "ecc"
    n_estimators = 10
    <BLANKLINE>
    """
    lines = [
        f"{field.name} = {_toml(getattr(plan, field.name))}"
        for field in fields(Plan)
        if field.name not in ("datasets", "ensembles")
    ]
    for source in plan.datasets:
        lines += ["", "[[datasets]]", f"name = {_toml(source.name)}"]
        lines += [f"path = {_toml(_seen_from(folder, source))}"] if source.path is not None else []
        lines += [f"labels = {_toml(source.labels)}"] if source.labels is not None else []
        lines += [f"{key} = {_toml(value)}" for key, value in source.settings().items()]
    for setting in plan.ensembles:
        lines += ["", "[[ensembles]]"]
        if setting.object is None:
            lines.append(f"{'class' if '.' in setting.kind else 'kind'} = {_toml(setting.kind)}")
        else:
            lines.append("# An object, which a file cannot hold: this plan can be run again in Python only.")
            lines.append(f"object = {_toml(setting.object)}")
        lines.append(f"name = {_toml(setting.name)}")
        lines += [f"{key} = {_toml(value)}" for key, value in setting.parameters.items()]
        lines += [f"choose = {_toml(setting.choose)}"] if setting.choose else []
    return "\n".join([*lines, ""])


def _seen_from(folder: str | Path | None, source: DataSource) -> str | None:
    path, location = source.path, source.location
    if folder is None or path is None or location is None or path == str(STDIN) or Path(path).is_absolute():
        return path
    try:
        return Path(os.path.relpath(location, folder)).as_posix()
    except ValueError:  # another drive
        return str(Path(location).resolve())


def _shipped() -> Any:
    return resources.files("comitia.experiments").joinpath("plans")


def _numbered(key: str, entries: Any, read: Any) -> list[Any]:
    if not isinstance(entries, list):
        raise PlanError(f"{key} must be a list; got {entries!r}.")
    found = []
    for position, entry in enumerate(entries, start=1):
        try:
            found.append(read(entry))
        except PlanError as error:
            raise PlanError(f"{key}, entry {position}: {error}") from error
    return found


def _source(folder: str | None, entry: Any) -> DataSource:
    if isinstance(entry, str):
        return DataSource(entry)
    table = _table(entry, "name", ("name", "path", "labels", *_LABELLED, "columns"))
    labels = _list("labels", table["labels"], str) if "labels" in table else None
    path = _scalar("path", table["path"], str) if "path" in table else None
    ways = {key: _scalar(key, table[key], str) for key in _LABELLED if key in table}
    if path is None and (labels is not None or ways):
        raise PlanError(f"labels must go with a path; {table['name']!r} has none.")
    name = _scalar("name", table["name"], str)
    return DataSource(name, path, labels, **ways, columns=_columns(table), folder=None if path is None else folder)


def _columns(table: Mapping[str, Any]) -> dict[str, Any]:
    columns = _table({"columns": {}, **table}["columns"], "", (*_COLUMNS, "numbers", "day_first"))
    kinds = {"numbers": str, "day_first": bool}
    return {
        key: _scalar(key, value, kinds[key]) if key in kinds else _list(key, value, str)
        for key, value in columns.items()
    }


def _setting(only_to_look: bool, entry: Any) -> EnsembleSetting:
    if isinstance(entry, str):
        return EnsembleSetting(_meant(entry, KINDS))
    if isinstance(entry, dict) and "object" in entry:
        table = _table(entry, "object", ("object", "name", "choose"))
        path, name = _scalar("object", table["object"], str), _scalar("name", table.get("name", ""), str)
        return EnsembleSetting(estimator=Absent(path), name=name or path.rpartition(".")[2])
    kind, name, parameters = _headed(entry, ("kind", "class"), KINDS)
    choose = parameters.pop("choose", {})
    if not isinstance(choose, dict):
        raise PlanError(f"choose must be a table of parameters and their candidates; got {choose!r}.")
    paths = paths_in(entry)
    return EnsembleSetting(kind, parameters, name, choose, Absent(paths[0]) if only_to_look and paths else None)


def _loss(only_to_look: bool, entry: Any) -> str | LossSetting:
    if isinstance(entry, str):
        return _meant(entry, TARGET_NAMES)
    if isinstance(entry, dict) and "object" in entry:
        table = _table(entry, "object", ("object", "name"))
        path, name = _scalar("object", table["object"], str), _scalar("name", table.get("name", ""), str)
        if not only_to_look:
            raise PlanError(
                f"loss {name or path!r} was given as an object, which a file cannot hold: run it in Python."
            )
        return LossSetting(loss=Absent(path), name=name)
    kind, name, parameters = _headed(entry, ("kind", "class", "function"), TARGET_NAMES)
    paths = paths_in(entry)
    return LossSetting(kind, parameters, name, Absent(paths[0]) if only_to_look and paths else None)


def _headed(entry: Any, heads: Sequence[str], known: Collection[str]) -> tuple[str, str, dict[str, Any]]:
    """Kind, name and parameters; the kind is a name that is known, or under another head an import path."""
    if not isinstance(entry, dict) or sum(head in entry for head in heads) != 1:
        raise PlanError(f"an entry must be a name or a table with one {' or '.join(map(repr, heads))}; got {entry!r}.")
    parameters = dict(entry)
    head = next(head for head in heads if head in entry)
    kind, name = _scalar(head, parameters.pop(head), str), _scalar("name", parameters.pop("name", ""), str)
    if ("." in kind) != (head != "kind"):
        right = "a name; an import path goes under 'class'" if head == "kind" else "an import path"
        raise PlanError(f"{head} must be {right}; got {kind!r}.")
    return _meant(kind, known) if head == "kind" else kind, name, parameters


def _meant(name: str, known: Collection[str]) -> str:
    return as_known(name, known, all_titles())


def _table(entry: Any, required: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(entry, dict) or (required and required not in entry):
        raise PlanError(f"an entry must be a name or a table with {required!r}; got {entry!r}.")
    for key in entry:
        if known is not None and key not in known:
            raise PlanError(unknown("entry", key, known))
    return entry


def _scalar(key: str, value: Any, kind: type) -> Any:
    # A truth value is a whole number to Python, but not to somebody who writes a plan.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise PlanError(f"{key} must be {_WORDS[kind]}; got {value!r}.")
    return value


def _list(key: str, value: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise PlanError(f"{key} must be a list; got {value!r}.")
    return tuple(_scalar(f"{key}, entry {position}", item, kind) for position, item in enumerate(value, start=1))


def _toml(value: Any) -> str:
    if isinstance(value, LossSetting):
        return _toml(value.entry())
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # JSON writes text as TOML does, but for the character DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise PlanError(f"{value!r} cannot be written in a plan, which has text, numbers, truth values and lists of them.")
