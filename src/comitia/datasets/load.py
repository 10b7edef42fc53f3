"""One door for all that can be named: a file of any format, or a dataset of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from comitia._errors import ComitiaError
from comitia.datasets._arff_header import Header
from comitia.datasets.arff import read_arff
from comitia.datasets.catalogue import CATALOGUE, fetch_dataset
from comitia.datasets.dataset import DataFormatError, Dataset
from comitia.datasets.mulan import load_meka, load_mulan
from comitia.datasets.table import checked_labels, load_table, read_table


def load_dataset(
    source: str | Path, labels: Sequence[str] | None = None, *, data_home: str | Path | None = None
) -> Dataset:
    """Load what ``source`` names: a file, or else a dataset of the catalogue.

    Parameters
    ----------
    source : path or str
        An ARFF, CSV or Parquet file (``.gz`` and ``.bz2`` may follow), or a name of `list_datasets`.
    labels : sequence of str, optional
        The columns that are labels.  CSV and Parquet files need it.  An ARFF file without it has its labels in the XML
        file of the same name beside it (MULAN), or their number in its relation name (MEKA).
    data_home : path, optional
        For a dataset of the catalogue, see `fetch_dataset`.

    Returns
    -------
    Dataset
    """
    path = Path(source)
    names = [entry.name for entry in CATALOGUE]
    if not path.is_file() and str(source) in names:
        if labels is not None:
            raise ComitiaError(
                f"labels is for files; got {list(labels)} for {source!r} of the catalogue, which has its own"
            )
        return fetch_dataset(str(source), data_home=data_home)
    if not path.is_file():
        raise FileNotFoundError(f"{source} is neither a file nor a dataset of the catalogue ({', '.join(names)})")
    if file_format(path) == ".arff":
        return _load_arff(path, _unpacked(path).with_suffix(".xml"), labels)
    if labels is None:
        raise ComitiaError(f"labels must name the columns of {source} that are labels; got None")
    return load_table(path, labels)


def load_features(path: str | Path) -> Dataset:
    r"""Load instances whose labels are not known yet: every column of a file is a feature.

    Parameters
    ----------
    path : path
        An ARFF, CSV or Parquet file (``.gz`` and ``.bz2`` may follow).

    Returns
    -------
    Dataset
        Without labels: ``Y`` has no columns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("width,height\n0.5,1\n0.7,2\n")
    >>> load_features(path).feature_names
    ('width', 'height')
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    if file_format(path) == ".arff":
        return read_arff(path, lambda header: [])  # noqa: ARG005  whatever the header says, there are no labels
    return read_table(path, ())


def file_format(path: Path) -> str:
    """What a file is, by its name: ``.arff``, ``.csv`` or ``.parquet``."""
    suffix = _unpacked(path).suffix
    if suffix not in (".arff", ".csv", ".parquet"):
        raise ComitiaError(f"expected an .arff, .csv or .parquet file; got {path}")
    return suffix


def _unpacked(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".bz2"))


def _load_arff(path: Path, xml: Path, labels: Sequence[str] | None) -> Dataset:
    if labels is None:
        return load_mulan(path, xml) if xml.is_file() else load_meka(path)
    wanted = checked_labels(labels)

    def choose_labels(header: Header) -> list[int]:
        positions = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        missing = [label for label in wanted if label not in positions]
        if missing:
            raise DataFormatError.at(
                path, None, f"expected the label attributes {missing}, found {list(positions)[:20]}"
            )
        return [positions[label] for label in wanted]

    return read_arff(path, choose_labels)
