"""Multilabel data as MULAN and MEKA write it: an ARFF file, and where its labels are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from comitia.datasets._arff_header import Header
from comitia.datasets._label_xml import read_label_names
from comitia.datasets.arff import MAX_BYTES, read_arff
from comitia.datasets.dataset import DataFormatError, Dataset


def load_mulan(arff: str | Path, xml: str | Path, *, max_bytes: int = MAX_BYTES) -> Dataset:
    r"""Read a dataset in MULAN's format: an ARFF file, and an XML file that says which attributes are labels.

    Labels may stand anywhere among the attributes; the columns of ``Y`` are in the order of the XML file, in which
    nested labels (a hierarchy) come after the label that holds them.

    Numeric attributes are columns of float64, NaN where missing.  Nominal attributes declared ``{0,1}`` or ``{1,0}``
    are the numbers 0 and 1.  Other nominal attributes are categorical columns, strings and dates columns of their
    kind, and ``X`` is then a pandas data frame; otherwise it is an array, sparse (CSR) where the file is.

    Parameters
    ----------
    arff, xml : path
        The two files, plain or packed by gzip or bzip2.
    max_bytes : int
        The most that the unpacked text, and the most that the arrays read from it, may take: a small file can ask for
        any amount of memory.

    Returns
    -------
    Dataset

    Raises
    ------
    DataFormatError
        Where a file is malformed, with the file, the line and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> arff, xml = folder / "tiny.arff", folder / "tiny.xml"
    >>> _ = arff.write_text("@relation tiny\n@attribute a numeric\n@attribute red {0,1}\n@data\n0.5,1\n?,0\n")
    >>> _ = xml.write_text("<labels><label name='red'/></labels>")
    >>> load_mulan(arff, xml)
    Dataset(name='tiny', n=2, d=1, K=1, cardinality=0.500, density=0.500)
    """
    names = read_label_names(Path(xml), max_bytes)
    return read_arff(arff, lambda header: named_labels(header, names, Path(arff), str(xml)), max_bytes=max_bytes)


def load_meka(arff: str | Path, *, max_bytes: int = MAX_BYTES) -> Dataset:
    r"""Read a dataset in MEKA's format: an ARFF file whose relation name tells how many of its attributes are labels.

    ``-C 6`` in the relation name says that the first six are, ``-C -6`` that the last six are.  What else holds is
    written at `load_mulan`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.arff"
    >>> _ = path.write_text("@relation 'tiny: -C 1'\n@attribute red {0,1}\n@attribute a numeric\n@data\n1,0.5\n")
    >>> load_meka(path).label_names
    ('red',)
    """
    return read_arff(arff, lambda header: counted_labels(header, Path(arff)), max_bytes=max_bytes)


def label_count(header: Header) -> int | None:
    """The number after ``-C`` in the relation name, None where there is none."""
    found = re.search(r"(?:^|[\s:])-C\s+(-?[0-9]{1,9})(?![\w.])", header.relation, re.ASCII)
    return int(found[1]) if found else None


def counted_labels(header: Header, path: Path) -> Sequence[int]:
    """The label attributes by MEKA's rule."""
    count, m = label_count(header), len(header.attributes)
    if count is None:
        raise DataFormatError.at(
            path, None, f"expected the number of labels (-C 6) in the relation name, found {header.relation!r}"
        )
    if not 0 < abs(count) < m:
        raise DataFormatError.at(path, None, f"expected from 1 to {m - 1} labels of {m} attributes, found -C {count}")
    return range(count) if count > 0 else range(m + count, m)


def named_labels(header: Header, names: Sequence[str], arff: Path, source: str) -> list[int]:
    """The label attributes by their names."""
    positions = {attribute.name: j for j, attribute in enumerate(header.attributes)}
    missing = [name for name in names if name not in positions]
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise DataFormatError.at(arff, None, f"expected the labels that {source} names, found no attribute {shown}")
    return [positions[name] for name in names]
