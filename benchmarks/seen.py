"""Beliefs over the label sets that were seen: what they cost beside independent labels and greedy chains."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.case import DATA, Case, median_time, peak_memory
from benchmarks.mediamill import mediamill_size
from comitia import FLoss, LabelSets, Marginals
from comitia._label_trie import LabelTrie
from comitia._labels import distinct_rows
from comitia.datasets import load_mulan
from comitia.learners import fit_chains, fit_logistic, predict_chains, predict_logistic
from comitia.learners._chain_joint import chain_joint
from comitia.relevance import Seen
from comitia.relevance._seen import seen_label_sets

SEEN = 6_555  # label sets of mediamill
AT_MOST = Seen().at_most
CHUNK = 4_096
CHAINS = 10


def run(quick: bool = False) -> list[Case]:
    cases = [_joint_chains(name) for name in ("emotions", "scene", "yeast")]
    X, Y = mediamill_size(DATA, 4_000 if quick else 39_516)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    table, counts = _most_seen(Y)
    return cases + _f1_over_seen(X, Y, table, counts) + [_joint_chains_of_mediamill(X, Y, table, counts)]


def _most_seen(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    table, place = distinct_rows(Y)
    counts = np.bincount(place).astype(np.float64)
    most = np.sort(np.argsort(-counts, kind="stable")[:SEEN])
    return np.ascontiguousarray(table[most]), counts[most]


def _f1_over_seen(X: np.ndarray, Y: np.ndarray, table: np.ndarray, counts: np.ndarray) -> list[Case]:
    fit = fit_logistic(X[:6_000], Y[:6_000], tol=1e-4)
    p = predict_logistic(X, fit.coef, fit.intercept)
    trie = LabelTrie.frequent_first(table)
    entries = []

    def decide(a: float) -> None:
        for start in range(0, len(p), CHUNK):
            seen = seen_label_sets(p[start : start + CHUNK], table, counts, a, at_most=AT_MOST, trie=trie)
            FLoss().minimise(LabelSets.unchecked(table=table, weights=seen, total=1.0))
            entries.append(seen.nnz / seen.shape[0])

    decide(0.0)
    alone = median_time(lambda: FLoss().minimise(Marginals(p)), 5)
    cases = []
    for a in (0.0, 0.3, 1.0):
        entries.clear()
        before = peak_memory()
        ratio = median_time(lambda a=a: decide(a), 3) / alone
        note = f"{np.mean(entries):.0f} sets a row, {(peak_memory() - before) / 2**20:.0f} MiB more than before"
        name = f"F1 over {len(table)} seen sets, a = {a}, {len(p)} x 101"
        cases.append(Case(name, "independent labels", ratio, 20, note, at_most=True))
    cases.append(Case("peak memory of it, all included", "1 GiB", peak_memory() / 2**30, 1, at_most=True))
    return cases


def _joint_chains(name: str) -> Case:
    dataset = load_mulan(DATA / name / f"{name}.arff", DATA / name / f"{name}.xml")
    X = (dataset.X - dataset.X.mean(axis=0)) / dataset.X.std(axis=0)
    table, place = distinct_rows(np.ascontiguousarray(dataset.Y, np.int8))
    return _against_greedy(name, X, dataset.Y, X[:1_000], table, np.bincount(place).astype(np.float64), 10)


def _joint_chains_of_mediamill(X: np.ndarray, Y: np.ndarray, table: np.ndarray, counts: np.ndarray) -> Case:
    return _against_greedy("mediamill's size", X[:3_000], Y[:3_000], X[:512], table, counts, None, 2)


def _processor_time(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def _against_greedy(name, X, Y, new, table, counts, target, chains=CHAINS):
    rng = np.random.default_rng(0)
    fit = fit_chains(X, Y, np.stack([rng.permutation(Y.shape[1]) for _ in range(chains)]), tol=1e-4)
    joints = list(chain_joint(fit, new, table, counts, 0.3))
    # Processor time, in turn, the fastest of each: neither meets a busier machine than the other.
    turns = range(9 if target else 1)
    asked = (lambda: list(chain_joint(fit, new, table, counts, 0.3)), lambda: predict_chains(fit, new))
    ours, greedy = np.min([[_processor_time(ask) for ask in asked] for _ in turns], axis=0)
    kept = np.mean([joint.nnz for joint in joints]) / len(new)
    note = f"{1e6 * ours / chains / len(new):.1f} µs a row and chain, {kept:.0f} of {len(table)} sets kept"
    return Case(f"joint chains, {name}", "the greedy walk", ours / greedy, target, note, at_most=True)
