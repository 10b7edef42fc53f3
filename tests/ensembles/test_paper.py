"""The order of the aggregations that the paper reports, on three of its datasets, ten-fold."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from comitia import EBRClassifier, ECCClassifier, EMODTClassifier, decide, get_loss
from comitia.datasets import load_mulan

AGGREGATIONS = ("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr")
ENSEMBLES = {
    "emodt": EMODTClassifier(random_state=0, n_jobs=2),
    "ecc": ECCClassifier(LogisticRegression(), random_state=0, n_jobs=2),
    "ebr": EBRClassifier(LogisticRegression(), random_state=0, n_jobs=2),
}


@pytest.fixture(scope="module", params=ENSEMBLES)
def mean_losses(request, shared_data):
    """Mean loss in percent over datasets and folds, for each of two losses and each aggregation."""
    losses: dict = {loss: dict.fromkeys(AGGREGATIONS, 0.0) for loss in ("subset01", "f1")}
    for name in ("emotions", "scene", "yeast"):
        data = load_mulan(shared_data / name / f"{name}.arff", shared_data / name / f"{name}.xml")
        for train, test in KFold(10, shuffle=True, random_state=0).split(data.Y):
            ensemble = ENSEMBLES[request.param].fit(data.X[train], data.Y[train])
            members = list(ensemble.predict_members(data.X[test]))
            for loss, row in losses.items():
                for aggregation in row:
                    labeling = decide(members, loss, aggregation)
                    row[aggregation] += 100 * get_loss(loss).value(data.Y[test], labeling).mean() / 30
    print(request.param, {loss: {k: round(v, 2) for k, v in row.items()} for loss, row in losses.items()})
    return request.param, losses


@pytest.mark.slow
def test_the_mode_is_best_for_subset_loss_and_voting_label_by_label_is_behind(mean_losses):
    ensemble, losses = mean_losses
    row = losses["subset01"]
    assert min(row, key=row.__getitem__) in ("ptc-mode", "ptc-mbr")
    assert row["ptc-mode"] == row["ptc-mbr"], "over votes, minimising subset 0/1 loss is taking the mode"
    behind = 0.1 if ensemble == "ebr" else 1.0  # members without dependence gain little by it, as in the paper
    assert min(row["gmv"], row["bmv"]) > row["ptc-mode"] + behind


@pytest.mark.slow
def test_minimising_the_loss_is_best_for_f1_and_both_voting_rules_are_far_behind(mean_losses):
    ensemble, losses = mean_losses
    row = losses["f1"]
    # On these three datasets the paper's own EBR has label-wise votes a tenth of a percent before CTP.
    assert min(row["ctp"], row["ptc-mbr"]) <= min(row.values()) + (0.25 if ensemble == "ebr" else 0)
    loss_aware = [value for name, value in row.items() if name not in ("gmv", "bmv")]
    assert min(row["gmv"], row["bmv"]) > max(loss_aware)
    assert min(row["gmv"], row["bmv"]) > min(row.values()) + 3.0
    assert np.isfinite(list(row.values())).all()
