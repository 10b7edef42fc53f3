"""The declarations of an ARFF file: its relation and its attributes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from comitia.datasets._arff_dates import DateFormat
from comitia.datasets._dataset import DataFormatError

Kind = Literal["numeric", "nominal", "string", "date"]


class Attribute(NamedTuple):
    """One ``@attribute`` declaration."""

    name: str
    kind: Kind
    line: int
    values: tuple[str, ...] = ()
    """What a nominal attribute may be, as declared."""
    date_format: DateFormat | None = None

    @property
    def is_binary(self) -> bool:
        """Whether nominal and declared ``{0,1}`` or ``{1,0}`` (or ``{0}`` or ``{1}``)."""
        return self.kind == "nominal" and {"0", "1"}.issuperset(self.values)

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers for all purposes."""
        return self.kind == "numeric" or self.is_binary


@dataclass(frozen=True)
class Header:
    """All that stands before ``@data``."""

    relation: str
    relation_line: int
    attributes: tuple[Attribute, ...]
    encoding: str | None
    """How text is encoded; None where the header is ASCII and does not tell."""
    n_lines: int


def read_header(path: Path, blocks: Iterator[bytes]) -> tuple[Header, bytes]:
    """The header, and what is left of the block in which it ends; later blocks stay in ``blocks``."""
    declarations: list[tuple[int, bytes]] = []
    number, size = 1, 0
    for block in blocks:
        if size > _LONGEST_HEADER:
            raise DataFormatError.at(path, number, f"expected @data within {_LONGEST_HEADER} bytes, found none")
        block = block if size else block.removeprefix(_BYTE_ORDER_MARK)
        size += len(block)
        position = 0
        for found in _LINE.finditer(block):
            number += block.count(b"\n", position, found.start())
            position, line = found.start(), found[1].rstrip()
            if not line.startswith(b"@"):
                text = repr(shortened(line.decode("latin-1")))
                raise DataFormatError.at(path, number, f"expected @relation, @attribute or @data, found {text}")
            if line[:5].lower() == b"@data" and _DATA.match(line):
                return _parse_header(path, declarations, number), block[found.end() + 1 :]
            declarations.append((number, line))
        number += block.count(b"\n", position)
    raise DataFormatError.at(path, number - 1, "expected @data after the attributes, found the end of the file")


# A larger header is one of millions of attributes, or no ARFF file.
_LONGEST_HEADER = 1 << 25
_BLANKS = " \t\v\f"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# What stands in a line that is neither blank nor a comment.
_LINE = re.compile(rb"^[^\S\n]*+([^\s%].*)", re.MULTILINE)
_DATA = re.compile(rb"@data\s*(?:%.*)?$", re.IGNORECASE | re.DOTALL)
_KEYWORD = re.compile(r"@(relation|attribute)(?![\w@-])\s*", re.IGNORECASE | re.ASCII)
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
_BARE_NAME = re.compile(r"[^\s{%]+", re.ASCII)
_TYPE = re.compile(r"(numeric|real|integer|string|date)(?!\w)\s*", re.IGNORECASE | re.ASCII)
# Possessive, so that a long run of blanks is tried once and not once for each of its ends.
_VALUE = re.compile(rf"\s*+(?:{_QUOTED.pattern}|([^,{{}}%'\"\t][^,{{}}%\t]*+))(\s*+)([,}}]?)", re.ASCII | re.DOTALL)
_REST = re.compile(r"\s*+(?:%.*)?$", re.ASCII | re.DOTALL)


def _parse_header(path: Path, declarations: list[tuple[int, bytes]], n_lines: int) -> Header:
    text, encoding = _decode(b"\n".join(line for _, line in declarations))
    relation, relation_line = None, 0
    attributes: dict[str, Attribute] = {}
    nominals: dict[str, tuple[str, ...]] = {}
    for (number, _), line in zip(declarations, text.split("\n"), strict=bool(declarations)):
        try:
            keyword = _KEYWORD.match(line)
            if keyword is None:
                raise _UnexpectedError("@relation, @attribute or @data", line)
            rest = line[keyword.end() :]
            if keyword[1].lower() == "relation":
                if relation is not None:
                    raise _UnexpectedError("one @relation", "a second")
                relation, relation_line = _relation(rest), number
                continue
            if relation is None:
                raise _UnexpectedError("@relation before the first @attribute", line)
            attribute = _attribute(rest, number, nominals)
            if attribute.name in attributes:
                first = attributes[attribute.name].line
                raise _UnexpectedError(
                    "attributes of different names", f"{attribute.name!r} again (first in line {first})"
                )
            attributes[attribute.name] = attribute
        except _UnexpectedError as unexpected:
            raise DataFormatError.at(path, number, str(unexpected)) from None
    if relation is None or not attributes:
        missing = "@relation" if relation is None else "an @attribute"
        raise DataFormatError.at(path, n_lines, f"expected {missing} before @data, found none")
    return Header(relation, relation_line, tuple(attributes.values()), encoding, n_lines)


