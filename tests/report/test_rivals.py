"""A choice held against the usual vote, baselines and other ensembles: in numbers, and in plain words."""

import numpy as np
import pandas as pd
import pytest

import comitia
from comitia import statistics
from comitia._titles import Terms
from comitia.report import Results, Setting
from comitia.report._plain import how_good
from comitia.report._vocabulary import explained, measure, title

CELL = {"repeat": 0, "pool": "mean", "size": 50, "n_test": 100}


def rows(values: dict, loss: str = "subset01", dataset: str = "songs") -> list[dict]:
    """Rows of (ensemble, aggregation) with a value for each fold."""
    return [
        CELL
        | {"dataset": dataset, "ensemble": ensemble, "aggregation": name}
        | {"fold": fold, "loss": loss, "value": value}
        for (ensemble, name), found in values.items()
        for fold, value in enumerate(found)
    ]  # fmt: skip


def around(mean: float, seed: int, folds: int = 5) -> list[float]:
    return (mean + np.random.default_rng(seed).normal(0, 0.01, folds)).tolist()


BASELINES = {("baseline", "nothing"): around(0.95, 1), ("baseline", "frequent"): around(0.88, 2)}
OURS = {("ecc", "gmv"): around(0.69, 3), ("ecc", "ptc-mode"): around(0.63, 4), ("ebr", "gmv"): around(0.75, 5)}


def results(values: dict = OURS, baselines: dict = BASELINES, **more) -> Results:
    learns_nothing = [row | {"size": 0, "pool": ""} for row in rows(baselines)]
    made = {"ecc": Setting("ECCClassifier", imports=["from comitia import ECCClassifier"])}
    described = [{"name": "songs", "n": 500}]
    return Results(pd.DataFrame(rows(values)), described, settings=made, baselines=learns_nothing, **more)


def test_the_answer_says_plainly_how_good_it_is_beside_the_vote_and_a_baseline():
    plain = results().recommendation("subset01").plain
    assert plain.startswith(
        "Of 100 instances of songs, 37 get exactly the right set of labels; with the usual vote of the same members "
        "31; with the most frequent set for every instance, which learns nothing, 12. "
        "It is better than the usual vote and learning nothing by more than chance explains (p"
    )
    assert "Among the ensembles it is better than EBR (25) by more than chance explains." in plain


def test_every_comparison_is_tested_across_the_folds_with_holms_correction_among_ensembles():
    values = OURS | {("emodt", "gmv"): around(0.66, 8)}
    rivals = results(values).recommendation("subset01").rivals
    found = {one.ensemble if one.kind == "ensemble" else one.kind: one for one in rivals}
    ours = np.array(OURS["ecc", "ptc-mode"])
    others = {
        "vote": OURS["ecc", "gmv"],
        "baseline": BASELINES["baseline", "frequent"],
        "ebr": values["ebr", "gmv"],
        "emodt": values["emodt", "gmv"],
    }
    expected = {
        name: statistics.corrected_t_test(100 * (np.array(one) - ours), 0.2).p_value for name, one in others.items()
    }
    expected |= dict(zip(("ebr", "emodt"), statistics.holm([expected["ebr"], expected["emodt"]]), strict=True))
    for name, one in others.items():
        assert found[name].p_value == pytest.approx(expected[name])
        assert found[name].points == pytest.approx(100 * (np.mean(one) - ours.mean()))
        assert found[name].beaten == (expected[name] < 0.05)


def test_where_nothing_was_learnt_it_says_so():
    dull = {("ecc", "gmv"): around(0.89, 6), ("ecc", "ctp"): around(0.90, 7)}
    advice = results(dull).recommendation("subset01")
    assert advice.learnt is False
    assert "this is the usual vote" in advice.plain
    assert "Nothing was learnt that helps: the most frequent set for every instance does as well." in advice.plain
    assert results().recommendation("subset01").learnt is True


def test_a_difference_that_could_be_chance_is_called_so():
    close = OURS | {("ebr", "ctp"): [value + 0.0005 * (-1) ** k for k, value in enumerate(OURS["ecc", "ptc-mode"])]}
    advice = results(close).recommendation("subset01")
    assert "The difference to EBR (37) could be chance: the choice among them is open." in advice.plain
    few = {key: values[:2] for key, values in close.items()}
    plain = results(few, {key: values[:2] for key, values in BASELINES.items()}).recommendation("subset01").plain
    assert "could be chance" in plain
    assert "2 folds tell little apart" in plain
    one = {key: values[:1] for key, values in OURS.items()}
    plain = results(one, {key: values[:1] for key, values in BASELINES.items()}).recommendation("subset01").plain
    assert "One fold says nothing about chance." in plain


def test_without_baselines_nothing_is_said_of_learning():
    advice = results(baselines={}).recommendation("subset01")
    assert advice.learnt is None
    assert "learn" not in advice.plain


