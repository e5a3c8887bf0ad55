"""The search over kernels, against enumeration, finite differences and weak duality."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

import parsifal as pf
from parsifal.errors import InputError
from parsifal.kernels.kernel_solve import as_blocks, as_given
from parsifal.kernels.oracle import Oracle, factor_block, matrix_block
from parsifal.kernels.relaxation import Node, minimise_model, relax_node


def root(K: np.ndarray) -> np.ndarray:
    """A factor of a kernel, by its eigenvalues."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def loss(roots: list[np.ndarray], y: np.ndarray, gamma: float, support: tuple[int, ...]) -> float:
    """c(S) = min over w of 1/2 |y - Z w|^2 + |w|^2 / (2 gamma), by the R factor of [Z, y; I/sqrt(gamma), 0].

    Never through the sum of the kernels, where a large one drowns the digits of a small one.
    """
    Z = np.hstack([np.zeros((len(y), 0)), *(roots[j] for j in support)])
    scale = np.sqrt((Z**2).sum(axis=0) + 1 / gamma)
    ridge = np.column_stack([np.diag(1 / (np.sqrt(gamma) * scale)), np.zeros(len(scale))])
    stacked = np.vstack([np.column_stack([Z / scale, y]), ridge])
    return 0.5 * float(np.linalg.qr(stacked, mode="r")[len(scale), len(scale)] ** 2)


def random_problem(rng: np.random.Generator) -> tuple[list[Any], list[np.ndarray], np.ndarray]:
    """Kernels of every kind as they are handed in, and as factors."""
    n, m = int(rng.integers(3, 40)), int(rng.integers(1, 9))
    X = rng.standard_normal((n, 3))
    given: list[Any] = []
    roots: list[np.ndarray] = []
    for _ in range(m):
        kind = rng.choice(
            ["rbf", "poly", "factor", "wide", "zero", "same", "identity"], p=[0.3, 0.1, 0.3, 0.1, 0.05, 0.1, 0.05]
        )
        if kind == "same" and given:
            given.append(given[-1])
            roots.append(roots[-1])
            continue
        if kind in ("factor", "wide"):
            r = int(rng.integers(1, 4)) if kind == "factor" else n + 2
            Z = rng.standard_normal((n, r)) * 10 ** rng.uniform(-2, 2)
            given.append(("factor", Z))
            roots.append(Z)
            continue
        columns = rng.integers(0, 3, 2)
        if kind == "rbf":
            K = pairwise_kernels(X[:, columns], metric="rbf", gamma=10 ** rng.uniform(-2, 1))
        elif kind == "poly":
            K = pairwise_kernels(X[:, columns], metric="poly", degree=2)
        else:
            K = np.eye(n) if kind == "identity" else np.zeros((n, n))
        given.append(K)
        roots.append(root(K))
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.5:
        y = roots[0] @ (roots[0].T @ y) + (0.1 * y if rng.random() < 0.5 else 0.0)
    return given, roots, np.asarray(y, dtype=float)


