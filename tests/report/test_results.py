"""One object of results: each number computed once, the same answer everywhere, and back from its folder."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

import comitia
from comitia.report import Results, Setting, _blocks, read_paper
from comitia.report._answers import answers
from comitia.report._html import summary
from comitia.report.figures import critical_difference

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def counted(monkeypatch) -> list:
    """A list that grows with every gathering of rows into blocks."""
    calls = []
    gather = _blocks.blocks

    def count(rows, **choice):
        calls.append(choice.get("aggregations"))
        return gather(rows, **choice)

    monkeypatch.setattr(_blocks, "blocks", count)
    return calls


def test_rows_are_gathered_once_for_all_that_is_shown(run, counted, tmp_path):
    fresh = replace(run)
    fresh.write(tmp_path)
    fresh.html()
    fresh.latex()
    fresh.as_records()
    assert repr(fresh)
    assert fresh._repr_html_()
    assert [fresh.table(loss, name) for loss in fresh.losses for name in ("text", "markdown", "csv", "html")]
    assert [fresh.recommendation(loss) for loss in fresh.losses]
    assert counted == [None]


def test_ranks_among_the_papers_aggregations_are_the_only_other_question(run, counted):
    published = run.rows[run.rows["size"] == 12].drop(columns=["size", "pool", "repeat", "n_test"])
    published = published.groupby(["dataset", "ensemble", "loss", "aggregation"], as_index=False)["value"].mean()
    fresh = replace(run, paper=published)
    fresh.markdown()
    fresh.html()
    assert counted in ([None], [None, ["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode"]])
    assert len(fresh.paper_blocks) == len(fresh.blocks)
    assert len(counted) == 2


@pytest.mark.parametrize("loss", ["hamming", "subset01", "f1"])
def test_page_text_and_python_recommend_the_same(run, loss):
    advice = run.recommendation(loss)
    (card,) = [card for card in summary(run)["cards"] if card["measure"].loss == loss]
    assert [one["choice"] for one in card["use"]] == [advice.choice]
    assert f"{advice.percent:.2f} %  {advice.choice}" in repr(run)
    assert advice.choice in run._repr_html_()
    assert advice.as_record() in run.as_records()["recommendations"]


def test_the_ensemble_with_the_best_mean_is_recommended(run):
    advice = run.recommendation("f1")
    means = {block.ensemble: block.means.max() for block in run.blocks_of("f1")}
    assert advice.ensemble == max(means, key=means.get)
    other = next(name for name in run.ensemble_names if name != advice.ensemble)
    assert run.recommendation("f1", ensemble=other).ensemble == other


def test_the_recommended_code_makes_the_classifier(run):
    for loss in run.losses:
        advice = run.recommendation(loss)
        made = eval(advice.code, vars(comitia))
        assert (made.loss, made.aggregation, made.n_estimators) == (loss, advice.aggregation, 12)
        assert made.max_features == (1 if advice.ensemble == "extra" else "auto")
        assert advice.imports == "from comitia import EMODTClassifier"


def test_names_that_have_no_results_are_refused(run):
    with pytest.raises(comitia.ComitiaError, match="unknown loss 'f2': did you mean 'f1'"):
        run.recommendation("f2")
    with pytest.raises(comitia.ComitiaError, match="expected one loss of hamming, subset01, f1"):
        run.recommendation()
    with pytest.raises(comitia.ComitiaError, match="unknown ensemble 'ecc'"):
        run.recommendation("f1", ensemble="ecc")
    with pytest.raises(comitia.ComitiaError, match="unknown format 'xml'"):
        run.table("f1", "xml")
    with pytest.raises(comitia.ComitiaError, match="unknown figure 'rank': did you mean 'ranks'"):
        run.figure("rank")


def test_ensembles_on_different_datasets_are_recommended_each_for_itself(rows):
    first = (rows.ensemble == "emodt") & (rows.dataset == "weather")
    parts = Results(rows[first | ((rows.ensemble == "extra") & (rows.dataset == "seven-segment"))])
    assert len(parts.recommendations) == 6
    with pytest.raises(comitia.ComitiaError, match="do not compare: ensemble must be one of extra, emodt"):
        parts.recommendation("f1")


def test_results_come_back_from_their_folder(run, report_folder):
    again = Results.read(report_folder)
    assert again.html() == run.html()
    assert again.markdown() == run.markdown()
    assert again.recommendations == run.recommendations
    pd.testing.assert_frame_equal(again.to_frame(), run.to_frame())


def test_published_values_come_back_with_the_results(shared_paper, tmp_path):
    paper = read_paper(shared_paper / "figure2.csv")
    rows = paper.assign(repeat=0, fold=0, pool="mean", n_test=9)
    results = Results(rows, paper=paper)
    results.write(tmp_path)
    assert Results.read(tmp_path).markdown() == results.markdown()


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "damaged"), ("[]", "damaged"), ('{"format": 9}', "the format 9"), ('{"format": 1}', "damaged: KeyError")],
)
def test_a_damaged_file_of_results_is_refused(content, message, tmp_path):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(comitia.ComitiaError, match=message):
        Results.read(tmp_path)


def test_a_folder_without_results_says_what_would_make_them(tmp_path):
    with pytest.raises(comitia.ComitiaError, match=r"has no results.json: expected a folder"):
        Results.read(tmp_path)
    (tmp_path / "plan.toml").touch()
    with pytest.raises(comitia.ComitiaError, match="`comitia report` writes it"):
        Results.read(tmp_path)


def test_a_cell_of_a_notebook_explains_its_abbreviations(run):
    text = run._repr_html_()
    briefs = {name: brief for one in run.recommendations for name, brief in one.abbreviations.items()}
    assert briefs
    for name, brief in briefs.items():
        assert text.count(f"<b>{name}</b>: {escape(brief)}") == 1


def test_names_never_become_markup_in_a_notebook(run):
    shown = run._repr_html_()
    assert "<script" not in shown
    assert "<b>land</b>" not in shown
    assert "&lt;script&gt;" in shown
    assert len(shown) < 100_000


def test_a_cell_of_a_notebook_needs_no_figure_and_so_no_matplotlib(run, tmp_path):
    run.rows.to_json(tmp_path / "rows.json", orient="records")
    program = f"""
