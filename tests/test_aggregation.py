"""Combine then predict, predict then combine, and what the paper says of them."""

import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from comitia import (
    AGGREGATIONS,
    LOSSES,
    POOLS,
    Aggregation,
    CustomLoss,
    EBRClassifier,
    EMODTClassifier,
    FLoss,
    Hamming,
    LabelSets,
    Marginals,
    SubsetZeroOne,
    decide,
    votes,
)
from comitia.aggregation import Beliefs, Decision, Pooled, PredictThenCombine, Votes, advised, get_aggregation
from comitia.relevance import LogOdds, Observed, Seen, get_reading, mean
from comitia.relevance._calibration import fit_calibration

probabilities = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))


@st.composite
def ensembles(draw):
    shape = (draw(st.integers(1, 6)), 4, draw(st.integers(1, 5)))
    return [Marginals(p) for p in draw(arrays(float, shape, elements=probabilities))]


@given(ensembles())
@settings(deadline=None)
def test_ctp_is_graded_and_labelwise_ptc_is_binary_voting_for_hamming_and_subset_loss(members):
    for loss in ("hamming", "subset01"):
        np.testing.assert_array_equal(decide(members, loss, "ctp"), decide(members, loss, "gmv"))
        np.testing.assert_array_equal(decide(members, loss, "ptc-lw"), decide(members, loss, "bmv"))


@given(ensembles())
@settings(deadline=None)
def test_aggregations_are_what_their_definitions_in_the_paper_say(members):
    p = np.stack([member.p for member in members])
    n_members = len(members)
    votes_cast = p > 0.5
    graded = p.sum(axis=0) / n_members > 0.5
    binary = 2 * votes_cast.sum(axis=0) >= n_members
    np.testing.assert_array_equal(decide(members, "f1", "gmv"), graded)
    np.testing.assert_array_equal(decide(members, "f1", "bmv"), binary)
    np.testing.assert_array_equal(
        decide(members, "f1", "ctp"), FLoss().minimise(Marginals(np.minimum(p.sum(axis=0) / n_members, 1)))
    )
    f_votes = np.stack([FLoss().minimise(member) for member in members])
    np.testing.assert_array_equal(decide(members, "f1", "ptc-lw"), 2 * f_votes.sum(axis=0) >= n_members)
    for i, chosen in enumerate(decide(members, "f1", "ptc-mode")):
        cast = [tuple(labeling) for labeling in f_votes[:, i].tolist()]
        most = max(map(cast.count, cast))
        tied = [y for y in cast if cast.count(y) == most]
        agreement = [sum(a == b for other in cast for a, b in zip(y, other, strict=True)) for y in tied]
        assert tuple(chosen.tolist()) == tied[int(np.argmax(agreement))]


def test_combining_votes_optimally_is_minimising_the_loss_over_them():
    rng = np.random.default_rng(0)
    members = [Marginals(rng.random((20, 6))) for _ in range(9)]
    ballot = votes([FLoss().minimise(member) for member in members])
    best = decide(members, "f1", "ptc-mbr")
    for other in ("ptc-lw", "ptc-mode"):
        worse = FLoss().risk(ballot, decide(members, "f1", other))
        assert (FLoss().risk(ballot, best) <= worse + 1e-12).all()


def test_the_default_follows_the_papers_advice():
    members = [Marginals([[0.9, 0.4]]), Marginals([[0.6, 0.55]]), Marginals([[0.1, 0.6]])]
    advice = {name: advised(make()) for name, make in LOSSES.items()}
    assert advice == {"hamming": "ctp", "subset01": "ptc-mode", "f1": "ctp", "jaccard": "ctp"}
    for name, aggregation in advice.items():
        np.testing.assert_array_equal(decide(members, name), decide(members, name, aggregation))


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_an_iterator_of_members_is_enough(loss, aggregation):
    rng = np.random.default_rng(1)
    table = rng.permutation(np.unique(rng.integers(0, 2, (12, 4)), axis=0))
    members = [LabelSets(table, rng.dirichlet(np.ones(len(table)), 5)) for _ in range(4)]
    from_iterator = decide(iter(members), loss, aggregation)
    assert from_iterator.dtype == np.int8
    np.testing.assert_array_equal(from_iterator, decide(members, loss, aggregation))


@pytest.mark.parametrize("aggregation", ["gmv", "bmv", "ctp", "ptc-mbr"])
def test_members_are_gone_through_one_at_a_time_and_not_kept(aggregation):
    seen, held = [], []

    def members():
        for p in np.random.default_rng(0).random((8, 5, 3)):
            member = Marginals(p)
            seen.append(weakref.ref(member))
            yield member
            del member
            held.append(sum(one() is not None for one in seen))

    decide(members(), "f1", aggregation)
    assert len(held) == 8
    assert max(held) <= 2


