"""Loading ARFF files, against liac-arff; and the memory it takes, against the arrays that come of it."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import arff
from scipy.sparse import issparse

from benchmarks.case import DATA, Case, median_time
from comitia.datasets import Dataset, load_mulan

REPEATS = 7


def run(quick: bool = False) -> list[Case]:
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        mediamill = DATA / "mediamill-2000"
        large = _repeated(mediamill / "mediamill-2000.arff", Path(folder), 4_000 if quick else 43_907)
        for name, path, xml, kind in [
            ("mediamill's size", large, mediamill / "mediamill-2000.xml", arff.DENSE),
            ("bibtex", DATA / "bibtex" / "bibtex.arff", DATA / "bibtex" / "bibtex.xml", arff.LOD),
        ]:
            dataset = load_mulan(path, xml)  # compiled from here on
            ours, peers = _times(path, xml, kind)
            shape = f"{dataset.n_instances} x {dataset.n_features + dataset.n_labels}"
            cases.append(Case(f"ARFF, {name}, {shape}", "liac-arff", peers / ours, 10))
            ratio = _peak_memory(path, xml) / _array_bytes(dataset)
            cases.append(Case(f"ARFF, {name}, peak memory", "the arrays", ratio, 4, at_most=True))
    return cases


def _times(path: Path, xml: Path, kind: int) -> tuple[float, float]:
    """Median times of both readers; liac-arff gives lists of rows and reads no XML."""

    def peer() -> None:
        with path.open() as file:
            arff.load(file, return_type=kind)

    return median_time(lambda: load_mulan(path, xml), REPEATS), median_time(peer, 3)


def _repeated(path: Path, folder: Path, n: int) -> Path:
    header, data, rows = path.read_bytes().partition(b"@DATA\n")
    kept = [row for row in rows.split(b"\n") if row and not row.startswith(b"%")]
    target = folder / "repeated.arff"
    target.write_bytes(header + data + b"\n".join((kept * (n // len(kept) + 1))[:n]) + b"\n")
    return target


def _peak_memory(path: Path, xml: Path) -> int:
    tracemalloc.start()
    try:
        load_mulan(path, xml)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _array_bytes(dataset: Dataset) -> int:
    X = dataset.X
    return dataset.Y.nbytes + (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes)
