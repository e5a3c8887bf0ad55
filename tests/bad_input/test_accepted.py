"""What `solve` and `relax` accept although it looks odd; what they refuse is in the tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import parsifal as pf

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 4)), RNG.standard_normal(12)


@pytest.mark.parametrize("function", [pf.solve, pf.relax])
def test_a_ragged_list(function: Any) -> None:
    with pytest.raises(pf.InputError, match=r"^X is a list that does not make a matrix: "):
        function([[1.0, 2.0], [3.0]], [1.0, 2.0], k=1)


ACCEPTED = {
    "whole float k": {"k": 2.0},
    "k beyond p": {"k": 10**30},
    "NumPy numbers": {"k": np.int32(2), "gamma": np.float32(1.0), "penalty": np.int64(0)},
    "penalty alone": {"k": None, "penalty": 0.1},
    "penalty zero": {"k": None, "penalty": 0},
    "everything forced out": {"force_out": [0, 1, 2, 3]},
    "nothing forced": {"force_in": [], "force_out": []},
    "masks": {"force_in": [True, False, False, False], "force_out": np.array([False, True, False, False])},
    "whole-number y": {"y": np.arange(12) - 6},
    "boolean y": {"y": np.arange(12) % 2 == 0},
    "float32 y": {"y": Y.astype(np.float32)},
    "series y": {"y": pd.Series(Y)},
    "strided y": {"y": np.repeat(Y, 2)[::2]},
    "tiny gamma": {"gamma": 1e-300},
    "huge gamma": {"gamma": 1e12},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    arguments = {"X": X, "y": Y, "k": 2, "gamma": 1.0, **ACCEPTED[name]}
    assert pf.solve(**arguments).status == "optimal"
    relaxation = pf.relax(**arguments)
    assert relaxation.bound <= relaxation.primal * (1 + 1e-12)


def test_a_gamma_beyond_double_precision_is_proven() -> None:
    """With gamma |x_j|^2 = 1e300 the last digit of a residual decides over a dual value: sets of few columns do not
    need it."""
    sol = pf.solve(X, Y, k=2, gamma=1e300)
    assert sol.status == "optimal"
    assert 0 <= sol.lower_bound <= sol.objective
    assert np.array_equal(sol.support, pf.solve(X, Y, k=2, gamma=1e6).support)
    assert pf.check(sol.certificate, X, Y)


@pytest.mark.parametrize(
    "options",
    [{"rel_gap": 2.0}, {"node_limit": 5.0}, {"threads": 7}, {"warm_start": []}, {"memory_limit": 0}],
    ids=str,
)
def test_accepted_by_solve(options: dict[str, Any]) -> None:
    assert pf.solve(X, Y, k=2, gamma=1.0, **options).status == "optimal"


def test_a_gap_of_zero_is_beyond_double_precision() -> None:
    sol = pf.solve(X, Y, k=2, gamma=1.0, rel_gap=0.0)
    assert sol.status == "precision"
    assert sol.gap <= 1e-13
