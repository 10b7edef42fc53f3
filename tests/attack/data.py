"""Mutated data files: each is read as an independent reader reads it, or is refused with an error of ours.

ARFF is read again by the plain reader of the tests and, where it accepts the file, by liac-arff; lists of labels in XML
by ElementTree; CSV by the csv module, where a label's cell that stands for a missing one (`?`, `NA`) may be a zero only
if a note says so; Parquet by Polars, where it accepts the file, and, where Polars reads something else, by pyarrow
alone: other readers do not read every damaged file alike, which is counted apart.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import arff
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from pyarrow import parquet

from comitia._names import printable
from comitia.datasets import DataFormatError, Dataset, load_dataset, load_table
from comitia.datasets._delimited import MISSING
from comitia.datasets._label_xml import read_label_names
from tests.attack.run import Log, clock
from tests.datasets.test_arff_against_reference import damaged, is_read_as_by_reference
from tests.datasets.writer import write_arff

SECONDS = 60
KINDS = ("arff", "arff", "plain arff", "xml", "csv", "csv", "parquet")
LIMIT = 1 << 26


def prepare(folder: Path) -> None:
    """Nothing is needed: every case writes its own file."""


def work(folder: Path, cases: range, seed: int) -> None:
    """Write, mutate and read one file for each case."""
    warnings.simplefilter("ignore")
    log = Log(folder)
    for reader in READERS.values():  # compiled once, before any clock runs
        for case in range(5):
            with contextlib.suppress(DataFormatError):
                reader(folder, random.Random(case))
    for case in cases:
        log.begin(case)
        rng = random.Random(f"{seed}/{case}")
        kind = KINDS[case % len(KINDS)]
        with clock(SECONDS):
            log.end(case, _ending(case, kind, folder, rng))


def _ending(case: int, kind: str, folder: Path, rng: random.Random) -> str:
    try:
        return f"{kind}: {READERS[kind](folder, rng)}"
    except DataFormatError:
        return f"{kind}: refused"
    except (Exception, pytest.fail.Exception) as error:
        return f"WRONG: case {case} ({kind}): {type(error).__name__}: {printable(str(error))[:400]}"


class DifferentError(Exception):
    """Two readers read something else."""


def _arff(folder: Path, rng: random.Random) -> str:
    path = folder / "mutant.arff"
    path.write_bytes(damaged(rng, write_arff(rng).text))
    return "read as by the plain reader" if is_read_as_by_reference(path) else "refused, as by the plain reader"


def _plain_arff(folder: Path, rng: random.Random) -> str:
    """A file as most are, against liac-arff."""
    columns = ["@attribute width numeric", "@attribute 'its height' real", "@attribute kind {small,'rather large',x}"]
    lines = ["@relation r", *columns, "@attribute a {0,1}", "@attribute b {0,1}", "@data"]
    is_sparse = rng.random() < 0.3
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(["small", "'rather large'", "x"])
        row = [repr(round(rng.gauss(0, 5), 3)), str(rng.randint(-9, 9)), kind, *rng.choices("01", k=2)]
        lines.append("{" + ",".join(f"{j} {v}" for j, v in enumerate(row)) + "}" if is_sparse else ",".join(row))
    text = damaged(rng, "\n".join(lines).encode() + b"\n")
    path = folder / "plain.arff"
    path.write_bytes(text)
    dataset = load_dataset(path, ["a", "b"])
    try:
        kind = arff.LOD if is_sparse else arff.DENSE
        lines = text.decode().replace("\r\n", "\n").replace("\r", "\n")  # the one end of a line that it knows
        other = arff.loads(lines, encode_nominal=False, return_type=kind)
    except (Exception, RecursionError):  # it knows fewer of the ways in which one may write a file, and is not ours
        return "read, refused by liac-arff"
    features = iter(dataset.feature_names)  # it reads escapes in names otherwise
    for j, (name, _) in enumerate(other["attributes"]):
        values = [row.get(j, _first(other, j)) if is_sparse else row[j] for row in other["data"]]
        _same(_column(dataset, name if name in ("a", "b") else next(features)), values, f"column {name!r}")
    return "read as by liac-arff"


def _first(read: Any, j: int) -> Any:
    kind = read["attributes"][j][1]
    return kind[0] if isinstance(kind, list) else 0.0


def _xml(folder: Path, rng: random.Random) -> str:
    """A list of labels, against another reader and the rules that the list must follow."""
    names = ["a", "b &amp; c", "é", "x y", "&lt;d>"]
    body = "\n".join(f'<label name="{name}"></label>' for name in rng.sample(names, rng.randint(1, 5)))
    if rng.random() < 0.3:
        body = f"<label name='outer'>{body}</label>"
    head = rng.choice(["", '<?xml version="1.0" encoding="utf-8"?>\n', '<?xml version="1.0" encoding="latin-1"?>\n'])
    namespace = rng.choice(["", ' xmlns="http://mulan.sourceforge.net/labels"'])
    text = damaged(rng, f"{head}<labels{namespace}>\n{body}\n</labels>".encode())
    path = folder / "mutant.xml"
    path.write_bytes(text)
    try:
        expected = _names(ElementTree.fromstring(text)) if b"<!DOCTYPE" not in text else None
    except (ElementTree.ParseError, LookupError, ValueError):
        expected = None
    try:
        found = list(read_label_names(path, LIMIT))
    except DataFormatError:
        if expected:
            raise DifferentError(f"refused, another reads {expected}") from None
        return "refused, as by ElementTree"
    if found != expected:
        raise DifferentError(f"read {found}, another reads {expected}")
    return "read as by ElementTree"


def _names(root: Any) -> list[str] | None:
    """The labels in the order of the file, or None where something is in it that should not be."""
    if root.tag.rpartition("}")[2] != "labels":
        return None
    names: list[str] = []
    for element in root.iter():
        if (element.text or "").strip() or (element.tail or "").strip():
            return None
        if element is not root:
            if element.tag.rpartition("}")[2] != "label" or not element.get("name") or element.get("name") in names:
                return None
            names.append(element.get("name"))
    return names or None


def _csv(folder: Path, rng: random.Random) -> str:
    """A table, against the csv module with the separator and the characters that ours says it has recognised."""
    delimiter = rng.choice([",", ",", ";", "\t", "|"])
    quote = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL])
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=quote, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow(["width", "kind", "when", "a", "b"])
    for _ in range(rng.randint(1, 8)):
        width = rng.choice([round(rng.gauss(0, 5), 3), rng.randint(-9, 9), "", "1e5"])
        kind = rng.choice(["x", "rather, large", 'a "b"', "two\nlines", "é", "NA", "?", ""])
        writer.writerow([width, kind, rng.choice(["2024-01-31", "2023-12-01"]), *rng.choices([0, 1], k=2)])
    text = damaged(rng, file.getvalue().encode(rng.choice(["utf-8", "utf-8", "cp1252", "utf-16"])))
    path = folder / "mutant.csv"
    path.write_bytes(text)
    dataset = load_table(path, ["a", "b"], max_bytes=LIMIT)
    return _same_csv(dataset, text)


ENCODINGS = {"UTF-16 without": "utf-16-?", "UTF-16.": "utf-16", "Windows-1252": "cp1252", "Latin-1, for": "latin-1"}


def _same_csv(dataset: Dataset, text: bytes) -> str:
    notes = " ".join(dataset.notes)
    encoding = next((name for said, name in ENCODINGS.items() if said in notes), "utf-8-sig")
    if encoding == "utf-16-?":  # the order of bytes in which more of the text is plain
        orders = ("utf-16-le", "utf-16-be")
        encoding = max(orders, key=lambda order: sum(letter < "\x80" for letter in text.decode(order, "replace")))
    said = re.search(r"separated by (tabs|'.')", notes)
    delimiter = "," if said is None else "\t" if said[1] == "tabs" else said[1][1]
    content = text.decode(encoding).removeprefix("\ufeff")
    named = re.match(r"sep=(.)(?:\r\n|\r|\n)", content, re.IGNORECASE)
    if named:
        content, delimiter = content[named.end() :], named[1]
    rows = [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if row]
    while rows and not "".join(rows[0]).strip():
        rows = rows[1:]
    header, rows = rows[0], rows[1:]
    while rows and all(cell in MISSING for cell in rows[-1]):
        rows.pop()
    decimal = "," if "decimals are written with a comma" in notes.lower() else "."
    for j, name in enumerate(header):
        if name.strip():
            blank = "0" if f"Blank and missing cells of label {printable(name)!r}" in notes else ""
            cells = [blank if blank and row[j].strip() in MISSING else row[j] for row in rows]
            _same(_column(dataset, printable(name)), cells, f"column {name!r}", decimal)
    return "read as by the csv module"


def _parquet(folder: Path, rng: random.Random) -> str:
    """A table, against Polars."""
    n = rng.randint(1, 40)
    table = pyarrow.table(
        {
            "width": pyarrow.array([rng.choice([None, rng.gauss(0, 5)]) for _ in range(n)], pyarrow.float64()),
            "count": pyarrow.array(rng.choices(range(-5, 300), k=n), rng.choice([pyarrow.int16(), pyarrow.int64()])),
            "kind": pyarrow.array(rng.choices(["x", "rather large", "é", None], k=n), pyarrow.string()),
            **{name: pyarrow.array(rng.choices([0, 1], k=n), pyarrow.int8()) for name in "ab"},
        }
    )
    file = io.BytesIO()
    parquet.write_table(
        table,
        file,
        compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        use_dictionary=rng.random() < 0.5,
        data_page_version=rng.choice(["1.0", "2.0"]),
        write_page_checksum=False,
    )
    text = bytearray(file.getvalue())
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(text))
        if rng.random() < 0.5:  # the footer is where a reader can be led astray
            at = rng.randrange(max(0, len(text) - int.from_bytes(text[-8:-4], "little") % len(text) - 8), len(text))
        text[at] = rng.choice([text[at] ^ (1 << rng.randrange(8)), rng.randrange(256), 0, 255, 128])
    if rng.random() < 0.05:
        del text[rng.randrange(len(text)) :]
    path = folder / "mutant.parquet"
    path.write_bytes(text)
    dataset = load_table(path, ["a", "b"], max_bytes=LIMIT)
    try:
        other = polars.read_parquet(io.BytesIO(bytes(text)), use_statistics=False)
    except (Exception, polars.exceptions.PanicException):
        return "read, refused by Polars"
    try:
        _same_table(dataset, {name: other[name].to_list() for name in other.columns})
    except DifferentError:
        # Asked for here alone: on a damaged file pyarrow can end the process.
        table = parquet.ParquetFile(io.BytesIO(bytes(text)), pre_buffer=False).read(use_threads=False)
        _same_table(
            dataset, dict(zip(table.column_names, map(pyarrow.ChunkedArray.to_pylist, table.columns), strict=True))
        )
        return "the other readers disagree: read as by pyarrow, not as by Polars"
    return "read as by Polars"


def _same_table(dataset: Dataset, columns: dict[str, list[Any]]) -> None:
    for name, values in columns.items():
        _same(_column(dataset, printable(name)), values, f"column {name!r}")


def _column(dataset: Dataset, name: str) -> list[Any]:
    if name in dataset.label_names:
        return dataset.Y[:, dataset.label_names.index(name)].tolist()
    if name not in dataset.feature_names:
        raise DifferentError(f"there is no column {name!r} but {dataset.feature_names}")
    X = dataset.X
    if isinstance(X, pd.DataFrame):
        return X[name].astype(object).tolist()
    j = dataset.feature_names.index(name)
    return (X if isinstance(X, np.ndarray) else X.toarray())[:, j].tolist()


def _same(ours: list[Any], others: list[Any], where: str, decimal: str = ".") -> None:
    if len(ours) != len(others):
        raise DifferentError(f"{where}: {len(ours)} rows, another reads {len(others)}")
    for i, (our, other) in enumerate(zip(ours, others, strict=True)):
        if not _equal(our, other, decimal):
            raise DifferentError(f"{where}, row {i + 1}: {our!r}, another reads {other!r}")


def _equal(ours: Any, other: Any, decimal: str) -> bool:
    if pd.isna(ours):
        return other is None or (isinstance(other, float) and math.isnan(other)) or str(other).strip() in MISSING
    if isinstance(ours, str):
        return ours == other
    if isinstance(ours, (pd.Timestamp,)):
        return pd.Timestamp(other).replace(tzinfo=None) == ours.replace(tzinfo=None)
    text = str(other).strip().replace(decimal, ".")
    if text.lower() in ("true", "false"):
        return float(ours) == (text.lower() == "true")
    yes = {"yes": 1, "no": 0, "y": 1, "n": 0, "t": 1, "f": 0, "x": 1}
    if text.lower() in yes:
        return float(ours) == yes[text.lower()]
    try:
        return float(text) == float(ours)
    except ValueError:
        return False


READERS: dict[str, Callable[[Path, random.Random], str]] = {
    "arff": _arff,
    "plain arff": _plain_arff,
    "xml": _xml,
    "csv": _csv,
    "parquet": _parquet,
}
