"""Columns that are equal but for their last digits, and a weak ridge: the data tell what inner products do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.exact import ExactValues
from oracles.ways import trees
from parsifal.solver import funnel


@pytest.mark.parametrize(("seed", "gamma"), [(10, 1e6), (30, 1e6), (30, 1e7), (32, 1e7)])
def test_the_first_search_is_enough(seed: int, gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a column of two values and its square: sets with both are worth what one is, and no search is needed to
    prove that again."""
    for name in ("_finer", "_polished"):
        monkeypatch.setattr(funnel._Solve, name, lambda *_: None)
    monkeypatch.setattr(funnel, "_provable", lambda *_: None)
    rng = np.random.default_rng(seed)
    n, p = 60, 14
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.5 * rng.standard_normal((p, p)))
    sides = 2.0 * (rng.random(n) < 0.5) - 1
    X[:, 1], X[:, 7] = sides, -sides * (1 + 1e-15 * rng.standard_normal(n)) + 1e-15
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean(X**2, axis=0))
    y = X[:, :4].sum(axis=1) + 3 * rng.standard_normal(n)
    assert 1e-16 < np.abs(X[:, 1] + X[:, 7]).max() < 1e-14
    found = pf.solve(X, y, k=5, gamma=gamma)
    assert found.status == "optimal"
    assert pf.check(found.certificate, X, y)


@pytest.mark.parametrize("penalty", [0.0, 0.2])
def test_forced_columns_that_nearly_repeat_each_other_are_not_called_optimal(penalty: float) -> None:
    """Without a ridge their difference, 1e-14 of them, may fit y with coefficients of 1e15: what is claimed of such
    sets is what the checker proves. One of the two alone is an ordinary problem."""
    rng = np.random.default_rng(170)
    X, y = rng.standard_normal((15, 5)), rng.standard_normal(15)
    X[:, 2] = X[:, 0] * (1 + 4e-15 * rng.standard_normal(15))
    both = pf.solve(X, y, k=5, gamma=np.inf, penalty=penalty, force_in=[0, 2])
    assert both.status == "precision"
    assert pf.check(both.certificate, X, y)
    assert pf.check(both.certificate, X, y, exact=True)
    one = pf.solve(X, y, k=5, gamma=np.inf, penalty=penalty, force_in=[0])
    assert one.status == "optimal"
    assert pf.check(one.certificate, X, y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("share", "asked"),
    [
        (1e-7, {}),
        (1e-9, {"penalty": 0.1}),
        (1e-10, {"sign": [0, 1, 0, -1, 1, 0]}),
        (1e-13, {"sign": [1, 0, -1, 0, 0, 0], "penalty": np.array([0.1, 0.2, 0.1, 0.05, 0.1, 0.2])}),
        (1e-11, {"constraints": [pf.constraints.AtMost([1, 3, 4], 1)]}),
        (1e-8, {"constraints": [pf.constraints.Implies(4, 2)], "force_out": [5]}),
    ],
)
def test_forced_columns_that_nearly_depend_are_answered(seed: int, share: float, asked: dict[str, Any]) -> None:
    """Bounds from inner products say too much there, even more than the objective; none of them is claimed, and no
    error is raised. Lists and paths are made of such answers."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 6)), rng.standard_normal(12)
    X[:, 2] = -3 * X[:, 0] + share * rng.standard_normal(12)
    asked = {"gamma": np.inf, "force_in": [0, 2], **asked}
    with trees():
        found = [pf.solve(X, y, k=4, **asked), *pf.path(X, y, ks=[2, 3, 4], **asked)]
        ranking = pf.k_best(X, y, k=4, count=2, **asked)
    for one in found:
        assert pf.check(one.certificate, X, y)
        assert pf.check(one.certificate, X, y, exact=True)
    if not asked.keys() & {"sign", "constraints"}:
        values, price = ExactValues(X, y).values(np.inf), Fraction(asked.get("penalty", 0.0))
        listed = {tuple(fit.support) for fit in ranking}
        rest = [value + price * len(support) for support, value in values.items() if _counts(support) - listed]
        assert Fraction(ranking.lower_bound) <= min(rest)


def _counts(support: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The support, if it is one that may be asked for here."""
    return {support} if {0, 2} <= set(support) and len(support) == 4 else set()


def test_no_column_has_a_sign_that_helps() -> None:
    """Then the empty set is looked at with its signs, like any other."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((11, 3)), rng.standard_normal(11)
    X[:, 1] = -3 * X[:, 0] + 1e-4 * rng.standard_normal(11)
    with trees():
        found = pf.solve(X, y, k=1, gamma=1e15, penalty=0.1, sign=-1)
    assert found.support.size == 0
    assert pf.check(found.certificate, X, y)


@pytest.mark.parametrize("seed", range(40))
def test_both_checks_agree_where_terms_cancel(seed: int) -> None:
    """Coefficients of a million that cancel: both checks look at the same doubles y - X w, on which much depends."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 4)), rng.standard_normal(12)
    X[:, 3] = -3 * X[:, 2] + 1e-6 * rng.standard_normal(12)
    with trees():
        found = pf.solve(X, y, k=4, gamma=1e15, force_in=[2, 3])
    assert np.abs(found.coef).max() > 1e4
    assert pf.check(found.certificate, X, y)
    assert pf.check(found.certificate, X, y, exact=True)
