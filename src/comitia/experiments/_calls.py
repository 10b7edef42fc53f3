"""Settings on one line, as Python writes calls: ``f1(beta=2)``, ``bagging(estimator=package.Class(depth=3))``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from comitia.experiments._imports import PlanError


def split_calls(text: str) -> list[str]:
    """Take a list apart at those of its commas that stand in no bracket and no quotes.

    Examples
    --------
    >>> split_calls("hamming, f1(beta=2), mine.cost(of=[1, 2])")
    ['hamming', 'f1(beta=2)', 'mine.cost(of=[1, 2])']
    """
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def is_call(text: str) -> bool:
    """Whether a text is more than a name: an import path, or a name with parameters."""
    return "." in text or "(" in text


def read_call(text: str) -> dict[str, Any]:
    """Read a call as the table that a plan would have in its place; nothing is imported.

    Examples
    --------
    >>> read_call("f1(beta=2)")
    {'kind': 'f1', 'beta': 2}
    >>> read_call("bagging(estimator=sklearn.tree.DecisionTreeClassifier(max_depth=3))")["estimator"]
    {'class': 'sklearn.tree.DecisionTreeClassifier', 'max_depth': 3}
    """
    found = re.fullmatch(r"\s*([\w.-]+)\s*(\(.*\))?\s*", text, flags=re.DOTALL)
    if found is None:
        raise PlanError(f"{text!r} must be a name or a call, such as f1(beta=2) or package.Class(depth=3).")
    head, arguments = found.group(1), found.group(2) or "()"
    try:
        call = ast.parse(f"f{arguments}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"{text!r} is no call as Python writes them: {error}.") from error
    if not isinstance(call, ast.Call) or isinstance(call.func, ast.Call):
        raise PlanError(f"{text!r} must be one call.")
    return {_key(head): head, **_parameters(call, text)}


def spelt(value: Any) -> str:
    """Write a table of a plan as a call, and any other value as Python does.

    Examples
    --------
    >>> spelt({"kind": "f1", "name": "F2", "beta": 2})
    'f1(beta=2)'
    >>> spelt({"class": "lightgbm.LGBMClassifier"})
    'LGBMClassifier()'
    """
    if isinstance(value, Mapping):
        given = ", ".join(f"{key}={spelt(entry)}" for key, entry in value.items() if key not in _HEADS)
        if "class" in value or "kind" in value:
            return f"{str(value.get('class', value.get('kind'))).rpartition('.')[2]}({given})"
        return f"{{{', '.join(f'{key!r}: {spelt(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_spelt_entry, value))}]"
    return repr(value)


_HEADS = ("class", "kind", "name")


def _spelt_entry(entry: Any) -> str:
    named = isinstance(entry, Mapping) and "name" in entry and ("class" in entry or "kind" in entry)
    return f"({entry['name']!r}, {spelt(entry)})" if named else spelt(entry)


def _key(head: str) -> str:
    return "class" if "." in head else "kind"


def _parameters(call: ast.Call, text: str) -> dict[str, Any]:
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise PlanError(f"{text!r} must name its parameters, as in f1(beta=2).")
    return {str(keyword.arg): _value(keyword.value, text) for keyword in call.keywords}


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call):
        head = ast.unparse(node.func)
        return {_key(head): head, **_parameters(node, text)}
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(entry, text) for entry in node.elts]
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise PlanError(f"{text!r} must hold plain values and calls; got {ast.unparse(node)}.") from None
