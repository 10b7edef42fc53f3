"""Tables: the same numbers in every format, names escaped for each, the paper's own table reproduced."""

import csv
import io
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from comitia.report import read_paper
from tests.report.conftest import comparison_table

SCRIPT = "<script>alert(1)</script>"


class Cells(HTMLParser):
    """Texts of a table's cells, row by row, and the attributes of every tag."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def latex_rows(text):
    body = text.split(r"\midrule", 1)[1].split(r"\bottomrule")[0]
    return [line for line in body.splitlines() if line.endswith(r"\\") and r"\emph" not in line]


def test_every_format_holds_the_same_values(rows):
    table = comparison_table(rows, losses=["f1"])
    lines = list(table.lines())
    values = [f"{cell.value:.2f}" for line in lines for cell in line.cells]
    assert len(values) == 2 * 6 * 4
    markdown = [re.match(r"(?:\*\*)?([\d.]+)", part.strip()) for line in table.to_markdown().splitlines()[2:]
                for part in re.split(r"(?<!\\)\|", line)[4:8]]  # fmt: skip
    assert [match.group(1) for match in markdown] == values
    latex = [re.findall(r"\$(?:\\mathbf\{)?([\d.]+)\}?_", line) for line in latex_rows(table.to_latex())]
    assert [value for line in latex for value in line] == values
    html = [attrs["data-value"] for tag, attrs in Cells(table.to_html()).tags if tag == "td" and "data-value" in attrs]
    shown = [f"{float(value):.2f}" for position, value in enumerate(html) if position % 5 != 4]
    assert shown == values
    in_csv = [f"{float(row['value_percent']):.2f}" for row in csv.DictReader(io.StringIO(table.to_csv()))]
    assert in_csv == values


def test_the_best_value_is_bold_and_no_other(rows):
    for line in comparison_table(rows, losses=["hamming"]).lines():
        if line.same_as is None:
            for cell in line.cells:
                assert cell.best == (cell.rank < 2 and cell.rank in (1.0, 1.5))
    text = comparison_table(rows, losses=["hamming"], ensembles=["emodt"]).to_markdown()
    column = [re.split(r"(?<!\\)\|", line)[4] for line in text.splitlines()[2:]]
    numbers = [float(re.search(r"[\d.]+", part).group()) for part in column if "=" not in part]
    bold = [float(re.search(r"\*\*([\d.]+)", part).group(1)) for part in column if "**" in part]
    assert bold == [min(numbers)]


def test_an_equal_aggregation_is_said_to_be_equal(rows):
    table = comparison_table(rows, losses=["hamming"], ensembles=["emodt"])
    assert r"CTP & \multicolumn{9}{c@{}}{equal to GMV} \\" in table.to_latex()
    assert "| CTP | = GMV | = GMV |" in table.to_markdown()
    assert "= GMV</small>" in table.to_html()


def test_latex_rows_have_as_many_cells_as_the_tabular_has_columns(rows):
    text = comparison_table(rows).to_latex()
    columns = 1 + 2 * 4 + 1
    assert text.count(r"r@{\,}l") == 4
    for line in latex_rows(text):
        spans = sum(int(count) - 1 for count in re.findall(r"\\multicolumn\{(\d+)\}", line))
        assert len(re.findall(r"(?<!\\)&", line)) + 1 + spans == columns, line
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_names_are_escaped_for_each_format(rows):
    nasty = r"100% a_b & #1 $x$ {y} \z ~^ | <i>*bold*</i> [l](u) `c`"
    renamed = rows[rows.dataset.isin(["seven-segment", "weather"])].replace({"dataset": {"weather": nasty}})
    table = comparison_table(renamed, losses=["f1"])
    head = table.to_latex().splitlines()[3]
    assert r"100\% a\_b \& \#1 \$x\$ \{y\} \textbackslash{}z \textasciitilde{}\textasciicircum{}" in head
    assert r"\textbar{} \textless{}i\textgreater{}" in head
    lines = table.to_markdown().splitlines()
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert r"\| \<i\>\*bold\*\</i\> \[l\](u) \`c\`" in lines[0]
    parsed = Cells(table.to_html())
    assert nasty in parsed.rows[0]
    assert not {"i", "b", "script"} & {tag for tag, _ in parsed.tags}
    assert {row["dataset"] for row in csv.DictReader(io.StringIO(table.to_csv()))} == {"seven-segment", nasty}


@pytest.mark.parametrize("name", ["=1", "\t=1", "\r=1", "é\r=1", "é\r\n=1", "\n@x"])
def test_no_name_begins_a_formula_in_csv_wherever_a_line_may_break(name, rows):
    renamed = rows.replace({"dataset": {"weather": name}, "ensemble": {"extra": name}})
    for row in csv.reader(io.StringIO(comparison_table(renamed).to_csv(), newline="")):
        assert not [cell for cell in row if cell.startswith(("=", "+", "@", "\t", "\r", "\n"))]


def test_a_script_as_a_name_is_text_in_html(rows):
    text = comparison_table(rows.replace({"ensemble": {"extra": SCRIPT}, "aggregation": {"gmv": SCRIPT}})).to_html()
    assert "<script" not in text
    assert any(SCRIPT in cell for row in Cells(text).rows for cell in row)


def test_a_single_dataset_has_no_average_ranks_and_a_single_fold_no_errors(rows):
    part = rows[(rows.dataset == "seven-segment") & (rows.fold == 0)]
    table = comparison_table(part)
    assert "Avg. rank" not in table.to_latex() + table.to_markdown() + table.to_html()
    assert "±" not in table.to_markdown()
    assert r"\pm" not in table.to_latex()


def test_a_dataset_that_an_ensemble_lacks_is_left_blank(rows):
    part = rows[~((rows.ensemble == "extra") & (rows.dataset == "weather"))]
    lines = [line for line in comparison_table(part, losses=["f1"]).lines() if line.ensemble == "extra"]
    assert all(line.cells[1] is None and line.cells[0] is not None for line in lines)
    assert "| – |" in comparison_table(part, losses=["f1"]).to_markdown()


@pytest.fixture(scope="session")
def published(shared_paper) -> pd.DataFrame:
    return read_paper(shared_paper / "table2.csv")


def as_rows(published: pd.DataFrame) -> pd.DataFrame:
    return published.assign(repeat=0, fold=0, pool="mean", size=50, n_test=50)


def test_the_papers_table_comes_out_of_its_own_values(shared_paper, published):
    """Printed values, ranks, average ranks and equivalences of Table 2, all of them."""
    lines = {(line.ensemble, line.measure.loss, line.method): line for line in
             comparison_table(as_rows(published), paper=published).lines()}  # fmt: skip
    datasets = list(published.dataset.unique())
    printed = pd.read_csv(shared_paper / "table2.csv", dtype=str, keep_default_na=False)
    assert len(lines) == 45
    for row in printed.itertuples():
        line = lines[row.ensemble.lower(), row.metric, row.aggregation.lower()]
        if row.dataset == "*":
            assert line.same_as == row.value_percent.removeprefix("= ").lower()
        elif row.value_percent:
            cell = line.cells[datasets.index(row.dataset)]
            assert cell.value == pytest.approx(float(row.value_percent), abs=1e-9)
            assert cell.rank == float(row.rank)
            assert line.average_rank == pytest.approx(float(row.average_rank), abs=0.005 + 1e-9)
            assert cell.difference == pytest.approx(0, abs=1e-9)


def test_the_difference_to_the_paper_is_own_minus_published(published):
    worse = as_rows(published).assign(value=lambda part: (part.value + 0.01).clip(0, 1))
    table = comparison_table(worse, ensembles=["emodt"], losses=["hamming", "f1"], paper=published)
    for line in table.lines():
        expected = -1.0 if line.measure.loss == "f1" else 1.0
        np.testing.assert_allclose([cell.difference for cell in line.cells], expected, atol=1e-9)
    assert "(+1.00)" in table.to_markdown()
    assert "^{-1.00}" in table.to_latex()


def test_published_curves_are_read_with_their_sizes(shared_paper):
    curves = read_paper(shared_paper / "figure2.csv")
    assert set(curves["size"]) == {1, 5, *range(10, 101, 10)}
    assert len(curves) == 4 * 3 * 5 * 12
    assert set(curves.ensemble) == {"emodt"}
    first = curves[(curves.dataset == "cal500") & (curves.loss == "hamming") & (curves["size"] == 1)]
    assert first.value.iloc[0] == pytest.approx(0.17121)


def test_a_file_that_is_no_paper_table_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"other.csv must have the columns aggregation, dataset, metric"):
        read_paper(tmp_path / "other.csv")
