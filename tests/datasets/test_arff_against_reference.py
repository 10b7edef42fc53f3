"""The compiled reader against a plain one, on files written at random and on files damaged at random."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.sparse import issparse

from comitia._names import printable
from comitia.datasets import DataFormatError, Dataset, load_dataset
from comitia.datasets._arff import read_arff
from comitia.datasets._arff_header import Header, read_header
from comitia.datasets._text import line_blocks
from tests.datasets.reference import WrongRowError, read_rows
from tests.datasets.writer import write_arff

_SPECIAL = [bytes([c]) for c in b",{}%'\"\\\t\n\r?019-+.eE @\x00\xff\xc3"] + [
    b"{0 1}",
    b"\r\n",
    b"1e999",
    b"@data\n",
    b"\\u12",
]


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_what_was_written_is_what_is_read(first: int, tmp_path: Path) -> None:
    path = tmp_path / "written.arff"
    for seed in range(first, first + 250):
        written = write_arff(random.Random(seed))
        path.write_bytes(gzip.compress(written.text) if seed % 5 == 0 else written.text)
        dataset = load_dataset(path, written.label_names)
        assert list(dataset.label_names) == written.label_names
        assert list(dataset.feature_names) == [name for name in written.names if name not in written.label_names]
        _assert_holds(dataset, written.names, written.rows, written.weights)


@pytest.mark.slow
def test_damaged_files_are_read_as_the_plain_reader_reads_them_or_refused(tmp_path: Path, shared_data: Path) -> None:
    bases = [*_real_beginnings(shared_data), *(write_arff(random.Random(seed)).text for seed in range(40))]
    path = tmp_path / "damaged.arff"
    n_read = 0
    for seed in range(5000):
        rng = random.Random(seed)
        path.write_bytes(damaged(rng, bases[seed % len(bases)]))
        n_read += is_read_as_by_reference(path)
    assert 500 < n_read < 4500  # else the damage is too large, or none


def damaged(rng: random.Random, text: bytes) -> bytes:
    """A few random changes: to bytes, to lines, or the end cut off."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        i = rng.randrange(len(text) + 1)
        j = min(len(text), i + rng.choice([1, 1, 2, 8, 64]))
        change = rng.randrange(8)
        if change <= 2:
            text = text[:i] + rng.choice(_SPECIAL) + text[j if change == 0 else i :]
        elif change == 3:
            text = text[:i] + bytes([rng.randrange(256)]) + text[i + 1 :]
        elif change == 4:
            text = text[:i] + text[j:]
        elif change == 5:
            text = text[:j] + text[i:]
        elif change == 6:
            lines = text.split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a : a + 1] = rng.choice([[], [lines[a]] * 2, [lines[b]]])
            text = b"\n".join(lines)
        elif rng.random() < 0.3:
            text = text[:i]
    return text


def is_read_as_by_reference(path: Path) -> bool:
    """Whether the file can be read; fails where one reader refuses what the other reads, or reads something else."""
    blocks = line_blocks(path, 1 << 24)
    try:
        header, rest = read_header(path, blocks)
    except DataFormatError:
        return False
    labels = _some_labels(header)
    text = rest + b"".join(blocks)
    try:
        rows = read_rows(header, labels, text)
    except WrongRowError:
        rows = None
    if rows is None or len(labels) == len(header.attributes):
        with pytest.raises(DataFormatError):
            read_arff(path, lambda _: labels, max_bytes=1 << 24)
        return False
    dataset = read_arff(path, lambda _: labels, max_bytes=1 << 24)
    values = [[row.values[j] for j in range(len(header.attributes))] for row in rows]
    names = [printable(attribute.name) for attribute in header.attributes]
    _assert_holds(dataset, names, values, [row.weight for row in rows])
    return True


def _some_labels(header: Header) -> list[int]:
    """The last half of the attributes that can be labels."""
    can_be = [
        j
        for j, attribute in enumerate(header.attributes)
        if attribute.kind == "numeric" or (attribute.kind == "nominal" and set(attribute.values) <= {"0", "1"})
    ]
    can_be = [j for j in can_be if header.attributes[j].kind == "nominal"] or can_be
    return can_be[len(can_be) // 2 :]


def _assert_holds(
    dataset: Dataset, names: list[str], rows: list[list[float | str | None]], weights: list[float]
) -> None:
    assert dataset.n_instances == len(rows)
    np.testing.assert_array_equal(
        np.ones(len(rows)) if dataset.sample_weight is None else dataset.sample_weight, weights
    )
    X = dataset.X.toarray() if issparse(dataset.X) else dataset.X
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        if name in dataset.label_names:
            found = dataset.Y[:, dataset.label_names.index(name)].astype(float).tolist()
        elif isinstance(X, np.ndarray):
            found = X[:, dataset.feature_names.index(name)].tolist()
        else:
            found = X[name].astype(object).tolist()
        assert [None if pandas.isna(value) else value for value in found] == [
            None if value is None or value != value else value for value in column
        ]


def _real_beginnings(folder: Path) -> list[bytes]:
    """The real files with few of their attributes and rows, so that damage hits both and costs little."""
    beginnings = []
    for path in sorted(folder.glob("*/*.arff")):
        lines = path.read_bytes().split(b"\n")
        data = next(i for i, line in enumerate(lines) if line.lower().startswith(b"@data"))
        rows = lines[data + 1 : data + 8]
        attributes = [line for line in lines[:data] if line.lower().startswith(b"@attribute")]
        if rows[0].startswith(b"{"):
            beginnings.append(b"\n".join([*lines[: data + 1], *rows]))
        else:
            kept = [*range(8), *range(len(attributes) - 6, len(attributes))]
            header = [lines[0], *(attributes[j] for j in kept), lines[data]]
            beginnings.append(b"\n".join([*header, *(b",".join(row.split(b",")[j] for j in kept) for row in rows)]))
    return beginnings
