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
    wide = {field.name: kind for field in file.schema_arrow if (kind := _without_dictionary(field.type)) is not None}
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
    for name, kind in wide.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(place).cast(kind))
    return table


def _open(path: Path, max_bytes: int, read_dictionary: list[str]) -> Any:
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    source = arrow.BufferReader(opened(path, max_bytes).read()) if path == STDIN else path
    return parquet.ParquetFile(source, read_dictionary=read_dictionary)


def _too_large(path: Path, max_bytes: int) -> DataFormatError:
    return DataFormatError.at(path, None, f"expected columns that fit in max_bytes={max_bytes}, found larger ones")


def _without_dictionary(kind: Any) -> Any:
    """The type in which a column of texts or bytes comes out of its dictionary; None where it is something else."""
    arrow, types = require("pyarrow"), require("pyarrow.types")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return arrow.large_string()
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return arrow.large_binary()
    return None


def _decoded_bytes(column: Any) -> int:
    """What the values of a column take where each stands for itself."""
    types, compute = require("pyarrow.types"), require("pyarrow.compute")
    kind = column.type
    if types.is_dictionary(kind) and _without_dictionary(kind.value_type) is not None:
        lengths = compute.binary_length(column.dictionary).take(column.indices)
        return 8 * len(column) + int(compute.sum(lengths).as_py() or 0)
    if not types.is_nested(kind):
        return max(8 * len(column), int(column.nbytes))
    if types.is_map(kind):
        parts = [column.keys, column.items]
    else:
        parts = column.flatten() if types.is_struct(kind) else [column.flatten()]
    return 8 * len(column) + sum(map(_decoded_bytes, parts))
