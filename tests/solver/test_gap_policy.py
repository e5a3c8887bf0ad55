"""The rules of a solve's gap, which the root, the search and the answer share."""

from __future__ import annotations

import math

import pytest

from parsifal.problem.gap import relative_gap
from parsifal.solver.gap_policy import GapPolicy

POLICY = GapPolicy(rel_gap=1e-3, resolution=1e-9, floor=0.5, empty=20.0)


def test_what_pruning_and_the_claim_use_up_fits_into_the_gap() -> None:
    objective = 10.0
    claimed = POLICY.claim(objective, POLICY.cutoff(objective))
    assert POLICY.exhausted(objective, POLICY.cutoff(objective))
    assert POLICY.cutoff(objective) - claimed == pytest.approx(POLICY.margin(objective))
    assert relative_gap(objective, claimed) < POLICY.rel_gap
    assert POLICY.closed(objective, POLICY.cutoff(objective))
    assert POLICY.settled("optimal", objective, POLICY.cutoff(objective)) == "optimal"


def test_the_cutoff_is_the_objective_less_the_parts_that_the_search_takes() -> None:
    relative, absolute = POLICY.pruning
    for objective in (10.0, 1e-12):
        assert POLICY.cutoff(objective) == objective - max(relative * objective, absolute)


def test_nothing_is_claimed_above_the_objective_or_below_the_floor() -> None:
    assert POLICY.claim(10.0, 10.0 + 1e-12) <= 10.0 - POLICY.margin(10.0)
    assert POLICY.claim(10.0, -math.inf) == POLICY.floor
    assert not POLICY.closed(10.0, -math.inf)


def test_where_the_resolution_decides_nothing_is_proven() -> None:
    coarse = GapPolicy(rel_gap=1e-6, resolution=1.0, floor=0.0, empty=20.0)
    bound = coarse.cutoff(0.5)
    assert coarse.exhausted(0.5, bound)
    assert not coarse.closed(0.5, bound)
    assert coarse.settled("optimal", 0.5, bound) == "precision"


def test_below_a_ceiling_the_bound_has_to_reach_the_ceiling_only() -> None:
    below = GapPolicy(rel_gap=1e-3, resolution=1e-9, floor=0.0, empty=20.0, ceiling=4.0)
    assert below.target(10.0) == 4.0
    assert below.closed(10.0, 4.0)
    assert not below.closed(10.0, 3.9)
