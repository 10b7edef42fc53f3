"""What is written and read: a fitted ensemble, the names of its columns, and the checks of whatever a file holds."""

from __future__ import annotations

import dataclasses
import importlib
import typing
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import isabstract
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from comitia import ensembles
from comitia._errors import ComitiaError
from comitia._files import whole_file
from comitia.aggregation import AGGREGATIONS
from comitia.columns import TableEncoder
from comitia.columns._encoders import Medians
from comitia.ensembles import MultilabelEnsemble
from comitia.losses import LOSSES, Constraints
from comitia.measures import MEASURES
from comitia.model_file._archive import ModelFileError, inspect
from comitia.model_file._inputs import model_inputs
from comitia.relevance import POOLS, READINGS, mixture

if typing.TYPE_CHECKING:
    from comitia.datasets import Dataset

_FORMAT = 2
_SCALARS = tuple(np.dtype(code).type for code in "?bhilqBHILQefdU")


def save(model: Model | MultilabelEnsemble, path: str | Path, *, trusted: Iterable[str] = ()) -> None:
    """Write a fitted ensemble to a file, whole or not at all.

    The file is opened again, as :func:`load` opens it, before it takes its name: what has been saved can be loaded.

    Parameters
    ----------
    model : fitted ensemble, or Model
    path : str or Path
        By custom it ends in ``.skops``.
    trusted : iterable of str
        Types or packages besides comitia's own that the ensemble is made of, as in :func:`load`.

    Raises
    ------
    ModelFileError
        When the ensemble holds what :func:`load` would not open; no file is left then.

    Examples
    --------
    >>> import tempfile
    >>> import comitia
    >>> path = f"{tempfile.mkdtemp()}/model.skops"
    >>> comitia.save(comitia.EMODTClassifier(3, random_state=0).fit([[0.0], [1.0]], [[0, 1], [1, 0]]), path)
    >>> comitia.load(path).predict([[1.0]]).shape
    (1, 2)
    """
    whole = model if isinstance(model, Model) else Model.of(model)
    content = {
        "format": _FORMAT,
        "comitia": whole.version,
        "ensemble": whole.ensemble,
        "features": list(whole.features),
        "labels": list(whole.labels),
    }
    skops = _skops()
    try:
        written = skops.dumps(content)
    except Exception as error:
        raise ModelFileError(f"the model cannot be written to {path}: {_sentence(error)}.") from error
    with whole_file(path) as file:
        file.write(written)
        file.flush()
        with Path(file.name).open("rb") as again:
            try:
                if strangers := inspect(again).strangers(known_types(), frozenset(trusted)):
                    packages = dict.fromkeys(stranger.partition(".")[0] for stranger in strangers)
                    raise ModelFileError(
                        f"it holds {', '.join(strangers)}; save and load take that if trusted={list(packages)}, or"
                        " these types, is passed to both"
                    )
                _read(again, frozenset(trusted), None)
            except Exception as error:
                raise ModelFileError(
                    f"the model is not saved to {path}, because it could not be opened again: {_sentence(error)}."
                ) from error


def load(path: str | Path, *, trusted: Iterable[str] = (), max_bytes: int | None = None) -> Any:
    """Read a fitted ensemble from a file that :func:`save` or ``comitia train`` has written.

    Nothing of the file is run.  Its types and sizes are looked at before memory is taken, every array that compiled
    code follows is checked, and one instance is predicted, before the ensemble is given out.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of str
        Names of types (``"sklearn.linear_model._logistic.LogisticRegression"``) or packages (``"sklearn"``) that the
        file may hold besides comitia's own, for ensembles of other learners.  Trust only files whose maker you trust:
        compiled code of other packages follows what such files say.
    max_bytes : int, optional
        Memory that opening may take; 4 GiB, or 64 times the size of a larger file, by default.  It is known from the
        file's table of contents before it is taken.

    Returns
    -------
    the fitted ensemble

    Raises
    ------
    ModelFileError
        When the file is no model, holds other types, is damaged or too large.

    Examples
    --------
    >>> import tempfile
    >>> import comitia
    >>> path = f"{tempfile.mkdtemp()}/model.skops"
    >>> comitia.save(comitia.EMODTClassifier(3).fit([[0.0], [1.0]], [[0, 1], [1, 0]]), path)
    >>> comitia.load(path)
    EMODTClassifier(n_estimators=3)
    """
    return Model.open(path, trusted=trusted, max_bytes=max_bytes).ensemble


