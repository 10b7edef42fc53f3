"""``comitia warm-up`` leaves nothing to compile."""

import json
import os
import subprocess
import sys

import pytest

LATER = """
import json
from scipy.sparse import csr_array
from sklearn.datasets import make_multilabel_classification
from comitia import ENSEMBLES
from comitia._compiled import seconds_compiling

X, Y = make_multilabel_classification(n_samples=80, n_features=7, n_classes=5, random_state=1)
with seconds_compiling() as compiling:
    for name in ("ebr", "ecc", "emodt", "emobt"):
        ENSEMBLES[name](n_estimators=4, loss="f1", random_state=0).fit(X, Y).predict(X)
    ENSEMBLES["emodt"](n_estimators=4, loss="f1", random_state=0).fit(X, csr_array(Y)).predict(X)
print(json.dumps(compiling()))
"""


@pytest.mark.slow
def test_after_a_warm_up_ensembles_are_fitted_and_predict_without_compiling(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def run(code, *arguments):
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    said = run("from comitia.cli import main; main()", "warm-up")
    assert str(tmp_path) in said
    assert json.loads(run(LATER)) == 0.0


def test_a_warm_up_has_nothing_to_do_where_compiling_is_off():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-m", "comitia", "warm-up"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert "there is nothing to compile" in done.stdout
