"""Comparison tables written as text, LaTeX, Markdown, HTML and CSV; names are escaped for each."""

from __future__ import annotations

import csv as csv_module
import io
from typing import TYPE_CHECKING

from markupsafe import Markup

from comitia._names import in_csv, printable, shown
from comitia.report._text import text_table
from comitia.report._vocabulary import Measure, title
from comitia.report._words import DECIMALS, in_markdown, markdown_table, number, signed

if TYPE_CHECKING:
    from comitia.report._blocks import Block
    from comitia.report._tables import Cell, ComparisonTable, Line

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "·": r"$\cdot$",
    **{character: "\\" + character for character in "&%$#_{}"},
}

_CSV_COLUMNS = (
    "ensemble",
    "loss",
    "measure",
    "aggregation",
    "dataset",
    "value_percent",
    "standard_error",
    "rank",
    "average_rank",
    "same_as",
    "paper_percent",
    "difference",
    "value",
)


def text(table: ComparisonTable) -> str:
    """Write a small table for each loss, as a terminal shows it."""
    by_measure: dict[Measure, list[Block]] = {}
    for block in table.blocks:
        by_measure.setdefault(block.measure, []).append(block)
    return shown("\n\n".join(f"{measure.heading}\n{text_table(found)}" for measure, found in by_measure.items()))


def latex(table: ComparisonTable, *, errors: bool) -> str:
    """Write a ``tabular`` of booktabs; differences to the paper stand above the line, errors below it."""
    datasets = table.datasets
    average = table.has_average_ranks
    columns = 1 + 2 * len(datasets) + average
    lines = [
        rf"% needs \usepackage{{booktabs}}; values {_unit(table)}, rank small beside the value"
        + (", standard error below" if errors else "")
        + (", difference to the paper above" if table.has_paper else ""),
        r"\begin{tabular}{@{}l" + r"r@{\,}l" * len(datasets) + "r" * average + "@{}}",
        r"\toprule",
        " & ".join(
            ["Aggregation"]
            + [rf"\multicolumn{{2}}{{c}}{{{_in_latex(name)}}}" for name in datasets]
            + ["Avg. rank"] * average
        )
        + r" \\",
    ]
    heading = None
    for line in table.lines():
        if heading != (line.ensemble, line.measure):
            heading = (line.ensemble, line.measure)
            arrow = r"\uparrow" if line.measure.higher_is_better else r"\downarrow"
            text = rf"{_in_latex(title(line.ensemble))}, {_in_latex(line.measure.title)} ${arrow}$"
            lines += [r"\midrule", rf"\multicolumn{{{columns}}}{{@{{}}l}}{{\emph{{{text}}}}} \\"]
        lines.append(_latex_line(line, columns, average, errors))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_line(line: Line, columns: int, average: bool, errors: bool) -> str:
    name = _in_latex(title(line.method))
    if line.same_as is not None:
        same = _in_latex(title(line.same_as))
        return rf"{name} & \multicolumn{{{columns - 1}}}{{c@{{}}}}{{equal to {same}}} \\"
    parts = [name]
    for cell in line.cells:
        if cell is None:
            parts += ["--", ""]
            continue
        value = number(cell.value)
        value = rf"\mathbf{{{value}}}" if cell.best else value
        if errors and cell.error is not None:
            value += rf"_{{\pm {number(cell.error)}}}"
        if cell.difference is not None:
            value += rf"^{{{_difference(cell)}}}"
        parts += [f"${value}$", "" if cell.rank is None else rf"$\scriptstyle {_rank(cell.rank)}$"]
    if average:
        rank = "--" if line.average_rank is None else number(line.average_rank)
        parts.append(rf"\textbf{{{rank}}}" if line.best else rank)
    return " & ".join(parts) + r" \\"


def markdown(table: ComparisonTable, *, errors: bool) -> str:
    """Write a Markdown table; ranks are superscripts, differences to the paper stand in brackets."""
    datasets = table.datasets
    heads = ["Ensemble", "Measure (%)" if table.in_percent else "Measure", "Aggregation", *map(in_markdown, datasets)]
    heads += ["Avg. rank"] * table.has_average_ranks
    lines = []
    for line in table.lines():
        measured = line.measure.title if table.in_percent else line.measure.with_unit
        parts = [title(line.ensemble), f"{measured} {line.measure.arrow}", title(line.method)]
        parts = [in_markdown(part) for part in parts]
        if line.same_as is not None:
            parts += [f"= {in_markdown(title(line.same_as))}"] * len(datasets)
            parts += [""] * table.has_average_ranks
        else:
            parts += [_markdown_cell(cell, errors) for cell in line.cells]
            if table.has_average_ranks:
                rank = "–" if line.average_rank is None else number(line.average_rank)
                parts.append(f"**{rank}**" if line.best else rank)
        lines.append(parts)
    return markdown_table(heads, lines, numbers=len(heads) - 3) + "\n"


