"""How much is worked on at a time is a matter of memory: no answer and no value depends on it."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from comitia.losses import Abstaining, Constraints, CustomLoss, FLoss, SubsetZeroOne, minimise_within
from comitia.measures import MacroF
from comitia.relevance import LabelSets, Marginals, Shared
from tests.losses.test_minimisers import severity

RNG = np.random.default_rng(4)
K = 9
P = RNG.random((13, K))
SETS = LabelSets.from_rows([(RNG.random((5, K)) < 0.4, RNG.dirichlet(np.ones(5))) for _ in range(13)])
TRUTH = (RNG.random((13, K)) < 0.4).astype(np.int8)
CROSSED = Constraints(at_least=2, exclusive=((0, 1), (1, 2)), implies=((3, 4), (3, 5)))
WORK = {
    "searched": lambda: CustomLoss(severity).minimise(Marginals(P)),
    "searched within limits": lambda: minimise_within(FLoss(), Marginals(P), CROSSED),
    "searched among label sets": lambda: minimise_within(CustomLoss(severity), SETS, CROSSED),
    "tried one by one": lambda: minimise_within(CustomLoss(severity), SETS, CROSSED, exact_labels=K),
    "expected": lambda: FLoss().risk(SETS, TRUTH),
    "left open": lambda: Abstaining(FLoss(), 0.2).risk(SETS, Abstaining(FLoss(), 0.2).minimise(SETS)),
    "shared": lambda: SubsetZeroOne().minimise(Shared(Marginals(P), np.array([5, 0, 0, 12]))),
    "of sparse labels": lambda: FLoss().value(csr_array(TRUTH), csr_array(TRUTH[::-1])),
    "cut": lambda: MacroF().resolve(P, TRUTH).false_negative,
}

SIZES = [
    "losses._base._PAIRS_AT_ONCE",
    "losses._base._ROWS_AT_ONCE",
    "losses._base._REMEMBERED",
    "losses._search._CELLS",
    "measures._cuts._CELLS",
]


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("size", [1, 2 * K])
def test_parts_of_any_size_give_the_same(work, size, monkeypatch):
    expected = WORK[work]()
    for place in SIZES:
        monkeypatch.setattr(f"comitia.{place}", size)
    np.testing.assert_array_equal(WORK[work](), expected)
