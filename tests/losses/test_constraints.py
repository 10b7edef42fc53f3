"""Decisions within limits against exhaustive search over all labelings that the limits allow."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia import ComitiaError, decide
from comitia.losses import CustomLoss, FLoss, Hamming, JaccardLoss, SubsetZeroOne
from comitia.losses._abstention import Abstaining
from comitia.losses._constraints import Constraints, Within, minimise_within
from comitia.losses._count_kernels import count_relevant, fill_joint
from comitia.losses._counts import CountLoss, Matthews, Recall
from comitia.relevance import LabelSets, Marginals, NonEmpty, Shared, votes
from tests.losses.test_counts import counted_risks, steep
from tests.losses.test_minimisers import severity
from tests.oracle import labelings, risks

K = 6
LIMITS = {
    "at least one": Constraints(at_least=1),
    "two to three": Constraints(at_least=2, at_most=3),
    "at most one": Constraints(at_most=1),
    "none": Constraints(at_most=0),
    "all": Constraints(at_least=6),
    "groups": Constraints(exclusive=((0, 1, 2), (3, 5))),
    "groups and sizes": Constraints(at_least=2, at_most=3, exclusive=((0, 1), (4, 2, 5))),
    "a chain": Constraints(implies=((0, 1), (1, 2), (2, 3))),
    "trees": Constraints(implies=((0, 3), (1, 3), (3, 5), (2, 4))),
    "trees and sizes": Constraints(at_least=2, at_most=3, implies=((0, 3), (1, 3), (3, 5), (2, 4))),
    "trees and groups of siblings": Constraints(
        at_least=1, implies=((0, 3), (1, 3), (2, 3)), exclusive=((0, 2), (3, 5))
    ),
    "two parents": Constraints(implies=((0, 3), (0, 4), (1, 4)), at_least=1, at_most=4),
    "groups that overlap": Constraints(exclusive=((0, 1), (1, 2), (3, 4, 0)), at_least=2),
    "a group across a tree": Constraints(exclusive=((0, 5), (1, 3)), implies=((0, 3), (1, 4), (5, 4)), at_most=3),
}
LOSSES = [
    Hamming(),
    Hamming(false_positive=(1, 2, 0.5, 1, 0, 3), false_negative=2.0),
    Hamming(ties="relevant"),
    SubsetZeroOne(),
    FLoss(),
    FLoss(beta=2, zero_division=0),
    FLoss(beta=0.7310585),
    JaccardLoss(),
    JaccardLoss(zero_division=0),
    Matthews(),
    Recall(precision_floor=0.5),
    CustomLoss(severity),
]

probabilities = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 0.25, 1e-300, 1e-9, 1 - 2**-53]))
some_marginals = st.lists(st.lists(probabilities, min_size=K, max_size=K), min_size=2, max_size=2).map(Marginals)


@st.composite
def some_label_sets(draw):
    rows = []
    for _ in range(2):
        sets = draw(st.lists(st.lists(st.integers(0, 1), min_size=K, max_size=K), min_size=1, max_size=7))
        mass = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 0.3, 1e-9]), min_size=len(sets), max_size=len(sets))))
        rows.append((sets, mass / mass.sum()))
    return LabelSets.from_rows(rows)


def every_risk(loss, belief, i):
    if isinstance(loss, Matthews | Recall | CountLoss):
        return counted_risks(loss, belief, i)
    return risks(loss, belief, i)


def allowed(limits, labeling):
    """The limits, read label by label."""
    most = K if limits.at_most is None else limits.at_most
    return (
        limits.at_least <= sum(labeling) <= most
        and all(sum(labeling[k] for k in group) <= 1 for group in limits.exclusive)
        and all(labeling[child] <= labeling[parent] for child, parent in limits.implies)
    )


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@settings(max_examples=25, deadline=None)
@given(belief=st.one_of(some_marginals, some_marginals.map(NonEmpty()), some_label_sets()))
def test_the_answer_is_the_best_of_all_that_are_allowed(limits, belief):
    candidates = [h for h in labelings(K) if allowed(limits, h)]
    for loss in LOSSES:
        chosen = minimise_within(loss, belief, limits)
        assert chosen.dtype == np.int8
        for i, labeling in enumerate(map(tuple, chosen.tolist())):
            assert allowed(limits, labeling), (loss, labeling)
            expected = every_risk(loss, belief, i)
            best = min(expected[h] for h in candidates)
            assert expected[labeling] <= best + 1e-11 * max(1, abs(best)), loss


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("limits", [LIMITS["groups and sizes"], LIMITS["two to three"], LIMITS["all"]], ids=str)
def test_limits_are_kept_where_probabilities_are_too_small_to_be_added(loss, limits):
    chosen = minimise_within(loss, Marginals([[0.0] * 5 + [5e-324], [5e-324] * 6]), limits)
    assert all(allowed(limits, labeling) for labeling in chosen.tolist())


@settings(max_examples=40, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_random_limits_are_kept_at_the_smallest_risk(data, seed):
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(K).tolist()
    implies = tuple(
        (shuffled[a], shuffled[b])
        for a, b in data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=4, unique=True))
        if a < b
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, K), max_size=3)))
    groups = tuple(
        tuple(part.tolist()) for part in np.split(rng.permutation(K), cuts) if len(part) > 1 and rng.random() < 0.7
    )
    limits = Constraints(
        at_least=data.draw(st.integers(0, 3)), at_most=data.draw(st.sampled_from([None, 3, 4])),
        exclusive=groups, implies=implies,
    )  # fmt: skip
    candidates = [h for h in labelings(K) if allowed(limits, h)]
    if not candidates:
        with pytest.raises(ComitiaError, match="contradict"):
            limits.allows([[0] * K])
        return
    np.testing.assert_array_equal(limits.allows(labelings(K)), [allowed(limits, h) for h in labelings(K)])
    p = Marginals(rng.choice([rng.random((3, K)), rng.integers(0, 3, (3, K)) / 2, rng.random((3, K)) ** 6]))
    sets = LabelSets.from_rows([(rng.random((5, K)) < 0.4, rng.dirichlet(np.ones(5))) for _ in range(3)])
    for belief in (p, sets):
        for loss in (Hamming(), SubsetZeroOne(), FLoss(), JaccardLoss(), Matthews()):
            for i, labeling in enumerate(map(tuple, minimise_within(loss, belief, limits).tolist())):
                assert allowed(limits, labeling)
                expected = every_risk(loss, belief, i)
                assert expected[labeling] <= min(expected[h] for h in candidates) + 1e-11


def perverse(tp, fp, fn, tn):
    """Linear in the hits, and the fewer of them the better."""
    return tp + (tp + fp - 3.0) ** 2 / 9


OF_TREES = {"f1": FLoss(), "f": FLoss(beta=0.7310585), "matthews": Matthews(), "perverse": CountLoss(perverse)}


@pytest.mark.parametrize("loss", OF_TREES.values(), ids=OF_TREES)
@pytest.mark.parametrize("sizes", [{}, {"at_least": 2, "at_most": 4}], ids=str)
def test_trees_of_ten_labels_are_decided_best_of_all_labelings(loss, sizes):
    rng, many = np.random.default_rng(5), 10
    limits = Constraints(implies=tuple((k, (k - 1) // 3) for k in range(1, many)), exclusive=((1, 2),), **sizes)
    every = np.array(labelings(many), np.int8)
    every = every[limits.allows(every)]
    beliefs = [rng.random((6, many)), rng.random((6, many)) ** 6, 1 - rng.random((3, many)) ** 6]
    beliefs += [rng.integers(0, 3, (6, many)) / 2, np.full((1, many), 0.5), np.full((1, many), 1e-300)]
    for belief in map(Marginals, beliefs):
        reached = loss.risk(belief, minimise_within(loss, belief, limits))
        for i, risk in enumerate(reached):
            alike = belief.take(np.full(len(every), i))
            assert risk <= loss.risk(alike, every).min() + 1e-11


def test_how_many_are_relevant_beside_each_label_is_known_for_all_labels_at_once():
    rng = np.random.default_rng(6)
    for p in (rng.random(9), rng.random(9) ** 8, 1 - rng.random(9) ** 8, np.array([1.0, 1, 0.5, 0.5, 0, 0])):
        falling = -np.sort(-p)
        counts, joint = np.empty(len(p) + 1), np.full((len(p) + 1, len(p)), np.nan)
        count_relevant(falling, counts)
        for last in (len(p), 4):
            fill_joint(falling, counts, last, joint)
            for k, q in enumerate(falling):
                others = np.ones(1)
                for other in np.delete(falling, k):
                    others = np.convolve(others, [1 - other, other])
                np.testing.assert_allclose(joint[: last + 1, k], np.append(0, q * others)[: last + 1], atol=1e-13)


@pytest.mark.parametrize("name", ["groups and sizes", "trees and sizes", "a group across a tree", "two parents"])
def test_a_search_keeps_the_limits_and_comes_close_to_the_best(name):
    rng = np.random.default_rng(0)
    limits, gaps = LIMITS[name], []
    beliefs = (
        Marginals(rng.random((40, K)) ** 2),
        LabelSets.from_rows([(rng.random((9, K)) < 0.4, rng.dirichlet(np.ones(9))) for _ in range(40)]),
    )
    for loss in (JaccardLoss(), FLoss(), CountLoss(steep), CustomLoss(severity, candidates="all")):
        for belief in beliefs:
            own = CustomLoss(loss._value)  # no algorithm but the search knows it
            found = minimise_within(own, belief, limits, exact_labels=0)
            assert limits.allows(found).all()
            exact = minimise_within(own, belief, limits, exact_labels=K)
            gaps.append(loss.risk(belief, found) - loss.risk(belief, exact))
    assert np.min(gaps) >= -1e-11
    assert np.mean(np.concatenate(gaps) > 1e-9) < 0.1


def test_many_labels_are_decided_within_limits_by_every_loss():
    rng = np.random.default_rng(1)
    n, many = 6, 60
    limits = Constraints(
        at_least=2, at_most=9, exclusive=((0, 1, 2), (10, 11), (30, 31, 32, 33)),
        implies=tuple((k, k // 3 + 40) for k in range(12, 30)),
    )  # fmt: skip
    tangled = Constraints(at_least=3, exclusive=((0, 1), (1, 2), (2, 3)), implies=((5, 0), (5, 4), (6, 4)))
    sets = LabelSets.from_rows([(rng.random((8, many)) < 0.1, rng.dirichlet(np.ones(8))) for _ in range(n)])
    for belief in (Marginals(rng.random((n, many)) ** 3), sets):
        for loss in (Hamming(), SubsetZeroOne(), FLoss(), JaccardLoss(), Matthews()):
            for rules in (
                limits,
                tangled,
                Constraints(at_least=12),
                Constraints(at_most=2, exclusive=((0, 1), (2, 3))),
            ):
                chosen = minimise_within(loss, belief, rules)
                assert rules.allows(chosen).all()
                if rules.allows(loss.minimise(belief)).all():
                    assert (loss.risk(belief, chosen) <= loss.risk(belief, loss.minimise(belief)) + 1e-11).all()


def test_limits_that_allow_the_unlimited_answer_leave_it_as_good():
    rng = np.random.default_rng(2)
    belief = Marginals(rng.random((300, 30)) ** 2)
    for loss in (Hamming(), SubsetZeroOne(), FLoss(), FLoss(beta=0.7310585), JaccardLoss(), Matthews()):
        free = loss.risk(belief, loss.minimise(belief))
        limited = loss.risk(belief, minimise_within(loss, belief, Constraints(at_least=1)))
        np.testing.assert_allclose(limited, np.maximum(free, limited), atol=1e-12)
        np.testing.assert_allclose(limited[loss.minimise(belief).any(axis=1)], free[loss.minimise(belief).any(axis=1)])


def test_shared_beliefs_and_members_decide_within_limits():
    rng = np.random.default_rng(3)
    limits = Constraints(at_most=2, exclusive=((0, 1),))
    shared = Shared(Marginals(rng.random((3, 5))), np.array([2, 0, 0, 1]))
    np.testing.assert_array_equal(
        minimise_within(FLoss(), shared, limits), minimise_within(FLoss(), shared.spelled_out(), limits)
    )
    members = [Marginals(rng.random((20, 5))) for _ in range(4)]
    for aggregation in ("ctp", "ptc-mbr"):
        assert limits.allows(decide(members, Within(FLoss(), limits), aggregation)).all()


def test_limits_by_name_become_limits_by_position():
    names = ["a", "b", "c", "d"]
    limits = Constraints(exclusive=[["a", 2]], implies=[("d", "b")])
    assert limits.resolved(names) == Constraints(exclusive=((0, 2),), implies=((3, 1),))
    with pytest.raises(ComitiaError, match="unknown label 'dd': did you mean 'd'"):
        Constraints(implies=[("dd", "b")]).resolved(names)
    with pytest.raises(ComitiaError, match="is a name"):
        minimise_within(Hamming(), Marginals([[0.1, 0.2]]), Constraints(exclusive=(("a", "b"),)))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"at_least": 3, "at_most": 2}, "contradict each other: at_least is 3"),
        ({"at_least": -1}, "at_least must be a number of labels"),
        ({"at_most": 1.5}, "at_most must be a number of labels"),
        ({"exclusive": ((1,),)}, "two labels or more"),
        ({"exclusive": ((1, 1),)}, "two labels or more"),
        ({"exclusive": "ab"}, "groups of labels"),
        ({"implies": ((1, 2), (2, 1))}, "back to itself"),
        ({"implies": ((1, 1),)}, "different labels"),
        ({"implies": ((1, 2.5),)}, "a name or a position"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, message):
    with pytest.raises(ComitiaError, match=message):
        Constraints(**limits)


def test_limits_that_no_labeling_keeps_are_refused():
    for limits, most in (
        (Constraints(at_least=3), 2),
        (Constraints(at_least=2, exclusive=((0, 1),)), 1),
    ):
        with pytest.raises(ComitiaError, match=rf"at least {limits.at_least} labels are wanted.*more than {most}"):
            minimise_within(Hamming(), Marginals([[0.1, 0.2]]), limits)
    tangled = Constraints(at_least=3, exclusive=((0, 1), (1, 2)), implies=((3, 1), (2, 3)))
    with pytest.raises(ComitiaError, match="contradict"):
        tangled.allows([[0, 0, 0, 0]])
    with pytest.raises(ComitiaError, match=r"labels must lie in 0\.\.1"):
        minimise_within(Hamming(), Marginals([[0.1, 0.2]]), Constraints(exclusive=((0, 2),)))


def test_answers_are_the_same_bits_for_one_thread_and_for_all():
    rng = np.random.default_rng(4)
    p = rng.random((900, K)) ** 2
    ballot = votes(rng.random((7, 900, K)) < p)
    before = numba.get_num_threads()
    for decided in (
        *(Within(loss, LIMITS["trees and sizes"]) for loss in (Hamming(), FLoss(), Matthews())),
        *(Within(loss, LIMITS["groups and sizes"]) for loss in (Hamming(), FLoss(), JaccardLoss(), Matthews())),
        Abstaining(FLoss(), 0.3),
        Abstaining(JaccardLoss(), 0.3),
        Abstaining(SubsetZeroOne(), 0.3),
    ):
        for belief in (Marginals(p), ballot):
            answers = []
            for threads in (1, numba.config.NUMBA_NUM_THREADS):
                numba.set_num_threads(threads)
                answers.append(decided.minimise(belief))
            numba.set_num_threads(before)
            np.testing.assert_array_equal(*answers)


def test_no_instances_give_an_empty_answer():
    for belief in (Marginals(np.empty((0, 4))), LabelSets(np.eye(4, dtype=np.int8), np.empty((0, 4)))):
        for loss in (Hamming(), SubsetZeroOne(), FLoss(), JaccardLoss(), Matthews(), Recall(precision_floor=0.5)):
            for limits in (
                Constraints(at_least=1),
                Constraints(implies=((0, 1),)),
                Constraints(exclusive=((0, 1), (1, 2))),
            ):
                assert minimise_within(loss, belief, limits).shape == (0, 4)
            assert loss.minimise(belief).shape == (0, 4)