def test_the_users_pool_makes_a_difference_where_it_is_used():
    assert {name for name, aggregation in AGGREGATIONS.items() if aggregation.pools} == {"gmv", "ctp"}
    assert PredictThenCombine().pools is False


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", ["hamming", "subset01", "f1"])
def test_stages_are_the_decisions_of_the_first_members(loss, aggregation):
    rng = np.random.default_rng(2)
    table = np.unique(rng.integers(0, 2, (12, 4)), axis=0)
    members = [LabelSets(table, rng.dirichlet(np.ones(len(table)), 5)) for _ in range(6)]
    target = LOSSES[loss]()
    decision = get_aggregation(aggregation, target).decision(target, mean, get_reading("auto"))
    stages = list(Beliefs(lambda _: members).stages(decision, [1, 2, 5]))
    for size, stage in zip([1, 2, 5], stages, strict=True):
        np.testing.assert_array_equal(stage, decide(members[:size], loss, aggregation))


def test_a_heavier_member_prevails():
    members = [Marginals([[0.9]]), Marginals([[0.2]]), Marginals([[0.2]])]
    for aggregation in ("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"):
        assert decide(members, "hamming", aggregation).tolist() == [[0]]
        assert decide(members, "hamming", aggregation, weights=[5, 1, 1]).tolist() == [[1]]


@pytest.mark.parametrize("pool", POOLS)
def test_ctp_minimises_over_the_pool_that_is_named(pool):
    rng = np.random.default_rng(3)
    members = [Marginals(rng.random((6, 3))) for _ in range(11)]
    expected = FLoss().minimise(POOLS[pool](members))
    np.testing.assert_array_equal(decide(members, "f1", "ctp", pool), expected)


def test_a_tied_vote_is_relevant_and_an_even_probability_is_not():
    members = [Marginals([[0.9]]), Marginals([[0.1]])]
    assert decide(members, aggregation="bmv").tolist() == [[1]]
    assert decide(members, aggregation="gmv").tolist() == [[0]]


def test_half_of_fifty_votes_is_a_tie_however_the_labelings_split_them():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        cast = np.zeros((50, 1, 8), np.int8)
        cast[:, 0, 1:] = rng.integers(0, 2, (50, 7))
        cast[rng.permutation(50)[:25], 0, 0] = 1
        assert votes(cast).marginals()[0, 0] == 0.5
        assert Hamming(ties="relevant").minimise(votes(cast))[0, 0] == 1


def test_joint_combination_of_marginals_is_refused():
    with pytest.raises(ValueError, match="needs members that give label sets"):
        decide([Marginals([[0.5, 0.2]])], "f1", "ctp-joint")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "f3"}, r"unknown loss 'f3': did you mean 'f1'\? There are: hamming, subset01, f1, jaccard"),
        ({"loss": 3}, "loss must be a name"),
        ({"aggregation": "ctpp"}, "unknown aggregation 'ctpp': did you mean 'ctp'.*gmv, bmv, ctp"),
        ({"pool": "mode"}, "unknown pool 'mode'.*mean, median, trimmed_mean, log_odds"),
        ({"weights": [1, 2, 3]}, "weights must have one entry for each"),
        ({"weights": [1, -2]}, "finite, also in sum, not negative"),
        ({"members": []}, "at least one member"),
        ({"members": [Marginals([[0.1]]), Marginals([[0.1, 0.2]])]}, "agree in shape"),
        ({"members": [Marginals([[0.1]]), Marginals([[0.1, 0.2]])], "aggregation": "bmv"}, "member 1 has labelings"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_expected(arguments, message):
    members = arguments.pop("members", [Marginals([[0.1, 0.2]]), Marginals([[0.3, 0.4]])])
    with pytest.raises(ValueError, match=message):
        decide(members, **arguments)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        *((sizes, "sizes") for sizes in ([], [0, 1], [2, 1], [1, 1])),
        ([1, 4], "sizes must not exceed the 3 members there are; got 4"),
    ],
)
def test_impossible_stages_are_refused(sizes, reason):
    members = [Marginals([[0.1]])] * 3
    decision = PredictThenCombine().decision(SubsetZeroOne(), mean, get_reading("auto"))
    with pytest.raises(ValueError, match=reason):
        list(Beliefs(lambda _: members).stages(decision, sizes))


def test_no_instances_give_an_empty_answer():
    members = [LabelSets([[1, 0]], np.empty((0, 1)))] * 3
    for aggregation in AGGREGATIONS:
        assert decide(members, "f1", aggregation).shape == (0, 2)


def test_no_pool_changes_a_single_member():
    belief = Marginals([[0.1, 0.75, 0.0]])
    np.testing.assert_array_equal(mean([belief]).marginals(), belief.p)


def test_what_is_known_of_the_labels_goes_with_the_beliefs():
    p, known = [[0.4, 0.35, 0.3]], Observed.of([[1, 0, 0], [0, 1, 1]])
    for loss in ("subset01", "f1", "jaccard"):
        auto = decide([Marginals(p, known)], loss, "ctp")
        np.testing.assert_array_equal(auto, decide([Marginals(p)], loss, "ctp", reading="nonempty"))
        assert auto.any()
    assert not decide([Marginals(p, known)], "subset01", "ctp", reading="independent").any()
    assert not decide([Marginals(p, Observed.of([[1, 0, 0], [0, 0, 0]]))], "subset01", "ctp").any()
    assert not decide([Marginals(p, known)], "subset01", "gmv").any(), "a vote cuts at one half, whatever is known"