import json, sys
import pandas as pd
from comitia import Results
results = Results(pd.DataFrame(json.load(open({str(tmp_path / "rows.json")!r}))))
assert repr(results) and results._repr_html_() and results.table("f1") and results.markdown()
assert not {{"matplotlib", "plotly", "typer"}} & set(sys.modules)
assert "ranks" in results.figure_names
assert results.figure("ranks").axes
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def chance(seed: int) -> pd.DataFrame:
    """Values of three aggregations on six datasets that differ by chance alone."""
    values = np.random.default_rng(seed).uniform(0.3, 0.4, (6, 3))
    return pd.DataFrame(
        {"dataset": f"d{row}", "ensemble": "ecc", "repeat": 0, "fold": 0, "loss": "f1", "aggregation": name,
         "pool": "mean", "size": 5, "value": values[row, column], "n_test": 10}
        for row in range(6) for column, name in enumerate(("gmv", "bmv", "ctp"))
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_bars_and_words_agree_on_what_differs(seed):
    """Without a difference by Friedman's test one bar joins all; Nemenyi alone might have found one."""
    (block,) = _blocks.blocks(chance(seed))
    (answer,) = answers([block])
    (axes,) = critical_difference(block).axes
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.5]
    said = " ".join(text.get_text() for text in axes.texts)
    assert ("could be chance" in answer.text) == ("no significant difference (Friedman" in said) == (not block.differ)
    if not block.differ:
        (bar,) = bars
        assert min(bar) < block.average_ranks.min() < block.average_ranks.max() < max(bar)


def test_a_classifier_that_decides_nothing_is_recommended_as_it_is():
    rows = chance(0).replace({"aggregation": {"bmv": "own"}, "ensemble": {"ecc": "forest"}})
    rows.loc[rows.aggregation == "own", "value"] = rows[rows.aggregation == "gmv"].value.to_numpy()
    rows.loc[rows.aggregation == "ctp", "value"] = 0.9
    results = Results(rows, settings={"forest": Setting("Forest", {"n": "5"}, decides=False)})
    assert results.recommendation("f1").code == "Forest(n=5)"
    assert results.recommendation("f1").choice == "forest as it is"


def test_what_is_written_is_plain_json(report_folder):
    content = json.loads((report_folder / "results.json").read_text())
    assert content["settings"]["extra"]["constructor"] == "EMODTClassifier"
    assert len(content["digits"]["images"]) == 10


def test_no_name_steers_the_terminal_that_shows_results(run):
    escape_, bell = "\x1b[31mred\x1b]0;evil", "\x07\u202e"
    nasty = escape_ + bell
    rows = run.rows[run.rows["size"] == 12].replace({"dataset": {"weather": nasty}, "ensemble": {"extra": nasty}})
    fresh = replace(run, rows=rows, title=nasty, failures=[{"cell": nasty, "error": nasty}], plan={}, settings={})
    only = replace(fresh, rows=rows[(rows["dataset"] == nasty) & (rows["ensemble"] == nasty)])
    shown = [fresh.table(), fresh.table(format="markdown"), fresh.latex(), fresh.markdown()]
    shown += [repr(only), *map(str, fresh.recommendations), *map(str, only.recommendations)]
    for text in shown:
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "\\x1b[31mred" in repr(only)
    assert "\\x1b[31mred" in fresh.table()
