from __future__ import annotations

import numpy as np
import pytest

from parsifal.errors import InputError
from parsifal.metrics import accuracy, false_alarm_rate


@pytest.mark.parametrize(
    ("true", "found", "a", "f"),
    [
        ([1, 2, 3, 4], [4, 3, 2, 1], 100.0, 0.0),
        ([1, 2, 3, 4], [1, 2, 9, 8], 50.0, 50.0),
        ([1, 2, 3, 4], [1], 25.0, 0.0),
        ([1], [1, 2, 3, 4], 100.0, 75.0),
        ([1, 2], [], 0.0, 0.0),
        ([], [3], 100.0, 100.0),
        ([], [], 100.0, 0.0),
    ],
)
def test_definitions(true: list[int], found: list[int], a: float, f: float) -> None:
    assert accuracy(true, found) == a
    assert false_alarm_rate(true, found) == f


def test_with_the_true_size_known_they_add_up_to_100() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        true, found = rng.choice(30, 7, replace=False), rng.choice(30, 7, replace=False)
        assert accuracy(true, found) + false_alarm_rate(true, found) == pytest.approx(100.0)


def test_masks_and_indices_agree() -> None:
    true, found = np.array([True, False, True, True]), np.array([True, True, False, False])
    assert accuracy(true, found) == accuracy([0, 2, 3], [0, 1]) == pytest.approx(100 / 3)
    assert false_alarm_rate(true, found) == false_alarm_rate([0, 2, 3], [0, 1]) == 50.0


@pytest.mark.parametrize(
    ("support", "message"),
    [([0.5], "dtype float64"), ([[1]], r"shape \(1, 1\)"), ([-1], "column indices start at 0")],
)
def test_bad_supports_are_named(support: list[object], message: str) -> None:
    with pytest.raises(InputError, match=f"^support .*{message}"):
        accuracy([1], support)
    with pytest.raises(InputError, match=f"^true_support .*{message}"):
        false_alarm_rate(support, [1])
