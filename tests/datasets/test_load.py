"""One door for files and names."""

from __future__ import annotations

from pathlib import Path

import pytest

from comitia.datasets import DataFormatError, load_dataset, load_features

ARFF = "@relation 'tiny: -C 1'\n@attribute y {0,1}\n@attribute z {0,1}\n@attribute a numeric\n@data\n1,0,0.5\n"


def test_a_file_is_read_by_what_it_is_and_what_lies_beside_it(tmp_path: Path) -> None:
    arff = tmp_path / "tiny.arff"
    arff.write_text(ARFF)
    assert load_dataset(arff).label_names == ("y",)  # MEKA
    assert load_dataset(str(arff), ["z", "y"]).label_names == ("z", "y")
    (tmp_path / "tiny.xml").write_text("<labels><label name='z'/></labels>")
    assert load_dataset(arff).label_names == ("z",)  # MULAN
    (tmp_path / "tiny.csv").write_text("a,y\n0.5,1\n")
    assert load_dataset(tmp_path / "tiny.csv", ["y"]).feature_names == ("a",)


def test_a_name_of_the_catalogue_is_fetched(shared_data: Path) -> None:
    assert load_dataset("emotions", data_home=shared_data).n_labels == 6


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    (tmp_path / "tiny.csv").write_text("a,y\n0.5,1\n")
    (tmp_path / "tiny.dat").write_text("a,y\n0.5,1\n")
    (tmp_path / "tiny.arff").write_text(ARFF)
    with pytest.raises(ValueError, match="labels must name the columns"):
        load_dataset(tmp_path / "tiny.csv")
    with pytest.raises(ValueError, match=r"an \.arff, \.csv or \.parquet file"):
        load_dataset(tmp_path / "tiny.dat", ["y"])
    with pytest.raises(FileNotFoundError, match=r"neither a file nor a dataset of the catalogue \(cal500"):
        load_dataset("nothing")
    with pytest.raises(ValueError, match="which has its own"):
        load_dataset("emotions", ["y"])
    with pytest.raises(DataFormatError, match="unknown column 'w'"):
        load_dataset(tmp_path / "tiny.arff", ["w"])
    with pytest.raises(ValueError, match="labels must be a list of the names of different columns"):
        load_dataset(tmp_path / "tiny.arff", ["y", "y"])


def test_without_labels_every_column_is_a_feature(tmp_path: Path) -> None:
    (tmp_path / "tiny.arff").write_text(ARFF)
    (tmp_path / "tiny.csv").write_text("a,y\n0.5,1\n")
    (tmp_path / "none.csv").write_text("a,y\n")
    assert load_features(tmp_path / "tiny.arff").feature_names == ("y", "z", "a")
    tiny = load_features(str(tmp_path / "tiny.csv"))
    assert (tiny.X.tolist(), tiny.Y.shape, tiny.label_names) == ([[0.5, 1.0]], (1, 0), ())
    assert load_features(tmp_path / "none.csv").X.shape == (0, 2)
    (tmp_path / "twice.csv").write_text("a,a\n0.5,1\n")
    with pytest.raises(DataFormatError, match="columns of different names"):
        load_features(tmp_path / "twice.csv")
    with pytest.raises(FileNotFoundError, match=r"none\.arff: there is no such file"):
        load_features(tmp_path / "none.arff")
    (tmp_path / "tiny.dat").write_text("a,y\n0.5,1\n")
    with pytest.raises(ValueError, match=r"expected an \.arff, \.csv or \.parquet file"):
        load_features(tmp_path / "tiny.dat")
