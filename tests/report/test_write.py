"""The folder of a report: everything is there, whole, and holds the numbers of the results file."""

import csv

import pandas as pd
import pytest


def test_page_figures_and_tables_are_written(report_folder):
    names = {path.relative_to(report_folder).as_posix() for path in report_folder.rglob("*") if path.is_file()}
    diagrams = [f"critical-difference-{ensemble}-{loss}" for ensemble in ("emodt", "extra")
                for loss in ("hamming", "subset01", "f1")]  # fmt: skip
    figures = ["ranks", "regret", "digits", "sizes-emodt", "sizes-extra", *diagrams]
    tables = ["comparison", "comparison-emodt", "comparison-extra"]
    assert names == (
        {"report.html", "results.json", "rows.parquet"}
        | {f"figures/{name}.{ending}" for name in figures for ending in ("svg", "pdf", "png")}
        | {f"tables/{name}.{ending}" for name in tables for ending in ("tex", "md", "csv")}
    )


def test_the_numbers_in_the_tables_are_those_of_the_results_file(run_folder, report_folder):
    rows = pd.read_parquet(run_folder / "rows.parquet")
    rows = rows[rows["size"] == 12]
    with (report_folder / "tables" / "comparison.csv").open(newline="", encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    assert len(table) == rows.groupby(["dataset", "ensemble", "loss", "aggregation"]).ngroups
    for line in table:
        part = rows
        for column in ("dataset", "ensemble", "loss", "aggregation"):
            part = part[part[column] == line[column]]
        expected = 100 * part.value.mean()
        expected = 100 - expected if line["loss"] == "f1" else expected
        assert float(line["value_percent"]) == pytest.approx(expected, abs=1e-9)


def test_the_page_is_a_page(report_folder):
    text = (report_folder / "report.html").read_text(encoding="utf-8")
    assert text.lstrip().startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")


def test_a_page_that_cannot_be_made_leaves_everything_as_it_was(run, report_folder, monkeypatch):
    before = {path: path.stat().st_mtime_ns for path in report_folder.rglob("*")}

    def fail(run):
        raise RuntimeError("no page today")

    monkeypatch.setattr("comitia.report._write.page", fail)
    with pytest.raises(RuntimeError, match="no page today"):
        run.write(report_folder)
    assert {path: path.stat().st_mtime_ns for path in report_folder.rglob("*")} == before