@pytest.mark.parametrize("seed", range(300))
def test_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given, roots, y = random_problem(rng)
    m = len(given)
    gamma = float(10 ** rng.uniform(-3, 3))
    half = 0.5 * float(y @ y)
    options: dict[str, Any] = {"k": int(rng.integers(1, m + 2))}
    if rng.random() < 0.4:
        options["penalty"] = half * 10 ** rng.uniform(-5, 0)
        if rng.random() < 0.5:
            options["k"] = None
    inside: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    if rng.random() < 0.3:
        order = rng.permutation(m).tolist()
        inside, outside = tuple(order[:1]), tuple(order[1:2])
        options |= {"force_in": inside, "force_out": outside}
    sol = pf.solve_kernels(given, y, gamma=gamma, **options)
    most = m if options["k"] is None else min(options["k"], m)
    price = options.get("penalty", 0.0)
    values = {
        support: loss(roots, y, gamma, support) + price * len(support)
        for size in range(most + 1)
        for support in combinations(range(m), size)
        if set(inside) <= set(support) and not set(outside) & set(support)
    }
    best = min(values.values())
    slack = 1e-9 * (best + 1e-3 * half)
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(values[tuple(sol.support.tolist())], rel=1e-7, abs=slack)
    assert sol.objective <= best * (1 + 2e-6) + slack
    assert sol.lower_bound <= best + slack
    assert sol.gap <= 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_groups_against_enumeration_and_single_columns_against_solve(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    n, p = int(rng.integers(5, 40)), int(rng.integers(3, 10))
    X = rng.standard_normal((n, p))
    y = X[:, :2] @ [1.0, -1.0] + rng.standard_normal(n)
    gamma, k = float(10 ** rng.uniform(-2, 2)), int(rng.integers(1, 4))
    single = pf.solve_groups(X, y, [[j] for j in range(p)], k, gamma)
    plain = pf.solve(X, y, k, gamma)
    assert single.objective == pytest.approx(plain.objective, rel=3e-6)
    assert single.support.tolist() == plain.support.tolist()
    np.testing.assert_allclose(single.coef, plain.coef, rtol=1e-6, atol=1e-8)
    assert pf.solve_groups(X, y, np.arange(p), k).gamma == pytest.approx(pf.solve(X, y, k).gamma)

    groups = [rng.permutation(p)[: rng.integers(1, 4)].tolist() for _ in range(6)]
    sol = pf.solve_groups(X, y, groups, k, gamma, penalty=0.1)
    roots = [X[:, g] for g in groups]
    values = [loss(roots, y, gamma, s) + 0.1 * len(s) for size in range(k + 1) for s in combinations(range(6), size)]
    assert sol.objective == pytest.approx(min(values), rel=2e-6)
    assert sol.coef is not None
    np.testing.assert_allclose(y - X @ sol.coef, sol.alpha, rtol=1e-7, atol=1e-9)


def test_labels_make_groups() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    y = X[:, 1] + X[:, 4] + 0.1 * rng.standard_normal(30)
    by_label = pf.solve_groups(X, y, ["b", "a", "c", "b", "a", "c"], k=1)
    by_list = pf.solve_groups(X, y, [[1, 4], [0, 3], [2, 5]], k=1)
    assert by_label.support.tolist() == by_list.support.tolist() == [0]
    assert by_label.objective == by_list.objective


@pytest.mark.parametrize("seed", range(20))
def test_gradient_and_weak_duality(seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    given, roots, y = random_problem(rng)
    gamma, penalty = float(10 ** rng.uniform(-2, 1)), float(rng.random())
    oracle = Oracle(as_blocks(as_given(given, len(y))), y, gamma, penalty)
    s = rng.uniform(0.2, 0.8, oracle.m)
    value, gradient = oracle.value_and_gradient(s)
    K = sum(weight * Z @ Z.T for weight, Z in zip(s, roots))
    exact = 0.5 * y @ np.linalg.solve(np.eye(len(y)) + gamma * K, y) + penalty * s.sum()
    assert value == pytest.approx(exact, rel=1e-8)
    for j in range(oracle.m):
        step = 1e-5 * np.eye(oracle.m)[j]
        up, down = oracle.value_and_gradient(s + step)[0], oracle.value_and_gradient(s - step)[0]
        assert gradient[j] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-6 * abs(value))
    nothing, everything = np.zeros(oracle.m, dtype=bool), np.ones(oracle.m, dtype=bool)
    for k in range(1, oracle.m + 1):
        best = min(
            loss(roots, y, gamma, support) + penalty * len(support)
            for size in range(k + 1)
            for support in combinations(range(oracle.m), size)
        )
        scale = np.abs(oracle.y).max()
        for _ in range(5):
            alpha = rng.standard_normal(oracle.n) * scale * 10 ** rng.uniform(-3, 0)
            reach = float(np.linalg.norm(alpha))
            bound, _ = oracle.bound(alpha, oracle.quadratic(alpha), nothing, everything, k, reach=reach)
            assert bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_relaxation_is_solved(seed: int) -> None:
    rng = np.random.default_rng(3000 + seed)
    n, m, k = 40, 25, int(rng.integers(1, 6))
    Zs = [rng.standard_normal((n, 3)) for _ in range(m)]
    y = sum(Z.sum(axis=1) for Z in Zs[:4]) + rng.standard_normal(n)
    oracle = Oracle([factor_block(Z) for Z in Zs], y, float(10 ** rng.uniform(-3, 1)))
    node = Node(fixed_in=np.arange(m) == 7, free=(np.arange(m) != 7) & (np.arange(m) != 3), room=k)
    relaxed = relax_node(oracle, node, np.zeros(m))
    assert relaxed.lower_bound <= relaxed.value <= relaxed.lower_bound * (1 + 1e-6)
    assert relaxed.s[7] == 1.0
    assert relaxed.s[3] == 0.0
    assert relaxed.s[node.free].sum() <= k + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_quadratic_model(seed: int) -> None:
    rng = np.random.default_rng(4000 + seed)
    m = int(rng.integers(1, 12))
    A = rng.standard_normal((m, m))
    H, g, room = A @ A.T + 0.1 * np.eye(m), rng.standard_normal(m), float(rng.integers(1, m + 1))
    x = rng.random(m)
    x *= min(1.0, room / x.sum())
    z = minimise_model(H, g, x, room)
    assert z.min() >= 0.0
    assert z.max() <= 1.0
    assert z.sum() <= room + 1e-9
    # First-order optimality: no vertex of the feasible set lies downhill.
    r = g + H @ (z - x)
    vertex = np.sort(np.minimum(r, 0.0))[: int(room)].sum()
    assert r @ z - vertex <= 1e-6 * (1.0 + np.abs(r).max())


def problem() -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 12))
    y = np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 1]) + 0.5 * rng.standard_normal(60)
    return [pairwise_kernels(X[:, [j]], metric="rbf") for j in range(12)], y