@dataclass(frozen=True)
class Model:
    """A fitted ensemble and the data it understands.

    Attributes
    ----------
    ensemble : classifier
        A fitted ensemble.
    features, labels : tuple of str
        Names of the columns that it reads and writes, in its order.
    version : str
        The version of the library that fitted it.

    Examples
    --------
    >>> from comitia import EMODTClassifier, model_file
    >>> model_file.Model.of(EMODTClassifier(3).fit([[0.0], [1.0]], [[0, 1], [1, 0]])).labels
    ('y0', 'y1')
    """

    ensemble: Any
    features: tuple[str, ...]
    labels: tuple[str, ...]
    version: str = ""

    def __post_init__(self) -> None:
        if not self.version:
            object.__setattr__(self, "version", importlib.import_module("comitia").__version__)

    @classmethod
    def of(cls, ensemble: MultilabelEnsemble) -> Model:
        """Return a fitted ensemble with the names of its columns; features without names are x0, x1, ..."""
        if not hasattr(ensemble, "members_"):
            raise ComitiaError(f"the model must be a fitted ensemble of comitia; got {ensemble!r}.")
        names = getattr(_table_encoder(ensemble) or ensemble, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(getattr(ensemble, "n_features_in_", 0))]
        return cls(ensemble, tuple(map(str, names)), tuple(map(str, ensemble.label_names_)))

    @classmethod
    def fit(cls, ensemble: Any, data: Dataset) -> Model:
        """Fit an ensemble and keep the names of the data's columns."""
        import pandas as pd

        ensemble.fit(data.X, pd.DataFrame(data.Y, columns=list(data.label_names)), sample_weight=data.sample_weight)
        return cls(ensemble, data.feature_names, data.label_names)

    @classmethod
    def open(cls, path: str | Path, *, trusted: Iterable[str] = (), max_bytes: int | None = None) -> Model:
        """Read a model as :func:`load` does, with the names of its columns."""
        with Path(path).open("rb") as file:
            try:
                return _read(file, frozenset(trusted), max_bytes)
            except Exception as error:  # a file can be broken in as many ways as there are errors
                raise ModelFileError(f"{path} cannot be opened as a model: {_sentence(error)}.") from error

    @property
    def nominal(self) -> tuple[str, ...]:
        """The features that are no numbers."""
        encoder = _table_encoder(self.ensemble)
        return tuple(name for name, kind in encoder.kinds_.items() if kind not in _NUMBERS) if encoder else ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The features that it cannot do without: all but those that were left out when it was fitted."""
        encoder = _table_encoder(self.ensemble)
        return tuple(name for name in self.features if encoder is None or encoder.kinds_.get(name) != "left out")

    def inputs(self, data: Dataset, *, complete: bool = True) -> Any:
        """Bring the columns of other data to the form in which the ensemble was given its own.

        Where the data are not ``complete``, as lines of JSON, columns that they lack are missing values.
        """
        encoder = _table_encoder(self.ensemble)
        return model_inputs(data, self.features, self.needed, as_frame=encoder is not None, complete=complete)


@cache
def known_types() -> dict[str, frozenset[str]]:
    """Return the types that a model may be made of, by the loader of skops that builds them.

    They follow from the classes: every ensemble says what its members are (``_made_of``), and what those are made of
    stands in the types of their fields.
    """
    classes = [
        made
        for made in vars(ensembles).values()
        if isinstance(made, type) and issubclass(made, MultilabelEnsemble) and not isabstract(made)
    ]
    values = [*LOSSES.values(), *MEASURES.values(), Constraints]
    values += [*map(type, (*POOLS.values(), *READINGS.values(), *AGGREGATIONS.values(), mixture))]
    ours = set(_parts([*classes, *(part for made in classes for part in made._made_of()), *values]))
    numbers = _names(_SCALARS)
    return {
        "DictNode": _names([dict]),
        "ListNode": _names([list]),
        "TupleNode": _names([tuple]),
        "SliceNode": _names([slice]),
        "JsonNode": _names([str]),
        "TypeNode": _names([str, int]) | numbers,
        "NdArrayNode": _names([np.ndarray]) | numbers,
        "DTypeNode": _names([np.dtype]),
        "ObjectNode": _names(ours),
    }


def _names(types: Iterable[type]) -> frozenset[str]:
    return frozenset(f"{made.__module__}.{made.__name__}" for made in types)


def _parts(types: Iterable[type]) -> Iterator[type]:
    """Yield types and the dataclasses of ours that their fields hold."""
    for made in types:
        yield made
        if dataclasses.is_dataclass(made):
            hints = typing.get_type_hints(made).values()
            yield from _parts(
                part
                for hint in hints
                for part in _named_in(hint)
                if dataclasses.is_dataclass(part) and not isabstract(part)
            )


def _named_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and not typing.get_args(hint):
        yield hint
    for argument in typing.get_args(hint):
        yield from _named_in(argument)


def _read(file: BinaryIO, trusted: Collection[str], max_bytes: int | None) -> Model:
    """Build what an open file holds, and check all of it."""
    skops = _skops()
    content = inspect(file, max_bytes)
    if strangers := content.strangers(known_types(), trusted):
        raise ModelFileError(
            f"it holds {', '.join(strangers)}, of which comitia's own models are not made, and could run code of"
            " whoever made it. If you trust its maker, name these types or their packages: comitia.load(…, trusted=[…])"
        )
    built = skops.load(file, trusted=sorted({name for _, name in content.types}))
    model = _model(built)
    _check_parts(model.ensemble)
    _check_whole(model)
    _try(model)
    return model


def _model(content: Any) -> Model:
    if not isinstance(content, dict) or "format" not in content:
        raise ModelFileError("it holds something else")
    if content["format"] != _FORMAT:
        raise ModelFileError(
            f"it has format {content['format']!r}, and this version of comitia opens {_FORMAT}: train the model again"
        )
    if lacking := [part for part in ("ensemble", "comitia", "features", "labels") if part not in content]:
        raise ModelFileError(f"it lacks {', '.join(lacking)}")
    ensemble, version = content["ensemble"], content["comitia"]
    if not isinstance(ensemble, MultilabelEnsemble):
        raise ModelFileError(f"it holds no ensemble but {type(ensemble).__name__}")
    names = {kind: content[kind] for kind in ("features", "labels")}
    for kind, given in names.items():
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            raise ModelFileError(f"its {kind} have no names")
    if not isinstance(version, str):
        raise ModelFileError("it does not say which version has written it")
    return Model(ensemble, tuple(names["features"]), tuple(names["labels"]), version)


def _check_parts(part: Any) -> None:
    """Check everything of ours as its constructor does, which was not called, from the innermost outwards."""
    if isinstance(part, dict):
        for value in part.values():
            _check_parts(value)
    elif isinstance(part, list | tuple):
        for value in part:
            _check_parts(value)
    elif type(part).__module__.partition(".")[0] == "comitia" and hasattr(part, "__dict__"):
        for value in vars(part).values():
            _check_parts(value)
        if dataclasses.is_dataclass(part):
            if vars(part).keys() != {field.name for field in dataclasses.fields(part)}:
                raise ModelFileError(f"a {type(part).__name__} of it has other attributes")
            if hasattr(part, "__post_init__"):
                part.__post_init__()


def _check_whole(model: Model) -> None:
    """Check that members, names and forms of an ensemble fit each other."""
    ensemble = model.ensemble
    ensemble._check_opened()
    n_labels = len(model.labels)
    if not n_labels or list(ensemble.label_names_) != list(model.labels):
        raise ModelFileError("its labels have other names in the ensemble")
    if not len(ensemble.members_) or getattr(ensemble.members_, "n_labels", n_labels) != n_labels:
        raise ModelFileError(f"its members do not know {n_labels} labels")
    if not isinstance(ensemble._form, ensembles._targets.Form) or (ensemble._form.classes is not None and n_labels > 1):
        raise ModelFileError("the form of its labels is not known")
    encoder = getattr(ensemble, "_encoder", None)
    if isinstance(encoder, TableEncoder):
        encoder.check()
        if tuple(encoder.feature_names_in_) != model.features:
            raise ModelFileError("its columns are not those of the ensemble")
    elif encoder is not None and not (isinstance(encoder, Medians) and len(encoder.medians) == len(model.features)):
        raise ModelFileError("its missing numbers are not those of the ensemble")
    if tuple(getattr(ensemble, "feature_names_in_", model.features)) != model.features:
        raise ModelFileError("its features have other names in the ensemble")
    if hasattr(ensemble, "n_features_in_") and ensemble.n_features_in_ != len(model.features):
        raise ModelFileError(f"its {len(model.features)} features are not those of the ensemble")


def _try(model: Model) -> None:
    """Predict one instance of zeros, so that what is wrong shows now; features of other kinds cannot be made up."""
    ensemble = model.ensemble
    encoder = _table_encoder(ensemble)
    encodes = type(ensemble)._features is ensembles._bootstrap.BootstrapEnsemble._features
    # What ensembles of ensembles make of a frame is known where these turn columns into numbers.
    knows = _is_of_ensembles(ensemble) and (encoder is not None or not hasattr(ensemble, "feature_names_in_"))
    if not (encodes or knows) or not model.features:
        return
    X: Any = np.zeros((1, len(model.features)))
    if encoder or hasattr(ensemble, "feature_names_in_"):
        import pandas as pd

        names = list(encoder.feature_names_in_ if encoder else ensemble.feature_names_in_)
        missing = {name: [None] for name in model.nominal}
        X = pd.DataFrame(X, columns=names).assign(**missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names that there were none of
        finite = np.isfinite(ensemble.predict_proba(X).sum()) and ensemble.predict(X).shape[0] == 1
    if not finite:
        raise ModelFileError("its probabilities are no numbers")


def _is_of_ensembles(ensemble: Any) -> bool:
    """Whether all members are ensembles of ours, which say what they take."""
    if isinstance(ensemble, ensembles.CommitteeClassifier):
        return True
    inner = [getattr(member, "estimator", None) for member in getattr(ensemble.members_, "members", ())]
    return bool(inner) and all(isinstance(one, MultilabelEnsemble) for one in inner)


_NUMBERS = ("number", "left out")


def _table_encoder(ensemble: Any) -> TableEncoder | None:
    """What turns the frames that an ensemble has learned from into numbers."""
    encoder = getattr(ensemble, "_encoder", None)
    return encoder if isinstance(encoder, TableEncoder) else None


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text if isinstance(error, ComitiaError) else f"{type(error).__name__}: {text}"


def _skops() -> Any:
    try:
        return importlib.import_module("skops.io")
    except ImportError:
        raise ImportError('model files need skops: pip install skops, or "comitia[cli]"') from None
