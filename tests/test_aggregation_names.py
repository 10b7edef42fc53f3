"""Names of aggregations, as they are printed and with what may be said besides."""

from itertools import product

import pytest

from comitia import (
    AGGREGATIONS,
    POOLS,
    ComitiaError,
    EMODTClassifier,
    Hamming,
    Marginals,
    decide,
)
from comitia.aggregation import get_aggregation
from comitia.aggregation._kinds import aggregation_name
from comitia.relevance import READINGS, Seen


def test_names_are_taken_as_they_are_printed(tmp_path):
    from comitia import ECCClassifier, load, save
    from comitia.datasets import make_joint

    data = make_joint(60, 4, 3, dependence=0.7, random_state=0).dataset
    plain = ECCClassifier(n_estimators=4, loss="f1", aggregation="ptc-mbr", oob_score=True, random_state=0)
    printed = ECCClassifier(n_estimators=4, loss="F1", aggregation="PTC-mbr", oob_score=True, random_state=0)
    expected = plain.fit(data.X, data.Y).predict(data.X)
    assert (printed.fit(data.X, data.Y).predict(data.X) == expected).all()
    assert printed.oob_loss_ == plain.oob_loss_
    save(printed, tmp_path / "model.skops")
    assert (load(tmp_path / "model.skops").predict(data.X) == expected).all()
    median = plain.set_params(aggregation="ctp", pool="median").predict(data.X)
    assert (printed.set_params(aggregation="CTP · Median").predict(data.X) == median).all()
    plain.set_params(aggregation="ptc-mbr", pool="mean"), printed.set_params(aggregation="PTC-mbr")
    subset = plain.set_params(loss="subset01").predict(data.X)
    assert (printed.set_params(loss="Subset 0/1 loss").predict(data.X) == subset).all()
    assert (printed.set_params(loss="Macro-F1", aggregation="CTP").predict(data.X)
            == plain.set_params(loss="macro-f1", aggregation="ctp").predict(data.X)).all()  # fmt: skip


def test_every_way_that_is_judged_out_of_bag_is_taken_by_its_name():
    from comitia import ECCClassifier
    from comitia.datasets import make_joint

    data = make_joint(80, 4, 3, dependence=0.7, random_state=0).dataset
    kinds = {"n_estimators": 12, "oob_score": True, "chain_method": "joint", "random_state": 0}
    judged = ECCClassifier(aggregation="oob", calibration="sigmoid", **kinds).fit(data.X, data.Y)
    ways = judged.oob_table_["subset01"]
    assert {"ctp · seen 0.3 · calibrated", "ctp-joint · seen 1", "ptc-mbr"} <= set(ways)
    for way, loss in ways.items():
        judged.set_params(loss="subset01", aggregation=way.upper())
        assert judged.oob_aggregation_ == way
        assert judged.oob_loss_ == loss
        assert judged.predict(data.X[:3]).shape == (3, 3)
    alone = ECCClassifier(aggregation="CTP · seen 0.3", loss="subset01", calibration="sigmoid", **kinds)
    assert alone.fit(data.X, data.Y).oob_loss_ == ways["ctp · seen 0.3 · calibrated"]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "ctp · medain",
            "bmv · median",
            "ctp · seen 2",
            "ctp · seen x",
            "ctp · seen",
            "ctp · 0.3",
            "ctp · seen 0.3.1",
        ),
        *("gmv · seen", "ctp · median · calibrated", " · median"),
    ],
)
def test_what_is_said_of_an_aggregation_besides_is_known_or_refused(name):
    with pytest.raises(ComitiaError):
        decide([Marginals([[0.4, 0.6]])], "f1", name)


SAID = {
    **dict.fromkeys(POOLS, "pool"),
    **dict.fromkeys([*READINGS, "seen 0", "seen 0.45", "seen 1"], "reading"),
    "calibrated": "calibration",
}


def may_follow(name, *said):
    """What may stand behind a name: each thing once, a pool or a calibration, and where nothing else is fixed by it."""
    free = {
        "gmv": {"pool", "calibration"},
        "ctp": {"pool", "calibration", "reading"},
        "ctp-joint": {"reading"},
        **{key: {"reading"} for key in ("ptc-lw", "ptc-mode", "ptc-mbr")},
    }.get(name, set())
    kinds = [SAID[one] for one in said]
    return len(set(kinds)) == len(kinds) and set(kinds) <= free and not {"pool", "calibration"} <= set(kinds)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_what_may_be_said_of_an_aggregation_is_what_its_name_leaves_open(name):
    for n in (1, 2, 3):
        for said in product(SAID, repeat=n):
            full = " · ".join([name, *said])
            if not may_follow(name, *said):
                with pytest.raises(ComitiaError, match=rf"aggregation must be one of .*; got {full!r}"):
                    get_aggregation(full, Hamming())
                continue
            found = get_aggregation(full, Hamming())
            assert found.title == " · ".join([AGGREGATIONS[name].title, *said])
            assert found.calibrated == ("calibrated" in said)
            assert get_aggregation(aggregation_name(found), Hamming()) == found
            for one in said:
                if SAID[one] == "pool":
                    assert found.pool is POOLS[one]
                elif SAID[one] == "reading":
                    power = one.removeprefix("seen ")
                    assert found.reading == (READINGS[one] if one in READINGS else Seen(float(power)))


def test_a_name_that_asks_for_a_calibration_needs_one():

    with pytest.raises(ComitiaError, match="calibrated beliefs: give a calibration"):
        decide([Marginals([[0.4, 0.6]])], "f1", "ctp · calibrated")
    with pytest.raises(ComitiaError, match="calibrated beliefs: set calibration"):
        EMODTClassifier(3, aggregation="CTP · calibrated").fit([[0.0], [1.0]], [[0, 1], [1, 0]])
