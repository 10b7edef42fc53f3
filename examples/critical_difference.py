"""
Critical-difference diagram
===========================

Which aggregation is better over several datasets, and could that be chance?  Friedman's test says whether any differ;
aggregations that a bar joins are not told apart by Nemenyi's test (Demšar 2006).  Here: eight datasets made with
different dependence between the labels.
"""

import pandas as pd

import comitia
from comitia.datasets import make_joint
from comitia.statistics import average_ranks, friedman

runs = []
for seed in range(8):
    data = make_joint(400, 6, 5, dependence=0.3 + 0.1 * seed, random_state=seed).dataset
    run = comitia.compare(
        data,
        ensembles=["ecc"],
        losses=["f1"],
        aggregations=["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"],
        members=20,
        folds=3,
        n_jobs=1,
    )
    runs.append(run.to_frame().assign(dataset=f"dependence {0.3 + 0.1 * seed:.1f}"))

results = comitia.Results(pd.concat(runs, ignore_index=True))
print(results.table("f1"))

# %%

losses = results.to_frame().pivot_table(index="dataset", columns="aggregation", values="value")
print(friedman(losses))
for name, rank in zip(losses.columns, average_ranks(losses), strict=True):
    print(f"{name:<9} {rank:.2f}")

# %%

figure = results.figure("critical-difference-ecc-f1")
