"""The parameters that ensembles share, described once."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from comitia import _titles
from comitia._arrays import is_count
from comitia._errors import ComitiaError
from comitia._names import as_known
from comitia.aggregation._kinds import AggregationLike
from comitia.measures._registry import TargetLike as TargetLike
from comitia.relevance._calibration import Kind
from comitia.relevance._pools import PoolLike as PoolLike
from comitia.relevance._readings import ReadingLike as ReadingLike

HowLike: TypeAlias = AggregationLike | Literal["oob"]
CalibrationLike: TypeAlias = Kind | str
SparseOutput: TypeAlias = bool | Literal["auto"]


def chosen_out_of_bag(aggregation: object) -> bool:
    """Whether an aggregation is left to the out-of-bag losses: ``"oob"``, in any letters or as it is printed.

    Examples
    --------
    >>> chosen_out_of_bag("oob"), chosen_out_of_bag("OOB choice"), chosen_out_of_bag("ctp"), chosen_out_of_bag(None)
    (True, True, False, False)
    """
    oob = _titles.CHOSEN_BY_OOB
    return isinstance(aggregation, str) and as_known(aggregation, (oob,), _titles.OTHER_WAYS) == oob


def check_classifier(name: str, given: Any, otherwise: str = "") -> None:
    """Refuse what is no classifier, and a class where an instance was expected.

    Examples
    --------
    >>> check_classifier("estimator", 10, ", or None for logistic regression")
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: estimator must be a classifier of scikit-learn's kind, or None for logistic \
regression; got 10. The number of members is n_estimators.
    """
    if isinstance(given, type) or not hasattr(given, "fit"):
        got = f"{given!r}."
        if isinstance(given, type):
            got = f"the class {given.__name__}: call it, {given.__name__}()."
        elif is_count(given):
            got += " The number of members is n_estimators."
        raise ComitiaError(f"{name} must be a classifier of scikit-learn's kind{otherwise}; got {got}")


def check_pairs(name: str, given: Any, otherwise: str = "", left_out: str | None = None) -> None:
    """Refuse what is not a list of pairs, each of a name and a classifier, or the word for one that is left out.

    Examples
    --------
    >>> check_pairs("estimators", ["tree"])
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: estimators must be a list of (name, classifier); got ['tree'].
    """
    if not are_pairs(given):
        raise ComitiaError(f"{name} must be {otherwise}a list of (name, classifier); got {given!r}.")
    for of, classifier in given:
        if not isinstance(of, str):
            raise ComitiaError(f"{name} must have texts for names; got {of!r}.")
        if not (isinstance(classifier, str) and classifier == left_out):
            check_classifier(f"{of!r} of {name}", classifier)


def are_pairs(given: Any) -> bool:
    """Whether something is a list of pairs."""
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    return is_list and all(isinstance(one, tuple | list) and len(one) == 2 for one in given)


_DECISION = """\
    loss : str, Loss, Measure or callable, default="hamming"
        What predictions are made for: a name of :data:`comitia.LOSSES`, a loss, or a function of (truth, labeling); or
        a measure of a whole set, such as a name of :data:`comitia.MEASURES`, which becomes a cut for each label that is
        found on instances which members have not seen.  May change after ``fit``.
    aggregation : str, Aggregation or None, default=[[way]]
        How members decide together: a name of :data:`comitia.AGGREGATIONS`, also as tables print it, with a pool or a
        reading (``"CTP · median"``, ``"ctp · seen 0.3"``); or None, the paper's advice for the loss.  Ensembles with
        out-of-bag losses also take ``"oob"``, which chooses it, and with ``reading="auto"`` the reading as well, by
        what members have not seen.  May change after ``fit``.
    pool : str or Pool, default="mean"
        How marginals are pooled: a name of :data:`comitia.POOLS`.  May change after ``fit``.
    reading : str or Reading, default="auto"
        How marginals are read as beliefs about whole labelings: a name of :data:`comitia.READINGS`.  ``"auto"`` is
        ``"nonempty"`` where every training instance had a label: an empty answer is then not bet on.  May change after
        ``fit``.
    calibration : {None, "sigmoid", "isotonic", "oob"}, default=None
        How pooled marginals are brought into line with what was observed, label by label, before they are read and
        decided: by a curve of two parameters, by a rising function, or by whichever has the better log loss on
        instances held out in turn, if any does (``"oob"``; ``aggregation="oob"`` then also weighs calibrated decisions
        against others).  It is fitted to beliefs about instances that members have not seen, which ``oob_score=True``
        keeps, or ``tune`` where there is one; ``predict_proba`` is calibrated, votes and joint beliefs are not.  May
        change after ``fit``.
    constraints : Constraints or None, default=None
        Limits that every prediction keeps: how many labels, which exclude each other, which imply others, by their
        names or positions.  May change after ``fit``.
    sparse_output : {"auto", True, False}, default="auto"
        Whether labels and probabilities are predicted as CSR matrices: ``"auto"`` does so where the targets were a
        sparse matrix.  May change after ``fit``.
