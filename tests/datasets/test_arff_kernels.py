from __future__ import annotations

import random

import numpy as np

from comitia.datasets._arff_numbers import number


def test_numbers_are_rounded_as_python_rounds_them() -> None:
    rng = random.Random(0)
    n_known = 0
    for _ in range(60_000):
        digits, shift = rng.randrange(10 ** rng.randint(1, 18)), rng.randint(0, 24)
        text = rng.choice(
            [
                f"{digits}e-{shift}",
                f"-{digits}E+{shift}",
                f"{digits}.{rng.randrange(10**4)}",
                repr(rng.random()),
                repr(rng.gauss(0, 1) * 10 ** rng.randint(-4, 4)),
                f"+{rng.random():.6f}",
            ]
        )
        value, end = _number(text)
        if end > 0:
            n_known += 1
            assert (value, end) == (float(text), len(text)), text
    assert n_known > 50_000


def test_halves_between_two_doubles_are_left_to_python() -> None:
    for exponent in range(54, 59):
        for k in range(200):
            middle = 2**exponent + (2 * k + 1) * 2 ** (exponent - 53)
            value, end = _number(f"{middle}.0")
            assert end < 0 or value == float(middle)
    assert _number(f"{2**53 + 1}")[1] < 0
    assert _number(f"{2**53 + 1}e-3") == (float(f"{2**53 + 1}e-3"), 19)


def test_what_is_no_number_is_left_to_python() -> None:
    for text in ["", ".", "-", "+", "e5", "1e", "1e+", "1_0", "0x1", "1.2.3", "nan", "1" * 19, "1e23", "1e-23", "--1"]:
        assert _number(text)[1] < 0, text


def test_signs_points_and_zeros_are_read() -> None:
    for text in ["0", "-0", "+.5", "5.", "00012", "0.0000000000000001", "1e22", "1E-22", "9007199254740993e-3"]:
        value, end = _number(text)
        assert end == len(text)
        assert value == float(text)
    assert np.signbit(_number("-0.0")[0])


def _number(text: str) -> tuple[float, int]:
    found: tuple[float, int] = number(np.frombuffer(f"{text}\n".encode(), dtype=np.uint8), 0)
    return found
