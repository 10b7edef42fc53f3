"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_SUFFIX = ".part"
_ABANDONED_SECONDS = 3600


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when all of it is on the disk.

    Until then it has a temporary name in the same folder.  If the block raises, nothing is left and a file that had
    the name before stays as it was; if the process is killed, the temporary file stays.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new" / "numbers.txt"
    >>> with whole_file(path) as file:
    ...     _ = file.write(b"1 2 3")
    >>> path.read_text()
    '1 2 3'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}{_SUFFIX}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)  # a full disk does not say what it has no room for
        raise
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())


def is_temporary(path: Path) -> bool:
    """Whether a file is one that `whole_file` has not finished."""
    return path.name.startswith(".") and path.suffix == _SUFFIX


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left; a process that still writes has a file that is younger."""
    for path in folder.glob(f"**/.*{_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last; systems that cannot open a folder have no need to."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
