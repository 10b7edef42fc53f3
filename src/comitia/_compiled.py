"""Compiled loops, and where they are kept so that the next process need not compile them again.

numba keeps what it has compiled in ``NUMBA_CACHE_DIR``, beside the source or in the user's folder for caches, whichever
it can write to first, and gives up where it can write to none.  Here

- a loop is compiled in every process where nothing can be written, with one warning, and importing goes on;
- what was compiled before is read where it cannot be written, as in the image of a container;
- a folder that others can write to is passed over: what is read from it is run.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event, types
from numba.core.caching import FunctionCache
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of that name, for loops that other loops and Python call.

    Parameters
    ----------
    cache : bool
        Whether to keep what is compiled for other processes, where that can be done.
    **options
        As numba has them.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return _plain(function)
        loop = _Loop(function, {}, {"nopython": True, "no_cfunc_wrapper": True} | options)
        if cache:
            try:
                loop._cache, loop.within._cache = _Cache(function), _CacheWithin(function)
            except RuntimeError:
                _warn(
                    "compiled loops cannot be kept, so that every process compiles them again: neither the folder of "
                    "comitia nor the user's folder for caches is one that this user alone can write to. "
                    "Set NUMBA_CACHE_DIR to a folder that is."
                )
        return loop

    return compiled


class _Loop(CPUDispatcher):
    """A loop for Python to call; loops that call it get :attr:`within` in its place.

    That is the same but for what reads arguments from Python's objects and makes one of the result: a tenth of what
    there would be to compile, most of it for tuples of arrays.
    """

    def __init__(self, py_func: Callable[..., Any], *options: Any) -> None:
        super().__init__(py_func, *options)
        self.within = CPUDispatcher(py_func, *options, pipeline_class=_Unwrapped)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.within)

    def compile(self, sig: Any) -> Any:
        """Compile for arguments of these types, or read what was kept, without looking for garbage meanwhile.

        A compiler makes many objects that live on: looking through them again and again takes a seventh of its time.
        """
        with global_compiler_lock, _garbage_left():
            return super().compile(sig)


class _Unwrapped(Compiler):
    def define_pipelines(self) -> Any:
        # Not among a loop's options: what numba itself compiles for a loop is compiled again where they differ.
        self.state.flags.no_cpython_wrapper = True
        return super().define_pipelines()


@contextlib.contextmanager
def _garbage_left() -> Iterator[None]:
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop for Python to run, where NUMBA_DISABLE_JIT is set: it may overflow, as compiled loops do."""

    @wraps(function)
    def plain(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return plain


def is_kept(loop: Any) -> bool:
    """Whether something was compiled of a loop before, here or in another process, and kept."""
    folder = loop.stats.cache_path if hasattr(loop, "stats") else None
    return folder is not None and any(Path(folder).glob(_index_files(loop.py_func)))


@contextlib.contextmanager
def seconds_compiling() -> Iterator[Callable[[], float]]:
    """Measure how long this process compiles, in seconds; what is given says it, also afterwards."""
    timer = _Timer()
    with event.install_listener("numba:compile", timer):
        yield lambda: timer.seconds


class _Timer(event.Listener):  # numba compiles one thing at a time, and what that calls within it
    def __init__(self) -> None:
        self.seconds, self._started, self._depth = 0.0, 0.0, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._depth == 0:
            self._started = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._started


def written_by_others(folder: str | Path) -> bool:
    """Whether another user, but for root, can change what is in a folder: it or one above belongs or is open to others.

    A folder above may be open where it is sticky, as ``/tmp`` is.  A group that has the user's name and nobody else in
    it is nobody else.
    """
    return _written_by_others(os.path.realpath(folder))


@cache
def _written_by_others(folder: str) -> bool:
    if os.name != "posix":
        return False
    for place in (path := Path(folder), *path.parents):
        found = place.stat()
        open_to = (stat.S_IWOTH if _is_own_group(found.st_gid) else stat.S_IWOTH | stat.S_IWGRP) & found.st_mode
        kept_apart = place != path and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()) or (open_to and not kept_apart):
            return True
    return False


def _is_own_group(group: int) -> bool:
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == user and set(found.gr_mem) <= {user}


def _trusted(locator: Any) -> Any:
    """Extend one of numba's ways to find a folder: to read where it cannot write, and to trust no open folder."""

    class Trusted(locator):
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            found = super().from_function(py_func, py_file) or cls._kept(py_func, py_file)
            if found is None or not written_by_others(found.get_cache_path()):
                return found
            if numba.config.CACHE_DIR and Path(numba.config.CACHE_DIR) in Path(found.get_cache_path()).parents:
                _warn("NUMBA_CACHE_DIR is not used: it, or a folder above it, can be written to by others.")
            return None

        @classmethod
        def _kept(cls, py_func: Any, py_file: str) -> Any:
            """Find what was compiled before in a folder that cannot be written to."""
            if not Path(py_file).exists():
                return None
            folder = Path((found := cls(py_func, py_file)).get_cache_path())
            return found if folder.is_absolute() and any(folder.glob(_index_files(py_func))) else None

    return Trusted


def _index_files(function: Any) -> str:
    """The files that list what numba has compiled of a function."""
    code = function.__code__
    name = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}.*.nbi"
    return name.replace("<", "").replace(">", "")


class _Kept(FunctionCache._impl_class):
    # NUMBA_CACHE_DIR, beside the source, the user's folder: numba's other two are for functions without a file.
    _locator_classes = tuple(map(_trusted, FunctionCache._impl_class._locator_classes[:3]))


class _Cache(FunctionCache):
    _impl_class = _Kept

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk, or a folder that is only read
            super().save_overload(sig, data)


class _CacheWithin(_Cache):
    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), "within")


@cache
def _warn(text: str) -> None:
    """Warn once, and not again in every worker process."""
    if multiprocessing.current_process().name == "MainProcess":
        warnings.warn(f"comitia: {text}", RuntimeWarning, stacklevel=2)