def many(ensembles: dict[str, float], datasets: int = 8) -> Results:
    found: list[dict] = []
    for place in range(datasets):
        values = {(name, "ctp"): around(mean, 10 * place + k) for k, (name, mean) in enumerate(ensembles.items())}
        found += rows(values, dataset=f"d{place}")
    return Results(pd.DataFrame(found))


def test_over_datasets_ensembles_are_compared_by_friedmans_and_wilcoxons_tests():
    run = many({"ecc": 0.5, "ebr": 0.6, "emodt": 0.7})
    table = run.rows.pivot_table(index="dataset", columns="ensemble", values="value")
    plain = [statistics.wilcoxon(table[name] - table["ecc"]).p_value for name in ("ebr", "emodt")]
    advice = run.recommendation("subset01")
    assert [one.p_value for one in advice.rivals] == pytest.approx(statistics.holm(plain).tolist())
    assert all(one.beaten for one in advice.rivals)
    alike = many({"ecc": 0.5, "ebr": 0.5001, "emodt": 0.5002}).recommendation("subset01")
    friedman = [one.p_value for one in alike.rivals]
    assert min(friedman) >= 0.05
    assert not any(one.beaten for one in alike.rivals)


def test_with_few_datasets_it_says_that_they_tell_little():
    found = rows(OURS, dataset="one") + rows(OURS, dataset="other")
    assert "2 datasets tell little apart" in Results(pd.DataFrame(found)).recommendation("subset01").plain


def test_the_statistics_say_by_how_many_points_and_by_which_test():
    text = results().recommendation("subset01").rivals_text.replace("\u00a0", " ")
    assert text.startswith("Points better than the usual vote +")
    assert "the most frequent set +24.75 (p < 0.001)" in text
    assert "EBR with GMV +11.87 (p < 0.001)" in text
    assert text.endswith("corrected resampled t-test across the folds, with Holm's correction among ensembles.")
    assert "Wilcoxon's signed-rank test" in many({"ecc": 0.5, "ebr": 0.6}).recommendation("subset01").rivals_text


def test_what_shares_no_fold_is_no_rival():
    found = rows(OURS)
    apart = [row for row in found if (row["fold"] < 2) == (row["ensemble"] == "ecc")]
    rivals = Results(pd.DataFrame(apart)).recommendation("subset01", ensemble="ecc").rivals
    assert [one.kind for one in rivals] == ["vote"]


def test_names_are_taken_as_they_are_printed():
    run = results()
    assert run.recommendation("Subset 0/1 loss", ensemble="ECC") == run.recommendation("subset01", ensemble="ecc")


def test_abbreviations_are_explained_where_they_are_used():
    advice = results().recommendation("subset01")
    assert list(advice.abbreviations) == ["ECC", "EBR", "PTC-mode"]
    assert advice.abbreviations["ECC"].startswith("ensemble of classifier chains")


DESCRIBED = {**comitia.ENSEMBLES, **comitia.AGGREGATIONS}


@pytest.mark.parametrize("name", DESCRIBED)
def test_ensembles_and_aggregations_say_where_they_are_defined_what_their_names_stand_for(name):
    assert DESCRIBED[name].about
    assert explained([name]) == {title(name): DESCRIBED[name].about}


@pytest.mark.parametrize("name", [*comitia.LOSSES, *comitia.MEASURES])
def test_losses_and_measures_say_where_they_are_defined_how_their_values_are_told(name):
    terms = {**comitia.LOSSES, **comitia.MEASURES}[name].terms
    assert terms != Terms()
    said = terms.before.format(title="", base="100", things="instances", of_things="an instance")
    assert said in how_good(measure(name), [50.0])[0]


@pytest.mark.parametrize("made", comitia.ENSEMBLES.values())
def test_code_imports_ensembles_from_where_they_are(made):
    assert getattr(comitia, made.__name__) is made


def test_the_record_has_the_words_and_the_lines():
    record = results(loader="datasets.load_dataset('songs.csv')").recommendation("subset01").as_record()
    assert record["plain"].startswith("Of 100 instances")
    assert record["learnt"] is True
    assert [one["kind"] for one in record["rivals"]] == ["vote", "baseline", "ensemble"]
    assert record["python"].splitlines() == [
        "from comitia import ECCClassifier, datasets",
        "data = datasets.load_dataset('songs.csv')",
        'classifier = ECCClassifier(loss="subset01", aggregation="ptc-mode").fit(data.X, data.Y)',
        "classifier.predict(data.X)",
    ]


def test_results_are_read_with_all_of_it(tmp_path):
    from comitia.report._write import write_results

    run = results(loader="datasets.load_dataset('songs.csv')")
    write_results(run, tmp_path)
    again = Results.read(tmp_path)
    assert [one.as_record() for one in again.recommendations] == [one.as_record() for one in run.recommendations]
