"""Sparse targets, and labels that are left out because no tree holds them for possible."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import comitia
import comitia.ensembles._asking
import comitia.ensembles._few_labels
from comitia import (
    ENSEMBLES,
    CommitteeClassifier,
    EBRClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)
from comitia._errors import ComitiaError
from comitia._labels import LabelRows, distinct_rows
from comitia.aggregation import AGGREGATIONS
from comitia.losses import LOSSES, Constraints, CustomLoss, Hamming, Matthews, TopK
from comitia.measures import MEASURES, get_measure
from comitia.relevance import POOLS, READINGS

FORMATS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.lil_array]


def make(n=80, d=4, K=6, seed=0, some=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = (X @ rng.standard_normal((d, K)) + rng.standard_normal((n, K)) > 1.2).astype(np.int64)
    if some:
        Y[np.arange(n), rng.integers(0, K, n)] = 1
    X[-5:], Y[-5:] = X[:5], Y[:5]
    return X, Y, rng.standard_normal((30, d))


def without(few):
    """The same settings with labels left out, or with all of them."""
    return 0 if few else 10**9


@pytest.mark.parametrize("name", ["ebr", "ecc", "emodt", "emobt"])
def test_sparse_targets_give_the_bits_of_dense_ones_for_every_loss_and_aggregation(name):
    X, Y, new = make()
    both = [
        ENSEMBLES[name](n_estimators=12, oob_score=True, random_state=0).fit(X, targets)
        for targets in (Y, sparse.csr_array(Y))
    ]
    assert sparse.issparse(both[1].predict_proba(new))
    np.testing.assert_array_equal(both[1].predict_proba(new).toarray(), both[0].predict_proba(new))
    for loss in (*LOSSES, *MEASURES, TopK(2), Matthews()):
        for how in AGGREGATIONS:
            if both[0].can_decide_by(how) and (loss not in MEASURES or how == "ctp"):
                dense, listed = (one.set_params(loss=loss, aggregation=how).predict(new) for one in both)
                assert isinstance(listed, sparse.csr_array)
                assert listed.dtype == dense.dtype
                np.testing.assert_array_equal(listed.toarray(), dense)
    assert both[0].oob_table_ == both[1].oob_table_


@pytest.mark.parametrize("form", FORMATS)
def test_targets_are_taken_in_every_sparse_format_and_any_type(form):
    X, Y, new = make()
    expected = EMODTClassifier(5, random_state=0).fit(X, Y).predict(new)
    for dtype in (np.bool_, np.int8, np.float64):
        found = EMODTClassifier(5, random_state=0).fit(X, form(Y.astype(dtype))).predict(new)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.toarray(), expected)


def test_stored_zeros_and_what_is_stored_twice_are_understood():
    X, Y, new = make()
    row, column = np.nonzero(np.ones_like(Y))
    spelled = sparse.csr_array((Y.ravel(), (row, column)), shape=Y.shape)
    found = EMODTClassifier(5, random_state=0).fit(X, spelled).predict(new)
    np.testing.assert_array_equal(found.toarray(), EMODTClassifier(5, random_state=0).fit(X, Y).predict(new))
    with pytest.raises(ComitiaError, match="y must hold 0 and 1 only; got 2"):
        EMODTClassifier(5).fit(X, sparse.csr_array(2 * Y))


@pytest.mark.parametrize("given", [True, False])
def test_a_parameter_says_whether_predictions_are_sparse_and_may_change(given):
    X, Y, new = make()
    for ensemble in (
        EMODTClassifier(3, random_state=0),
        EBRClassifier(n_estimators=3, random_state=0),
        MultilabelBaggingClassifier(EBRClassifier(n_estimators=2), n_estimators=2, random_state=0),
        MultilabelVotingClassifier([("a", EBRClassifier(n_estimators=2)), ("b", EMODTClassifier(3))]),
        CommitteeClassifier([("a", EBRClassifier(n_estimators=5)), ("b", EMODTClassifier(5))], random_state=0),
    ):
        fitted = clone(ensemble).fit(X, sparse.csr_array(Y) if given else Y)
        for output in ("auto", True, False):
            fitted.set_params(sparse_output=output)
            is_sparse = given if output == "auto" else output
            for found in (fitted.predict(new), fitted.predict_proba(new), *fitted.staged_predict(new, [1, 2])):
                assert sparse.issparse(found) == is_sparse
                assert found.shape == (30, 6)
            assert fitted.score(X, Y) == fitted.score(X, sparse.csr_array(Y))
    with pytest.raises(ComitiaError, match="sparse_output must be 'auto', True or False; got 'yes'"):
        EMODTClassifier(3, sparse_output="yes").fit(X, Y)


def test_a_binary_target_is_never_sparse():
    X, Y, new = make()
    fitted = EMODTClassifier(3, sparse_output=True, random_state=0).fit(X, Y[:, 0])
    assert fitted.predict(new).shape == (30,)


@pytest.mark.parametrize("some", [True, False])
@pytest.mark.parametrize("cells", [1, 500, 1 << 20])
def test_labels_that_no_tree_holds_for_possible_change_no_decision(monkeypatch, some, cells):
    X, Y, new = make(K=30, some=some)
    Y[:, [3, 17]] = 0
    monkeypatch.setattr(comitia.ensembles._few_labels, "_CELLS", cells)
    monkeypatch.setattr(comitia.ensembles._few_labels, "_CELLS_OF_SETS", 8 * cells)
    forest = EMODTClassifier(6, random_state=0).fit(X, Y)

    def answers(few):
        monkeypatch.setattr(comitia.ensembles._asking, "MANY_LABELS", without(few))
        forest.set_params(loss="hamming", aggregation=None, pool="mean", reading="auto", constraints=None, n_jobs=1)
        yield "proba", forest.predict_proba(new)
        losses = [*LOSSES, Hamming(false_positive=0.1), Hamming(false_positive=0, ties="relevant"), TopK(3)]
        losses += [Hamming(false_negative=tuple(np.linspace(0.5, 3, 30)))]
        for loss in losses:
            for how in AGGREGATIONS:
                yield (loss, how), forest.set_params(loss=loss, aggregation=how).predict(new)
        for pool in POOLS:
            for reading in READINGS:
                forest.set_params(loss="f1", aggregation="ctp", pool=pool, reading=reading)
                yield (pool, reading), forest.predict(new)
        forest.set_params(pool="mean", reading="auto", constraints=Constraints(at_least=4), n_jobs=2)
        yield "limits", forest.predict(new)
        forest.set_params(constraints=None)
        yield "jobs", forest.predict(new)
        yield "stages", np.stack(list(forest.staged_predict(new, [1, 4])))
        yield "none", forest.predict(new[:0])

    for (key, expected), (_, found) in zip(answers(False), list(answers(True)), strict=True):
        np.testing.assert_array_equal(found, expected, err_msg=str(key))


def test_nothing_is_predicted_where_no_label_is_possible(monkeypatch):
    monkeypatch.setattr(comitia.ensembles._asking, "MANY_LABELS", 0)
    X = np.arange(40.0)[:, None]
    forest = EMODTClassifier(5, min_samples_split=2, random_state=0).fit(X, np.repeat(X >= 20, 2, axis=1).astype(int))
    for loss in LOSSES:
        for how in AGGREGATIONS:
            forest.set_params(loss=loss, aggregation=how)
            assert not forest.predict([[0.0]]).any()
            assert forest.predict(np.empty((0, 1))).shape == (0, 2)


def test_an_instance_without_any_possible_label_is_decided_over_all_labels(monkeypatch):
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    Y = np.repeat([[0, 0, 0], [0, 1, 1]], 10, axis=0)
    forest = EMODTClassifier(3, min_samples_split=2, reading="nonempty", loss="f1", random_state=0).fit(X, Y)
    for how, unknown in (("ctp", [1, 1, 1]), ("bmv", [0, 0, 0])):
        for few in (False, True):
            monkeypatch.setattr(comitia.ensembles._asking, "MANY_LABELS", without(few))
            answers = forest.set_params(aggregation=how).predict([[0.0], [1.0]])
            assert answers.tolist() == [unknown, [0, 1, 1]], (how, few)


@pytest.mark.parametrize("aggregation", [None, "oob"])
def test_out_of_bag_losses_and_beliefs_are_the_same_with_labels_left_out(monkeypatch, aggregation):
    X, Y, _ = make(K=12)
    found = []
    for few, targets in ((False, Y), (True, Y), (True, sparse.csr_array(Y))):
        monkeypatch.setattr(comitia.ensembles._asking, "MANY_LABELS", without(few))
        forest = EMODTClassifier(12, aggregation=aggregation, oob_score=True, random_state=0).fit(X, targets)
        found.append((forest.oob_table_, forest.oob_proba_, forest.oob_losses_))
    for table, proba, losses in found[1:]:
        assert table == found[0][0]
        np.testing.assert_array_equal(proba.toarray() if sparse.issparse(proba) else proba, found[0][1])
        np.testing.assert_array_equal(losses, found[0][2])


def test_a_forest_with_sparse_targets_goes_on_with_more_members():
    X, Y, new = make()
    rows = sparse.csr_array(Y)
    whole = EMODTClassifier(6, oob_score=True, random_state=0).fit(X, rows)
    grown = EMODTClassifier(3, oob_score=True, random_state=0, warm_start=True).fit(X, rows)
    grown.set_params(n_estimators=6).fit(X, rows)
    for ensemble in (whole, grown):
        ensemble.set_params(loss="subset01", aggregation="ctp-joint")
    np.testing.assert_array_equal(grown.predict(new).toarray(), whole.predict(new).toarray())
    assert grown.oob_table_ == whole.oob_table_


def test_a_model_file_keeps_lists_of_labels(tmp_path):
    X, Y, new = make()
    forest = EMODTClassifier(4, oob_score=True, random_state=0, loss="f1").fit(X, sparse.csr_array(Y))
    comitia.save(forest, tmp_path / "model.comitia")
    read = comitia.load(tmp_path / "model.comitia")
    assert isinstance(read.observed_.table, LabelRows)
    for way in ("ctp", "ctp-joint"):
        one, other = (ensemble.set_params(aggregation=way).predict(new) for ensemble in (forest, read))
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    np.testing.assert_array_equal(read.oob_proba_.toarray(), forest.oob_proba_.toarray())


def test_losses_and_measures_of_sparse_matrices_are_those_of_arrays():
    rng = np.random.default_rng(0)
    Y, H = ((rng.random((150, 9)) < 0.2).astype(np.int8) for _ in range(2))
    Y[:3], H[1:4] = 0, 0
    custom = CustomLoss(lambda y, h: ((y != h) * np.arange(1, 10)).sum(axis=-1))
    losses = [*(kind() for kind in LOSSES.values()), Hamming(false_negative=3), Matthews(), TopK(2), custom]
    for loss in [*losses, Hamming(false_negative=tuple(range(1, 10)))]:
        for one, other in ((sparse.csr_array(Y), sparse.csc_matrix(H)), (Y, sparse.csr_array(H))):
            np.testing.assert_allclose(loss.value(one, other), loss.value(Y, H), rtol=1e-15)
    weight = rng.random(150)
    for name in MEASURES:
        both = get_measure(name), sparse.csr_array(Y), sparse.csr_array(H)
        np.testing.assert_allclose(both[0].value(*both[1:], weight), both[0].value(Y, H, weight))


def test_lists_of_labels_are_the_rows_of_the_matrix():
    rng = np.random.default_rng(0)
    for _ in range(30):
        m, K = rng.integers(1, 40), rng.integers(1, 8)
        Y = (rng.random((m, K)) < 0.3).astype(np.int8)
        rows = LabelRows.of(sparse.csr_array(Y), "y")
        table, place = distinct_rows(Y)
        lists, of_lists = distinct_rows(rows)
        np.testing.assert_array_equal(lists.toarray(), table)
        np.testing.assert_array_equal(of_lists, place)
        some = rng.integers(0, m, 5)
        np.testing.assert_array_equal(rows[some].toarray(), Y[some])
        np.testing.assert_array_equal(rows[Y[:, 0] > 0].toarray(), Y[Y[:, 0] > 0])


@pytest.mark.parametrize(
    ("starts", "labels", "match"),
    [([0, 2], [1, 0], "ascend"), ([0, 1], [3], "at most 2"), ([0, 2, 1], [0], "ascend"), ([0, 0], [0], "from 0 to 1")],
)
def test_lists_that_are_none_are_refused(starts, labels, match):
    with pytest.raises(ComitiaError, match=match):
        LabelRows(np.array(starts, np.int64), np.array(labels, np.int32), 3)


def test_nothing_that_is_made_for_very_many_labels_is_dense(monkeypatch):
    monkeypatch.setattr(comitia.ensembles._few_labels, "_CELLS", 1 << 16)
    monkeypatch.setattr(comitia.ensembles._few_labels, "_CELLS_OF_SETS", 1 << 19)
    rng = np.random.default_rng(0)
    n, K = 200, 200_000
    X = rng.standard_normal((n, 5))
    kind = (X[:, :3] > 0) @ [1, 2, 4]
    labels = np.unique(
        np.stack([np.repeat(np.arange(n), 3), np.repeat(kind * 1000, 3) + rng.integers(0, 40, 3 * n)]), axis=1
    )
    Y = sparse.csr_array((np.ones(labels.shape[1], np.int8), labels), shape=(n, K))
    forest = EMODTClassifier(8, oob_score=True, random_state=0).fit(X, Y[:, :5000])
    tracemalloc.start()
    forest.fit(X, Y)
    for loss, how in (("f1", "ctp"), ("hamming", "gmv"), ("subset01", "ptc-mode"), ("subset01", "ctp-joint")):
        assert forest.set_params(loss=loss, aggregation=how).predict(X).shape == (n, K)
    assert 0 <= forest.score(X, Y) <= 1
    assert forest.predict_proba(X).shape == forest.oob_proba_.shape == (n, K)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * K, "an array of all labels, a byte each, was made"