class _UnexpectedError(Exception):
    """What was expected and what was found instead, before file and line are known."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {shortened(found)}")


def shortened(text: str) -> str:
    """At most about eighty characters of ``text``, for a message."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def _decode(raw: bytes) -> tuple[str, str | None]:
    if raw.isascii():
        return raw.decode("ascii"), None
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "latin-1"


def _relation(rest: str) -> str:
    quoted = _QUOTED.match(rest)
    if quoted is not None and _REST.match(rest, quoted.end()):
        return _quoted_text(quoted)
    return rest.partition("%")[0].strip(_BLANKS)


def _attribute(rest: str, line: int, nominals: dict[str, tuple[str, ...]]) -> Attribute:
    name, rest = _name(rest)
    if rest.startswith("{"):
        if rest not in nominals:
            nominals[rest] = _nominal_values(rest)
        return Attribute(name, "nominal", line, nominals[rest])
    declared = _TYPE.match(rest)
    if declared is None:
        raise _UnexpectedError("a type (numeric, real, integer, string, date or {values})", repr(shortened(rest)))
    kind = declared[1].lower()
    end, date_format = declared.end(), None
    if kind == "date":
        pattern = _QUOTED.match(rest, end)
        try:
            date_format = DateFormat.parse(_quoted_text(pattern) if pattern else "yyyy-MM-dd'T'HH:mm:ss")
        except ValueError as error:
            raise _UnexpectedError("a date format", str(error)) from None
        end = pattern.end() if pattern else end
    if not _REST.match(rest, end):
        raise _UnexpectedError(f"the end of the line after {kind}", repr(rest[end:]))
    if kind == "string" or kind == "date":
        return Attribute(name, "string" if kind == "string" else "date", line, date_format=date_format)
    return Attribute(name, "numeric", line)


def _name(rest: str) -> tuple[str, str]:
    """An attribute's name and what follows it; a quote that does not enclose the name is part of it."""
    quoted = _QUOTED.match(rest)
    if quoted is not None and rest[quoted.end() : quoted.end() + 1] in (" ", "\t", "{"):
        name, end = _quoted_text(quoted), quoted.end()
    else:
        bare = _BARE_NAME.match(rest)
        name, end = (bare[0], bare.end()) if bare else ("", 0)
    if not name:
        raise _UnexpectedError("the name of an attribute", repr(rest))
    return name, rest[end:].lstrip(_BLANKS)


def _nominal_values(rest: str) -> tuple[str, ...]:
    values: list[str] = []
    position = 1
    while True:
        found = _VALUE.match(rest, position)
        if found is None:
            raise _UnexpectedError("values separated by commas and closed by }", repr(rest[position:]))
        bare, blanks, separator = found[3], found[4], found[5]
        if not separator and "\t" not in blanks:
            raise _UnexpectedError("a comma or } after a value", repr(rest[position:]))
        values.append(bare.strip(_BLANKS) if bare is not None else _quoted_text(found))
        position = found.end()
        if separator == "}":
            break
    if not _REST.match(rest, position):
        raise _UnexpectedError("the end of the line after }", repr(rest[position:]))
    if len(set(values)) < len(values):
        raise _UnexpectedError("values that differ", f"{Counter(values).most_common(1)[0][0]!r} again")
    return tuple(values)


def _quoted_text(quoted: re.Match[str]) -> str:
    try:
        return unescaped(quoted[1] if quoted[1] is not None else quoted[2])
    except ValueError as error:
        raise _UnexpectedError("text", str(error)) from None


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescaped(text: str) -> str:
    """What stands in quotes, its escapes resolved as Java resolves them; half a surrogate pair is a ValueError."""

    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return _CONTROL.get(code, code)

    if "\\" not in text:
        return text
    text = _ESCAPE.sub(character, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16")
