"""Parquet files, small ones that hold much among them."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path

import numpy as np
import pandas
import pyarrow as arrow
import pytest
from pyarrow import parquet

from comitia.datasets import DataFormatError, load_features, load_table
from comitia.datasets._parquet_footer import _Compact, read_chunks


def write(path: Path, **columns: object) -> Path:
    parquet.write_table(arrow.table(columns), path, compression="zstd")
    return path


def test_a_text_in_many_cells_counts_in_every_one(tmp_path: Path) -> None:
    once = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(1000, np.int32)), ["x" * 1_000_000])
    for name, column in (("type", once), ("text", arrow.array(["x" * 100_000] * 1000))):
        path = write(tmp_path / f"{name}.parquet", s=column, y=np.zeros(1000, int))
        assert path.stat().st_size < 2000
        before = arrow.total_allocated_bytes()
        with pytest.raises(DataFormatError, match="max_bytes=50000000"):
            load_table(path, ["y"], max_bytes=50_000_000)
        assert arrow.total_allocated_bytes() - before < 10_000_000


def test_lists_count_with_all_their_values(tmp_path: Path) -> None:
    numbers = write(tmp_path / "n.parquet", s=[[0] * 1_000_000], x=[1])
    texts = write(tmp_path / "t.parquet", s=[["q" * 100_000] * 10] * 100, x=[1] * 100)
    for path in (numbers, texts):
        assert path.stat().st_size < 2000
        with pytest.raises(DataFormatError, match="max_bytes"):
            load_table(path, labels_in="s", max_bytes=4_000_000)


def test_the_footer_says_how_much_there_is(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = arrow.table({"a": np.arange(100.0), "l": [[1, 2, 3]] * 100, "s": ["text"] * 100})
    parquet.write_table(table, path, row_group_size=30)
    metadata = parquet.ParquetFile(path).metadata
    expected = [
        (metadata.row_group(i).column(j).num_values, metadata.row_group(i).column(j).total_uncompressed_size)
        for i in range(4)
        for j in range(3)
    ]
    with path.open("rb") as file:
        assert read_chunks(file) == expected


def test_all_kinds_of_values_of_a_footer_are_read() -> None:
    """Written by hand as Thrift's compact protocol has them: a field is its distance and kind, then its value."""
    fields = [
        (b"\x11", True),  # true and false are kinds of fields, without a value
        (b"\x12", False),
        (b"\x13\x07", 7),
        (b"\x14\x03", -2),
        (b"\x15\x80\x02", 128),
        (b"\x16\x01", -1),
        (b"\x17" + bytes(8), None),
        (b"\x18\x02ab", None),
        (b"\x19\x21\x01\x02", [1, 2]),  # in lists they are bytes
        (b"\x1a\x22\x02\x01", [2, 1]),
        (b"\x19\xf3\x02\x05\x06", [5, 6]),  # a list that says its length by itself
        (b"\x1c\x15\x02\x00", {1: 1}),
        (b"\x05\x28\x02", 1),  # a field that says its number by itself, which is 20
    ]
    numbers = [*range(1, len(fields)), 20]
    read = _Compact(b"".join(text for text, _ in fields) + b"\x00").struct()
    assert read == dict(zip(numbers, (value for _, value in fields), strict=True))


@pytest.mark.parametrize(
    "content", [b"PAR1", b"PAR1" + b"\x00" * 8 + b"PAR1", b"PAR1\xff\xff\xff\xff\x02\x00\x00\x00PAR1"]
)
def test_a_footer_that_is_none_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataFormatError, match=r"t\.parquet: expected Parquet, found: "):
        load_features(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "kind", [arrow.date32(), arrow.date64(), arrow.timestamp("s"), arrow.timestamp("ms"), arrow.timestamp("us", "UTC")]
)
def test_dates_beyond_the_calendar_name_file_and_row(kind: arrow.DataType, tmp_path: Path) -> None:
    per_day = {"date32[day]": 1, "timestamp[s]": 86_400, "timestamp[us, tz=UTC]": 86_400_000_000}
    day = per_day.get(str(kind), 86_400_000)
    integers = arrow.int32() if kind == arrow.date32() else arrow.int64()

    def column(*days: int | None) -> arrow.Array:
        return arrow.array([None if n is None else n * day for n in days], integers).cast(kind)

    path = write(tmp_path / "t.parquet", when=column(0, None, 20_000), x=[1, 2, 3])
    when = load_features(path).X["when"]
    assert [None if pandas.isna(value) else value.date() for value in when] == [
        datetime.date(1970, 1, 1),
        None,
        datetime.date(2024, 10, 4),
    ]
    for far in (3_000_000, -800_000):
        path = write(tmp_path / "t.parquet", when=column(0, far), x=[1, 2])
        with pytest.raises(DataFormatError, match=r"t\.parquet: row 2, 'when': expected a date of the years 1 to 9999"):
            load_features(path)