def test_limits_progress_and_interrupts() -> None:
    kernels, y = problem()
    full = pf.solve_kernels(kernels, y, 4, 10.0)
    assert full.status == "optimal"
    assert full.stats["nodes"] > 3
    short = pf.solve_kernels(kernels, y, 4, 10.0, node_limit=2)
    assert short.status == "node_limit"
    assert 0.0 <= short.lower_bound <= full.objective <= short.objective * (1 + 1e-6)
    none = pf.solve_kernels(kernels, y, 4, 10.0, time_limit=0.0)
    assert none.status == "time_limit"
    assert 0.0 <= none.lower_bound <= full.objective <= none.objective * (1 + 1e-6)
    seen: list[pf.Progress] = []
    pf.solve_kernels(kernels, y, 4, 10.0, progress=seen.append)
    bounds = [p.lower_bound for p in seen]
    assert bounds == sorted(bounds)
    assert all(p.lower_bound <= p.objective for p in seen)

    def stop(progress: pf.Progress) -> None:
        if progress.nodes >= 3:
            raise KeyboardInterrupt

    stopped = pf.solve_kernels(kernels, y, 4, 10.0, progress=stop)
    assert stopped.status == "interrupted"
    assert stopped.stats["nodes"] == 3
    assert stopped.lower_bound <= full.objective <= stopped.objective * (1 + 1e-6)
    warm = pf.solve_kernels(kernels, y, 4, 10.0, warm_start=full.support, node_limit=1)
    assert warm.objective <= full.objective * (1 + 1e-12)
    assert "optimal: 4 kernels" in str(full)
    twice = pf.solve_kernels(kernels, y, 4, 10.0)
    assert (twice.objective, twice.lower_bound) == (full.objective, full.lower_bound)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernels": []}, "kernels is empty"),
        ({"kernels": 3}, "kernels must be a sequence"),
        ({"kernels": [np.ones((3, 3))]}, r"kernels\[0\] has shape \(3, 3\); a matrix or factor of numbers with 5 rows"),
        ({"kernels": [-np.eye(5)]}, r"kernels\[0\] is not positive semidefinite"),
        ({"kernels": [np.diag([1.0, 1, 1, 1, -1])]}, r"not positive semidefinite \(smallest eigenvalue -1"),
        ({"kernels": [np.triu(np.ones((5, 5)))]}, r"kernels\[0\] is not symmetric"),
        ({"kernels": [np.full((5, 5), np.nan)]}, "NaN"),
        ({"kernels": [("matrix", np.ones((5, 2)))]}, "must be 5 by 5"),
        ({"kernels": [("other", np.ones((5, 2)))]}, "must say 'factor' or 'matrix'"),
        ({"k": None}, "give k"),
        ({"k": 0}, "k must be >= 1"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": "best"}, "gamma must be a positive number"),
        ({"penalty": -1.0}, "penalty must be"),
        ({"force_in": [0], "force_out": [0]}, "kernel or group 0 is both in force_in and in force_out"),
        ({"force_in": [0, 1], "k": 1}, "force_in names 2 kernels or groups, but k = 1"),
        ({"warm_start": [0, 1], "k": 1}, "warm_start has 2 kernels or groups"),
        ({"warm_start": [0], "force_out": [0]}, "warm_start contradicts"),
        ({"y": [1.0, np.nan, 1.0, 1.0, 1.0]}, "y"),
        ({"y": 3.0}, "y has shape"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    options = {"kernels": [np.eye(5), np.ones((5, 5))], "y": np.arange(5.0), "k": 1, "gamma": 1.0} | change
    with pytest.raises(InputError, match=message):
        pf.solve_kernels(**options)


def test_bad_groups() -> None:
    X, y = np.eye(4), np.arange(4.0)
    for groups, message in (
        ([[0], []], "empty group"),
        ([[0, 9]], r"groups\[0\] names column 9"),
        ([1, 2], "2 labels, but X has 4 columns"),
        (3, "groups must be lists"),
    ):
        with pytest.raises(InputError, match=message):
            pf.solve_groups(X, y, groups, k=1)
    with pytest.raises(InputError, match=r"X\[1, 2\] is not finite"):
        pf.solve_groups(np.where(np.arange(16).reshape(4, 4) == 6, np.nan, X), y, [[0, 1], [2, 3]], k=1)


def test_a_kernel_of_almost_low_rank_is_bounded_as_it_is() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1))
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    block = matrix_block(K, "K")
    assert block.factor is not None
    rest = K - block.factor @ block.factor.T
    assert np.linalg.eigvalsh(rest)[-1] <= block.left_out <= 1e-10 * np.trace(K)


def test_a_kernel_with_few_digits_is_solved_all_the_same() -> None:
    kernels, y = problem()
    rounded = [np.asarray(K, dtype=np.float32) for K in kernels]
    roots = [root(np.asarray(K, dtype=float)) for K in rounded]
    sol = pf.solve_kernels(rounded, y, 2, 1.0)
    best = min(loss(roots, y, 1.0, support) for support in combinations(range(12), 2))
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(best, rel=1e-5)


def test_ctrl_c_before_anything_has_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    from parsifal.kernels.heuristics import Sets

    def stop(self: Sets, warm_start: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Sets, "start", stop)
    kernels, y = problem()
    sol = pf.solve_kernels(kernels, y, 2, 1.0)
    assert sol.status == "interrupted"
    assert sol.support.size == 0
    assert sol.objective == pytest.approx(0.5 * y @ y)
    assert sol.lower_bound == 0.0