"""

_SAMPLES = """\
    bootstrap : bool, default=True
        Whether each member learns from a bootstrap sample; otherwise from all instances.
    max_samples : int, float or None, default=None
        Instances drawn for each member, as a number or a share; None draws as many as there are.
    oob_score : bool, default=False
        Whether to judge every aggregation on the instances that members have not seen.
"""

_WORK = """\
    n_jobs : int, optional
        Jobs that fit members, through joblib; None is one, -1 all cores.  The result is the same for any number.
"""

_SEEDED = """\
    random_state : int, RandomState or None, default=None
        Seed of draws and members.
    warm_start : bool, default=False
        Whether ``fit`` keeps the members it has and adds those that are missing.  It goes on with the same data.
        Probabilities of logistic regressions that are fitted in parts can differ from those of one fit, by some 1e-5.
"""

_VERBOSE = """\
    verbose : int, default=0
        Shows the progress of long fits, what the columns of a frame are taken for, and labels that are rare.
"""

_FITTED = """\
    label_names_ : array of K names
        The columns of y where it was a frame, otherwise y0, y1, ...
    columns_ : str
        What each column was taken for, where X was a frame.
    members_ : the fitted members
    observed_ : Observed
        The labelsets of the training data, and how often each occurred.
"""

_OUT_OF_BAG = """\
    oob_mask_ : array of bool, shape (M, n)
        Which instances each member has not seen.  This and what follows is there with ``oob_score=True``.
    oob_table_, oob_errors_ : dict
        For each named loss, and the one that ``fit`` was called with, the out-of-bag loss of each way of deciding, and
        the standard error of its difference to the advised one.  A fit for a measure of a whole set looks at beliefs
        alone, and knows these losses only with ``aggregation="oob"``; decisions over seen labelsets are judged for the
        Jaccard index only where that is the loss of the fit.
    oob_proba_ : array of float, shape (n, K)
        Pooled out-of-bag marginals, NaN for an instance that every member has seen.  Where they are calibrated, each
        is by a calibration that was fitted to other instances.  With trees and sparse targets a CSR matrix, without
        entries for such an instance.
    calibration_ : Calibration or None
        What pooled marginals are calibrated by.
    oob_choice_ : str
        The way of deciding that the out-of-bag losses choose: the usual one, unless the best beats it by more than a
        standard error.
    oob_aggregation_, oob_loss_, oob_score_, oob_losses_
        The way of deciding in use, its out-of-bag loss for the loss in use, one minus that, and the loss of each
        instance: they follow the parameters.  For a measure of a whole set the score is its cross-fitted value, each
        half of the instances decided by cuts that were found on the other; instances have no losses then.
"""

_SECTIONS = {
    "[[decision parameters]]\n": _DECISION,
    "[[sampling parameters]]\n": _DECISION + _SAMPLES + _WORK + _SEEDED + _VERBOSE,
    "[[work parameters]]\n": _WORK + _VERBOSE,
    "[[fitted attributes]]\n": _FITTED,
    "[[sampling attributes]]\n": _FITTED + _OUT_OF_BAG,
}

Class = TypeVar("Class", bound=type)


def documented(cls: Class) -> Class:
    """Write the shared parameters and attributes out in the docstring of an ensemble, with its way of deciding."""
    way = inspect.signature(cls).parameters["aggregation"].default
    # Python keeps docstrings without their indentation since 3.13.
    written = inspect.cleandoc(cls.__doc__ or "")
    for mark, text in _SECTIONS.items():
        written = written.replace(mark, textwrap.dedent(text))
    cls.__doc__ = written.replace("[[way]]", "None" if way is None else f'"{way}"')
    return cls
