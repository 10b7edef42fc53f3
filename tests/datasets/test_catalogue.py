"""The catalogue: local folders, downloads from a server on this machine, and what is said when there is neither."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from comitia.datasets import CatalogueEntry, DataFormatError, _catalogue, fetch_dataset, list_datasets

ARFF = b"@relation tiny\n@attribute a numeric\n@attribute y {0,1}\n@data\n0.5,1\n0.7,0\n"
XML = b"<labels><label name='y'/></labels>"


def test_the_catalogue_has_the_eight_datasets_and_a_local_sample() -> None:
    entries = {entry.name: entry for entry in list_datasets()}
    eight = ["cal500", "emotions", "scene", "yeast", "flags", "medical", "bibtex", "mediamill"]
    assert list(entries) == [*eight, "mediamill-2000"]
    assert entries["mediamill-2000"].arff == entries["mediamill-2000"].xml == ()
    for name in eight:
        sources = [*entries[name].arff, *entries[name].xml]
        assert all(source.url.startswith("https://") for source in sources)
        assert all(len(source.sha256) == 64 for source in sources)
        assert bool(entries[name].xml) != bool(entries[name].labels)
        assert len(entries[name].labels) in (0, entries[name].n_labels)


def test_the_checksums_of_the_catalogue_are_those_of_the_published_files(shared_data: Path) -> None:
    for entry in list_datasets():
        if entry.arff and (shared_data / entry.name).is_dir():
            for suffix, source in (("arff", entry.arff[0]), ("xml", entry.xml[0])):
                content = (shared_data / entry.name / f"{entry.name}.{suffix}").read_bytes()
                assert hashlib.sha256(content).hexdigest() == source.sha256


def test_a_folder_is_looked_at_first_and_the_parameter_before_the_environment(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMITIA_DATA", str(shared_data))
    assert fetch_dataset("flags").n_instances == 194
    assert fetch_dataset("mediamill-2000").n_labels == 101
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "flags.arff").write_bytes(ARFF)
    (tmp_path / "flags" / "flags.xml").write_bytes(XML)
    with pytest.raises(DataFormatError, match=r"flags: expected n, d, K = \(194, 19, 7\), found \(2, 1, 1\)"):
        fetch_dataset("flags", data_home=tmp_path)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown dataset 'iris'\. There are: cal500, emotions"):
        fetch_dataset("iris")


def test_a_local_sample_that_is_not_there_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"mediamill-2000/mediamill-2000\.arff and \.xml by data_home or COMITIA_DATA"
    ):
        fetch_dataset("mediamill-2000", data_home=tmp_path)


@dataclass
class Server:
    folder: Path
    url: str
    requests: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A real server with the files of one dataset; pooch's waits between attempts are cut short."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "tiny.arff").write_bytes(ARFF)
    (folder / "tiny.xml").write_bytes(XML)
    state = Server(folder, "")

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            if state.failures.get(self.path, 0):
                state.failures[self.path] -= 1
                self.send_error(503)
            else:
                super().do_GET()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as http:
        thread = threading.Thread(target=partial(http.serve_forever, poll_interval=0.01), daemon=True)
        thread.start()
        state.url = f"http://127.0.0.1:{http.server_address[1]}"
        monkeypatch.delenv("COMITIA_DATA", raising=False)
        monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
        yield state
        http.shutdown()
        thread.join()


def publish(
    monkeypatch: pytest.MonkeyPatch, server: Server, *, arff: bytes = ARFF, mirrors: tuple[str, ...] = ("",), n: int = 2
) -> None:
    def sources(name: str, content: bytes) -> tuple[_catalogue.Source, ...]:
        checksum = hashlib.sha256(content).hexdigest()
        return tuple(_catalogue.Source(f"{server.url}{mirror}/{name}", checksum) for mirror in mirrors)

    entry = CatalogueEntry("tiny", n, 1, 1, sources("tiny.arff", arff), sources("tiny.xml", XML))
    monkeypatch.setattr(_catalogue, "CATALOGUE", (entry,))


def test_files_are_downloaded_once_and_then_come_from_the_cache(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server)
    for _ in range(2):
        assert fetch_dataset("tiny", cache=tmp_path / "cache").X.tolist() == [[0.5], [0.7]]
    assert server.requests == ["/tiny.arff", "/tiny.xml"]
    assert (tmp_path / "cache" / "tiny" / "tiny.arff").read_bytes() == ARFF


def test_labels_that_the_catalogue_names_need_no_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server)
    (entry,) = _catalogue.CATALOGUE
    named = dataclasses.replace(entry, xml=(), labels=("y",))
    monkeypatch.setattr(_catalogue, "CATALOGUE", (named,))
    assert fetch_dataset("tiny", cache=tmp_path).label_names == ("y",)
    assert server.requests == ["/tiny.arff"]


def test_the_labels_of_mediamill_are_those_of_its_sample(shared_data: Path) -> None:
    names = next(entry.labels for entry in list_datasets() if entry.name == "mediamill")
    assert fetch_dataset("mediamill-2000", data_home=shared_data).label_names == names


def test_a_progress_bar_is_shown_unless_it_is_not_wanted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    publish(monkeypatch, server)
    fetch_dataset("tiny", cache=tmp_path / "a")
    assert "100%" in capfd.readouterr().err
    fetch_dataset("tiny", cache=tmp_path / "b", progress=False)
    assert "100%" not in capfd.readouterr().err


def test_a_failed_download_is_tried_again(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(monkeypatch, server)
    server.failures["/tiny.arff"] = 2
    assert fetch_dataset("tiny", cache=tmp_path).n_instances == 2
    assert server.requests.count("/tiny.arff") == 3


def test_the_second_mirror_is_asked_where_the_first_fails(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server, mirrors=("/gone", ""))
    assert fetch_dataset("tiny", cache=tmp_path).n_instances == 2


def test_files_that_do_not_have_the_published_checksum_are_not_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server, arff=ARFF + b"% as published\n")
    with pytest.raises(FileNotFoundError, match="does not match the known hash"):
        fetch_dataset("tiny", cache=tmp_path)
    assert not list(tmp_path.rglob("cache/*.arff"))


def test_downloaded_files_must_have_the_sizes_of_the_catalogue(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server, n=3)
    with pytest.raises(DataFormatError, match=r"expected n, d, K = \(3, 1, 1\), found \(2, 1, 1\)"):
        fetch_dataset("tiny", cache=tmp_path)


def test_offline_and_not_found_says_both_ways_out(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server, mirrors=("/gone",))
    with pytest.raises(FileNotFoundError) as failed:
        fetch_dataset("tiny", data_home=tmp_path / "nowhere", cache=tmp_path)
    message = str(failed.value)
    assert f"{tmp_path / 'nowhere'} has no tiny/tiny.arff and .xml" in message
    assert "Connect to the network and try again, or name a folder" in message
    assert "data_home or COMITIA_DATA" in message
    assert f"{server.url}/gone/tiny.arff" in message
