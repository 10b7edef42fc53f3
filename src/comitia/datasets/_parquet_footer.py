"""What a Parquet file says of its own size, read from its footer.

Arrow would tell as well, but ends the process where the footer of a damaged file makes no sense.
"""

from __future__ import annotations

from typing import IO, Any, NamedTuple

_MAGIC = b"PAR1"
_DEEPEST = 16
# Fields of the structures FileMetaData, RowGroup, ColumnChunk and ColumnMetaData in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _META_DATA, _NUM_VALUES, _UNCOMPRESSED = 4, 1, 3, 5, 6


class Chunk(NamedTuple):
    """One column of one row group: the number of its values, and the bytes of its pages when they are unpacked."""

    n_values: int
    n_bytes: int


def read_chunks(file: IO[bytes]) -> list[Chunk]:
    """Return the chunks that a file declares; a ValueError where its footer is none.

    References
    ----------
    https://parquet.apache.org/docs/file-format/metadata and Thrift's compact protocol.
    """
    size = file.seek(0, 2)
    if size < 12:
        raise ValueError("a file that ends before its footer")
    file.seek(size - 8)
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > size - 12:
        raise ValueError("a file without a footer")
    file.seek(size - 8 - length)
    try:
        footer = _Compact(file.read(length)).struct()
        groups = footer.get(_ROW_GROUPS, [])
        return [
            Chunk(int(column[_META_DATA][_NUM_VALUES]), int(column[_META_DATA][_UNCOMPRESSED]))
            for group in groups
            for column in group[_COLUMNS]
        ]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("a footer that is damaged") from error


class _Compact:
    """Thrift's compact protocol: structures as dicts from field numbers to values, byte strings left out."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise IndexError
        fields: dict[int, Any] = {}
        number = 0
        while True:
            head = self._byte()
            if head == 0:
                return fields
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        raise IndexError

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        length = self._varint() if head >> 4 == 15 else head >> 4
        if length > len(self._content) - self._position:
            raise IndexError
        return [self._value(head & 15, depth) for _ in range(length)]

    def _byte(self) -> int:
        self._position += 1
        return self._content[self._position - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise IndexError

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, length: int) -> None:
        self._position += length
        if self._position > len(self._content):
            raise IndexError
