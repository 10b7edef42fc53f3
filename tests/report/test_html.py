"""The page as text: self-contained, escaped, small enough, and made of the run's own numbers."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from comitia.report import Results, read_paper
from comitia.report._blocks import blocks
from comitia.report._html import page, summary

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def text(run) -> str:
    return page(run)


def embedded(text: str, name: str) -> dict:
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.S).group(1))


def own_part(text: str) -> str:
    """The page without Plotly's library, which names hosts that it would ask for maps."""
    return re.sub(r'<script type="text/plain" id="plotly">.*?</script>', "", text, flags=re.S)


def test_the_page_names_no_other_host(text):
    own = own_part(text)
    assert len(own) < len(text) / 2
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", own)
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", own)
    assert "default-src 'none'" in own


def test_names_of_the_run_never_become_markup(text):
    own = own_part(text)
    assert "alert(1)</script>" not in own
    assert "<b>land</b>" not in own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in own
    labels = embedded(text, "numbers")["labels"]
    assert f"{SCRIPT}3" in labels[SCRIPT]["names"]


def test_text_that_ends_scripts_or_comments_stays_in_its_json(run):
    evil = "</script><!--<img src=x onerror=alert(1)>\u2028"
    renamed = replace(run, rows=run.rows.replace({"dataset": {"weather": evil}}), datasets=(), digits=None)
    result = page(renamed)
    assert "onerror=alert(1)>" not in own_part(result)
    assert evil in embedded(result, "numbers")["datasets"]


def test_figures_get_the_numbers_of_the_rows(run, text):
    data = embedded(text, "numbers")
    for block, drawn in zip(blocks(run.rows), data["blocks"], strict=True):
        assert (drawn["ensemble"], drawn["loss"]) == (block.ensemble, block.measure.loss)
        np.testing.assert_allclose(np.array(drawn["values"], dtype=float), block.values, atol=1e-8)
        np.testing.assert_allclose(np.array(drawn["folds"][0], dtype=float), block.folds["seven-segment"], atol=1e-8)
    curve = next(line for line in data["curves"] if line["method"] == "ctp" and line["loss"] == "f1")
    part = run.rows[(run.rows.ensemble == curve["ensemble"]) & (run.rows.dataset == curve["dataset"])]
    means = part[(part.loss == "f1") & (part.aggregation == "ctp")].groupby("size").value.mean()
    np.testing.assert_allclose(curve["means"], 100 - 100 * means, atol=1e-7)


def test_missing_numbers_are_null_and_never_nan(run):
    part = run.rows[~((run.rows.dataset == "weather") & (run.rows.aggregation == "ptc-mbr")) & (run.rows.fold == 0)]
    data = embedded(page(replace(run, rows=part, digits=None)), "numbers")
    assert any(None in row for block in data["blocks"] for row in block["values"])
    assert all(error is None for error in data["blocks"][0]["errors"][0])


def test_each_loss_has_its_answer_first(run):
    cards = summary(run)["cards"]
    assert [card["measure"].loss for card in cards] == ["hamming", "subset01", "f1"]
    for card in cards:
        assert [line[0] for line in card["lines"]] == ["EMODT", "extra"]
        assert sorted(name for _, ensembles in card["verdicts"] for name in ensembles) == ["EMODT", "extra"]


def test_provenance_shows_every_start_of_a_run(run):
    starts = [{"command": "comitia compare", "seconds": 3012.0}, {"command": "comitia compare", "seconds": 5}]
    (entry,) = summary(replace(run, provenance={"sessions": starts}, digits=None))["provenance"]
    assert entry == (
        "sessions",
        [("1", [("command", "comitia compare"), ("time", "50 min 12 s")]),
         ("2", [("command", "comitia compare"), ("time", "5.0 s")])],
    )  # fmt: skip


def test_cells_that_failed_alike_are_told_once(run):
    failures = [{"cell": "a", "error": "x"}, {"cell": "b", "error": "y"}, {"cell": "c", "error": "x"}]
    assert summary(replace(run, failures=failures, digits=None))["failures"] == {"x": ["a", "c"], "y": ["b"]}


def test_failures_are_told_before_the_answer(text):
    assert text.index("1 cell failed") < text.index('id="answer"')


def full_table2(seed: int = 0) -> Results:
    """A run of the size of the paper's Table 2 with three aggregations more; its values are noise."""
    sizes = {"cal500": (502, 174), "emotions": (593, 6), "scene": (2407, 6), "yeast": (2417, 14), "flags": (194, 7),
             "medical": (978, 45), "bibtex": (7395, 159), "mediamill": (43907, 101)}  # fmt: skip
    index = pd.MultiIndex.from_product(
        [sizes, ["emodt", "ecc", "ebr"], [0], range(10), ["hamming", "subset01", "f1"],
         ["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr", "ctp-joint", "oob"], ["mean"], [50]],
        names=["dataset", "ensemble", "repeat", "fold", "loss", "aggregation", "pool", "size"],
    )  # fmt: skip
    rows = index.to_frame(index=False)
    rows["value"] = np.random.default_rng(seed).uniform(size=len(rows))
    rows["n_test"] = 50
    datasets = [
        {"name": name, "n": n, "d": 100, "K": K, "cardinality": 2.0, "density": 2 / K,
         "label_names": [f"label number {k} of {name}" for k in range(K)], "label_frequencies": [2 / K] * K}
        for name, (n, K) in sizes.items()
    ]  # fmt: skip
    return Results(rows, datasets, {"command": "comitia reproduce table2"})


