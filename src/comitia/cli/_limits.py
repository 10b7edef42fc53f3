"""Limits on answers as options: how many labels, which exclude each other, which imply others."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import comitia
from comitia import ComitiaError
from comitia._names import unknown
from comitia.cli._errors import misuse
from comitia.cli._options import split
from comitia.columns._kinds import matching


def asked_limits(
    at_least: int | None, at_most: int | None, exclusive: list[str] | None, implies: list[str] | None
) -> dict[str, Any]:
    """Return the limits that were asked for, lists taken apart, by what `comitia.Constraints` calls them.

    Examples
    --------
    >>> asked_limits(None, 3, ["day,night", '"a, b",c'], ["beach:sea", '"sub:a":a'])
    {'at_most': 3, 'exclusive': [['day', 'night'], ['a, b', 'c']], 'implies': [('beach', 'sea'), ('sub:a', 'a')]}
    """
    limits: dict[str, Any] = {name: n for name, n in (("at_least", at_least), ("at_most", at_most)) if n is not None}
    if exclusive:
        limits["exclusive"] = [split([group]) for group in exclusive]
    if implies:
        limits["implies"] = [_pair(text) for text in implies]
    return limits


def _pair(text: str) -> tuple[str, str]:
    (row,) = csv.reader([text], delimiter=":", skipinitialspace=True) if text.strip() else ([],)
    match [name.strip() for name in row]:
        case [child, parent] if child and parent:
            return child, parent
    raise misuse("--implies", f"expected CHILD:PARENT, a name with a colon in quotes, '\"a:b\":c'; got {text!r}.")


def option_names(limits: Mapping[str, Any]) -> str:
    """Name the options by which limits were asked for."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in limits)


def limits_on(
    labels: Sequence[str], limits: Mapping[str, Any], before: comitia.Constraints | None = None
) -> comitia.Constraints:
    """Return the limits on these labels, in the place of those of the same kind that were there before."""
    known: dict[str, Any] = dict(limits)
    try:
        if "exclusive" in limits:
            groups = [matching(labels, group, "--exclusive", "label") for group in limits["exclusive"]]
            known["exclusive"] = tuple(map(tuple, groups))
        for name in (name for pair in limits.get("implies", ()) for name in pair):
            if name not in labels:
                raise ComitiaError(f"--implies: {unknown('label', name, labels)}")
        found = replace(before or comitia.Constraints(), **known)
        found.resolved(labels)
    except ComitiaError as error:
        option, colon, message = str(error).partition(": ")
        if option in ("--exclusive", "--implies") and colon:
            raise misuse(option, message) from None
        raise misuse(option_names(limits), str(error)) from None
    return found
