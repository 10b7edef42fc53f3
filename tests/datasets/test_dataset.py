from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from comitia.datasets import DataFormatError, Dataset

Y = np.array([[1, 0], [1, 1], [0, 0]], dtype=np.int8)


def test_a_dataset_tells_its_sizes_cardinality_and_density() -> None:
    dataset = Dataset(np.zeros((3, 1)), Y, ("a",), ("y", "z"), "d")
    assert (dataset.n_instances, dataset.n_features, dataset.n_labels) == (3, 1, 2)
    assert dataset.cardinality == 1.0
    assert dataset.density == 0.5
    assert repr(dataset) == "Dataset(name='d', n=3, d=1, K=2, cardinality=1.000, density=0.500)"


def test_a_dataset_cannot_be_changed() -> None:
    dataset = Dataset(np.zeros((3, 1)), Y, ("a",), ("y", "z"), "d")
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "e"  # type: ignore[misc]


@pytest.mark.parametrize(
    "wrong",
    [
        {"X": np.zeros((2, 1))},
        {"X": np.zeros((3, 2))},
        {"Y": Y.astype(float)},
        {"Y": Y * 2},
        {"Y": Y[:, 0]},
        {"label_names": ("y",)},
        {"sample_weight": np.ones(2)},
    ],
)
def test_parts_that_do_not_fit_are_refused(wrong: dict[str, object]) -> None:
    parts = {"X": np.zeros((3, 1)), "Y": Y, "feature_names": ("a",), "label_names": ("y", "z"), "name": "d"} | wrong
    with pytest.raises(ValueError, match=r"X|Y|label_names|sample_weight"):
        Dataset(**parts)  # type: ignore[arg-type]


def test_a_format_error_is_a_value_error() -> None:
    assert issubclass(DataFormatError, ValueError)


def test_the_package_needs_none_of_the_optional_packages_until_it_uses_them() -> None:
    program = """
import sys
sys.modules.update(dict.fromkeys(("pandas", "pyarrow", "pooch", "tqdm")))
import tempfile, pathlib
from comitia.datasets import load_dataset, load_seven_segment, load_table, fetch_dataset
load_seven_segment()
folder = pathlib.Path(tempfile.mkdtemp())
header = "@relation 'r: -C 1'\\n@attribute y {0,1}\\n@attribute a "
(folder / "n.arff").write_text(header + "numeric\\n@data\\n1,2\\n")
load_dataset(folder / "n.arff")
(folder / "c.arff").write_text(header + "{u,v}\\n@data\\n1,v\\n")
(folder / "t.csv").write_text("a,y\\n1,0\\n")
for call in (lambda: load_dataset(folder / "c.arff"), lambda: load_table(folder / "t.csv", ["y"]),
             lambda: fetch_dataset("yeast", data_home=folder)):
    try:
        call()
    except ImportError as error:
        assert 'pip install "comitia[cli]"' in str(error), error
    else:
        raise AssertionError("no ImportError")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
