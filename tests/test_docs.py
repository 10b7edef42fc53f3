"""The code in the documentation is run as it stands there."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import comitia
from comitia import EBRClassifier
from comitia.datasets import make_joint
from comitia.experiments import paper_plans
from tests.cli.conftest import comitia as command_line

DOCS = Path(__file__).parents[1] / "docs"
# Blocks are marked ``python``; those marked ``py`` need what is not installed, and are not run.
PAGES = [DOCS.parent / "README.md", DOCS / "start.md", DOCS / "index.md", *sorted((DOCS / "guide").glob("*.md"))]
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S))
    exec(compile(code, str(page), "exec"), surroundings())


@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    surroundings()
    pd.read_csv("songs.csv").head(5).drop(columns=["calm", "happy", "sad"]).to_csv("new.csv", index=False)
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    lines = [shlex.split(line, comments=True)[1:] for line in re.findall(r"^    comitia .*$", text, re.M)]
    assert [line[0] for line in lines] == ["compare", "train", "predict", "reproduce"]
    for line in lines[:-1]:
        ended = command_line(*line)
        assert ended.code == 0, ended.said
    assert pd.read_csv("labels.csv").columns.tolist() == ["calm", "happy", "sad"]
    assert lines[-1][1] in paper_plans(), "which takes hours"


def surroundings() -> dict[str, object]:
    """What pages take for granted: data, new instances, a frame with texts and a fitted ensemble; a file of songs."""
    data = make_joint(120, 4, 3, dependence=0.7, random_state=1).dataset
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(title=np.where(data.Y[:, 0], "a slow song", "fast dance"))
    labels = pd.DataFrame(data.Y, columns=["calm", "happy", "sad"])
    pd.concat([frame.drop(columns="title"), labels], axis=1).to_csv("songs.csv", index=False)
    ensemble = EBRClassifier(n_estimators=3, random_state=0).fit(data.X, data.Y)
    names = {"X": data.X, "Y": data.Y, "X_new": data.X[:5], "frame": frame, "ensemble": ensemble, "comitia": comitia}
    return names | {name: getattr(comitia, name) for name in ("EMODTClassifier", "ECCClassifier")}
