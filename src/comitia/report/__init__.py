"""Results of comparisons: what to use, tables to paste, figures to print, one page to look at."""

from comitia.report.answers import Answer
from comitia.report.digits import SevenSegments
from comitia.report.paper import read_paper
from comitia.report.recommendation import Recommendation, Setting
from comitia.report.results import Results

__all__ = ["Answer", "Recommendation", "Results", "Setting", "SevenSegments", "read_paper"]
