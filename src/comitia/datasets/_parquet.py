"""Parquet files within a bound on memory, though a small file can hold any amount of data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from comitia.datasets._dataset import DataFormatError
from comitia.datasets._extras import require
from comitia.datasets._parquet_footer import read_chunks
from comitia.datasets._text import STDIN, opened

_BATCH_ROWS = 2048


def read_parquet(path: Path, max_bytes: int) -> Any:
    """Read a Parquet file as an Arrow table.

    What the file says of itself is compared with ``max_bytes`` before anything is read.  A value that is in the file
    once can stand in any number of cells, so that texts come in their dictionaries, and what they take outside of them
    is added up before they are.
    """
    with opened(path, max_bytes) as file:
        chunks = read_chunks(file)
    if sum(max(8 * chunk.n_values, chunk.n_bytes) for chunk in chunks) > max_bytes:
        raise _too_large(path, max_bytes)
    file = _open(path, max_bytes, [])
    if 8 * file.metadata.num_rows * file.metadata.num_columns > max_bytes:
        raise _too_large(path, max_bytes)
    grouped = sum(file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups))
    if grouped != file.metadata.num_rows:
        message = f"expected as many rows as the footer says, {file.metadata.num_rows}, found {grouped} in its groups"
        raise DataFormatError.at(path, None, message)
    texts = [field.name for field in file.schema_arrow if _is_text(path, field.name, field.type)]
    leaves = [file.schema.column(j) for j in range(file.metadata.num_columns)]
    file = _open(path, max_bytes, [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"])
    batches, held = [], 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
        held += sum(_decoded_bytes(column) for column in batch.columns)
        if held > max_bytes:
            raise _too_large(path, max_bytes)
        batches.append(batch)
    arrow = require("pyarrow")
    table = arrow.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()
    for name in texts:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(place).cast(arrow.large_string()))
    return table


def _open(path: Path, max_bytes: int, read_dictionary: list[str]) -> Any:
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    source = arrow.BufferReader(opened(path, max_bytes).read()) if path == STDIN else path
    return parquet.ParquetFile(source, read_dictionary=read_dictionary)


def _too_large(path: Path, max_bytes: int) -> DataFormatError:
    return DataFormatError.at(path, None, f"expected columns that fit in max_bytes={max_bytes}, found larger ones")


def _is_text(path: Path, name: str, kind: Any) -> bool:
    """Whether a column holds text; one of a kind that nobody can use is refused before it is read."""
    types = require("pyarrow.types")
    if types.is_string(kind) or types.is_large_string(kind):
        return True
    if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
        inner = kind.value_type
        if not types.is_nested(inner) and not types.is_dictionary(inner):
            return False
    elif not types.is_nested(kind) and (types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)):
        return False
    raise DataFormatError.at(path, None, f"expected {name!r} to hold numbers, UTF-8 text or dates, found {kind}")


def _decoded_bytes(column: Any) -> int:
    types, compute = require("pyarrow.types"), require("pyarrow.compute")
    if types.is_list(column.type) or types.is_large_list(column.type):
        return 8 * len(column) + _decoded_bytes(column.flatten())
    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    if not (types.is_string(column.type.value_type) or types.is_large_string(column.type.value_type)):
        return 8 * len(column)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return 8 * len(column) + int(compute.sum(lengths).as_py() or 0)
