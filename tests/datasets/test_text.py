"""Text in blocks: whole lines, whatever ends them and wherever a block does, and no more than is allowed."""

from __future__ import annotations

import errno
import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from comitia.datasets import DataFormatError, _text
from comitia.datasets._text import STDIN, line_blocks, opened, raw_blocks

TEXT = b"one\r\ntwo\rthree\n\n\r\nfour\r\r\nlast"
LINES = b"one\ntwo\nthree\n\n\nfour\n\nlast\n"


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize("ending", [b"", b"\r", b"\n", b"\r\n"])
def test_blocks_are_whole_lines_that_end_alike(
    size: int, ending: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", size)
    (tmp_path / "t").write_bytes(TEXT + ending)
    blocks = list(line_blocks(tmp_path / "t", 1000))
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks) == LINES


def test_a_line_may_be_as_long_as_it_may_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "LONGEST_LINE", 10)
    monkeypatch.setattr(_text, "BLOCK_BYTES", 5)
    (tmp_path / "t").write_bytes(b"x" * 10 + b"\n" + b"y" * 10)
    assert b"".join(line_blocks(tmp_path / "t", 1000)) == b"x" * 10 + b"\n" + b"y" * 10 + b"\n"
    (tmp_path / "t").write_bytes(b"a\n" + b"x" * 14)
    with pytest.raises(DataFormatError, match="lines of at most 10 bytes, found a longer one"):
        list(line_blocks(tmp_path / "t", 1000))


@pytest.mark.parametrize("packed", [False, True])
def test_no_more_is_unpacked_than_is_allowed(packed: bool, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(gzip.compress(TEXT) if packed else TEXT)
    assert b"".join(raw_blocks(tmp_path / "t", len(TEXT))) == TEXT
    with pytest.raises(DataFormatError, match=f"at most max_bytes={len(TEXT) - 1} bytes of text, found more"):
        list(raw_blocks(tmp_path / "t", len(TEXT) - 1))


def test_a_damaged_archive_is_the_files_mistake_and_a_failing_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t").write_bytes(gzip.compress(TEXT)[:-3])
    with pytest.raises(DataFormatError, match="expected a whole archive, found a damaged one"):
        list(raw_blocks(tmp_path / "t", 1000))

    def fail(_: Any) -> Any:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(_text, "_unpacked", lambda _: SimpleNamespace(read=fail))
    with pytest.raises(OSError, match="the disk fails"):
        list(raw_blocks(tmp_path / "t", 1000))


def test_standard_input_is_read_once_and_no_more_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "_kept", {})
    monkeypatch.setattr(_text, "BLOCK_BYTES", 4)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT)))
    assert [opened(STDIN, len(TEXT)).read() for _ in range(2)] == [TEXT, TEXT]
    monkeypatch.setattr(sys, "stdin", io.BytesIO(TEXT))
    with pytest.raises(DataFormatError, match=f"at most max_bytes={len(TEXT) - 1} bytes, found more"):
        opened(STDIN, len(TEXT) - 1)
