"""Hostile names of files, datasets, labels, ensembles and plans, in everything that is printed and written about a run.

Nothing that a name holds is obeyed: not by a terminal, a browser, a spreadsheet, LaTeX, Markdown or whoever reads JSON.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import unicodedata
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from typer.testing import CliRunner

from comitia import ComitiaError
from comitia._compare import read_run
from comitia.cli._app import app
from comitia.datasets import make_joint
from comitia.experiments import DataSource, EnsembleSetting, Plan, run_plan
from tests.attack.run import Log

HOSTILE = (
    *("<x-evil evil=1>", "</script><x-evil>", '"><x-evil>', "' evil='", "<!--", "]]>", "&lt;x-evil&gt;", "${evil}"),
    *("[red]r[/red]", "[/]", "[link=evil]", "{{ evil }}", "{evil}", "%s", "`x`", "|", "[x](evil:)", "***"),
    *("=1+1", "+1", "-1+evil", "@SUM(1)", "\t=1", "\\evil{x}", "evil%evil", "evil&evil", "evil_evil", "evil#evil"),
    *("\x1b[31m", "\x1b]0;evil\x07", "\x9b31m", "\u202eevil", "\r", "\n", "\x00", "é", "名", "'", '"', " ", "a" * 60),
)
TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
DATA = make_joint(40, 3, 3, dependence=0.7, random_state=1).dataset


def prepare(folder: Path) -> None:
    """Nothing is needed: every case writes its own files."""


def work(folder: Path, cases: range, seed: int) -> None:
    """Run something small under hostile names, for each case, and look at all that came out."""
    warnings.simplefilter("ignore")
    log = Log(folder)
    for case in cases:
        rng = random.Random(f"{seed}/{case}")
        log.begin(case)
        place = folder / "names"
        place.mkdir()
        try:
            ending = (_commanded if case % 2 else _planned)(place, rng)
        except ComitiaError as error:
            ending = "refused"
            if any(map(_obeyed, str(error))):
                ending = f"WRONG: case {case}: refused by {error!r}"
        except Exception as error:
            ending = f"WRONG: case {case}: {type(error).__name__}: {str(error)[:300]!r}"
        finally:
            shutil.rmtree(place)
        log.end(case, ending.replace("WRONG:", f"WRONG: case {case}:", 1) if ending.startswith("WRONG: in") else ending)


def _name(rng: random.Random) -> str:
    return "".join(rng.choices(HOSTILE, k=rng.choice([1, 1, 2, 3])))[:80]


def _table(path: Path, labels: list[str]) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["u", "v", "w", *labels])
    writer.writerows([*x, *y] for x, y in zip(DATA.X.tolist(), DATA.Y.tolist(), strict=True))
    path.write_text(file.getvalue(), newline="")


def _planned(place: Path, rng: random.Random) -> str:
    """A plan whose names are all hostile."""
    labels = [_name(rng) + end for end in "abc"]
    _table(place / "data.csv", labels)
    plan = Plan(
        name=_name(rng),
        datasets=tuple(DataSource(_name(rng) + str(i), str(place / "data.csv"), tuple(labels)) for i in range(2)),
        ensembles=(EnsembleSetting("emodt", {"n_estimators": 2}, name=_name(rng)),),
        aggregations=("gmv", "ctp"),
        folds=2,
    )
    run_plan(plan, place / "run", n_jobs=1, command=_name(rng))
    results = read_run(place / "run")
    results.write(place / "run")
    (place / "run" / "page.md").write_text(results.markdown())
    said = _said("report", str(place / "run"))
    said += "\n".join([repr(results), results.table(), *map(str, results.recommendations)])
    return _wrong(place / "run", said) or "a plan: nothing is obeyed"


def _commanded(place: Path, rng: random.Random) -> str:
    """The commands, with a file and labels whose names are hostile."""
    data = place / (re.sub(r"[/\0]", "", _name(rng))[:60] + "d.csv")
    _table(data, [f"y{i}{_name(rng)}" for i in range(3)])
    labels = ("--labels", "y*")
    few = ("-m", "2", "--folds", "2", "--ensembles", "emodt", "--losses", "f1", "-j", "1")
    said = _said("compare", str(data), *labels, *few, "-o", str(place / "run"), *rng.choice([(), ("--json",)]))
    said += _said("train", str(data), *labels, "-m", "2", "-o", str(place / "m.skops"))
    model = ("predict", str(place / "m.skops"), str(data))
    said += _said(*model, "-o", str(place / "run" / "predicted.csv"))
    said += _said(*model, "--labels-in-one-column", "-o", str(place / "run" / "one.csv"))
    return _wrong(place / "run", said) or "commands: nothing is obeyed"


def _said(*arguments: str) -> str:
    ended = CliRunner(env={"COLUMNS": "300", "COMITIA_DATA": "", "COMITIA_DEBUG": ""}).invoke(app, list(arguments))
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    if ended.exit_code == 1 and ended.stderr.startswith("error: "):
        raise ComitiaError(ended.stderr)
    if ended.exit_code:
        raise RuntimeError(f"{arguments[0]} ended with {ended.exit_code}: {ended.stderr[-200:]}")
    return ended.stdout + ended.stderr


def _obeyed(sign: str) -> bool:
    return (unicodedata.category(sign) == "Cc" and sign != "\n") or sign in TURNING


def _wrong(run: Path, said: str) -> str | None:
    found = next((f"{sign!r} on the terminal" for sign in said if _obeyed(sign)), None)
    if found:
        return f"WRONG: in what is said: {found}"
    for path in sorted(run.rglob("*")):
        check = CHECKS.get(path.suffix)
        if path.is_file() and check is not None:
            for complaint in check(path.read_bytes().decode()):
                return f"WRONG: in {path.name}: {complaint}"
    return None


class _Tags(HTMLParser):
    """The elements and attributes that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.evil: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if "evil" in tag or any("evil" in name for name, _ in attrs):
            self.evil.append(f"<{tag}> with {[name for name, _ in attrs]}")
        links = [value or "" for name, value in attrs if name in ("href", "src")]
        self.evil += [link for link in links if link.strip().lower().startswith("evil:")]


