"""Votes over ensembles of ours: with their members and joint beliefs, not with one pooled opinion each."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from comitia import (
    ComitiaError,
    ECCClassifier,
    EMODTClassifier,
    MultilabelVotingClassifier,
    decide,
    load,
    save,
)
from comitia.losses import LOSSES
from comitia.relevance import mixture


@pytest.fixture(scope="module")
def voters(joint):
    trees = EMODTClassifier(4, random_state=0).fit(joint.X, joint.Y)
    chains = ECCClassifier(n_estimators=3, chain_method="joint", random_state=0).fit(joint.X, joint.Y)
    return trees, chains


def vote(voters, joint, **parameters):
    named = [(f"v{i}", voter) for i, voter in enumerate(voters)]
    return MultilabelVotingClassifier(named, prefit=True, **parameters).fit(joint.X, joint.Y)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_vote_over_one_ensemble_decides_as_the_ensemble_does(voters, joint, loss):
    for one in voters:
        for aggregation in ("gmv", "ctp", "ptc-mode", "ptc-mbr", "ctp-joint"):
            alone = one.set_params(loss=loss, aggregation=aggregation).predict(joint.X)
            voted = vote([one], joint, loss=loss, aggregation=aggregation)
            assert len(voted.members_) == len(one.members_)
            assert np.array_equal(voted.predict(joint.X), alone)


def test_members_of_all_voters_decide_together_with_the_weights_of_their_voters(voters, joint):
    voted = vote(voters, joint, weights=[2, 1], loss="f1", aggregation="ptc-mbr", reading="independent")
    members = [belief for voter in voters for belief in voter.predict_members(joint.X)]
    weights = np.array([2 / 4] * 4 + [1 / 3] * 3)
    expected = decide(members, loss="f1", aggregation="ptc-mbr", weights=weights, reading="independent")
    assert np.array_equal(voted.predict(joint.X), expected)
    assert np.allclose(
        voted.predict_proba(joint.X), sum(w * m.marginals() for w, m in zip(weights, members, strict=True)) / 3
    )


def test_joint_distributions_of_all_voters_are_mixed(voters, joint):
    voted = vote(voters, joint, loss="subset01", aggregation="ctp-joint", reading="independent")
    members = [belief for voter in voters for belief in voter.predict_members(joint.X, joint=True)]
    pooled = mixture(members, np.array([1 / 4] * 4 + [1 / 3] * 3))
    assert np.array_equal(voted.predict(joint.X), LOSSES["subset01"]().minimise(pooled))


def test_one_voter_without_joint_distributions_leaves_marginals_for_all(voters, joint):
    mixed = MultilabelVotingClassifier([("trees", EMODTClassifier(3)), ("near", KNeighborsClassifier())])
    assert not mixed.can_decide_by("ctp-joint")
    assert len(mixed.fit(joint.X, joint.Y).members_) == 4


def test_a_voter_that_is_none_is_named_in_words(joint):
    frame = pd.DataFrame(joint.X).rename(columns=str)
    for X in (joint.X, frame):
        with pytest.raises(ComitiaError, match=r"got 3\. The number of members is n_estimators"):
            MultilabelVotingClassifier([("chains", ECCClassifier(3))]).fit(X, joint.Y)


def test_voters_that_know_other_labels_are_refused(voters, joint):
    with pytest.raises(ComitiaError, match=r"must know the 2 labels of y; EMODTClassifier knows 3"):
        MultilabelVotingClassifier([("trees", voters[0])], prefit=True).fit(joint.X, joint.Y[:, :2])


def test_a_choice_out_of_bag_without_out_of_bag_losses_is_refused_at_once(voters, joint):
    forest = EMODTClassifier(3, random_state=0).fit(joint.X, joint.Y)
    with pytest.raises(ComitiaError, match="fit with oob_score=True"):
        forest.set_params(aggregation="oob")
    assert forest.aggregation is None
    forest.set_params(aggregation="oob", oob_score=True).fit(joint.X, joint.Y).predict(joint.X)
    with pytest.raises(ComitiaError, match="a vote has none"):
        vote(voters, joint).set_params(aggregation="oob")


def test_the_choice_out_of_bag_is_asked_for_as_it_is_printed(joint, tmp_path):
    forest = EMODTClassifier(9, aggregation="OOB choice", oob_score=True, loss="F1-measure", random_state=0)
    forest.fit(joint.X, joint.Y)
    save(forest, tmp_path / "model.skops")
    printed = load(tmp_path / "model.skops")
    named = clone(forest).set_params(aggregation="oob", loss="f1").fit(joint.X, joint.Y)
    assert printed.oob_aggregation_ == named.oob_choice_
    assert np.array_equal(printed.predict(joint.X), named.predict(joint.X))
    with pytest.raises(ComitiaError, match="fit with oob_score=True"):
        EMODTClassifier(3).fit(joint.X, joint.Y).set_params(aggregation="OOB choice")


def test_a_vote_over_ensembles_is_saved_and_decides_the_same(voters, joint, tmp_path):
    voted = vote(voters, joint, loss="subset01", aggregation="ctp-joint")
    save(voted, tmp_path / "vote.skops")
    assert np.array_equal(load(tmp_path / "vote.skops").predict(joint.X), voted.predict(joint.X))


def test_a_vote_over_fitted_neighbours_is_saved(joint, tmp_path):
    near = [KNeighborsClassifier(k).fit(joint.X, joint.Y) for k in (3, 5)]
    voted = vote(near, joint)
    save(voted, tmp_path / "vote.skops", trusted=["sklearn"])
    again = load(tmp_path / "vote.skops", trusted=["sklearn"])
    assert np.array_equal(again.predict(joint.X), voted.predict(joint.X))
