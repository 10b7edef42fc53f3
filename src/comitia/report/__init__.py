"""Results of comparisons: what to use, tables to paste, figures to print, one page to look at."""

from comitia.report._answers import Answer
from comitia.report._digits import SevenSegments
from comitia.report._paper import read_paper
from comitia.report._recommendation import Recommendation, Setting
from comitia.report._results import Results
from comitia.report._rivals import Rival

__all__ = ["Answer", "Recommendation", "Results", "Rival", "Setting", "SevenSegments", "read_paper"]
