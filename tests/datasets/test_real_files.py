"""The published files, against liac-arff, which shares no code with this reader."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import arff
import numpy as np
import pandas
import pytest
from scipy.sparse import issparse

from comitia.datasets import Dataset, load_mulan

# One row of mediamill-2000 stands in its file as a comment: 1,999 are left.
SIZES = {
    "cal500": (502, 68, 174),
    "emotions": (593, 72, 6),
    "scene": (2407, 294, 6),
    "yeast": (2417, 103, 14),
    "flags": (194, 19, 7),
    "medical": (978, 1449, 45),
    "bibtex": (7395, 1836, 159),
    "mediamill-2000": (1999, 120, 101),
}


@pytest.mark.parametrize("name", SIZES)
def test_real_files_have_the_values_that_another_reader_finds(name: str, shared_data: Path) -> None:
    dataset = _load(shared_data, name)
    assert (dataset.n_instances, dataset.n_features, dataset.n_labels) == SIZES[name]
    assert dataset.name == name

    labels = [
        label.get("name") for label in ElementTree.parse(shared_data / name / f"{name}.xml").iter() if len(label.attrib)
    ]
    assert list(dataset.label_names) == labels
    with (shared_data / name / f"{name}.arff").open() as file:
        is_sparse = any(line.startswith("{") for line in file)
        file.seek(0)
        other = arff.load(file, return_type=arff.LOD if is_sparse else arff.DENSE)
    names = [attribute for attribute, _ in other["attributes"]]
    assert list(dataset.feature_names) == [attribute for attribute in names if attribute not in labels]

    found = {label: dataset.Y[:, k] for k, label in enumerate(dataset.label_names)}
    if isinstance(dataset.X, pandas.DataFrame):
        found |= {column: dataset.X[column].to_numpy() for column in dataset.X}
    else:
        X = dataset.X.toarray() if issparse(dataset.X) else dataset.X
        found |= dict(zip(dataset.feature_names, X.T, strict=True))
    if is_sparse:  # all attributes are {0,1}, and omitted ones 0
        expected = np.zeros((len(other["data"]), len(names)))
        for row, entries in zip(expected, other["data"], strict=True):
            row[list(entries)] = [float(value) for value in entries.values()]
    else:
        expected = np.array(other["data"], dtype=object)
    for (attribute, kind), column in zip(other["attributes"], expected.T, strict=True):
        is_categorical = isinstance(kind, list) and sorted(kind) != ["0", "1"]
        np.testing.assert_array_equal(found[attribute], column if is_categorical else column.astype(float))


def test_flags_has_its_nominal_features_as_categories_and_its_binary_ones_as_numbers(shared_data: Path) -> None:
    X = _load(shared_data, "flags").X
    categorical = [name for name in X if isinstance(X[name].dtype, pandas.CategoricalDtype)]
    assert categorical == ["landmass", "zone", "language", "religion"]
    assert list(X["language"].cat.categories) == [str(value) for value in range(1, 11)]
    assert all(X[name].dtype == np.float64 for name in X if name not in categorical)


@pytest.mark.parametrize("name", ["medical", "bibtex"])
def test_sparse_files_of_binary_features_stay_sparse(name: str, shared_data: Path) -> None:
    X = _load(shared_data, name).X
    assert issparse(X)
    assert X.format == "csr"
    assert X.has_canonical_format
    assert set(X.data) == {1.0}


def test_memory_stays_within_four_times_the_arrays(shared_data: Path, tmp_path: Path) -> None:
    large = repeated_mediamill(shared_data, tmp_path, n=10_000)
    for arff_path, xml_path in [
        (shared_data / "bibtex" / "bibtex.arff", shared_data / "bibtex" / "bibtex.xml"),
        (large, shared_data / "mediamill-2000" / "mediamill-2000.xml"),
    ]:
        load_mulan(arff_path, xml_path)  # compiling is not counted
        tracemalloc.start()
        try:
            dataset = load_mulan(arff_path, xml_path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= 4 * array_bytes(dataset)


def _load(folder: Path, name: str) -> Dataset:
    return load_mulan(folder / name / f"{name}.arff", folder / name / f"{name}.xml")


def repeated_mediamill(folder: Path, target: Path, n: int) -> Path:
    """Mediamill-2000 repeated to n rows."""
    header, data, rows = (folder / "mediamill-2000" / "mediamill-2000.arff").read_bytes().partition(b"@DATA\n")
    kept = [row for row in rows.split(b"\n") if row and not row.startswith(b"%")]
    path = target / "repeated.arff"
    path.write_bytes(header + data + b"\n".join((kept * (n // len(kept) + 1))[:n]))
    return path


def array_bytes(dataset: Dataset) -> int:
    X = dataset.X
    features = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes
    return features + dataset.Y.nbytes
