"""Few columns straight through: the answer of the stages, and the stages themselves where it is not plain sailing."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles import ways
from oracles.exact import ExactValues
from parsifal.proof.certificate import EXHAUSTED
from parsifal.solver import funnel, straight


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each of the solves that tried went straight through."""
    seen: list[bool] = []

    def watched(*args: Any) -> Any:
        answer = straight.solve_straight(*args)
        seen.append(answer is not None)
        return answer

    monkeypatch.setattr(funnel, "solve_straight", watched)
    return seen


def table(seed: int, n: int = 40, p: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((seed, 5))
    X = rng.standard_normal((n, p)) + 0.8 * rng.standard_normal((n, 1))
    X *= 10.0 ** rng.integers(-3, 4, p)
    return X, X[:, :3] @ (rng.standard_normal(3) / np.linalg.norm(X[:, :3], axis=0)) * 10 + rng.standard_normal(n)


@pytest.mark.parametrize("layout", ["C", "F", "float32", "strided"])
@pytest.mark.parametrize("gamma", [0.3, math.inf])
def test_the_same_answer_as_by_the_stages(gamma: float, layout: str, went: list[bool]) -> None:
    for seed in range(6):
        X, y = table(seed)
        given = {
            "C": X,
            "F": np.asfortranarray(X),
            "float32": X.astype(np.float32),
            "strided": np.repeat(X, 2, axis=1)[::-1, ::2],
        }[layout]
        y = y[::-1] if layout == "strided" else y
        for asked in (
            {"k": 1},
            {"k": 4},
            {"penalty": 0.4},
            {"k": 5, "force_in": [2, 8] if np.isfinite(gamma) else [8], "force_out": [0]},
        ):
            one = pf.solve(given, y, gamma=gamma, fit_intercept=False, **asked)
            with ways.stages():
                other = pf.solve(given, y, gamma=gamma, fit_intercept=False, **asked)
            assert one.status == other.status == "optimal"
            assert one.support.tolist() == other.support.tolist()
            assert one.coef == pytest.approx(other.coef, rel=1e-9)
            assert one.objective == pytest.approx(other.objective, rel=1e-13)
            assert one.lower_bound == pytest.approx(other.lower_bound, rel=1e-9)
            assert one.stats.keys() == other.stats.keys()
            assert one.certificate is not None
            assert one.certificate.kind.tolist() == [EXHAUSTED]
            assert pf.check(one.certificate, given, y)
    assert len(went) == 24
    assert all(went)


@pytest.mark.parametrize("standardize", [False, True])
def test_with_an_intercept(standardize: bool, went: list[bool]) -> None:
    X, y = table(1)
    one = pf.solve(X, y + 50, k=3, gamma=math.inf, fit_intercept=True, standardize=standardize)
    with ways.stages():
        other = pf.solve(X, y + 50, k=3, gamma=math.inf, fit_intercept=True, standardize=standardize)
    assert went == [True]
    assert one.coef == pytest.approx(other.coef, rel=1e-9)
    assert one.intercept == pytest.approx(other.intercept)
    assert one.check(X, y + 50)


def test_a_path_gathers_once_and_is_exact(went: list[bool]) -> None:
    X, y = table(2, n=25, p=7)
    path = pf.path(X, y, ks=range(1, 8), gamma=math.inf, fit_intercept=False)
    assert went == [True] * 7
    assert [s.stats["reads"] for s in path] == [1.0] + [0.0] * 6
    values = ExactValues(X, y).values(math.inf)
    for solution in path:
        optimum = min(value for S, value in values.items() if len(S) <= solution.k)
        assert Fraction(solution.lower_bound) <= optimum
        assert solution.objective <= float(optimum) * (1 + 1.1e-6)
        assert solution.check(X, y)
        assert solution.check(X, y, exact=True)
    with ways.stages():
        other = pf.path(X, y, ks=range(1, 8), gamma=math.inf, fit_intercept=False)
    assert path.rss == pytest.approx(other.rss, rel=1e-12)
    assert path.df.tolist() == other.df.tolist()
    assert np.all(np.diff(path.objectives) <= 0)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda X: np.hstack([X, -X[:, :1]]), id="copy"),
        pytest.param(lambda X: np.hstack([X, np.zeros((X.shape[0], 1))]), id="zeros"),
        pytest.param(lambda X: np.hstack([X[:, :5], 1e-70 * X[:, 5:]]), id="tiny"),
    ],
)
def test_what_is_not_plain_takes_the_stages(change: Any, went: list[bool]) -> None:
    X, y = table(3)
    X = change(X)
    solution = pf.solve(X, y, k=4, gamma=math.inf, fit_intercept=False)
    assert went == [False]
    assert solution.status == "optimal"
    assert solution.check(X, y)


def test_dependent_columns_are_no_error(went: list[bool]) -> None:
    X, y = table(4)
    X = np.hstack([X, X[:, :2].sum(axis=1, keepdims=True)])
    for k in (2, 4, 10):
        solution = pf.solve(X, y, k=k, gamma=math.inf, fit_intercept=False)
        assert solution.status == "optimal"
        assert solution.check(X, y)


@pytest.mark.parametrize(
    "limits", [{"time_limit": 1e-3}, {"progress": lambda _: None}, {"certificate_limit": 0}, {"sign": 1}]
)
def test_what_has_to_be_watched_does_not_try(limits: dict[str, Any], went: list[bool]) -> None:
    X, y = table(5)
    pf.solve(X, y, k=3, gamma=1.0, fit_intercept=False, **limits)
    assert went == []


def test_the_answer_keeps_nothing_of_the_data() -> None:
    X, y = table(6)
    X = np.asfortranarray(X)
    given = X.copy(), y.copy()
    solution = pf.solve(X, y, k=3, gamma=math.inf, fit_intercept=False)
    X[:] = 0.0
    y[:] = 0.0
    for held in (solution, pickle.loads(pickle.dumps(solution))):
        assert held.check(*given)
        assert not held.check(X, y)
    assert solution.certificate is not None
    # Two certificates share no array that one of them could change.
    other = pf.solve(*given, k=3, gamma=math.inf, fit_intercept=False)
    assert other.certificate is not None
    other.certificate.kind[0] = 0
    assert solution.certificate.kind[0] == EXHAUSTED


def test_a_start_is_never_lost(went: list[bool]) -> None:
    for seed in range(5):
        X, y = table(seed)
        best = pf.solve(X, y, k=3, gamma=math.inf, fit_intercept=False)
        again = pf.solve(X, y, k=3, gamma=math.inf, fit_intercept=False, warm_start=best.support)
        assert again.objective <= best.objective
    assert all(went)
