"""Every loss in the registry against exhaustive search."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from comitia import ComitiaError
from comitia.losses import LOSSES, Abstaining, CustomLoss, FLoss, Hamming, JaccardLoss, Loss, SubsetZeroOne
from comitia.measures import MacroF
from comitia.relevance import LabelSets, Marginals, NonEmpty, Shared
from tests.oracle import labelings, risks


def severity(truth, labeling):
    """A loss that does not decompose and is not symmetric."""
    missed = (truth > labeling).sum(axis=1)
    added = (truth < labeling).sum(axis=1)
    return missed**2 + 0.5 * added + (missed * added > 0)


VARIANTS: list[Loss] = [
    *(make() for make in LOSSES.values()),
    FLoss(beta=2),
    FLoss(beta=0.5),
    FLoss(beta=1.5),
    FLoss(beta=0.7310585),
    FLoss(zero_division=0),
    FLoss(beta=3, zero_division=0.25),
    JaccardLoss(zero_division=0),
    Hamming(false_negative=3),
    Hamming(ties="relevant", false_positive=0.25),
    CustomLoss(severity),
    CustomLoss(severity, candidates="all"),
]
IDS = [re.sub(r"<function (\w+) at \w+>", r"\1", str(loss)) for loss in VARIANTS]

probabilities = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 1.0, 0.5, 0.25, 1 / 3, 1e-300, 1e-17, 1e-9, 1 - 1e-9, 5e-324, 1 - 2**-53]),
)


@st.composite
def marginals(draw, largest=8):
    n_labels = draw(st.integers(1, largest))
    return Marginals(draw(arrays(float, (3, n_labels), elements=probabilities)))


@st.composite
def never_empty(draw, largest=8):
    return NonEmpty()(draw(marginals(largest)))


@st.composite
def label_sets(draw, largest=8):
    n_labels = draw(st.integers(1, largest))
    row = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    rows = []
    for _ in range(3):
        sets = draw(st.lists(row, min_size=1, max_size=8))
        weights = draw(
            st.lists(
                st.one_of(st.floats(1e-9, 1), st.sampled_from([1.0, 1e-12])), min_size=len(sets), max_size=len(sets)
            )
        )
        rows.append((sets, np.array(weights) / np.sum(weights)))
    return LabelSets.from_rows(rows)


@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
@settings(max_examples=60, deadline=None)
@given(relevance=st.one_of(marginals(), never_empty(), label_sets()))
def test_minimise_reaches_the_smallest_risk_of_all_labelings(loss, relevance):
    for i, chosen in enumerate(loss.minimise(relevance).tolist()):
        expected = risks(loss, relevance, i)
        assert expected[tuple(chosen)] <= min(expected.values()) + 1e-12


@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(relevance=st.one_of(marginals(5), never_empty(5), label_sets(5)), data=st.data())
def test_risk_is_the_enumerated_expectation(loss, relevance, data):
    every = labelings(relevance.n_labels)
    chosen = [data.draw(st.sampled_from(every)) for _ in range(relevance.n_instances)]
    expected = [risks(loss, relevance, i)[h] for i, h in enumerate(chosen)]
    np.testing.assert_allclose(loss.risk(relevance, chosen), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_value_is_the_definition(loss, data):
    n_labels = data.draw(st.integers(1, 6))
    y = data.draw(arrays(np.int8, (4, n_labels), elements=st.integers(0, 1)))
    h = data.draw(arrays(np.int8, (4, n_labels), elements=st.integers(0, 1)))
    certain = LabelSets.from_rows([([row], [1.0]) for row in y])
    expected = [risks(loss, certain, i)[tuple(row)] for i, row in enumerate(h.tolist())]
    np.testing.assert_allclose(loss.value(y, h), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
@settings(max_examples=10, deadline=None)
@given(leaves=st.one_of(marginals(4), label_sets(4)))
def test_shared_beliefs_are_decided_as_if_spelled_out(loss, leaves):
    shared = Shared(leaves, np.array([2, 0, 0, 1, 2]))
    chosen = loss.minimise(shared)
    np.testing.assert_array_equal(chosen, loss.minimise(shared.spelled_out()))
    np.testing.assert_array_equal(loss.risk(shared, chosen), loss.risk(shared.spelled_out(), chosen))


@pytest.mark.parametrize(
    "loss",
    [*VARIANTS, Hamming(false_negative=(1.0, 2.0, 3.0)), Hamming(false_positive=0.0, ties="relevant")],
    ids=[*IDS, "costs of labels", "ties"],
)
def test_a_loss_says_whether_it_leaves_out_labels_that_are_impossible(loss):
    belief = Marginals(np.random.default_rng(0).random((50, 3)) * [1, 1, 0])
    free = isinstance(loss, Hamming) and (loss.false_positive == 0 or np.ndim(loss.false_negative) > 0)
    assert loss.keeps_zeros is not (free or isinstance(loss, CustomLoss))
    if loss.keeps_zeros:
        assert not loss.minimise(belief)[:, 2].any()


def test_the_papers_example_has_different_answers_for_different_losses():
    table = [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    belief = LabelSets(table, [[1 / 4, 3 / 16, 3 / 16, 3 / 16, 3 / 16]])
    assert SubsetZeroOne().minimise(belief).tolist() == [[0, 0, 0]]
    assert Hamming().minimise(belief).tolist() == [[1, 1, 1]]


def test_more_labels_than_the_largest_labelset_may_be_best_for_f1():
    m = 7
    belief = LabelSets(np.eye(m, dtype=np.int8), np.full((1, m), 1 / m))
    assert FLoss().minimise(belief).sum() == m


def test_a_mode_tie_goes_to_the_labeling_that_others_agree_with_then_to_the_first():
    far, near, other = [1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]
    belief = LabelSets([far, near, other], [[0.4, 0.4, 0.2]])
    assert SubsetZeroOne().minimise(belief).tolist() == [near]
    even = LabelSets([[1, 0], [0, 1]], [[0.5, 0.5]])
    assert SubsetZeroOne().minimise(even).tolist() == [[1, 0]]


def test_weights_that_differ_by_rounding_alone_are_a_tie():
    lucky, right, third = [1, 1, 1], [0, 0, 1], [0, 0, 0]
    belief = LabelSets.from_rows([([lucky, right, right, third], [0.1 + 0.2, 0.1, 0.2, 1 - 0.6])])
    weights = belief.weights.toarray()
    assert weights[0, 0] != 0.3 or weights[0, 1] != 0.3, "the case needs a rounding difference"
    tied = LabelSets.from_rows([([lucky, right, third], [0.36, 0.36 * (1 - 1e-14), 1 - 0.72])])
    assert SubsetZeroOne().minimise(tied).tolist() == [right]


@pytest.mark.parametrize("loss", [loss for loss in VARIANTS if not isinstance(loss, CustomLoss)], ids=str)
def test_two_thousand_labels_are_decided_without_overflow_or_nan(loss):
    rng = np.random.default_rng(0)
    K = 2000
    p = np.stack([
        rng.random(K), np.full(K, 0.5), np.full(K, 1e-12), np.full(K, 1 - 1e-12), np.zeros(K), np.ones(K),
        rng.random(K) ** 30, np.r_[0.9, np.full(K - 1, 1e-8)],
    ])  # fmt: skip
    relevance = Marginals(p)
    with np.errstate(all="raise", under="ignore"):
        chosen = loss.minimise(relevance)
        risks = loss.risk(relevance, chosen)
    assert np.isfinite(risks).all()
    assert (risks >= -1e-12).all()
    for other in (np.zeros_like(chosen), np.ones_like(chosen), (p > 0.5).astype(np.int8), (p > 0.3).astype(np.int8)):
        assert (risks <= loss.risk(relevance, other) + 1e-12).all()
    assert chosen[5].all()


def test_of_equally_probable_labels_the_first_are_taken():
    chosen = FLoss().minimise(Marginals([[0.2, 0.9, 0.2, 0.2, 0.9]]))[0]
    taken = int(chosen[[0, 2, 3]].sum())
    assert chosen[[0, 2, 3]].tolist() == [1] * taken + [0] * (3 - taken)
    assert chosen[[1, 4]].tolist() == [1, 1]


def test_a_probability_below_any_rounding_still_beats_nothing():
    belief = Marginals([[1e-200, 0.0, 1e-250]])
    assert FLoss(zero_division=0).minimise(belief)[0, 0] == 1
    assert JaccardLoss(zero_division=0).minimise(belief)[0, 0] == 1
    assert FLoss().minimise(belief).sum() == 0


@pytest.mark.parametrize("loss", [loss for loss in VARIANTS if not isinstance(loss, CustomLoss)], ids=str)
def test_no_instances_give_an_empty_answer(loss):
    assert loss.minimise(Marginals(np.empty((0, 4)))).shape == (0, 4)
    nothing = LabelSets(np.eye(4, dtype=np.int8), np.empty((0, 4)))
    assert loss.minimise(nothing).shape == (0, 4)
    assert loss.risk(nothing, np.empty((0, 4), np.int8)).shape == (0,)
    assert loss.minimise(nothing).dtype == np.int8


def test_jaccard_over_many_labels_is_never_worse_than_its_candidates_and_rarely_worse_than_the_best(record_property):
    rng = np.random.default_rng(5)
    K, loss = 9, JaccardLoss(exact_labels=0)
    gaps = []
    for _ in range(60):
        centre = rng.random(K) < 0.4
        sets = (centre ^ (rng.random((12, K)) < 0.25)).astype(np.int8)
        relevance = LabelSets.from_rows([(sets, np.full(12, 1 / 12))])
        reached = loss.risk(relevance, loss.minimise(relevance))[0]
        order = np.argsort(-relevance.marginals()[0], kind="stable")
        top = np.array([np.isin(np.arange(K), order[:k]) for k in range(K + 1)], np.int8)
        for candidate in (*relevance.table, *top):
            assert reached <= loss.risk(relevance, candidate[None])[0] + 1e-12
        exact = JaccardLoss(exact_labels=K)
        gaps.append(reached - exact.risk(relevance, exact.minimise(relevance))[0])
    record_property("largest_gap_to_the_optimum", float(max(gaps)))
    print(
        f"Jaccard over label sets by search: mean gap {np.mean(gaps):.2e}, largest {max(gaps):.2e} in {len(gaps)} cases"
    )
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) < 1e-3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FLoss(beta=1e41), r"beta must be from 1e-40 to 1e40; got 1e\+41"),
        (lambda: FLoss(beta=1e-200), "beta must be from"),
        (lambda: FLoss(beta=np.inf), "beta must be from"),
        (
            lambda: Hamming(1, 1e308),
            r"false_negative must be a cost from 0 to 1e\+290, or one for each label; got 1e\+308",
        ),
        (lambda: Hamming((1.0, 1e308)), "false_positive must be a cost"),
        (lambda: Hamming(np.inf), "false_positive must be a cost"),
        (lambda: Hamming(np.nan), "false_positive must be a cost"),
        (lambda: Abstaining(Hamming(), 1e300), r"cost must be from 0 to 1e\+290; got 1e\+300"),
        (lambda: MacroF(beta=1e200), "beta must be from"),
        (lambda: Hamming(0, (1.0, 0.0)), "both costs are zero"),
        (lambda: FLoss(beta=10**400), "beta must be from"),
        (lambda: FLoss(zero_division=-(10**400)), "zero_division must"),
        (lambda: Abstaining(Hamming(), 10**400), "cost must be from"),
        (lambda: Hamming((1, 10**400)), r"false_positive must hold numbers up to 1\.8e\+308; got a larger one"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_costs_and_betas_whose_sums_or_squares_overflow_are_refused(make, message):
    with pytest.raises(ComitiaError, match=message):
        make()


@pytest.mark.parametrize("loss", [FLoss(beta=1e40), FLoss(beta=1e-40), Hamming(1e289, 1e290)], ids=str)
@pytest.mark.filterwarnings("error")
def test_large_costs_and_betas_that_can_be_added_are_minimised_exactly(loss):
    for belief in (
        Marginals(np.random.default_rng(1).random((20, 4)) ** 3),
        LabelSets(np.eye(4), np.full((1, 4), 0.25)),
    ):
        for i, chosen in enumerate(loss.minimise(belief).tolist()):
            expected = risks(loss, belief, i)
            assert expected[tuple(chosen)] <= min(expected.values()) * (1 + 1e-12)
    many = np.random.default_rng(2).random((3, 3000))
    assert np.isfinite(loss.risk(Marginals(many), loss.minimise(Marginals(many)))).all()