def test_the_page_of_a_full_table_2_is_under_three_megabytes(text):
    assert len(text.encode()) < 3_000_000
    assert len(page(full_table2()).encode()) < 3_000_000


def test_the_picture_comes_before_the_tables_and_marks_the_baseline(run, text):
    assert text.index('id="answer"') < text.index('id="picture"') < text.index('id="tables"')
    for panel, loss in zip(summary(run)["picture"], run.losses, strict=True):
        found = run.blocks_of(loss)
        assert [group["ensemble"] for group in panel["groups"]] == ["EMODT", "extra"]
        lanes = [lane for group in panel["groups"] for lane in group["lanes"]]
        assert [lane["value"] for lane in lanes] == [f"{mean:.2f}" for block in found for mean in block.means]
        assert all(lane["from"] <= lane["at"] <= lane["from"] + lane["width"] for lane in lanes)
        rows = pd.DataFrame(run.baselines)
        means = rows[rows.loss == loss].groupby(["aggregation", "dataset"]).value.mean().groupby("aggregation").mean()
        best = 100 * means.min() if loss != "f1" else 100 - 100 * means.min()
        assert panel["baseline"]["value"] == f"{best:.2f}"
        assert 0 <= panel["baseline"]["at"] <= 100
        leading = [float(lane["value"]) for lane in lanes if lane["best"]]
        assert set(leading) == {(max if loss == "f1" else min)(float(lane["value"]) for lane in lanes)}


def test_labels_are_shown_with_their_examples_the_hardest_first(run):
    part = next(one for one in summary(run)["beneath"] if one["name"] == "weather")
    described = next(one for one in run.datasets if one["name"] == "weather")
    for table in part["labels"]:
        scores = [row["f1"] for row in table["rows"] if row["f1"] is not None]
        assert scores == sorted(scores)
        examples = {row["name"]: row["examples"] for row in table["rows"]}
        for name, share in zip(described["label_names"], described["label_frequencies"], strict=True):
            assert examples[name] == round(share * described["n"])


def test_instances_are_shown_on_which_decisions_differ(run, text):
    for part in summary(run)["beneath"]:
        for shown in part["disputed"]:
            for instance in shown["instances"]:
                assert len(instance["answers"]) > 1
                assert sum(right for *_, right in instance["answers"]) <= 1
    assert "Where decisions differ" in text


def test_probabilities_and_what_leaving_labels_open_gains_are_drawn(run):
    for part in summary(run)["beneath"]:
        for line in part["reliability"]:
            assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in line["points"])
        for line in part["coverage"]:
            kept, wrong = zip(*line["points"], strict=True)
            assert list(kept) == sorted(kept)
            assert kept[-1] == pytest.approx(1.0)
            # All labels together are what the vote gets wrong.
            gmv = run.rows[(run.rows.dataset == part["name"]) & (run.rows.aggregation == "gmv")]
            gmv = gmv[(gmv.loss == "hamming") & (gmv["size"] == gmv["size"].max())]
            of_ensemble = gmv[gmv.ensemble == {"EMODT": "emodt"}.get(line["title"], line["title"])]
            weighed = np.average(of_ensemble.value, weights=of_ensemble.n_test)
            assert wrong[-1] == pytest.approx(weighed, abs=0.02)
        assert [ensemble for ensemble, *_ in part["times"]] == ["EMODT", "extra"]


def test_results_without_details_have_a_page_too(run):
    bare = summary(replace(run, details=(), baselines=(), digits=None))
    assert bare["beneath"] == []
    assert all(panel["baseline"] is None for panel in bare["picture"])
    assert 'id="beneath"' not in page(replace(run, details=(), baselines=(), digits=None))


def test_beside_the_paper_the_page_ranks_the_papers_aggregations_among_themselves(shared_paper):
    published = read_paper(shared_paper / "table2.csv")
    rows = published.assign(repeat=0, fold=0, pool="mean", size=50, n_test=50)
    extra = rows[rows.aggregation == "ptc-mode"].assign(aggregation="ptc-mbr", value=lambda part: part.value * 0.99)
    found = summary(Results(pd.concat([rows, extra]), paper=published))["tables"]
    assert [table["id"] for table in found] == [
        f"{kind}-{loss}" for kind in ("table", "paper") for loss in ("hamming", "subset01", "f1")
    ]
    assert "PTC-mbr" in found[1]["markdown"]
    assert "PTC-mbr" not in found[4]["markdown"]
    assert "| **1.12** |" in found[4]["markdown"]  # PTC-mode of EMODT; the paper prints 1.13
    assert "(+0.00)" in found[1]["markdown"]


def test_a_run_with_wrong_label_frequencies_is_refused(run):
    with pytest.raises(ValueError, match="'x' has 2 label_names but 1 label_frequencies"):
        replace(run, datasets=[{"name": "x", "label_names": ["a", "b"], "label_frequencies": [0.5]}])
    with pytest.raises(ValueError, match=r"datasets\[0\] must have a name"):
        replace(run, datasets=[{"n": 5}])
