"""What the tests of the mixed-integer solvers share."""

from __future__ import annotations

import pytest

import parsifal as pf
from cuts.cases import hard_case


@pytest.fixture(scope="module")
def hard_optimum() -> float:
    case = hard_case()
    solution = pf.solve(case.X, case.y, **case.options)
    assert solution.status == "optimal"
    return solution.objective
