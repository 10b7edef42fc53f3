"""The benchmark datasets: where they are published, what they must hash to, and how large they are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from comitia._errors import ComitiaError
from comitia._names import unknown
from comitia.datasets._dataset import DataFormatError, Dataset
from comitia.datasets._extras import require
from comitia.datasets._mulan import load_mulan, read_labelled


class Source(NamedTuple):
    """Where a file can be had, and the SHA-256 of what must come."""

    url: str
    sha256: str


@dataclass(frozen=True)
class CatalogueEntry:
    """A dataset of the catalogue; one without sources is read from a local folder only.

    Where no checksum of the file that names the labels is known, ``labels`` names them and the file is not fetched.

    Parameters
    ----------
    name : str
        What `fetch_dataset` knows it by.
    n_instances, n_features, n_labels : int
        Its size, which is checked when it is read.
    arff, xml : tuple of sources
        Where its files are fetched from, with their checksums.
    labels : tuple of str
        Names of the labels, where no file of the catalogue tells them.

    Examples
    --------
    >>> from comitia.datasets import list_datasets
    >>> entry = list_datasets()[1]
    >>> entry.name, entry.n_labels
    ('emotions', 6)
    """

    name: str
    n_instances: int
    n_features: int
    n_labels: int
    arff: tuple[Source, ...] = ()
    xml: tuple[Source, ...] = ()
    labels: tuple[str, ...] = ()


def list_datasets() -> tuple[CatalogueEntry, ...]:
    """The datasets that `fetch_dataset` knows.

    Examples
    --------
    >>> from comitia.datasets import list_datasets
    >>> for entry in list_datasets():
    ...     print(f"{entry.name:<15}{entry.n_instances:>7}{entry.n_features:>6}{entry.n_labels:>5}")
    cal500             502    68  174
    emotions           593    72    6
    scene             2407   294    6
    yeast             2417   103   14
    flags              194    19    7
    medical            978  1449   45
    bibtex            7395  1836  159
    mediamill        43907   120  101
    mediamill-2000    1999   120  101
    """
    return CATALOGUE


def fetch_dataset(
    name: str, *, data_home: str | Path | None = None, cache: str | Path | None = None, progress: bool = True
) -> Dataset:
    """Load a dataset of the catalogue, from a local folder or else from where it is published.

    A folder is looked at first: ``data_home``, or the one that the environment variable ``COMITIA_DATA`` names.  In it
    the files are ``NAME/NAME.arff`` and ``NAME/NAME.xml``.  Otherwise they are downloaded once into a cache folder, and
    what comes must have the published SHA-256.  In both cases the sizes must be those of the catalogue.

    Parameters
    ----------
    name : str
        One of the names of `list_datasets`.
    data_home : path, optional
        The folder to look at first, instead of the one that ``COMITIA_DATA`` names.
    cache : path, optional
        The folder for downloaded files; by default the user's cache folder for comitia.
    progress : bool, default=True
        Show a progress bar while downloading (where tqdm is installed).

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        Where the files are not in the folder and cannot be downloaded.
    DataFormatError
        Where the files are malformed or do not have the sizes of the catalogue.

    Examples
    --------
    >>> from comitia.datasets import fetch_dataset
    >>> try:
    ...     fetch_dataset("emotoins")
    ... except ValueError as error:
    ...     print(error)
    unknown dataset 'emotoins': did you mean 'emotions'? There are: cal500, emotions, scene, yeast, flags, medical,
    bibtex, mediamill, mediamill-2000.
    """
    entry = next((entry for entry in CATALOGUE if entry.name == name), None)
    if entry is None:
        raise ComitiaError(unknown("dataset", name, (entry.name for entry in CATALOGUE)))
    folder = data_home if data_home is not None else os.environ.get("COMITIA_DATA") or None
    local = None if folder is None else (Path(folder) / name / f"{name}.arff", Path(folder) / name / f"{name}.xml")
    if local is not None and all(path.is_file() for path in local):
        dataset = load_mulan(*local)
    else:
        arff, *xml = _download(entry, folder, cache, progress)
        dataset = load_mulan(arff, *xml) if xml else read_labelled(arff, entry.labels)
    expected = (entry.n_instances, entry.n_features, entry.n_labels)
    found = (dataset.n_instances, dataset.n_features, dataset.n_labels)
    if found != expected:
        raise DataFormatError(f"{name}: expected n, d, K = {expected}, found {found}")
    return dataset


def _download(entry: CatalogueEntry, folder: str | Path | None, cache: str | Path | None, progress: bool) -> list[Path]:
    wanted = f"{entry.name}/{entry.name}.arff and .xml"
    looked = f"{folder} has no {wanted}" if folder is not None else "no folder was named"
    way_out = f"name a folder that has {wanted} by data_home or COMITIA_DATA"
    if not entry.arff:
        raise FileNotFoundError(f"{entry.name} is not published and is read from a folder only; {looked}: {way_out}")
    pooch = require("pooch", f"{looked}, and downloading {entry.name}")
    target = Path(cache) if cache is not None else Path(pooch.os_cache("comitia"))
    failures: list[str] = []
    paths: list[Path] = []
    for suffix, sources in (("arff", entry.arff), *([("xml", entry.xml)] if entry.xml else [])):
        for source in sources:
            try:
                paths.append(_retrieve(target / entry.name, f"{entry.name}.{suffix}", source, progress))
                break
            except (OSError, ValueError) as error:
                failures.append(f"{source.url}: {error}")
        else:
            raise FileNotFoundError(
                f"{entry.name}: {looked}, and it cannot be downloaded. Connect to the network and try again, or "
                f"{way_out}. Tried:\n  " + "\n  ".join(failures)
            )
    return paths


def _retrieve(folder: Path, file_name: str, source: Source, progress: bool) -> Path:
    pooch = require("pooch")
    registry, urls = {file_name: f"sha256:{source.sha256}"}, {file_name: source.url}
    store = pooch.create(folder, "", registry=registry, urls=urls, retry_if_failed=2)
    return Path(store.fetch(file_name, progressbar=progress and find_spec("tqdm") is not None))


_MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label"
_BOOMER = "https://raw.githubusercontent.com/mrapp-ke/Boomer-Datasets/main"
# The repository keeps its ARFF files in git LFS, whose content another host serves.
_BOOMER_ARFF = "https://media.githubusercontent.com/media/mrapp-ke/Boomer-Datasets/main"


def _published(
    name: str, n: int, d: int, K: int, arff: str, xml: str, *, boomer_arff: str | None = None
) -> CatalogueEntry:
    """A dataset that two mirrors carry, byte for byte unless the second has a checksum of its own."""
    return CatalogueEntry(
        name,
        n,
        d,
        K,
        arff=(Source(f"{_MULAN}/{name}/{name}.arff", arff), Source(f"{_BOOMER_ARFF}/{name}.arff", boomer_arff or arff)),
        xml=(Source(f"{_MULAN}/{name}/{name}.xml", xml), Source(f"{_BOOMER}/{name}.xml", xml)),
    )


CATALOGUE = (
    _published(
        "cal500", 502, 68, 174,
        "cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
        "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
    ),
    _published(
        "emotions", 593, 72, 6,
        "6f2f790047073d1293ac0872c0d55f2dc98b6177802fc96c6b66b309dfee1e4b",
        "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
    ),
    _published(
        "scene", 2407, 294, 6,
        "5905548975b69b639ab31a295f7bf1ab7379a3f016450012722d28f660f4b143",
        "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
    ),
    _published(
        "yeast", 2417, 103, 14,
        "55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
        "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
    ),
    _published(
        "flags", 194, 19, 7,
        "d3ed8b5683f1b27e68069aad2c29388bb57d4caa5041b559e646cc3854a0cd1e",
        "7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
    ),
    _published(
        "medical", 978, 1449, 45,
        "ad0630a9a409ed0023c3bb56a0be7610b635c1ca185c6035e3b198b01167aac4",
        "51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
        boomer_arff="3429996af8ffdcf1cbfc231d19a95ee2c1da036175c900d615f87e10bda22444",
    ),
    _published(
        "bibtex", 7395, 1836, 159,
        "a282a6d1fb3cdaf39bde3f81cd4e6079850a7a538a6bc44f8b4ed95dfe1e5014",
        "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
    ),
    CatalogueEntry(
        "mediamill", 43907, 120, 101,
        arff=(
            Source(
                f"{_BOOMER_ARFF}/mediamill.arff",
                "ad7e629d599ac1c80dfabe32fb9f18be28accd8e902515a461497bc48760a72b",
            ),
        ),
        # The names in mediamill.xml, of which no checksum is published.
        labels=tuple(f"Class{k}" for k in range(1, 102)),
    ),
    # 2,000 rows of mediamill, one of which the file has as a comment.
    CatalogueEntry("mediamill-2000", 1999, 120, 101),
)  # fmt: skip
