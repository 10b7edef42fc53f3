"""Fitted ensembles as files, which are opened without running any code that they might hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import comitia
from comitia._errors import ComitiaError
from comitia._files import whole_file
from comitia.datasets import Dataset

TRUSTED = (
    "comitia.ensembles._logistic.ChainCrew",
    "comitia.ensembles._logistic.LogisticCrew",
    "comitia.ensembles._targets.Form",
    "comitia.ensembles.binary_relevance.EBRClassifier",
    "comitia.ensembles.chains.ECCClassifier",
    "comitia.ensembles.trees.EMODTClassifier",
    "comitia.ensembles.trees.TreeCrew",
    "comitia.learners._tree_leaves.LeafCounts",
    "comitia.learners.chains.ChainFit",
    "comitia.learners.tree.MultiObjectiveTree",
    "numpy.dtype",
)
"""What a model may be made of, besides what skops knows to be harmless: scikit-learn's estimators and arrays."""

_FORMAT = 1


class ModelFileError(ComitiaError):
    """A file is no model, or one that must not be opened."""


@dataclass(frozen=True)
class Model:
    """A fitted ensemble and the data it understands.

    Attributes
    ----------
    ensemble : classifier
        One of `comitia.ENSEMBLES`, fitted.
    features, labels : tuple of str
        Names of the columns that it reads and writes, in its order.
    nominal : mapping of str to list of str
        The features that are no numbers, and the values they may have.
    version : str
        The version of the library that fitted it.
    """

    ensemble: Any
    features: tuple[str, ...]
    labels: tuple[str, ...]
    nominal: Mapping[str, list[str]]
    version: str = comitia.__version__

    @classmethod
    def fit(cls, ensemble: Any, data: Dataset) -> Model:
        """Fit an ensemble and keep the names of the data's columns."""
        import pandas as pd

        ensemble.fit(data.X, pd.DataFrame(data.Y, columns=list(data.label_names)), sample_weight=data.sample_weight)
        nominal = {}
        if isinstance(data.X, pd.DataFrame):
            texts = [column for column in data.X if not pd.api.types.is_numeric_dtype(data.X[column])]
            nominal = {name: sorted(data.X[name].dropna().astype(str).unique()) for name in texts}
        return cls(ensemble, data.feature_names, data.label_names, nominal)

    def inputs(self, data: Dataset) -> Any:
        """Bring the columns of other data to the form in which the ensemble was given its own."""
        missing = [name for name in self.features if name not in data.feature_names]
        if missing:
            raise ComitiaError(
                f"{data.name} lacks {len(missing)} of the {len(self.features)} columns that the model needs: "
                f"{', '.join(missing[:12])}{' ...' if len(missing) > 12 else ''}. It has: "
                f"{', '.join(data.feature_names[:12])}{' ...' if len(data.feature_names) > 12 else ''}."
            )
        if hasattr(data.X, "columns"):
            return self._of_frame(data.X[list(self.features)], data.name)
        positions = {name: j for j, name in enumerate(data.feature_names)}
        X = data.X[:, [positions[name] for name in self.features]]
        if not self.nominal:
            return X
        import pandas as pd

        dense = X.toarray() if hasattr(X, "toarray") else X
        return self._of_frame(pd.DataFrame(dense, columns=list(self.features)), data.name)

    def _of_frame(self, frame: Any, name: str) -> Any:
        import pandas as pd

        numeric = {column: pd.api.types.is_numeric_dtype(frame[column]) for column in self.features}
        wrong = [column for column in self.features if column not in self.nominal and not numeric[column]]
        if wrong:
            raise ComitiaError(f"{name}: column {wrong[0]!r} holds text, and the model has learned from numbers there")
        if not self.nominal:
            return frame.to_numpy(dtype=float)
        texts = {
            column: pd.Categorical(_texts(frame[column]) if numeric[column] else frame[column].astype(object))
            for column in self.nominal
        }
        return frame.assign(**texts)

    def save(self, path: str | Path) -> None:
        """Write the model, whole or not at all."""
        import skops.io

        content = {
            "format": _FORMAT,
            "comitia": self.version,
            "ensemble": self.ensemble,
            "features": list(self.features),
            "labels": list(self.labels),
            "nominal": {name: list(values) for name, values in self.nominal.items()},
        }
        with whole_file(path) as file:
            file.write(skops.io.dumps(content))

    @classmethod
    def open(cls, path: str | Path) -> Model:
        """Read a model.

        Raises
        ------
        ModelFileError
            When the file is no model, or holds anything but the types that a model is made of; nothing of it has been
            run then.
        """
        import skops.io

        content = Path(path).read_bytes()
        try:
            strange = sorted(set(skops.io.get_untrusted_types(data=content)) - set(TRUSTED))
            if strange:
                raise ModelFileError(
                    f"{path} is not opened: it holds {', '.join(strange)}, and a model of comitia never does. "
                    "Such a file could run code of whoever made it."
                )
            model = skops.io.loads(content, trusted=list(TRUSTED))
            return cls._of_content(model, path)
        except ModelFileError:
            raise
        except Exception as error:  # a file can be broken in as many ways as there are errors
            raise ModelFileError(
                f"{path} is not a model that 'comitia train' has written ({type(error).__name__}: {error})"
            ) from error

    @classmethod
    def _of_content(cls, content: Any, path: str | Path) -> Model:
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ModelFileError(f"{path} is not a model that this version of comitia ({comitia.__version__}) can open")
        if not isinstance(content["ensemble"], tuple(comitia.ENSEMBLES.values())):
            raise ModelFileError(f"{path} holds no ensemble but {type(content['ensemble']).__name__}")
        return cls(
            content["ensemble"],
            tuple(content["features"]),
            tuple(content["labels"]),
            content["nominal"],
            content["comitia"],
        )


def _texts(column: Any) -> Any:
    """Numbers as the texts that they are read from: a nominal 3 is not 3.0."""
    return [None if value != value else f"{value:.17g}" for value in column]
