"""The XML file of a MULAN dataset, and what is refused in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from comitia.datasets import DataFormatError, load_mulan
from comitia.datasets._label_xml import read_label_names

REFUSED = {
    "no XML": ("red, blue", 1, "expected well-formed XML"),
    "an open element": ("<labels>\n<label name='a'>", 2, "expected well-formed XML"),
    "nothing": ("", 1, "expected well-formed XML"),
    "another root": ("<html/>", 1, "expected <labels>, found <html>"),
    "another element": ("<labels>\n<labels/>\n</labels>", 2, "expected <label>, found <labels>"),
    "no name": ("<labels>\n<label/></labels>", 2, "expected a label to have a name"),
    "a repeated name": ("<labels>\n<label name='a'/>\n<label name='a'/></labels>", 3, "'a' again (first in line 2)"),
    "text": ("<labels>\nred</labels>", 2, "found the text 'red'"),
    "no labels": ("<labels>\n</labels>", 2, "expected at least one <label>"),
    "an unknown encoding": ("<?xml version='1.0' encoding='no-such'?><labels/>", 1, "expected well-formed XML"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_label_files_are_refused_with_their_line(case: str, tmp_path: Path) -> None:
    text, line, message = REFUSED[case]
    path = tmp_path / "labels.xml"
    path.write_text(text)
    with pytest.raises(DataFormatError) as refused:
        read_label_names(path, 1 << 20)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert message in str(refused.value)


def test_entities_are_never_expanded_and_other_files_never_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    laughs = "".join(f"<!ENTITY l{i} '" + f"&l{i - 1};" * 10 + "'>" for i in range(1, 12))
    for declaration, label in [
        (f"<!DOCTYPE labels [<!ENTITY l0 'ha'>{laughs}]>", "&l11;"),
        (f"<!DOCTYPE labels [<!ENTITY x SYSTEM '{secret.as_uri()}'>]>", "&x;"),
        (f"<!DOCTYPE labels SYSTEM '{secret.as_uri()}'>", "a"),
        ("<!DOCTYPE labels [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/'> %p;]>", "a"),
    ]:
        path = tmp_path / "labels.xml"
        path.write_text(f"<?xml version='1.0'?>\n{declaration}\n<labels><label name='{label}'/></labels>")
        with pytest.raises(DataFormatError, match="expected no document type and no entities"):
            load_mulan(tmp_path / "not-looked-at.arff", path)


def test_escaped_names_and_other_encodings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.xml"
    text = "<?xml version='1.0' encoding='{}'?><labels><label name='a &amp; &#66;'/><label name='é'/></labels>"
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        path.write_bytes(text.format(encoding).encode(encoding))
        assert list(read_label_names(path, 1 << 20)) == ["a & B", "é"]


def test_labels_nested_deeply_are_flattened(tmp_path: Path) -> None:
    path = tmp_path / "labels.xml"
    names = [f"l{i}" for i in range(20_000)]
    opening = "".join(f"<label name='{name}'>" for name in names)
    path.write_text(f"<labels>{opening}{'</label>' * len(names)}</labels>")
    assert list(read_label_names(path, 1 << 24)) == names
