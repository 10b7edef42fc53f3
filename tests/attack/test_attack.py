"""A few cases of every attack; many more by ``python -m tests.attack NAME --cases N``."""

import pytest

from tests.attack.run import run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "cases"),
    [("models", 150), ("decisions", 1500), ("answers", 800), ("data", 1400), ("runs", 1), ("names", 4)],
)
def test_nothing_crashes_and_nothing_is_wrong(attack, cases):
    endings = run(attack, range(cases))
    assert sum(endings.values()) == cases
    assert [ending for ending in endings if ending.startswith("WRONG")] == []
    assert len(endings) > 1 or cases < 100
