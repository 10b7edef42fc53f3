"""Where cells are computed is what the options say, the same for comparisons and for plans."""

import pytest

from comitia import ComitiaError
from comitia.cli import _execution
from comitia.experiments import write_plan
from tests.cli.conftest import comitia
from tests.experiments.conftest import small_plan


@pytest.fixture
def asked(monkeypatch):
    """How a run was asked for, which is not begun."""
    found = {}

    def noted(*_, **how):
        found.update({name: how[name] for name in ("n_jobs", "cluster", "same_bits")})
        raise ComitiaError("this was enough")

    monkeypatch.setattr(_execution, "run_plan", noted)
    monkeypatch.setattr(_execution, "are_compiled", lambda: True)
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"n_jobs": None, "cluster": None, "same_bits": False}),
        (("-j", 3), {"n_jobs": 3, "cluster": None, "same_bits": False}),
        (("--same-bits",), {"n_jobs": None, "cluster": None, "same_bits": True}),
        (
            ("--cluster", "tcp://host:8786", "--same-bits", "-j", 7),
            {"n_jobs": 7, "cluster": "tcp://host:8786", "same_bits": True},
        ),
        (("--cluster", "ray"), {"n_jobs": None, "cluster": "ray", "same_bits": False}),
    ],
)
@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_cores_cluster_and_same_bits_reach_the_run(command, options, expected, asked, joint_csv, tmp_path):
    (tmp_path / "plan.toml").write_text(write_plan(small_plan(joint_csv)))
    what = (joint_csv, "--labels", "y*") if command == "compare" else (tmp_path / "plan.toml",)
    ended = comitia(command, *what, *options, "-o", tmp_path / "run")
    assert ended.code == 1
    assert "this was enough" in ended.said
    assert asked == expected
