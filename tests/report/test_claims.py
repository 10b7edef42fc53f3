"""The paper's conclusions and means, held against rows whose outcome is known."""

import pandas as pd
import pytest

from comitia._compare import read_run
from comitia.experiments import DataSource, EnsembleSetting, Plan, read_plan, run_plan
from comitia.report import Results, read_paper
from comitia.report._claims import beyond, claims, means_beside, means_over_aggregations
from comitia.report._paper import PAPER
from tests.conftest import LABELS


def as_rows(paper: pd.DataFrame, **changes) -> pd.DataFrame:
    """The paper's own values as if they were the rows of a run of one fold."""
    rows = paper.assign(repeat=0, fold=0, pool="mean", n_test=100, **changes)
    return rows if "size" in rows else rows.assign(size=50)


def results(paper: pd.DataFrame, published: pd.DataFrame | None = None) -> Results:
    return Results(as_rows(paper), paper=published)


@pytest.fixture(scope="module")
def paper(shared_paper) -> pd.DataFrame:
    return read_paper(shared_paper / "table2.csv")


def test_the_papers_own_values_support_its_conclusions(paper):
    found = claims(results(paper).paper_blocks)
    assert len(found) == 3 * 6
    assert [claim for claim in found if not claim.holds] == []


def test_the_papers_own_values_are_no_worse_than_the_papers(paper):
    lines = list(means_beside(results(paper, paper).paper_blocks))
    assert {line.method for line in lines} == set(PAPER)
    assert all(
        line.holds and line.beside.ours == pytest.approx(line.beside.published) and line.allowed == 1 for line in lines
    )


def test_values_that_are_worse_by_more_than_a_point_are_told(paper):
    worse = paper.assign(value=(paper["value"] + 0.0101).clip(upper=1.0))
    lines = list(means_beside(results(worse, paper).paper_blocks))
    not_held = {line.measure.loss for line in lines if not line.holds}
    assert not_held == {"hamming", "f1"}  # subset 0/1 loss is at its worst already on some datasets
    assert all(abs(line.beside.difference) < 1.02 for line in lines)


def test_means_over_the_aggregations_average_what_each_has(paper):
    worse = paper.assign(value=(paper["value"] + 0.0101).clip(upper=1.0))
    lines = list(means_beside(results(worse, paper).paper_blocks))
    over = {(line.ensemble, line.measure.loss): line for line in means_over_aggregations(lines)}
    assert len(over) == 9
    mine = [line for line in lines if line.ensemble == "ecc" and line.measure.loss == "f1"]
    assert len(mine) == 5
    assert over["ecc", "f1"].beside.ours == pytest.approx(sum(line.beside.ours for line in mine) / 5)
    assert not over["ecc", "f1"].holds
    assert over["ecc", "subset01"].holds


def test_a_conclusion_that_does_not_hold_says_who_is_better(paper):
    swapped = paper.assign(aggregation=paper["aggregation"].replace({"ctp": "gmv", "gmv": "ctp"}))
    found = {claim.sentence: claim for claim in claims(results(swapped).paper_blocks) if claim.ensemble == "ecc"}
    claim = found["F1-measure: CTP has the best average rank"]
    assert not claim.holds
    assert "GMV has 1." in claim.because


def test_what_the_paper_does_not_have_stands_beside_its_best(paper):
    new = paper[paper["aggregation"] == "ctp"].assign(aggregation="ptc-mbr")
    lines = [line for line in beyond(results(pd.concat([paper, new]), paper).blocks) if line.measure.loss == "f1"]
    assert [(line.method, line.best_published) for line in lines] == [("ptc-mbr", "ctp")] * 3
    assert all(line.ours == pytest.approx(line.published) for line in lines)


def test_a_page_of_table_2_has_conclusions_means_and_differences(paper):
    page = Results(as_rows(paper), title="Again", paper=paper, plan=read_plan("table2").identity()).markdown()
    assert page.startswith("# Again\n")
    assert "## The paper's conclusions" in page
    assert "**no**" not in page
    assert "(+0.00)" in page
    assert "min_samples_leaf=" in page
    assert page.count("\n## ") == 3 + 3


def test_a_page_of_figure_2_has_a_table_for_each_dataset_and_measure(shared_paper):
    paper = read_paper(shared_paper / "figure2.csv")
    moved = paper.assign(value=(paper["value"] + 0.001).clip(upper=1.0))
    page = Results(as_rows(moved), paper=paper, plan=read_plan("figure2").identity()).markdown()
    assert page.count("\n#### EMODT on ") == 4 * 3
    assert "| Members | 1 | 5 | 10 | 20 |" in page
    assert "(+0.10)" in page
    assert "(-0.10)" in page  # F1 is shown as itself, not as a loss
    assert "| EMODT | Subset 0/1 loss | PTC-mode |" in page
    assert "### Mean distance from the paper's values, in points" in page


def test_a_page_says_what_was_chosen_and_in_how_many_folds(joint_csv, tmp_path):
    setting = EnsembleSetting("ebr", {"n_estimators": 5, "estimator": {"C": 1.0}}, choose={"estimator__C": [1e-6, 1.0]})
    plan = Plan("mine", (DataSource("joint", str(joint_csv), LABELS),), (setting,), aggregations=("gmv",), folds=3)
    run_plan(plan, tmp_path, n_jobs=1)
    assert "| EBR | `estimator__C` | 1.0 (3) |" in read_run(tmp_path).markdown()


@pytest.mark.parametrize("sizes", [(5,), (2, 5)], ids=["one size", "sizes"])
def test_no_name_is_obeyed_by_a_page_in_markdown(sizes, joint_csv, tmp_path):
    evil = "<b>`x`|[y](z)"
    setting = EnsembleSetting("ebr", {"n_estimators": 5, "C": 1.0}, name=evil)
    data = DataSource(evil, str(joint_csv), LABELS)
    plan = Plan(evil, (data,), (setting,), aggregations=("gmv", "ctp"), folds=2, sizes=sizes)
    run_plan(plan, tmp_path / "run", n_jobs=1, command=f"run {evil}")
    page = read_run(tmp_path / "run").markdown()
    command = r"``run <b>`x`\|[y](z)``"
    assert f"| command | {command} |" in page
    assert r"\<b\>\`x\`\|\[y\](z)" in page
    assert "<b" not in page.replace(command, "").replace(r"\<b", "")