def _markdown_cell(cell: Cell | None, errors: bool) -> str:
    if cell is None:
        return "–"
    text = f"**{number(cell.value)}**" if cell.best else number(cell.value)
    if errors and cell.error is not None:
        text += f" ± {number(cell.error)}"
    if cell.rank is not None:
        text += f" <sup>{_rank(cell.rank)}</sup>"
    if cell.difference is not None:
        text += f" ({_difference(cell)})"
    return text


def html(table: ComparisonTable, *, caption: str, buttons: bool) -> str:
    """Write an HTML table whose headings can be buttons to sort by and whose cells carry their numbers in full."""
    several = len({block.ensemble for block in table.blocks}) > 1
    measures = len({block.measure for block in table.blocks}) > 1
    heads = ["Ensemble"] * several + ["Measure"] * measures + ["Aggregation"]
    names = len(heads)
    heads += table.datasets + ["Avg. rank"] * table.has_average_ranks
    out = [Markup('<table class="comparison sortable">')]
    if caption:
        out.append(Markup("<caption>{}</caption>").format(caption))
    out.append(Markup("<thead><tr>"))
    for position, head in enumerate(heads):
        kind = "name" if position < names else "number"
        text = Markup('<button type="button">{}</button>').format(head) if buttons else head
        out.append(Markup('<th scope="col" class="{}">{}</th>').format(kind, text))
    out.append(Markup("</tr></thead><tbody>"))
    out += [_html_line(line, several, measures, table.has_average_ranks) for line in table.lines()]
    out.append(Markup("</tbody></table>"))
    return str(Markup("\n").join(out))


def _html_line(line: Line, several: bool, measures: bool, average: bool) -> Markup:
    row = Markup('<tr data-ensemble="{}" data-loss="{}" data-method="{}"{}>').format(
        line.ensemble, line.measure.loss, line.method, Markup(' class="same"' if line.same_as else "")
    )
    for name in [title(line.ensemble)] * several + [line.measure.title] * measures:
        row += Markup('<td class="name">{}</td>').format(name)
    row += Markup('<th scope="row" class="name">{}').format(title(line.method))
    if line.same_as:
        row += Markup(' <small title="the same in every fold">= {}</small>').format(title(line.same_as))
    row += Markup("</th>")
    for cell in line.cells:
        row += _html_cell(cell, with_rank=not line.same_as)
    if average:
        if line.average_rank is None or line.same_as:
            row += Markup('<td class="number missing">–</td>')
        else:
            row += Markup('<td class="number{}" data-value="{}"><span class="value">{}</span></td>').format(
                " best" if line.best else "", repr(line.average_rank), number(line.average_rank)
            )
    return row + Markup("</tr>")


def _html_cell(cell: Cell | None, with_rank: bool) -> Markup:
    if cell is None:
        return Markup('<td class="number missing">–</td>')
    text = Markup('<td class="number{}" data-value="{}"><span class="value">{}</span>').format(
        " best" if cell.best and with_rank else "", repr(cell.value), number(cell.value)
    )
    if with_rank and cell.rank is not None:
        text += Markup('<span class="rank"><span class="unseen">, rank </span>{}</span>').format(_rank(cell.rank))
    if cell.error is not None:
        text += Markup('<span class="error" data-value="{}">± {}</span>').format(repr(cell.error), number(cell.error))
    if cell.difference is not None:
        text += Markup('<span class="difference" title="difference to the paper">{}</span>').format(
            _difference(cell).replace("-", "−")
        )
    return text + Markup("</td>")


def csv(table: ComparisonTable) -> str:
    """Write a line for each value; no name in it is a formula for a spreadsheet."""
    out = io.StringIO()
    writer = csv_module.writer(out, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for line in table.lines():
        for name, cell in zip(table.datasets, line.cells, strict=True):
            if cell is not None:
                names = [line.ensemble, line.measure.loss, line.measure.title, line.method, name]
                head = [in_csv(str(part)) for part in names]
                ranks = [cell.rank, line.average_rank] if line.same_as is None else [None, None]
                tail = [line.same_as, cell.published, cell.difference, cell.value]
                percent = cell.value if line.measure.percent else None
                writer.writerow([*head, percent, cell.error, *ranks, *tail])
    return out.getvalue()


def _unit(table: ComparisonTable) -> str:
    return "in percent" if table.in_percent else "in percent, costs as they are"


def _difference(cell: Cell) -> str:
    """Write the difference of the values as they are printed."""
    return signed(round(cell.value, DECIMALS) - (cell.published or 0.0))


def _rank(rank: float) -> str:
    return f"{round(rank, DECIMALS):g}"


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in printable(" ".join(text.split())))
