"""Figures written to files: SVG and PDF for papers, PNG for everything else."""

import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["as_svg", "save"]

# Nothing of the day or of chance goes into a file: the same figure is the same bytes.
_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
_SETTINGS = {"svg.hashsalt": "comitia", "pdf.fonttype": 42}


def save(figure: Figure, path: str | Path, formats: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """Write a figure in several formats, each file under a temporary name first and then renamed.

    Parameters
    ----------
    figure : Figure
        The figure.
    path : str or Path
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
        raise ValueError(f"formats has {unknown[0]!r}: expected some of {', '.join(_METADATA)}")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for name in formats:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=f".{name}")
        os.close(handle)
        try:
            with mpl.rc_context(_SETTINGS):
                figure.savefig(temporary, format=name, dpi=200, metadata=_METADATA[name])
            Path(temporary).chmod(0o644)
            written.append(Path(temporary).replace(target.with_name(f"{target.name}.{name}")))
        finally:
            Path(temporary).unlink(missing_ok=True)
    return written


def as_svg(figure: Figure) -> str:
    """Write a figure as the text of an SVG file."""
    out = io.StringIO()
    with mpl.rc_context(_SETTINGS):
        figure.savefig(out, format="svg", metadata=_METADATA["svg"])
    return out.getvalue()
