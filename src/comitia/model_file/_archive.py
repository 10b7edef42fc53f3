"""The inside of a model file, looked at before anything of it is built: which types, and how much memory.

A model file is a zip archive as skops writes it: ``schema.json`` is a tree of nodes, each with its type and the loader
that builds it, and every array is a member in NumPy's own format.  Members are stored, never compressed, so nothing in
a file is larger than the file.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from comitia._errors import ComitiaError

SCHEMA = "schema.json"
_MAX_BYTES, _MOST_GROWTH = 4 * 2**30, 64
_NODE_BYTES = 4096
_JSON_FACTOR = 24
_DEEPEST = 100
"""Memory of a node with what skops notes of it, of a byte of JSON when parsed, and how deep a model may be nested."""


class ModelFileError(ComitiaError):
    """A file is no model, or one that must not be opened.

    Examples
    --------
    >>> import os
    >>> import comitia
    >>> try:
    ...     comitia.load(os.devnull)
    ... except comitia.ModelFileError as error:
    ...     print(str(error).partition(": ")[2])
    BadZipFile: File is not a zip file.
    """


@dataclass(frozen=True)
class Content:
    """What a model file is made of.

    Attributes
    ----------
    types : set of (loader, name)
        The types of all nodes, by their full names, and who builds them.
    n_bytes : int
        Memory that opening it takes, at most.
    """

    types: frozenset[tuple[str, str]]
    n_bytes: int

    def strangers(self, known: Mapping[str, Collection[str]], trusted: Collection[str]) -> list[str]:
        """Return the names of types that are neither known to their loader nor trusted by name or package."""
        packages = tuple(f"{name}." for name in trusted)
        return sorted(
            {
                name if loader in known else f"{name} ({loader})"
                for loader, name in self.types
                if name not in known.get(loader, ()) and name not in trusted and not name.startswith(packages)
            }
        )


def inspect(file: BinaryIO, max_bytes: int | None = None) -> Content:
    """Read the table of contents and the schema of an open model file, and the headers of its arrays.

    By default, opening it may take 4 GiB, or 64 times the size of a larger file.

    Raises
    ------
    ModelFileError
        When the file is no archive of a model, or opening it would take more than ``max_bytes`` of memory.
    """
    size = file.seek(0, 2)
    if max_bytes is None:
        max_bytes = max(_MAX_BYTES, _MOST_GROWTH * size)
    _limit(size, max_bytes)
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, size)
            if SCHEMA not in members:
                raise ModelFileError(f"it holds no {SCHEMA}")
            needed = members[SCHEMA].file_size * _JSON_FACTOR
            _limit(needed, max_bytes)
            types: set[tuple[str, str]] = set()
            for node in _nodes(json.loads(archive.read(SCHEMA))):
                types.add((node["__loader__"], f"{node['__module__']}.{node['__class__']}"))
                needed += _NODE_BYTES
                if node["__loader__"] == "NdArrayNode" and node.get("type") == "numpy":
                    needed += 2 * _array_bytes(archive, members, node.get("file"))
                _limit(needed, max_bytes)
    finally:
        file.seek(0)
    return Content(frozenset(types), needed)


def _limit(needed: int, max_bytes: int) -> None:
    if needed > max_bytes:
        raise ModelFileError(
            f"opening it takes up to {needed:,} bytes of memory, more than max_bytes={max_bytes:,} allows"
        )


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    members = {member.filename: member for member in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise ModelFileError("it holds two members of one name")
    if any(member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 for member in members.values()):
        raise ModelFileError("it holds compressed or encrypted members, and a model's are stored as they are")
    if sum(member.file_size for member in members.values()) > size:
        raise ModelFileError("its members overlap")
    return members


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node; one that says to be a node met before must be the same, for it is not read again."""
    met: dict[Any, dict[str, Any]] = {}
    waiting = [(schema, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ModelFileError(f"its parts are nested more than {_DEEPEST} deep")
        if isinstance(item, dict):
            waiting += [(value, depth + 1) for value in item.values()]
        elif isinstance(item, list):
            waiting += [(value, depth + 1) for value in item]
        if not isinstance(item, dict) or not isinstance(item.get("__loader__"), str):
            continue
        if not (isinstance(item.get("__class__"), str) and isinstance(item.get("__module__"), str)):
            raise ModelFileError("a part of it has no type")
        known = item.get("__id__")
        if known is not None and not isinstance(known, int):
            raise ModelFileError("a part of it has no number")
        if known and met.setdefault(known, item) is not item:
            if not _alike(met[known], item):
                raise ModelFileError("two parts of it have one number")
            continue
        yield item


def _alike(one: Any, other: Any) -> bool:
    """Whether two parts hold the same but for numbers: what is written twice has passing parts with new ones.

    Arrays of other numbers lie in other files: each of them is looked at by itself.
    """
    waiting = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            numbers = a.get("__id__"), b.get("__id__")
            others = all(numbers) and numbers[0] != numbers[1]
            waiting += [(a[key], b[key]) for key in a if key != "__id__" and not (others and key == "file")]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            waiting += zip(a, b, strict=True)
        elif type(a) is not type(b) or a != b:
            return False
    return True


def _array_bytes(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], name: Any) -> int:
    """Return the size of an array, which its header promises and its member has."""
    member = members.get(name) if isinstance(name, str) else None
    if member is None:
        raise ModelFileError("it lacks an array")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ModelFileError(f"an array of it has the unknown version {version}")
        held = member.file_size - file.tell()
    if dtype.hasobject or any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != held:
        raise ModelFileError(f"an array of it holds {held:,} bytes, and its header says {dtype} of shape {shape}")
    return member.file_size
