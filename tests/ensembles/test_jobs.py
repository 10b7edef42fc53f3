"""What n_jobs means: the same in fit, predict and out of bag."""

import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from comitia import (
    ComitiaError,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    _threads,
)
from comitia._jobs import _libraries, limited_to, local_threads, one_blas_thread
from comitia._once import once
from comitia.learners import _logistic_predict, fit_logistic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 6))
Y = (X[:, :4] + RNG.normal(size=(700, 4)) > 0.5).astype(np.int8)
KINDS = [EBRClassifier, ECCClassifier, EMODTClassifier]


@pytest.fixture
def asked(monkeypatch):
    """How many threads each loop was given."""
    counts = []
    original = _threads.over_parts

    def counted(work, parts, threads):
        counts.append(threads)
        original(work, parts, threads)

    for module in (_threads, __import__("comitia.learners._logistic_predict", fromlist=["x"])):
        monkeypatch.setattr(module, "over_parts", counted)
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_predicting_uses_the_jobs_that_were_asked_for_and_no_others(kind, asked):
    model = kind(n_estimators=3, random_state=0, loss="f1", oob_score=True).fit(X, Y)
    model.predict(X)
    assert set(asked) <= {1}
    with joblib.parallel_config("threading", n_jobs=3):
        model.predict(X)
    assert max(asked) == 3
    del asked[:]
    model.set_params(n_jobs=2).predict(X)
    assert max(asked) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_have_the_same_bits_for_any_number_of_jobs(kind):
    one = kind(n_estimators=4, random_state=0, loss="f1", oob_score=True, n_jobs=1).fit(X, Y)
    many = kind(n_estimators=4, random_state=0, loss="f1", oob_score=True, n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(X), many.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), many.predict(X))
    np.testing.assert_array_equal(one.oob_proba_, many.oob_proba_)
    for a, b in zip(one.predict_members(X), many.predict_members(X), strict=True):
        np.testing.assert_array_equal(a.marginals(), b.marginals())


@pytest.mark.parametrize(
    "made",
    [
        EBRClassifier(n_estimators=3, C=1.0, scaling="none"),
        ECCClassifier(n_estimators=3, C=1.0, scaling="none"),
        EMODTClassifier(3),
        EMOBTClassifier(2, max_rounds=3),
        MultilabelBaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3),
    ],
    ids=lambda made: type(made).__name__,
)
def test_more_jobs_than_there_is_work_start_no_more_threads_than_that(made):
    made.set_params(random_state=0)
    few, many = (clone(made).set_params(n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 10**400))
    assert joblib.hash(many.members_) == joblib.hash(few.members_)


@pytest.mark.parametrize("kind", [EMODTClassifier, EMOBTClassifier])
def test_a_depth_that_no_tree_reaches_is_no_limit(kind):
    found = [kind(2, max_depth=depth, random_state=0).fit(X, Y).predict_proba(X) for depth in (10**400, None)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (EMODTClassifier(min_samples_split="few"), "min_samples_split must be an integer, at least 2; got 'few'"),
        (EMODTClassifier(min_samples_leaf=10**400, min_samples_split=True), "at least 2; got True"),
        (EMODTClassifier(10**400), "n_estimators must be an integer, at least 1 and at most 2147483647; got 1000"),
        (EMODTClassifier(True), "n_estimators must be an integer, .*; got True"),
        (EBRClassifier(max_samples=10**400), "max_samples must lie in 1..9007199254740992; got 1000"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_by_name(made, message):
    with pytest.raises(ComitiaError, match=message):
        made.fit(X, Y)


def test_threads_that_find_something_of_different_objects_do_not_wait_for_each_other():
    together = threading.Barrier(2)

    class Part:
        @once
        def found(self):
            together.wait(timeout=30)
            return 1

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda part: part.found, [Part(), Part()])) == [1, 1]


@pytest.mark.parametrize("aggregation", ["ctp", "ptc-mbr"])
@pytest.mark.parametrize("kind", [EBRClassifier, ECCClassifier])
def test_parts_of_instances_are_predicted_at_the_same_time(kind, aggregation, monkeypatch):
    together, original = threading.Barrier(2), _logistic_predict.checked

    def met(found):
        together.wait(timeout=30)
        return original(found)

    many = np.tile(X, (5, 1))
    model = kind(n_estimators=1, C=1.0, scaling="none", aggregation=aggregation, n_jobs=2, random_state=0).fit(X, Y)
    monkeypatch.setattr(_logistic_predict, "checked", met)
    assert model.predict(many).shape == (len(many), 4)


def test_a_limit_holds_where_it_was_entered_and_in_no_other_thread():
    seen = []
    with limited_to(2):
        assert _threads.limit.get() == local_threads(2) == 2
        other = threading.Thread(target=lambda: seen.append(_threads.limit.get()))
        other.start()
        other.join()
    assert seen == [None]
    assert _threads.limit.get() is None


def test_two_fits_in_two_threads_do_not_disturb_each_other():
    weights = RNG.integers(3, size=(700, 4)).astype(float)
    alone = fit_logistic(X, Y, sample_weight=weights, n_jobs=1)
    found = [None] * 4

    def fit(at):
        found[at] = fit_logistic(X, Y, sample_weight=weights, n_jobs=1 + at % 2)

    threads = [threading.Thread(target=fit, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found:
        assert (other.coef == alone.coef).all()
        assert (other.intercept == alone.intercept).all()


def _blas_threads():
    return [library.num_threads for library in _libraries()]


def test_any_thread_keeps_linear_algebra_to_one_thread_and_gives_it_back():
    before, seen = _blas_threads(), []
    with one_blas_thread():  # the first thread that limits it
        assert set(_blas_threads()) == {1}

    def held():
        with one_blas_thread():
            seen.append(_blas_threads())

    thread = threading.Thread(target=held)
    thread.start()
    thread.join()
    assert set(seen[0]) == {1}
    assert _blas_threads() == before


def test_linear_algebra_is_given_back_by_the_last_holder_whichever_that_is():
    before = _blas_threads()
    held, may_go = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            held.set()
            may_go.wait(10)

    thread = threading.Thread(target=hold)
    with one_blas_thread():
        thread.start()
        held.wait(10)
    assert set(_blas_threads()) == {1}  # the other still holds it
    may_go.set()
    thread.join()
    assert _blas_threads() == before