def _html(text: str) -> Iterator[str]:
    tags = _Tags()
    tags.feed(text)
    yield from tags.evil


def _csv(text: str) -> Iterator[str]:
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            # Where a comma is no separator, semicolons are: what they part has cells of its own, but within quotes.
            for part in [cell] if '"' in cell or "," in cell else cell.split(";"):
                if part.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) and not re.fullmatch(
                    r"-?[0-9.]+(e-?\d+)?", part
                ):
                    yield f"the cell {cell[:80]!r}"


def _latex(text: str) -> Iterator[str]:
    yield from (repr(sign) for sign in text if _obeyed(sign))
    yield from re.findall(r"(?<!\\textbackslash\{\})\\evil|evil[%&_#]evil", text)


def _markdown(text: str) -> Iterator[str]:
    yield from (repr(sign) for sign in text if _obeyed(sign))
    outside = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    yield from re.findall(r"(?<!\\)<x-evil.*|(?<!\\)\]\(evil:.*", outside)
    width = 0
    for line in outside.splitlines():
        if line.startswith("|"):
            columns = len(re.findall(r"(?<!\\)\|", line))
            if width and columns != width:
                yield f"a row of another width: {line[:200]!r}"
            width = columns
        else:
            width = 0


def _json(text: str) -> Iterator[str]:
    json.loads(text)
    yield from (f"{sign!r}" for sign in text if _obeyed(sign) and sign not in "\t\n" and ord(sign) < 32)


def _json_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line:
            yield from _json(line)


CHECKS = {
    ".html": _html,
    ".csv": _csv,
    ".tex": _latex,
    ".md": _markdown,
    ".json": _json,
    ".jsonl": _json_lines,
}
