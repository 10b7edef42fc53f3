"""Which aggregation for which loss, on one's own data: the main job of the library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from comitia._arrays import as_count, is_count
from comitia._compare._data import Compared, Labelled, compared_data, introduction
from comitia._compare._gather import results_of
from comitia._errors import ComitiaError
from comitia._names import as_names
from comitia.datasets import Dataset
from comitia.experiments import EnsembleSetting, LossSetting, Plan, Progress, run_plan
from comitia.experiments._calls import is_call, read_call
from comitia.experiments._imports import check_trust
from comitia.experiments._plan import TARGET_NAMES, WAYS, way_named
from comitia.experiments._settings import KINDS
from comitia.report import Results
from comitia.report._vocabulary import named
from comitia.report._write import write_results

ENSEMBLE_NAMES = ("emodt", "ecc", "ebr")


def compare(
    X: Any,
    Y: Any = None,
    *,
    ensembles: Sequence[str | tuple[str, Any]] | None = None,
    losses: Sequence[Any] = ("hamming", "subset01", "f1"),
    aggregations: Sequence[str] | None = None,
    pools: Sequence[str] = ("mean",),
    members: int = 50,
    folds: int = 5,
    repeats: int = 1,
    stratified: bool = False,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    folder: str | Path | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
    data_home: str | Path | None = None,
    labels: Sequence[str] | None = None,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
    columns: Mapping[str, Any] | None = None,
    cluster: Any = None,
    same_bits: bool = False,
    trust: bool = False,
) -> Results:
    """Find out which ensemble and which aggregation to use for which loss.

    The ensembles are cross-validated: each is fitted once for a fold, and scored there for all losses with all
    aggregations.  The same arguments give the same results, for any ``n_jobs``.

    Parameters
    ----------
    X : array, sparse array, data frame, Dataset, str or Path
        Features of shape (n, d), as NumPy, SciPy, pandas or polars have them; or a dataset; or the name of one of
        `comitia.datasets.list_datasets` or ``"seven-segment"``; or the path of an ARFF, CSV or Parquet file.
    Y : array, sparse array or data frame of shape (n, K), optional
        Zeros and ones, one column for each label.  Left out where ``X`` has its labels.
    ensembles : sequence of str or (str, classifier), optional
        Names of `comitia.ENSEMBLES`, also as they are printed, and classifiers under names of one's own: ensembles of
        this library, and any multilabel classifier of scikit-learn's kind.  Such a classifier is scored with what it
        predicts by itself (aggregation ``"own"``), and with the decisions that its probabilities allow for the loss.
        By default ``("emodt", "ecc", "ebr")``.  A name may come with parameters, and a class by its import path, as
        calls: ``"ecc(n_estimators=10)"``, ``"bagging(estimator=package.Class(depth=3))"``, ``"package.Class"``.
    losses : sequence of str, Loss, Measure, callable or (str, loss), default=("hamming", "subset01", "f1")
        Names of `comitia.LOSSES`, and of `comitia.MEASURES`: the value of a whole test fold is then compared.  Names
        with parameters, ``"f1(beta=2)"``; one's own by import path, ``"package.cost"``; losses as objects, and
        functions of (truth, labeling), also under names of one's own.
    aggregations : sequence of str, optional
        Names of `comitia.AGGREGATIONS`, also as tables print them (``"CTP · median"``), or ``"oob"`` for the choice out
        of bag; all by default.
    pools : sequence of str, default=("mean",)
        Names of `comitia.POOLS`.
    members : int, default=50
        Members of the ensembles that are given by name.
    folds, repeats : int, default=5 and 1
        Cross-validation, repeated with other folds.
    stratified : bool, default=False
        Whether folds keep the proportion of every label.
    n_jobs : int, optional
        Number of cores to use; all by default, or with -1, and with -2 all but one.
    random_state : int, RandomState or None, default=0
        Every seed is derived from it.  With None another one is drawn each time, and kept with the results.
    folder : path, optional
        Where each finished part is kept, so that a run that was stopped goes on; by default everything stays in
        memory.  ``Results.read`` reads the results from there.
    progress : bool or callable, optional
        Whether to say what the columns are taken for and show how far the run is; by default on a terminal and in a
        notebook, if it takes a while.  A callable is called with a `comitia.experiments.Progress` whenever a part has
        ended.
    data_home : path, optional
        Folder with the datasets that have a name; see `comitia.datasets.fetch_dataset`.
    labels : sequence of str, optional
        Which columns are labels, where ``X`` is a file or a data frame with its labels in it; ``*`` stands for
        anything.  For arrays the names of the labels.
    labels_in, separator, positive : str, optional
        Other ways in which a file or a frame holds its labels: in one column, as lists or as texts with a separator,
        or by cells that say that a label holds; see `comitia.datasets.load_table`.
    columns : mapping, optional
        What is known of the features of a file or a frame, by parameters of `comitia.columns.TableEncoder`:
        ``{"text": ["title"], "ignore": ["id"]}``.
    cluster : str or distributed.Client, optional
        Where to compute instead of here: the address of a Dask scheduler (``tcp://…``, ``tls://…``), its file, a
        client, or ``"ray"`` or ``"ray://…"``.  The results are the same.
    same_bits : bool, default=False
        Whether to refuse a cluster whose machines round differently, instead of noting it.
    trust : bool, default=False
        Consent to import what is named by its import path: importing is running code.

    Returns
    -------
    Results
        With ``recommendation(loss)``, ``table(loss)``, ``html()``, ``write(folder)`` and more.

    Raises
    ------
    ComitiaError
        When something was asked for that does not exist, or no part of the run succeeded.

    Examples
    --------
    >>> from comitia import compare
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(120, 4, 3, dependence=0.7, random_state=1).dataset
    >>> results = compare(data.X, data.Y, ensembles=["ebr"], losses=["subset01"], members=5, folds=2, n_jobs=1)
    >>> results.recommendation("subset01").code.startswith('EBRClassifier(n_estimators=5, loss="subset01", ')
    True
    """
    labels = None if labels is None else _listed("labels", labels)
    data = compared_data(X, Y, Labelled(labels, labels_in, separator, positive), data_home, columns)
    plan = comparison(
        data,
        ensembles=ensembles,
        losses=losses,
        aggregations=aggregations,
        pools=pools,
        members=members,
        folds=folds,
        repeats=repeats,
        stratified=stratified,
        random_state=random_state,
        trust=trust,
    )
    with _shown(progress, data.dataset) as on_progress:
        summary = run_plan(
            plan,
            folder,
            data={data.source.name: data.dataset},
            n_jobs=n_jobs,
            on_progress=on_progress,
            cluster=cluster,
            same_bits=same_bits,
        )
    if not summary.rows:
        first = summary.failures[0]
        raise ComitiaError(f"all {summary.total} parts of the comparison failed; {first['cell']}: {first['error']}")
    results = results_of(summary.store, source=data.arguments)
    if folder is not None:
        write_results(results, folder)
    return results


def comparison(
    data: Compared,
    *,
    ensembles: Sequence[str | tuple[str, Any]] | None,
    losses: Sequence[Any],
    aggregations: Sequence[str] | None,
    pools: Sequence[str],
    members: int,
    folds: int,
    repeats: int,
    stratified: bool,
    random_state: int | np.random.RandomState | None,
    trust: bool,
) -> Plan:
    """Make the plan of a comparison; the parameters are those of `compare`."""
    folds, members = as_count("folds", folds, 2), as_count("members", members, 1, 2**31 - 1)
    ensembles = None if ensembles is None else _listed("ensembles", ensembles)
    losses, pools = _listed("losses", losses), as_names("pools", pools)
    aggregations = None if aggregations is None else as_names("aggregations", aggregations)
    if folds > data.dataset.n_instances:
        raise ComitiaError(f"{folds} folds need as many instances; {data.source.name} has {data.dataset.n_instances}.")
    chosen = ENSEMBLE_NAMES if ensembles is None else ensembles
    called = [read_call(one) for one in (*chosen, *losses) if isinstance(one, str) and is_call(one)]
    check_trust(called, trust)
    return Plan(
        name=f"compare {data.source.name}",
        datasets=(data.source,),
        ensembles=tuple(_setting(given, members) for given in chosen),
        losses=tuple(_loss(given) for given in losses),
        aggregations=WAYS if aggregations is None else tuple(way_named(name) or name for name in aggregations),
        pools=tuple(pools),
        folds=folds,
        repeats=repeats,
        stratified=stratified,
        seed=_seed(random_state),
    )


def _listed(name: str, given: Any) -> tuple[Any, ...]:
    """Return what should be a sequence; one name alone stands for a sequence of it."""
    try:
        return (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        raise ComitiaError(f"{name} must be a list; got {given!r}.") from None


def _seed(random_state: Any) -> int:
    return int(random_state) if is_count(random_state) else int(check_random_state(random_state).randint(2**31))


def _setting(given: Any, members: int) -> EnsembleSetting:
    if isinstance(given, EnsembleSetting):
        return given
    if isinstance(given, str):
        kind, parameters = _taken_apart(named(given, KINDS))
        if kind not in KINDS or "n_estimators" in KINDS[kind]._get_param_names():
            parameters = {**({} if "." in kind else {"n_estimators": members}), **parameters}
        return EnsembleSetting(kind, parameters, given if is_call(given) and "(" in given else "")
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        name, estimator = given
        return EnsembleSetting(name=name, estimator=estimator)
    raise ComitiaError(f"ensembles must hold names and (name, classifier) pairs; got {given!r}.")


def _loss(given: Any) -> str | LossSetting:
    if isinstance(given, LossSetting):
        return given
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        name, loss = given
        return LossSetting(*_taken_apart(loss), name) if isinstance(loss, str) else LossSetting(loss=loss, name=name)
    if isinstance(given, str):
        return LossSetting(*_taken_apart(given)) if is_call(given) else named(given, TARGET_NAMES)
    return LossSetting(loss=given)


def _taken_apart(text: str) -> tuple[str, dict[str, Any]]:
    """Kind, or import path, and parameters of what may be written as a call."""
    table = read_call(text)
    return table.pop("class", None) or table.pop("kind"), table


@contextmanager
def _shown(
    progress: bool | Callable[[Progress], None] | None, dataset: Dataset
) -> Iterator[Callable[[Progress], None] | None]:
    """Say what the columns are taken for and show a bar, where somebody looks."""
    if callable(progress):
        yield progress
        return
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not progress:
        yield None
        return
    from tqdm.auto import tqdm

    for kind, text in introduction(dataset):
        sys.stderr.write(f"{kind}: {text}\n")
    # A run that is over before somebody reads the bar needs none.
    with tqdm(desc="compare", unit="cell", delay=2.0) as bar:

        def update(now: Progress) -> None:
            bar.total = now.total
            bar.update(now.done + now.failed - bar.n)
            if now.failed:
                bar.set_postfix(failed=now.failed)

        yield update
