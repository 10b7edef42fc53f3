"""One runner for a folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from comitia._errors import ComitiaError

LOCK = ".lock"


class StoreError(ComitiaError):
    """A folder cannot be used for a run.

    Examples
    --------
    >>> from comitia.experiments import Store, StoreError
    >>> try:
    ...     Store.read("no-such-run")
    ... except StoreError as error:
    ...     print(error)
    no-such-run is not the folder of a run: it has no plan.toml.
    """


@contextlib.contextmanager
def only_runner(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder; the lock ends with the process, however that ends."""
    try:
        import filelock
    except ModuleNotFoundError as error:
        raise ComitiaError('a run that is kept in a folder needs filelock: pip install "comitia[cli]".') from error
    path = folder / LOCK
    if path.is_symlink():
        raise StoreError(f"{path} is a symbolic link, which is not followed: remove it.")
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        raise StoreError(f"another process is writing to {folder}: wait for it to end.") from None
    except (OSError, NotImplementedError) as error:
        raise StoreError(f"{path} cannot be locked: {getattr(error, 'strerror', None) or error}.") from error
    try:
        yield
    finally:
        lock.release()
