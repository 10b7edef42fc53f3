"""What chains pass on, chosen out of bag: their decisions, or nothing before all of them are weighed together."""

from __future__ import annotations

from sklearn.utils import _safe_indexing

from comitia._labels import FloatArray, IntArray, dense, distinct_rows
from comitia.ensembles._chosen import Trial, better
from comitia.ensembles._crews import Asked, ChainCrew, ChainMethod
from comitia.ensembles._logistic import FastLogistic, scaled
from comitia.ensembles._samples import TrainingSet
from comitia.learners._chains import fit_chains
from comitia.relevance import Observed

MEMBERS = 5
"""How many chains are tried."""

# Labelsets times labels up to which walking over all of them takes a few times as long as walking greedily.
_MOST_CELLS = 10_000


def choose_chain_method(
    data: TrainingSet, entropy: int, learner: FastLogistic, orders: IntArray, n_jobs: int | None = None
) -> ChainMethod:
    """Return whether chains decide link by link, or weigh the labelsets that were seen as wholes.

    The latter has true marginals, but holds labelsets that were never seen for impossible.  It is chosen where a few
    chains, with the same fits, do better with it out of bag, by more than two standard errors of a :class:`Trial`'s
    score; an instance's own labelset counts only if another instance has it.  Costs a fit of these few chains to at
    most 2,000 instances; with many labelsets and labels nothing is tried.

    Parameters
    ----------
    entropy : int
        Of the ensemble: the choice follows from it and the data.
    orders : array of int, shape (5, K)
        Of the chains that are tried.
    """
    cells = len(distinct_rows(data.Y)[0]) * data.Y.shape[1]
    if cells > _MOST_CELLS or (trial := Trial.of(data, entropy, MEMBERS)) is None:
        return "predict"
    X, Y, weight = _safe_indexing(data.X, trial.rows), dense(data.Y[trial.rows]), trial.weight
    centre, scale = learner.centre_and_scale(X, weight)
    fit = fit_chains(
        scaled(X, centre, scale),
        Y,
        orders,
        sample_weight=trial.draws,
        C=learner.C,
        fit_intercept=learner.fit_intercept,
        n_jobs=n_jobs,
    )
    known = Observed.of(Y, weight).leaving_out(Y, weight)

    def judged(method: ChainMethod) -> FloatArray:
        asked = Asked(method == "joint", known, n_jobs, trial.unseen)
        believed = ChainCrew(fit, centre, scale, method).relevances(X, asked)
        each = zip(believed, trial.unseen, strict=True)
        return trial.judged(belief.marginals()[unseen][:, trial.labels] for belief, unseen in each)

    return "joint" if better(judged("joint"), judged("predict")) else "predict"
