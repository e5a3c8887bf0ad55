"""Copies of columns must not make the tree explode, and must not change the answer."""

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case

TIMES = 20  # nodes with copies against nodes without


def repeated(X: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """The columns of X with copies of each, in an order that tells nothing."""
    parts = {"twice": [X, X], "thrice": [X, X, X], "negated": [X, -X], "negated twice": [X, -X, X]}[kind]
    stacked = np.hstack(parts)
    return stacked[:, rng.permutation(stacked.shape[1])]


def problem(seed: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    y = X[:, :4] @ [1.0, -1.0, 0.7, 0.4] + 2.0 * rng.standard_normal(n)
    return X, y


@pytest.mark.parametrize("kind", ["twice", "thrice", "negated", "negated twice"])
@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("gamma", [0.1, 10.0, 1e4])
@pytest.mark.usefixtures("relaxations_alone")
def test_copies_do_not_make_the_tree_explode(kind: str, n: int, gamma: float) -> None:
    k, seed = 5, n % 2
    X, y = problem(seed, n, 20)
    single = pf.solve(X, y, k=k, gamma=gamma, threads=1)
    X_many = repeated(X, kind, np.random.default_rng(seed))
    most = TIMES * max(single.stats["nodes"], 5)
    many = pf.solve(X_many, y, k=k, gamma=gamma, threads=1, node_limit=10 * most)
    assert many.status == "optimal"
    assert many.stats["nodes"] <= most, (single.stats["nodes"], many.stats["nodes"])
    # Every support of the originals is there, and choosing a copy as well can only lower the ridge term.
    assert many.objective <= single.objective * (1 + 1e-6)
    result = pf.check(many.certificate, X_many, y)
    assert result, result.reason


@pytest.mark.parametrize("kind", ["twice", "thrice", "negated", "negated twice"])
@pytest.mark.parametrize("form", ["k", "penalty", "both"])
def test_the_optimum_with_copies_is_the_enumerated_one(kind: str, form: str) -> None:
    for seed, gamma in enumerate([1e-3, 0.1, 1.0, 30.0, 1e4, 1e6]):
        rng = np.random.default_rng(100 + seed)
        X, y = problem(100 + seed, int(rng.choice([4, 10, 40])), 4)
        X = repeated(X, kind, rng)
        penalty = None if form == "k" else 0.02 * float(y @ y)
        case = Case(X, y, gamma, None if form == "penalty" else 4, penalty)
        best, _ = case.optimum()
        solution = pf.solve(X, y, **case.options, threads=1)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-12 * case.half)
        assert solution.lower_bound <= best + 1e-9 * best + 1e-12 * case.half
        result = pf.check(solution.certificate, X, y)
        assert result, result.reason


def test_a_copy_is_chosen_twice_where_that_pays() -> None:
    """With a strong ridge, two copies of the one good column share its coefficient: half the ridge term."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((50, 6))
    X = np.hstack([X, X])
    y = 5.0 * X[:, 0]
    solution = pf.solve(X, y, k=2, gamma=1e-3, threads=1)
    assert list(solution.support) == [0, 6]
    assert solution.coef[0] == pytest.approx(solution.coef[6])
    assert pf.check(solution.certificate, X, y)


def test_a_forced_column_keeps_its_copies_honest() -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((12, 5))
    X = np.hstack([X, X, -X])
    y = X[:, 0] + rng.standard_normal(12)
    for force_in, force_out in [((5,), ()), ((), (0,)), ((10,), (0, 5)), ((6,), (0,))]:
        case = Case(X, y, 10.0, 3, None, force_in, force_out)
        solution = pf.solve(X, y, **case.options, threads=1)
        best, _ = case.optimum()
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert set(force_in) <= set(solution.support.tolist())
        assert not set(force_out) & set(solution.support.tolist())
        result = pf.check(solution.certificate, X, y)
        assert result, result.reason
