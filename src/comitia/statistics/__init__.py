"""Which method is better over several datasets, and whether the difference could be chance.

The tables here have one row per dataset and one column per method.  Ranks make results on different datasets
comparable: 1 is best, ties share the average of the ranks they cover.  Friedman's test asks whether any
method differs, Nemenyi's which pairs do (Demšar 2006).  On a single dataset there is nothing to rank over;
there the corrected resampled t-test compares two methods across the folds of a cross-validation (Nadeau and
Bengio 2003).

References
----------
J. Demšar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
C. Nadeau, Y. Bengio. Inference for the generalization error. Machine Learning 52, 2003.
R. R. Bouckaert, E. Frank. Evaluating the replicability of significance tests. PAKDD 2004.
F. Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.
"""

from comitia.statistics._ranks import (
    Nemenyi,
    average_ranks,
    cliques,
    critical_distance,
    friedman,
    nemenyi,
    ranks,
)
from comitia.statistics._tests import TestResult, corrected_t_test, holm, wilcoxon

__all__ = [
    "Nemenyi",
    "TestResult",
    "average_ranks",
    "cliques",
    "corrected_t_test",
    "critical_distance",
    "friedman",
    "holm",
    "nemenyi",
    "ranks",
    "wilcoxon",
]