def test_declared_categories_stay_and_texts_are_texts(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"k": pandas.Categorical(["b", None], ["b", "a"]), "s": ["u", None], "x": [1, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    X = load_features(tmp_path / "t.parquet").X
    assert X["k"].cat.categories.tolist() == ["b", "a"]
    assert pandas.api.types.is_string_dtype(X["s"].dropna())
    assert not isinstance(X["s"].dtype, pandas.CategoricalDtype)  # which is_string_dtype takes for text
    assert X.isna().sum().tolist() == [1, 1, 0]


def test_times_and_spans_are_seconds(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.parquet",
        time=[datetime.time(1, 0), None],
        span=[datetime.timedelta(seconds=2), datetime.timedelta(0)],
    )
    np.testing.assert_array_equal(load_features(path).X, [[3600, 2], [np.nan, 0]])


TEXT_TO_TEXT = arrow.map_(arrow.string(), arrow.string())


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (arrow.array([{"a": 1, "b": "x"}, None, {}]), ['{"a": 1, "b": "x"}', None, '{"a": null, "b": null}']),
        (arrow.array([[("k", "v")], None, []], TEXT_TO_TEXT), ['[["k", "v"]]', None, "[]"]),
        (arrow.array([[{"a": 1}], None, []]), ['[{"a": 1}]', None, "[]"]),
        (arrow.array([[1, 2], [5, 6], [3, 4]], arrow.list_(arrow.int8(), 2)), ["[1, 2]", "[5, 6]", "[3, 4]"]),
        (arrow.array([b"rot", None, "größer".encode()]), ["rot", None, "größer"]),
        (arrow.array([b"\xff\x00", None, b"a"], arrow.large_binary()), ["ff00", None, "a"]),
        (arrow.array(["u", None, "v"], arrow.string_view()), ["u", None, "v"]),
        (arrow.array([b"\xff" * 16, None, b"\x80" * 16], arrow.binary(16)), ["ff" * 16, None, "80" * 16]),
        (arrow.array([uuid.UUID(int=7).bytes] * 3, arrow.uuid()), [str(uuid.UUID(int=7))] * 3),
    ],
    ids=lambda value: str(value.type) if isinstance(value, arrow.Array) else "",
)  # fmt: skip
def test_what_databases_keep_in_a_cell_is_a_text_that_can_be_left_out(
    column: arrow.Array, texts: list[str | None], tmp_path: Path
) -> None:
    try:
        path = write(tmp_path / "t.parquet", c=column, x=[1, 2, 3], y=[0, 1, 1])
    except arrow.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow reads what it cannot write")
    data = load_table(path, ["y"])
    assert [None if pandas.isna(cell) else cell for cell in data.X["c"]] == texts
    assert data.with_columns(ignore=["c"]).feature_names == ("x",)


@pytest.mark.parametrize(
    "column",
    [
        arrow.array([{"a": "q" * 100_000}] * 100),
        arrow.array([[("k", "q" * 100_000)]] * 100, TEXT_TO_TEXT),
        arrow.array([[{"a": ["q" * 100_000]}]] * 100),
        arrow.array([b"q" * 100_000] * 100),
    ],
    ids=lambda value: str(value.type),
)
def test_what_stands_in_nested_cells_counts_in_every_one(column: arrow.Array, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", c=column, y=[0, 1] * 50)
    assert path.stat().st_size < 3000
    with pytest.raises(DataFormatError, match="max_bytes=4000000"):
        load_table(path, ["y"], max_bytes=4_000_000)
    assert load_table(path, ["y"], max_bytes=40_000_000).n_features == 1


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", a=arrow.array([], arrow.float64()), s=arrow.array([], arrow.string()))
    assert load_features(path).X.shape == (0, 2)


def test_a_footer_that_counts_other_rows_than_its_groups_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"x": [0.5] * 8, "a": [0, 1] * 4}), path)
    text = bytearray(path.read_bytes())
    # FileMetaData.num_rows, a zigzag varint, follows the schema: a change to it alone contradicts the row group.
    for at in range(len(text) - 8 - int.from_bytes(text[-8:-4], "little"), len(text) - 8):
        changed = bytes(text[:at]) + bytes([0]) + bytes(text[at + 1 :])
        if text[at] == 16 and _rows_of(changed) == (0, 8):
            path.write_bytes(changed)
            break
    else:
        pytest.fail("the number of rows was not found")
    with pytest.raises(DataFormatError, match="expected as many rows as the footer says, 0, found 8"):
        load_table(path, ["a"])


def _rows_of(content: bytes) -> tuple[int, int]:
    try:
        found = parquet.read_metadata(arrow.BufferReader(content))
        return found.num_rows, sum(found.row_group(i).num_rows for i in range(found.num_row_groups))
    except Exception:
        return -1, -1


@pytest.mark.parametrize(
    "kind",
    [
        *(arrow.duration(unit) for unit in ("s", "ms", "us", "ns")),
        *(arrow.time32("s"), arrow.time32("ms"), arrow.time64("us"), arrow.time64("ns")),
    ],
    ids=str,
)
def test_spans_of_time_are_seconds(kind: arrow.DataType, tmp_path: Path) -> None:
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.unit]
    whole = arrow.array([0, 90 * per_second, None], arrow.int32() if arrow.types.is_time32(kind) else arrow.int64())
    path = write(tmp_path / "t.parquet", span=whole.cast(kind), y=[0, 1, 1])
    np.testing.assert_array_equal(load_table(path, ["y"]).X, [[0.0], [90.0], [np.nan]])


def test_instants_keep_their_zone(tmp_path: Path) -> None:
    instants = [datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC), None]
    columns = {
        "there": arrow.array(instants, arrow.timestamp("us", "Europe/Berlin")),
        "nowhere": arrow.array([None if one is None else one.replace(tzinfo=None) for one in instants]),
    }
    X = load_table(write(tmp_path / "t.parquet", **columns, y=[0, 1]), ["y"]).X
    assert str(X["there"].dt.tz) == "Europe/Berlin"
    assert X["there"][0] == pandas.Timestamp("2024-07-01 14:00", tz="Europe/Berlin")
    assert X["nowhere"].dt.tz is None
    assert X["nowhere"][0] == pandas.Timestamp("2024-07-01 12:00")
    assert X.isna().sum().tolist() == [1, 1]