def test_an_aggregation_of_ones_own_can_say_that_it_needs_joint_beliefs():
    @dataclass(frozen=True)
    class VotesOfJoints(Aggregation):
        def decision(self, loss, pool, reading):
            return Decision(loss, Votes(SubsetZeroOne(), joint=True), reading)

    rng = np.random.default_rng(5)
    X, Y = rng.random((60, 4)), rng.integers(0, 2, (60, 3))
    with pytest.raises(ValueError, match="joint distributions"):
        EBRClassifier(n_estimators=2, aggregation=VotesOfJoints()).fit(X, Y)
    forest = EMODTClassifier(5, loss="f1", aggregation=VotesOfJoints(), random_state=0).fit(X, Y)
    modes = [SubsetZeroOne().minimise(member) for member in forest.predict_members(X, joint=True)]
    np.testing.assert_array_equal(forest.predict(X), FLoss().minimise(votes(modes)))


def test_an_array_of_members_is_gone_through_like_a_list():
    members = [Marginals([[0.9, 0.2]]), Marginals([[0.8, 0.4]])]
    as_array = np.empty(2, dtype=object)
    as_array[:] = members
    np.testing.assert_array_equal(decide(as_array, "f1"), decide(members, "f1"))


@pytest.mark.parametrize("kind", ["marginals", "labelsets"])
@pytest.mark.parametrize("loss", ["hamming", "subset01", "f1", "jaccard"])
@pytest.mark.parametrize("reading", ["independent", "auto", "seen"])
def test_members_without_weight_for_an_instance_have_no_part_in_it(kind, loss, reading):
    rng = np.random.default_rng(5)
    table = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1]], np.int8)
    known = Observed(table, np.array([5, 2, 2, 1]))
    if kind == "marginals":
        members = [Marginals(p, known) for p in rng.random((6, 9, 3))]
    else:
        members = [LabelSets(table, w, observed=known, flat=True) for w in rng.dirichlet(np.ones(4), size=(6, 9))]
    weights = rng.integers(0, 3, size=(6, 9)).astype(float)
    weights[0] = 0  # of no weight at all
    weights[1] = 1
    beliefs, target = Beliefs(lambda joint: members, weights), LOSSES[loss]()
    for name in AGGREGATIONS:
        decision = get_aggregation(name, target).decision(target, mean, get_reading(reading))
        if decision.over.joint and kind == "marginals":
            continue
        found = beliefs.decide(decision)
        for i in range(9):
            own = [(m.take(np.array([i])), w) for m, w in zip(members, weights[:, i], strict=True) if w > 0]
            alone = Beliefs(lambda joint: [m for m, _ in own], [w for _, w in own])  # noqa: B023
            np.testing.assert_array_equal(found[i], alone.decide(decision)[0], err_msg=name)


def test_memory_of_beliefs_does_not_follow_the_number_of_losses_and_answers_stay_the_same():
    members = [Marginals(p) for p in np.random.default_rng(0).random((4, 6, 5))]
    asked = []
    beliefs = Beliefs(lambda joint: asked.append(joint) or members)
    losses = [FLoss(beta=0.5 + k / 1000) for k in range(1200)]

    def answer(beliefs, loss, name):
        decision = get_aggregation(name, loss).decision(loss, mean, get_reading("auto"))
        return beliefs.decide(decision)

    for name in ("ctp", "ptc-mode"):
        first = [answer(beliefs, loss, name) for loss in losses]
        assert len(beliefs._known_of_losses) == 512
        again = [answer(beliefs, loss, name) for loss in (losses[-1], losses[0])]
        assert again[0] is first[-1]
        np.testing.assert_array_equal(again[1], first[0])
        np.testing.assert_array_equal(first[0], answer(Beliefs(lambda joint: members), losses[0], name))
    assert asked == [False]
    beliefs.forget()
    assert not beliefs._known_of_losses
    assert not beliefs._known


def test_labels_without_probability_are_left_out_where_no_step_makes_something_of_them():
    curve = fit_calibration(np.tile([[0.2], [0.8]], (60, 1)), np.tile([[0], [1]], (60, 1)), kind="sigmoid")
    usual, seen = get_reading("auto"), Seen()
    for loss, reading, pool, calibration, keeps in [
        (FLoss(), usual, mean, None, True),
        (FLoss(), usual, mean, curve, False),
        (FLoss(), usual, POOLS["median"], None, True),
        (FLoss(), usual, LogOdds(), None, False),
        (FLoss(), usual, LogOdds(), curve, False),
        (FLoss(), seen, mean, None, False),
        (CustomLoss(Hamming().value), usual, mean, None, False),
    ]:
        assert Decision(loss, Pooled(pool, calibration), reading).keeps_zeros is keeps
    assert Decision(Hamming(), Votes(FLoss()), usual).keeps_zeros is True
    assert Decision(Hamming(), Votes(CustomLoss(Hamming().value)), usual).keeps_zeros is False
    assert Decision(CustomLoss(Hamming().value), Votes(FLoss()), usual).keeps_zeros is False
