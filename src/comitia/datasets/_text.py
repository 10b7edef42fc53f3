"""Text files read in blocks of whole lines, packed or not, so that memory follows the block and not the file."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

from comitia.datasets._dataset import DataFormatError

BLOCK_BYTES = 1 << 19
LONGEST_LINE = 1 << 26
STDIN = Path("-")
"""Stands for standard input."""


def line_blocks(path: Path, max_bytes: int) -> Generator[bytes, None, None]:
    r"""Blocks of whole lines, each ending in ``\n``, whatever ends the lines in the file.

    Parameters
    ----------
    path : Path
        A text file, plain or packed by gzip or bzip2 (recognised by its first bytes, not by its name).
    max_bytes : int
        The most text there may be once unpacked: a small archive can hold more than any memory.
    """
    unfinished: list[bytes] = []
    held = 0
    for block in _unix_lines(raw_blocks(path, max_bytes)):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join((*unfinished, block[:end]))
            unfinished, held = [], 0
        if end < len(block):
            unfinished.append(block[end:])
            held += len(block) - end
        if held > LONGEST_LINE:
            raise DataFormatError.at(path, None, f"expected lines of at most {LONGEST_LINE} bytes, found a longer one")
    if unfinished:
        yield b"".join((*unfinished, b"\n"))


def _unix_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    r"""Turn ``\r\n`` and ``\r`` into ``\n``; a block never ends between the two."""
    carried = b""
    for piece in blocks:
        block = carried + piece
        carried = b"\r" if block.endswith(b"\r") else b""
        if b"\r" in block:
            block = block[: len(block) - len(carried)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if block:
            yield block
    if carried:
        yield b"\n"


def raw_blocks(path: Path, max_bytes: int) -> Iterator[bytes]:
    """The unpacked bytes of a file (or of standard input, where it is ``-``), at most ``max_bytes`` of them."""
    total = 0
    with opened(path, max_bytes) as file:
        stream = _unpacked(file)
        while True:
            try:
                block = stream.read(BLOCK_BYTES)
            except (EOFError, OSError, zlib.error) as error:
                if getattr(error, "errno", None) is not None:
                    raise  # the disk's mistake, not the file's
                message = f"expected a whole archive, found a damaged one ({error})"
                raise DataFormatError.at(path, None, message) from error
            if not block:
                return
            total += len(block)
            if total > max_bytes:
                raise DataFormatError.at(
                    path, None, f"expected at most max_bytes={max_bytes} bytes of text, found more"
                )
            yield block


def opened(path: Path, max_bytes: int) -> IO[bytes]:
    """Open a file, or what came from standard input, which is read once and kept for the next who asks."""
    if path != STDIN:
        return path.open("rb")
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    if _kept.get("stream") is not stream:
        blocks, held = [], 0
        while block := stream.read(BLOCK_BYTES):
            blocks.append(block)
            held += len(block)
            if held > max_bytes:
                raise DataFormatError.at(path, None, f"expected at most max_bytes={max_bytes} bytes, found more")
        _kept.update(stream=stream, content=b"".join(blocks))
    return io.BytesIO(_kept["content"])


_kept: dict[str, Any] = {}


def _unpacked(file: IO[bytes]) -> IO[bytes] | gzip.GzipFile | bz2.BZ2File:
    start = file.read(3)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if start == b"BZh":
        return bz2.BZ2File(file)
    return file
