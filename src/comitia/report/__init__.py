"""Reports of a run: tables to paste, figures to print, one page to look at."""

from comitia.report.answers import Answer, answers
from comitia.report.run import Run
from comitia.report.tables import ComparisonTable, comparison_table
from comitia.report.write import write_report

__all__ = ["Answer", "ComparisonTable", "Run", "answers", "comparison_table", "write_report"]
