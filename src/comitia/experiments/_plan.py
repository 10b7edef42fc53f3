"""A plan: which data, which ensembles and which decisions; and the cells of work that it comes down to."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comitia._arrays import as_count
from comitia._errors import ComitiaError
from comitia._names import unknown
from comitia._titles import BETWEEN, CHOSEN_BY_OOB
from comitia._version import __version__
from comitia.aggregation import AGGREGATIONS, get_aggregation
from comitia.aggregation._kinds import CALIBRATED, aggregation_name
from comitia.datasets import Dataset, load_dataset, load_seven_segment
from comitia.datasets._text import STDIN
from comitia.ensembles._parameters import chosen_out_of_bag
from comitia.experiments._imports import PlanError as PlanError
from comitia.experiments._losses import TARGETS, LossSetting
from comitia.experiments._settings import EnsembleSetting as EnsembleSetting
from comitia.learners._device import check_device
from comitia.losses import LOSSES, Hamming, Loss
from comitia.measures import MEASURES, Measure, get_target
from comitia.relevance import POOLS

EXAMPLES = {"seven-segment": load_seven_segment}
"""Datasets that need no file."""

LOSS_NAMES = tuple(LOSSES)
"""The losses that a name alone describes."""

WAYS = (*AGGREGATIONS, CHOSEN_BY_OOB)
"""How members can be asked to decide."""


def way_named(name: str) -> str:
    """Return the way of deciding that a name means, in any letters or as it is printed; empty where it means none.

    Examples
    --------
    >>> way_named("OOB choice"), way_named("PTC-mbr"), way_named("CTP · median"), way_named("mine")
    ('oob', 'ptc-mbr', 'ctp · median', '')
    """
    if chosen_out_of_bag(name):
        return CHOSEN_BY_OOB
    try:
        return aggregation_name(get_aggregation(name, Hamming()))
    except ComitiaError:
        return ""


TARGET_NAMES = tuple(TARGETS)
"""What predictions can be made for by a name alone: losses, and measures of a whole set."""


@dataclass(frozen=True)
class DataSource:
    """A dataset of the catalogue or an example by its name, or a file under a name of one's choice.

    Parameters
    ----------
    name : str
        What the dataset is called in results.
    path : str, optional
        A file that `comitia.datasets.load_dataset` reads, relative to ``folder``.
    labels : tuple of str, optional
        The columns of the file that are labels; ``*`` stands for anything.
    labels_in, separator, positive : str, optional
        Other ways in which a table holds its labels; see `comitia.datasets.load_table`.
    columns : mapping
        What is known of the features; see `comitia.datasets.Dataset.with_columns`.
    folder : str, optional
        Where a relative path begins: the folder of the plan's file; by default the one in which the plan is run.

    Examples
    --------
    >>> from comitia.experiments import DataSource
    >>> DataSource("seven-segment").load().n_labels
    7
    """

    name: str
    path: str | None = None
    labels: tuple[str, ...] | None = None
    labels_in: str | None = None
    separator: str | None = None
    positive: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = field(default=None, compare=False)

    @property
    def location(self) -> str | None:
        """The path from where this process is."""
        if self.path is None or self.folder is None or self.path == str(STDIN):
            return self.path
        return os.path.normpath(Path(self.folder) / self.path)

    def load(self, data_home: str | Path | None = None) -> Dataset:
        """Read the dataset; ``data_home`` is a folder with datasets of the catalogue."""
        dataset = self._load(data_home)
        return dataset.with_columns(**self.columns) if self.columns else dataset

    def settings(self) -> dict[str, Any]:
        """What was set besides name, path and labels."""
        ways = {"labels_in": self.labels_in, "separator": self.separator, "positive": self.positive}
        given = {key: value for key, value in ways.items() if value is not None}
        return {**given, "columns": dict(self.columns)} if self.columns else given

    def _load(self, data_home: str | Path | None) -> Dataset:
        if (location := self.location) is not None:
            ways = {"labels_in": self.labels_in, "separator": self.separator, "positive": self.positive}
            return load_dataset(location, self.labels, **ways)
        if self.name in EXAMPLES:
            return EXAMPLES[self.name]()
        return load_dataset(self.name, data_home=data_home)


@dataclass(frozen=True)
class Cell:
    """The smallest piece of work: one ensemble fitted on the training part of one fold and scored on its test part.

    Parameters
    ----------
    dataset, ensemble : str
        By the names that the plan gives them.
    repeat, fold : int
        From 0.

    Examples
    --------
    >>> from comitia.experiments import read_plan
    >>> next(read_plan("table2").cells())
    Cell(dataset='cal500', ensemble='emodt', repeat=0, fold=0)
    """

    dataset: str
    ensemble: str
    repeat: int
    fold: int

    @property
    def key(self) -> str:
        """A name for files that never changes and that no other cell of a plan has.

        Examples
        --------
        >>> from comitia.experiments import Cell
        >>> Cell("emotions", "ecc", 0, 3).key
        'emotions.ecc.r0.f3'
        >>> Cell("my data", "ecc", 0, 3).key
        'my-data-b2167b0a.ecc.r0.f3'
        """
        return f"{file_name(self.dataset)}.{file_name(self.ensemble)}.r{self.repeat}.f{self.fold}"


@dataclass(frozen=True)
class Plan:
    """What is to be found out, and all that decides the outcome.

    Parameters
    ----------
    name : str
        What the plan is called.
    datasets : tuple of DataSource
        The data.
    ensembles : tuple of EnsembleSetting
        The ensembles; each is fitted once for a fold, whatever is scored then.
    losses : tuple of str or LossSetting
        What a fitted ensemble is scored for: names, and losses with parameters or of one's own.
    aggregations, pools : tuple of str
        The ways in which it decides.  The aggregation ``"oob"`` is, for each loss, the aggregation with the
        smallest out-of-bag loss; it is left out for ensembles whose members all see every instance.  One with a pool
        or a reading of its own is named as it is printed, ``"ctp · median"``.
    sizes : tuple of int
        Numbers of members, ascending: the first m members decide.  Empty: all members.
    folds, repeats : int
        Cross-validation, repeated with other folds.
    stratified : bool
        Whether folds keep the proportion of every label; the paper's are plain, shuffled ones.
    seed : int
        Every seed is derived from it and from the names of dataset and ensemble, the repeat and the fold.
    device : {"cpu", "cuda", "cuda:N"}
        Where logistic regressions are fitted in cells that are large enough to gain from it, unless their ensemble
        says so itself; all cells may share one GPU.

    Examples
    --------
    >>> from comitia.experiments import DataSource, EnsembleSetting, Plan
    >>> plan = Plan("mine", (DataSource("seven-segment"),), (EnsembleSetting("ecc"),), losses=("f1",), folds=3)
    >>> len(list(plan.cells())), plan.folds
    (3, 3)
    """

    name: str
    datasets: tuple[DataSource, ...]
    ensembles: tuple[EnsembleSetting, ...]
    losses: tuple[str | LossSetting, ...] = ("hamming", "subset01", "f1")
    aggregations: tuple[str, ...] = WAYS
    pools: tuple[str, ...] = ("mean",)
    sizes: tuple[int, ...] = ()
    folds: int = 10
    repeats: int = 1
    stratified: bool = False
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        try:
            check_device(self.device)
            for name, least, most in (("folds", 2, None), ("repeats", 1, 10**6), ("seed", 0, None)):
                object.__setattr__(self, name, as_count(name, getattr(self, name), least, most))
        except ComitiaError as error:
            raise PlanError(str(error)) from None
        for kind, names, known in (
            ("loss", self.loss_names, (*TARGET_NAMES, *self._own_losses)),
            ("aggregation", self.aggregations, (*WAYS, *filter(_is_composed, self.aggregations))),
            ("pool", self.pools, POOLS),
        ):
            _check_distinct(kind, names)
            for name in names:
                if name not in known:
                    raise PlanError(unknown(kind, name, known))
        _check_distinct("dataset", [source.name for source in self.datasets])
        _check_distinct("ensemble", [setting.name for setting in self.ensembles])
        if self.stratified not in (False, True):
            raise PlanError(f"stratified must be true or false; got {self.stratified!r}.")
        object.__setattr__(self, "stratified", bool(self.stratified))
        if list(self.sizes) != sorted(set(self.sizes)) or (self.sizes and self.sizes[0] < 1):
            raise PlanError(f"sizes must be ascending numbers of members, from 1; got {list(self.sizes)}.")
        for setting in self.ensembles:
            setting.check_offers(self.aggregations)
            if self.measures and not (setting.foreign or setting.leaves_out):
                raise PlanError(
                    f"loss {self.measures[0]!r} is tuned out of bag, and members of ensemble {setting.name!r} leave"
                    " nothing out: set bootstrap = true or max_samples."
                )
            if self.sizes and not setting.foreign and self.sizes[-1] > setting.n_members:
                raise PlanError(
                    f"sizes goes up to {self.sizes[-1]}, but ensemble {setting.name!r} has {setting.n_members} members:"
                    " set its n_estimators."
                )

    def cells(self) -> Iterator[Cell]:
        """Enumerate the work, always in the same order."""
        for source in self.datasets:
            for setting in self.ensembles:
                for repeat in range(self.repeats):
                    for fold in range(self.folds):
                        yield Cell(source.name, setting.name, repeat, fold)

    def select(
        self,
        *,
        datasets: Sequence[str] | None = None,
        ensembles: Sequence[str] | None = None,
        repeats: int | None = None,
        folds: int | None = None,
    ) -> list[Cell]:
        """Pick the cells of some datasets and ensembles, of the first repeats and of each one's first folds."""
        for kind, wanted, known in (
            ("dataset", datasets, [source.name for source in self.datasets]),
            ("ensemble", ensembles, [setting.name for setting in self.ensembles]),
        ):
            for name in wanted or ():
                if name not in known:
                    raise PlanError(unknown(f"{kind} of plan {self.name!r}:", name, known))
        for kind, count, most in (("repeats", repeats, self.repeats), ("folds", folds, self.folds)):
            if count is not None and not 1 <= count <= most:
                raise PlanError(f"{kind} must lie in 1..{most}, as plan {self.name!r} has so many; got {count}.")
        return [
            cell
            for cell in self.cells()
            if (datasets is None or cell.dataset in datasets)
            and (ensembles is None or cell.ensemble in ensembles)
            and (repeats is None or cell.repeat < repeats)
            and (folds is None or cell.fold < folds)
        ]

    @property
    def loss_names(self) -> tuple[str, ...]:
        """What the losses are called in results."""
        return tuple(loss if isinstance(loss, str) else loss.name for loss in self.losses)

    @property
    def targets(self) -> dict[str, Loss | Measure]:
        """What predictions are made for, by the names of the losses."""
        made = {name: setting.target() for name, setting in self._own_losses.items()}
        return {name: made[name] if name in made else get_target(name) for name in self.loss_names}

    @property
    def measures(self) -> list[str]:
        """The losses that are measures of a whole set."""
        of_a_set = [name for name, setting in self._own_losses.items() if setting.of_a_set]
        return [name for name in self.loss_names if name in MEASURES or name in of_a_set]

    @property
    def paths(self) -> list[str]:
        """The import paths that the plan names: workers need what they lead to."""
        found = [path for setting in self.ensembles for path in setting.paths]
        own = [setting.kind for setting in self._own_losses.values() if "." in setting.kind]
        return list(dict.fromkeys([*found, *own]))

    @property
    def _own_losses(self) -> dict[str, LossSetting]:
        return {loss.name: loss for loss in self.losses if isinstance(loss, LossSetting)}

    def source(self, dataset: str) -> DataSource:
        """Find a dataset by its name."""
        return next(source for source in self.datasets if source.name == dataset)

    def setting(self, ensemble: str) -> EnsembleSetting:
        """Find an ensemble by its name."""
        return next(setting for setting in self.ensembles if setting.name == ensemble)

    def seed_of_folds(self, cell: Cell) -> int:
        """The seed of the folds of a repeat: the same for all ensembles, so that they see the same data."""
        return _seed(self.seed, "folds", cell.dataset, cell.repeat)

    def seed_of_members(self, cell: Cell) -> int:
        """The seed of the ensemble of a cell."""
        return _seed(self.seed, "members", cell.dataset, cell.ensemble, cell.repeat, cell.fold)

    def identity(self) -> dict[str, Any]:
        """All that decides the outcome, as plain values: also the classes' defaults and the version of the library."""
        return {
            "comitia": __version__,
            "name": self.name,
            "seed": self.seed,
            "folds": self.folds,
            "repeats": self.repeats,
            "stratified": self.stratified,
            "losses": [loss if isinstance(loss, str) else loss.identity() for loss in self.losses],
            "aggregations": list(self.aggregations),
            "pools": list(self.pools),
            "sizes": list(self.sizes),
            "datasets": {
                source.name: {
                    # Its name alone: where it lies depends on who looks, and what is in it is checked by a checksum.
                    "path": None if source.path is None else Path(source.path).name,
                    "labels": None if source.labels is None else list(source.labels),
                    **source.settings(),
                }
                for source in self.datasets
            },
            "ensembles": {setting.name: setting.identity() for setting in self.ensembles},
            **({} if self.device == "cpu" else {"device": self.device}),
        }

    def digest(self) -> str:
        """A short name for the identity: plans with the same digest give the same rows."""
        return digest(self.identity())


