"""Figures written to files: SVG and PDF for papers, PNG for everything else."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from comitia._errors import ComitiaError
from comitia._files import whole_file

# Nothing of the day or of chance goes into a file: the same figure is the same bytes.
_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
_SETTINGS = {"svg.hashsalt": "comitia", "pdf.fonttype": 42}


def save(figure: Figure, target: str | Path, formats: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """Write a figure in several formats, each file whole or not at all.

    Parameters
    ----------
    figure : Figure
        The figure.
    target : str or Path
        Where to, without the ending: ``figures/sizes`` becomes ``figures/sizes.svg`` and so on.
    formats : sequence of str
        Some of svg, pdf and png.

    Returns
    -------
    list of Path
        The files, in the order of the formats.
    """
    unknown = [name for name in formats if name not in _METADATA]
    if unknown:
        raise ComitiaError(f"formats must be some of {', '.join(_METADATA)}; got {unknown[0]!r}.")
    target = Path(target)
    written = [target.with_name(f"{target.name}.{name}") for name in formats]
    for name, path in zip(formats, written, strict=True):
        with whole_file(path) as file, mpl.rc_context(_SETTINGS):
            figure.savefig(file, format=name, dpi=200, metadata=_METADATA[name])
    return written


def as_svg(figure: Figure) -> str:
    """Write a figure as the text of an SVG file."""
    out = io.StringIO()
    with mpl.rc_context(_SETTINGS):
        figure.savefig(out, format="svg", metadata=_METADATA["svg"])
    return out.getvalue()
