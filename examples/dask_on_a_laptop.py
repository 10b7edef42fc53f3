"""
Dask on a laptop
================

A comparison is a set of cells: one ensemble, one fold.  ``cluster=`` hands them to the workers of a Dask cluster, here
to two workers that this program starts itself; for a large cluster an address such as ``"tcp://scheduler:8786"`` is all
that changes.  The rows are those of one process, to the last bit.
"""

from time import perf_counter

import matplotlib.pyplot as plt
from distributed import Client, LocalCluster

from comitia.experiments import DataSource, EnsembleSetting, Plan, run_plan

plan = Plan(
    "digits",
    datasets=(DataSource("seven-segment"),),
    ensembles=(
        EnsembleSetting("emodt", {"n_estimators": 60, "min_samples_split": 8, "max_features": "sqrt"}),
        EnsembleSetting("emodt", {"n_estimators": 60, "splitter": "random"}, name="random trees"),
    ),
    losses=("subset01",),
    aggregations=("gmv", "ctp", "ptc-mode", "ctp-joint"),
    folds=5,
)
ended = {"one process": [], "two workers of Dask": []}


def note(title):
    """Return what writes down when cells end, from now on."""
    start = perf_counter()
    return lambda progress: ended[title].append((perf_counter() - start, progress.done))


alone = run_plan(plan, n_jobs=1, on_progress=note("one process"))

# Workers in processes of their own (``processes=True``) are what one wants for real work; a program that starts those
# has to stand under ``if __name__ == "__main__":``.
with (
    LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
    Client(cluster) as client,
):
    spread = run_plan(plan, cluster=client, on_progress=note("two workers of Dask"))

print(f"{spread.computed} cells, the same rows as in one process: {spread.rows == alone.rows}")

# %%
# A worker that dies takes nothing with it: its cell is computed again elsewhere.  With a folder, ``run_plan(plan,
# "results", cluster=…)``, what is finished is kept, and the same call goes on from there.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
for (title, steps), colour in zip(ended.items(), ("#e08214", "#1f4e79"), strict=True):
    left.step(*zip(*steps, strict=True), where="post", color=colour, marker="o", markersize=4, label=title)
left.set(title="Cells that have ended", xlabel="seconds", ylim=(0, None), xlim=(0, None))
left.legend(frameon=False, loc="lower right")

places = {(kind.name, how): [] for kind in plan.ensembles for how in plan.aggregations}
for row in spread.rows:
    places[row["ensemble"], row["aggregation"]].append(100 * row["value"])
names = [f"{kind}, {how}" for kind, how in places]
right.barh(names, [sum(values) / len(values) for values in places.values()], color="#1f4e79")
right.set(title="What they found", xlabel="subset 0/1 loss in percent, mean of five folds")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
right.invert_yaxis()
plt.show()