def digest(identity: Mapping[str, Any]) -> str:
    """A short name for the identity of a plan."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def file_name(name: str) -> str:
    """Make a part of a file name of any name; what had to be changed is told apart by a checksum."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40].strip("-")
    return plain if plain == name else f"{plain}-{_checksum(name).hex()[:8]}".lstrip("-")


def _seed(*parts: str | int) -> int:
    return int.from_bytes(_checksum(json.dumps(parts))[:4], "big")


def _checksum(text: str) -> bytes:
    # hash() differs from one process to the next; a checksum never does.
    return hashlib.sha256(text.encode()).digest()


def _is_composed(name: str) -> bool:
    """Whether a name says more than an aggregation; a calibration is the ensemble's, and no part of a plan's names."""
    return BETWEEN in name and way_named(name) == name and not name.endswith(CALIBRATED)


def _check_distinct(kind: str, names: Sequence[str]) -> None:
    if not names:
        raise PlanError(f"a plan must have at least one {kind}; got none.")
    seen: set[str] = set()
    for name in names:
        if not name:
            raise PlanError(f"every {kind} must have a name; got an empty one.")
        if name.casefold() in seen:
            raise PlanError(f"{kind} {name!r} occurs twice (small and capital letters count as the same).")
        seen.add(name.casefold())
