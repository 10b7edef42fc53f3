"""What every reader returns: features, labels and their names, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from comitia._errors import ComitiaError
from comitia._names import printable
from comitia.columns._kinds import matching
from comitia.datasets._extras import require


class DataFormatError(ComitiaError):
    """A data file is not what it should be.

    The message says which file, which line where there is one, what stands there and what was expected.

    Examples
    --------
    >>> from comitia.datasets import DataFormatError
    >>> print(DataFormatError.at("songs.csv", 3, "expected 3 cells, found 2"))
    songs.csv, line 3: expected 3 cells, found 2
    """

    @classmethod
    def at(cls, path: str | Path, line: int | None, message: str) -> DataFormatError:
        """The error for one place in a file."""
        where = printable("standard input" if str(path) == "-" else str(path))
        return cls(f"{where}, line {line}: {message}" if line is not None else f"{where}: {message}")


class NoSuchColumnError(DataFormatError):
    """A data file lacks a column that was named."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multilabel dataset.

    Attributes
    ----------
    X : ndarray, CSR array or pandas.DataFrame of shape (n, d)
        The features: float64, with NaN where a value is missing.  Sparse files give a CSR array.  A data frame comes
        only where there are features that are not numbers: nominal ones are its categorical columns, texts its strings.
        ``X.attrs["source"]`` is then the file, and the index counts its rows from zero.
    Y : int8 ndarray of shape (n, K)
        One where a label is relevant, zero elsewhere.
    feature_names, label_names : tuple of str
        In the order of the columns of ``X`` and ``Y``.
    name : str
        What the dataset is called.
    sample_weight : float64 ndarray of shape (n,) or None
        The weights of the instances, where the file gives any.
    notes : tuple of str
        Sentences about what was recognised while reading and what a user should know about the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.datasets import Dataset
    >>> Dataset(np.eye(2), np.array([[1, 0], [1, 1]], dtype=np.int8), ("a", "b"), ("red", "blue"), "tiny")
    Dataset(name='tiny', n=2, d=2, K=2, cardinality=1.500, density=0.750)
    """

    X: Any
    Y: npt.NDArray[np.int8]
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    name: str
    sample_weight: npt.NDArray[np.float64] | None = field(default=None)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.Y.ndim != 2 or self.Y.dtype != np.int8:
            raise ComitiaError(f"Y must be a matrix of int8; got {self.Y.ndim} dimensions of {self.Y.dtype}.")
        if self.Y.size and not (self.Y.min() >= 0 and self.Y.max() <= 1):
            raise ComitiaError("Y must hold 0 and 1 only; got other values.")
        if self.X.shape != (self.n_instances, len(self.feature_names)):
            expected = (self.n_instances, len(self.feature_names))
            raise ComitiaError(f"X must have shape {expected}, as Y and feature_names say; got {self.X.shape}.")
        if self.n_labels != len(self.label_names):
            raise ComitiaError(f"label_names must name {self.n_labels} columns of Y; got {len(self.label_names)}.")
        if self.sample_weight is not None and self.sample_weight.shape != (self.n_instances,):
            raise ComitiaError(f"sample_weight must have shape ({self.n_instances},); got {self.sample_weight.shape}.")

    @property
    def n_instances(self) -> int:
        """Number of rows, n."""
        return int(self.Y.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.feature_names)

    @property
    def n_labels(self) -> int:
        """Number of labels, K."""
        return int(self.Y.shape[1])

    @property
    def cardinality(self) -> float:
        """Relevant labels of an instance, on average."""
        return float(self.Y.sum(dtype=np.int64) / max(self.n_instances, 1))

    @property
    def density(self) -> float:
        """Share of the labels that is relevant: the cardinality divided by K."""
        return self.cardinality / max(self.n_labels, 1)

    def take(self, rows: npt.NDArray[Any] | slice) -> Dataset:
        """The instances at these positions, in their order: a part of the data, with its labels and weights.

        Parameters
        ----------
        rows : array of int, array of bool of shape (n,), or slice

        Examples
        --------
        >>> import numpy as np
        >>> from comitia.datasets import Dataset
        >>> tiny = Dataset(np.eye(2), np.array([[1, 0], [1, 1]], dtype=np.int8), ("a", "b"), ("red", "blue"), "tiny")
        >>> tiny.take(np.array([1, 0, 1])).Y
        array([[1, 1],
               [1, 0],
               [1, 1]], dtype=int8)
        """
        return replace(
            self,
            X=self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows],
            Y=self.Y[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )

    def with_columns(
        self,
        *,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        **options: Any,
    ) -> Dataset:
        """The same data with fewer features, and with what is known of their columns.

        Parameters
        ----------
        features, ignore : list of str
            The features to use and those to leave out, or patterns such as ``"x*"``.
        **options
            Other parameters of `comitia.columns.TableEncoder`, which ensembles use for the columns of a frame:
            ``categories``, ``text``, ``numbers``, ``missing_values``, ``day_first``.  They are kept in
            ``X.attrs["columns"]``.

        Examples
        --------
        >>> import numpy as np
        >>> from comitia.datasets import Dataset
        >>> tiny = Dataset(np.eye(2), np.array([[1, 0], [1, 1]], dtype=np.int8), ("a", "id"), ("red", "blue"), "tiny")
        >>> tiny.with_columns(ignore=["id"]).feature_names
        ('a',)
        """
        names = list(self.feature_names)
        kept = names if features is None else matching(names, features, "features")
        gone = set(matching(names, ignore, "ignore"))
        kept = [name for name in kept if name not in gone]
        if not kept:
            raise ComitiaError(f"{self.name} must have a feature that is used; got none of {len(names)}.")
        for option in ("categories", "text"):
            matching(kept, options.get(option, ()), option)
        X = self.X
        if hasattr(X, "columns"):
            X = X[kept]
        elif len(kept) < len(names):
            X = X[:, [names.index(name) for name in kept]]
        if options:
            if not hasattr(X, "columns"):
                pandas = require("pandas", "columns of a kind of one's own")
                X = pandas.DataFrame(X.toarray() if hasattr(X, "toarray") else X, columns=kept)
                X.attrs["source"] = self.name
            X = X.copy(deep=False)
            X.attrs["columns"] = options
        return replace(self, X=X, feature_names=tuple(kept))

    def __repr__(self) -> str:
        return (
            f"Dataset(name={self.name!r}, n={self.n_instances}, d={self.n_features}, K={self.n_labels}, "
            f"cardinality={self.cardinality:.3f}, density={self.density:.3f})"
        )
