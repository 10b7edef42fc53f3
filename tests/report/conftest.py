"""A small real run for the report's tests: trees on handwritten digits and on invented data with wicked names."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification

from comitia._compare import read_run
from comitia.experiments import DataSource, EnsembleSetting, Plan, run_plan
from comitia.report import Results
from comitia.report._blocks import blocks
from comitia.report._tables import ComparisonTable

SCRIPT = "<script>alert(1)</script>"
SIZES = (1, 5, 12)
INVENTED = {"weather": 1, "sea & <b>land</b>": 2, SCRIPT: 3}


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    """The folder of a finished run, as ``comitia compare`` leaves it."""
    folder = tmp_path_factory.mktemp("run")
    sources = [DataSource("seven-segment")]
    for name, seed in INVENTED.items():
        path = tmp_path_factory.mktemp("data") / f"{seed}.csv"
        X, Y = make_multilabel_classification(240, 12, n_classes=5, n_labels=2, random_state=seed)
        labels = ("rain", "wind_speed", "a | b", f"{SCRIPT}{seed}", "100 % & more")
        pd.DataFrame(X).assign(**dict(zip(labels, Y.T, strict=True))).to_csv(path, index=False)
        sources.append(DataSource(name, str(path), labels))
    plan = Plan(
        name=f"compare {SCRIPT}",
        datasets=tuple(sources),
        ensembles=(
            EnsembleSetting("emodt", {"n_estimators": max(SIZES)}),
            EnsembleSetting("emodt", {"n_estimators": max(SIZES), "max_features": 1}, name="extra"),
        ),
        aggregations=("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"),
        sizes=SIZES,
        folds=3,
    )
    summary = run_plan(plan, folder, n_jobs=1, command=f"comitia compare {SCRIPT}")
    assert not summary.failures
    read_run(folder).write(folder)
    return folder


@pytest.fixture(scope="session")
def run(run_folder) -> Results:
    failure = {"cell": f"ecc {SCRIPT} 0 2", "error": "ValueError: label 'rain' is constant"}
    return replace(read_run(run_folder), failures=[failure])


@pytest.fixture(scope="session")
def report_folder(run, tmp_path_factory) -> Path:
    """Everything that is written about the run, in a folder that was not there before."""
    folder = tmp_path_factory.mktemp("report") / "new"
    assert run.write(folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="session")
def rows(run) -> pd.DataFrame:
    return run.rows


def comparison_table(rows: pd.DataFrame, **choice) -> ComparisonTable:
    return ComparisonTable(tuple(blocks(rows, **choice)))
