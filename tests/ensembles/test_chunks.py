"""How many instances members are asked about together: as many as fit, and as much for each thread."""

import numpy as np
import pytest

from comitia import EMODTClassifier
from comitia.ensembles import _asking

X = np.random.default_rng(0).random((30, 3))
Y = (X > 0.5).astype(int)


@pytest.mark.parametrize(
    ("n", "threads", "size"),
    [
        (5000, 1, 1000),
        (100, 4, 1000),  # too few to be shared
        (101, 4, 26),  # one part a thread
        (400, 4, 100),
        (450, 4, 57),  # more than a hundred for each: two parts a thread
        (5000, 4, 625),
        (9500, 4, 792),  # memory wants ten parts, threads a multiple of four
        (9500, 3, 792),
    ],
)
def test_instances_are_shared_among_threads_in_parts_that_fit_in_memory(n, threads, size, monkeypatch):
    fitted = EMODTClassifier(2, random_state=0).fit(X, Y)
    monkeypatch.setattr(_asking, "BELIEFS_AT_ONCE", 1000 * 2 * 3)
    monkeypatch.setattr(_asking, "_ROWS_OF_A_PART", 100)
    monkeypatch.setattr(_asking, "local_threads", lambda _: threads)
    assert fitted._chunk(n) == size
    monkeypatch.setattr(_asking, "BELIEFS_AT_ONCE", 1)
    assert fitted._chunk(n) == 1
