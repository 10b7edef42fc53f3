"""How many instances members are asked about together: as many as fit, and as much for each thread."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from comitia import CommitteeClassifier, EBRClassifier, ECCClassifier, EMODTClassifier, MultilabelVotingClassifier
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


class Crew(tuple):
    """Ensembles, with the name that a committee has for them."""

    @property
    def ensembles(self):
        return tuple(self)


def test_a_belief_takes_what_members_say_of_an_instance():
    trees, lines = (kind.fit(X, Y) for kind in (EMODTClassifier(2, random_state=0), EBRClassifier(n_estimators=3)))
    chains = ECCClassifier(n_estimators=2, random_state=0).fit(X, Y)
    assert [one._values_per_belief() for one in (trees, lines, chains)] == [3, 3, 3], "a number a label"
    chains.set_params(chain_method="joint")
    for labelsets, values in ((2, 3), (4, 4), (256, 256), (257, 256)):
        chains.observed_ = SimpleNamespace(table=range(labelsets))
        assert chains._values_per_belief() == values, "or one for each labelset that can matter"
    voted = MultilabelVotingClassifier([("a", trees), ("b", chains), ("c", GaussianNB())], prefit=True)
    voted.label_names_ = trees.label_names_
    voted.members_ = SimpleNamespace(members=[SimpleNamespace(estimator=one) for _, one in voted.estimators])
    assert voted._values_per_belief() == 256 + 3, "the largest of the voters, and what is made of it"
    committee = CommitteeClassifier()
    for ensembles, values in (((trees, lines), (2 * 3 + 3 * 3) // 2), ((chains,), 2 * 256)):
        committee.members_ = Crew(ensembles)
        assert committee._values_per_belief() == values, "each of its ensembles asks all of its members"
