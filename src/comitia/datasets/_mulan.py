"""Multilabel data as MULAN and MEKA write it: an ARFF file, and where its labels are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from comitia.datasets._arff import MAX_BYTES, read_arff
from comitia.datasets._arff_header import Header
from comitia.datasets._dataset import DataFormatError, Dataset
from comitia.datasets._label_xml import read_label_names
from comitia.datasets._labels import matching


def load_mulan(arff: str | Path, xml: str | Path, *, max_bytes: int = MAX_BYTES) -> Dataset:
    r"""Read a dataset in MULAN's format: an ARFF file, and an XML file that says which attributes are labels.

    Labels may stand anywhere among the attributes; the columns of ``Y`` are in the order of the XML file, in which
    nested labels (a hierarchy) come after the label that holds them.

    Numeric attributes are columns of float64, NaN where missing.  Nominal attributes declared ``{0,1}`` or ``{1,0}``
    are the numbers 0 and 1, in every file.  Other nominal attributes are categorical columns, strings and dates columns
    of their kind, and ``X`` is then a pandas data frame; otherwise it is an array, sparse (CSR) where the file is.

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
    >>> from pathlib import Path
    >>> import tempfile
    >>> from comitia.datasets import load_mulan
    >>> folder = Path(tempfile.mkdtemp())
    >>> arff, xml = folder / "tiny.arff", folder / "tiny.xml"
    >>> _ = arff.write_text("@relation tiny\n@attribute a numeric\n@attribute red {0,1}\n@data\n0.5,1\n?,0\n")
    >>> _ = xml.write_text("<labels><label name='red'/></labels>")
    >>> load_mulan(arff, xml)
    Dataset(name='tiny', n=2, d=1, K=1, cardinality=0.500, density=0.500)
    """
    names = read_label_names(Path(xml), max_bytes)

    def choose_labels(header: Header) -> list[int]:
        positions = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        for name, line in names.items():
            if name not in positions:
                raise DataFormatError.at(xml, line, f"expected label {name!r} to be an attribute of {arff}, it is not")
        return [positions[name] for name in names]

    return read_arff(arff, choose_labels, max_bytes=max_bytes)


def read_labelled(arff: str | Path, labels: Sequence[str], *, max_bytes: int = MAX_BYTES) -> Dataset:
    """Read an ARFF file whose labels are the attributes of these names, in their order."""

    def choose_labels(header: Header) -> list[int]:
        positions = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        return [positions[name] for name in matching(list(positions), labels, arff)]

    return read_arff(arff, choose_labels, max_bytes=max_bytes)


def load_meka(arff: str | Path, *, max_bytes: int = MAX_BYTES) -> Dataset:
    r"""Read a dataset in MEKA's format: an ARFF file whose relation name tells how many of its attributes are labels.

    ``-C 6`` in the relation name says that the first six are, ``-C -6`` that the last six are.  What else holds is
    written at `load_mulan`.

    Parameters
    ----------
    arff : str or path
    max_bytes : int
        As for `load_mulan`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from comitia.datasets import load_meka
    >>> path = Path(tempfile.mkdtemp()) / "tiny.arff"
    >>> _ = path.write_text("@relation 'tiny: -C 1'\n@attribute red {0,1}\n@attribute a numeric\n@data\n1,0.5\n")
    >>> load_meka(path).label_names
    ('red',)
    """

    def choose_labels(header: Header) -> Sequence[int]:
        found = re.search(r"(?:^|[\s:])-C\s+(-?[0-9]{1,9})(?![\w.])", header.relation, re.ASCII)
        count, m = int(found[1]) if found else 0, len(header.attributes)
        if not 0 < abs(count) < m:
            expected = (
                f"expected the number of labels, -C from 1 to {m - 1} or from -1 to {1 - m}, in the relation name"
            )
            raise DataFormatError.at(arff, header.relation_line, f"{expected}, found {header.relation!r}")
        return range(count) if count > 0 else range(m + count, m)

    return read_arff(arff, choose_labels, max_bytes=max_bytes)
