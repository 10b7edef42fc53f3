"""A second reading of ARFF rows, by another method: split a line into tokens, then walk over the tokens.

Slow and plain, it is what the compiled loops are compared with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from comitia.datasets._arff_header import Attribute, Header, unescaped

_TOKEN = re.compile(
    rb"(?P<tab>\t)|(?P<blank>[\x00-\x20])|(?P<comma>,)|(?P<open>\{)|(?P<close>\})|(?P<comment>%.*)"
    rb"|(?P<quoted>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<bare>[^\x00-\x20,{}%'\"][^,{}%\t]*)",
    re.DOTALL,
)


Tokens = list[tuple[str, str]]


_INDEX = re.compile(rb"(?P<index>[0-9]+)(?=[\x00-\x20])")


class WrongRowError(Exception):
    """The row is not one."""


@dataclass
class Row:
    values: dict[int, float | str | None] = field(default_factory=dict)
    weight: float = 1.0
    is_sparse: bool = False


def read_rows(header: Header, labels: Collection[int], data: bytes) -> list[Row]:
    """The rows; values are floats (labels 0.0 or 1.0), nominal values and strings are text, missing ones None."""
    if header.encoding is None:
        try:
            return _read_rows(header.attributes, frozenset(labels), data, "utf-8")
        except UnicodeDecodeError:
            return _read_rows(header.attributes, frozenset(labels), data, "latin-1")
    try:
        return _read_rows(header.attributes, frozenset(labels), data, header.encoding)
    except UnicodeDecodeError:
        raise WrongRowError("another encoding") from None


def _read_rows(attributes: Sequence[Attribute], labels: frozenset[int], data: bytes, encoding: str) -> list[Row]:
    rows: list[Row] = []
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        tokens = [(kind, raw.decode(encoding)) for kind, raw in _tokens(line)]
        if tokens:
            read_row = _sparse_row if tokens[0][0] == "open" else _dense_row
            rows.append(read_row(tokens, attributes, labels))
    if not rows or len({row.is_sparse for row in rows}) > 1:
        raise WrongRowError("no rows, or dense and sparse rows")
    return rows


def _tokens(line: bytes) -> list[tuple[str, bytes]]:
    """Kind and text; blanks are gone, but a tab stays where it separates two values."""
    tokens: list[tuple[str, bytes]] = []
    position = 0
    is_sparse = line.lstrip(bytes(range(33))).startswith(b"{")
    while position < len(line):
        starts_entry = is_sparse and tokens and tokens[-1][0] in ("open", "comma")
        found = (_INDEX.match(line, position) if starts_entry else None) or _TOKEN.match(line, position)
        if found is None:
            raise WrongRowError("a quote that is not closed")
        kind = str(found.lastgroup)
        if kind == "comment":
            break
        if kind != "blank" and not (kind == "tab" and is_sparse):
            tokens.append((kind, found[0].rstrip(bytes(range(33))) if kind == "bare" else found[0]))
        position = found.end()
    is_value = [kind in ("quoted", "bare") for kind, _ in tokens]
    kept = []
    for i, token in enumerate(tokens):
        if token[0] != "tab":
            kept.append(token)
        elif kept and kept[-1][0] in ("quoted", "bare") and any(is_value[i:]):
            following = next(other for other, _ in tokens[i:] if other != "tab")
            if following in ("quoted", "bare"):
                kept.append(("comma", b"\t"))
    return kept


def _dense_row(tokens: Tokens, attributes: Sequence[Attribute], labels: Collection[int]) -> Row:
    row = Row()
    for j, attribute in enumerate(attributes):
        if j:
            _take(tokens, "comma")
        row.values[j] = _value(tokens, attribute, j in labels)
    _end(tokens, row)
    return row


def _sparse_row(tokens: Tokens, attributes: Sequence[Attribute], labels: Collection[int]) -> Row:
    row = Row(is_sparse=True)
    _take(tokens, "open")
    while tokens and tokens[0][0] != "close":
        if row.values:
            _take(tokens, "comma")
        j = int(_take(tokens, "index"))
        if j >= len(attributes) or j in row.values:
            raise WrongRowError("an index")
        row.values[j] = _value(tokens, attributes[j], j in labels)
    _take(tokens, "close")
    _end(tokens, row)
    for j, attribute in enumerate(attributes):
        if j not in row.values:
            if attribute.kind == "string":
                raise WrongRowError("a string attribute that is not there")
            row.values[j] = _first(attribute, j in labels)
    return row


def _first(attribute: Attribute, is_label: bool) -> float | str:
    if attribute.kind != "nominal":
        return 0.0
    first = attribute.values[0]
    return float(first) if is_label or attribute.is_binary else first


def _end(tokens: Tokens, row: Row) -> None:
    if tokens:
        if tokens[0][0] == "comma":
            tokens.pop(0)
        _take(tokens, "open")
        row.weight = _number(_take(tokens, "index") if tokens and tokens[0][0] == "index" else _text(tokens))
        if not 0 <= row.weight < math.inf:
            raise WrongRowError("a weight")
        _take(tokens, "close")
    if tokens:
        raise WrongRowError("more than a row")


def _take(tokens: Tokens, kind: str) -> str:
    if not tokens or tokens[0][0] != kind:
        raise WrongRowError(f"no {kind}")
    return tokens.pop(0)[1]


def _text(tokens: Tokens) -> str:
    if not tokens or tokens[0][0] not in ("quoted", "bare"):
        raise WrongRowError("no value")
    kind, text = tokens.pop(0)
    try:
        return unescaped(text[1:-1]) if kind == "quoted" else text
    except UnicodeError:
        raise WrongRowError("half a surrogate pair") from None


def _value(tokens: Tokens, attribute: Attribute, is_label: bool) -> float | str | None:
    is_missing = bool(tokens) and tokens[0] == ("bare", "?")
    text = _text(tokens)
    if is_missing:
        if is_label:
            raise WrongRowError("a label is missing")
        return None
    if attribute.kind == "numeric":
        value = _number(text)
        if is_label and value not in (0.0, 1.0):
            raise WrongRowError("a label is not binary")
        return value
    if attribute.kind == "nominal":
        if text not in attribute.values:
            raise WrongRowError("not declared")
        return float(text) if is_label or attribute.is_binary else text
    return text


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WrongRowError("no number") from None
    if re.search(r"[^\x00-\x7f]|_", text) or (math.isinf(value) and re.search("[0-9]", text)):
        raise WrongRowError("no number of ARFF")
    return value
