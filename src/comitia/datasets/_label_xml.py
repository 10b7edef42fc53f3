"""The label names of a MULAN dataset, from its XML file."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from comitia.datasets._dataset import DataFormatError
from comitia.datasets._text import raw_blocks

# More than any list of labels: two million names.
_LONGEST = 1 << 26


def read_label_names(path: Path, max_bytes: int) -> dict[str, int]:
    """The names of all ``<label>`` elements and their lines, nested labels after those that hold them.

    Document types are refused, and with them entities, which could name other files or expand without end.
    """
    parser = expat.ParserCreate(namespace_separator="}")
    names: dict[str, int] = {}
    depth = 0

    def fail(message: str) -> NoReturn:
        raise DataFormatError.at(path, parser.CurrentLineNumber, message)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        expected = "label" if depth else "labels"
        depth += 1
        if tag.rpartition("}")[2] != expected:
            fail(f"expected <{expected}>, found <{tag.rpartition('}')[2]}>")
        if expected == "labels":
            return
        name = attributes.get("name", "")
        if not name:
            fail("expected a label to have a name, found none")
        if name in names:
            fail(f"expected labels of different names, found {name!r} again (first in line {names[name]})")
        names[name] = parser.CurrentLineNumber

    def refuse(*_: object) -> NoReturn:
        fail("expected no document type and no entities, found a declaration")

    def text(found: str) -> None:
        if found.strip():
            fail(f"expected <label> elements, found the text {found.strip()[:80]!r}")

    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        for block in raw_blocks(path, min(max_bytes, _LONGEST)):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except DataFormatError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        message = f"expected well-formed XML, found: {error}"
        raise DataFormatError.at(path, parser.CurrentLineNumber, message) from error
    if not names:
        fail("expected at least one <label>, found none")
    return names
