"""One door for all that can be named: a file of any format, or a dataset of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from comitia._errors import ComitiaError
from comitia.datasets._arff import read_arff
from comitia.datasets._catalogue import CATALOGUE, fetch_dataset
from comitia.datasets._dataset import Dataset
from comitia.datasets._formats import file_format as file_format
from comitia.datasets._formats import unpacked
from comitia.datasets._mulan import load_meka, load_mulan, read_labelled
from comitia.datasets._table import checked_labels, load_table, read_table
from comitia.datasets._text import STDIN


def load_dataset(
    source: str | Path,
    labels: Sequence[str] | None = None,
    *,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
    data_home: str | Path | None = None,
) -> Dataset:
    r"""Load what ``source`` names: a file, or else a dataset of the catalogue.

    Parameters
    ----------
    source : path or str
        A file in ARFF, CSV, TSV, JSON, Parquet or Excel (``.gz`` and ``.bz2`` may follow the ending of texts),
        ``-`` for standard input, or a name of `list_datasets`.
    labels : sequence of str, optional
        The columns that are labels; ``*`` stands for anything.  Tables need it, or ``labels_in``.  An ARFF file
        without it has its labels in the XML file of the same name beside it (MULAN), or their number in its relation
        name (MEKA).
    labels_in, separator, positive : str, optional
        Other ways in which a table holds its labels, see `load_table`.
    data_home : path, optional
        For a dataset of the catalogue, see `fetch_dataset`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from comitia.datasets import load_dataset
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.csv"
    ...     _ = path.write_text("tempo,calm,sad\n120,0,1\n80,1,1\n")
    ...     songs = load_dataset(path, ["calm", "sad"])
    >>> songs.Y
    array([[0, 1],
           [1, 1]], dtype=int8)
    """
    path = Path(source)
    names = [entry.name for entry in CATALOGUE]
    for_tables = {"labels_in": labels_in, "separator": separator, "positive": positive}
    given = [f"{option}={value!r}" for option, value in for_tables.items() if value is not None]
    is_file = path == STDIN or path.is_file()
    if not is_file and str(source) in names:
        if labels is not None or given:
            what = list(labels) if labels is not None else given[0]
            raise ComitiaError(f"labels must be left out for {source!r}, which has its own; got {what}.")
        return fetch_dataset(str(source), data_home=data_home)
    if not is_file:
        raise FileNotFoundError(f"{source} is neither a file nor a dataset of the catalogue ({', '.join(names)})")
    if file_format(path) == ".arff":
        if given:
            raise ComitiaError(f"{given[0]} must be left out for the ARFF file {source}: it is for tables.")
        return _load_arff(path, unpacked(path).with_suffix(".xml"), labels)
    return load_table(path, labels, labels_in=labels_in, separator=separator, positive=positive)


def load_features(path: str | Path) -> Dataset:
    r"""Load instances whose labels are not known yet: every column of a file is a feature.

    Parameters
    ----------
    path : path
        A file in ARFF, CSV, TSV, JSON, Parquet or Excel, or ``-`` for standard input.

    Returns
    -------
    Dataset
        Without labels: ``Y`` has no columns.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from comitia.datasets import load_features
    >>> path = Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("width,height\n0.5,1\n0.7,2\n")
    >>> load_features(path).feature_names
    ('width', 'height')
    """
    path = Path(path)
    if path != STDIN and not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    if file_format(path) == ".arff":
        return read_arff(path, lambda header: [])  # noqa: ARG005  whatever the header says, there are no labels
    return read_table(path)


def _load_arff(path: Path, xml: Path, labels: Sequence[str] | None) -> Dataset:
    if labels is None:
        return load_mulan(path, xml) if xml.is_file() else load_meka(path)
    return read_labelled(path, checked_labels(labels))
