"""`path` against `solve` and enumeration, its information criteria against independent formulas, its limits."""

from __future__ import annotations

import json
import math
import pickle
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import parsifal as pf
from oracles import ways
from oracles.reference import make_data, reference


def hard(n: int = 40, p: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [0.01, 1.0, 1e5])
def test_every_k_is_the_optimum(seed: int, gamma: float) -> None:
    X, y = make_data(seed, noise=3.0)
    ref = reference(X, y, fit_intercept=False, standardize=False)
    path = pf.path(X, y, range(1, 8), gamma)
    assert [s.k for s in path] == list(path.ks) == list(range(1, 8))
    for k, solution in zip(path.ks, path):
        support, value = ref.best(int(k), gamma)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(value, rel=1e-9)
        assert solution.lower_bound <= value * (1 + 1e-9)
        assert solution.gap <= 1e-6
        assert tuple(solution.support) == support
        result = pf.check(solution.certificate, X, y)
        assert result, result.reason


@pytest.mark.parametrize("shape", [(40, 60), (100, 25)])
def test_each_equals_solve_and_objectives_fall(shape: tuple[int, int]) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(*shape, 5, rho=0.3, sqrt_snr=4.0, random_state=1)
    path = pf.path(X, y, range(1, 7), 0.5, threads=1)
    assert len(path) == 6
    for k, solution in enumerate(path, 1):
        alone = pf.solve(X, y, k=k, gamma=0.5)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6)
        np.testing.assert_array_equal(solution.support, alone.support)
        assert pf.check(solution.certificate, X, y)
    assert (np.diff(path.objectives) <= 0).all()
    np.testing.assert_array_equal(path.objectives, [s.objective for s in path])
    np.testing.assert_array_equal(path.lower_bounds, [s.lower_bound for s in path])
    np.testing.assert_array_equal(path.gaps, [s.gap for s in path])
    np.testing.assert_array_equal(path.coefs, [s.coef for s in path])
    assert path.coefs.shape == (6, shape[1])


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1e4])
def test_information_criteria(gamma: float) -> None:
    X, y = make_data(1)
    n, p = X.shape
    path = pf.path(X, y, range(1, 7), gamma)
    aic, bic, ebic = [], [], []
    for i, s in enumerate(path):
        A = X[:, s.support]
        hat = A @ np.linalg.inv(A.T @ A + np.eye(len(s.support)) / gamma) @ A.T
        rss = float(((y - hat @ y) ** 2).sum())
        assert path.rss[i] == pytest.approx(rss, rel=1e-7)
        assert path.df[i] == pytest.approx(np.trace(hat), rel=1e-7)
        aic.append(n * math.log(rss / n) + 2 * np.trace(hat))
        bic.append(n * math.log(rss / n) + math.log(n) * np.trace(hat))
        ebic.append(bic[-1] + 2 * math.log(math.comb(p, len(s.support))))
    for name, expected in (("aic", aic), ("bic", bic), ("ebic", ebic)):
        np.testing.assert_allclose(getattr(path, name), expected, rtol=1e-7, atol=1e-7)
        assert path.best(name) is path[int(np.argmin(expected))]
    assert path.best() is path.best("ebic")
    assert path.n == n


def test_best_refuses_other_criteria() -> None:
    X, y = make_data(1)
    with pytest.raises(ValueError, match="criterion"):
        pf.path(X, y, [1, 2], 1.0).best("cp")  # type: ignore[arg-type]


def test_ebic_finds_the_truth() -> None:
    X, y, support = pf.datasets.make_sparse_regression(150, 300, 6, sqrt_snr=6.0, random_state=3)
    np.testing.assert_array_equal(pf.path(X, y, range(1, 7), 0.01).best().support, support)


def test_sizes_are_put_in_order() -> None:
    X, y = make_data(2)
    path = pf.path(X, y, [3, 1, 3, 99, 2, 7, 8], 1.0)
    assert list(path.ks) == [1, 2, 3, 7]
    assert list(pf.path(X, y, (k for k in (2, 1)), 1.0).ks) == [1, 2]
    assert list(pf.path(X, y, np.array([4]), 1.0).ks) == [4]
    assert list(pf.path(X, y, gamma=1.0).ks) == list(range(1, 8))


@pytest.mark.parametrize("ks", [[], [0], [-1, 2], [1.5], ["a"], 3, None, [8, 9], [True]])
def test_bad_sizes(ks: Any) -> None:
    X, y = make_data(2)
    with pytest.raises(ValueError, match="ks"):
        pf.path(X, y, ks, 1.0)


def test_penalty_and_forced_columns() -> None:
    X, y = make_data(3, noise=3.0)
    ref = reference(X, y, fit_intercept=False, standardize=False)
    path = pf.path(X, y, range(2, 6), 0.5, force_in=[0, 6], force_out=[1])
    for solution in path:
        support, value = ref.best(solution.k, 0.5, force_in=(0, 6), force_out=(1,))
        assert solution.objective == pytest.approx(value)
        assert tuple(solution.support) == support
        assert pf.check(solution.certificate, X, y)
    for penalty in (1.0, 20.0, 500.0):
        for solution in pf.path(X, y, range(1, 6), 0.5, penalty=penalty):
            assert solution.objective == pytest.approx(ref.best(solution.k, 0.5, penalty)[1])
            assert pf.check(solution.certificate, X, y)
    with pytest.raises(ValueError, match="force"):
        pf.path(X, y, [1, 2, 3], 0.5, force_in=[0, 6])


def test_inputs() -> None:
    X, y = make_data(4)
    plain = pf.path(X, y, [1, 2, 3], 0.1)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    for other in (frame, sp.csc_matrix(X), np.asfortranarray(X)):
        np.testing.assert_allclose(pf.path(other, y, [1, 2, 3], 0.1).coefs, plain.coefs, rtol=1e-8)
    named = pf.path(frame, y, [1, 2], 0.1)
    assert named[0].selected == ["abcdefg"[j] for j in named[0].support]
    auto = pf.path(X, y, [2])
    assert auto[0].gamma == pytest.approx(np.sqrt(40) / (X**2).sum(axis=0).mean())


def test_is_a_sequence() -> None:
    X, y = make_data(4)
    path = pf.path(X, y, [1, 2, 3], 0.1)
    assert len(path) == 3
    assert path[-1] is path.solutions[2]
    assert path[:2] == path.solutions[:2]
    assert next(reversed(path)) is path[2]
    assert path[1] in path
    with pytest.raises(IndexError):
        path[3]
    assert isinstance(path, pf.Path)
    text = str(path)
    assert len(text.splitlines()) >= 3
    for name in ("eBIC", "gap"):
        assert name.lower() in text.lower()
    again = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(again.coefs, path.coefs)


def test_perfect_fit() -> None:
    X, _ = make_data(4)
    y = 2 * X[:, 3] - X[:, 5]
    path = pf.path(X, y, [1, 2, 3], 1e8)
    assert np.isfinite(path.aic).all()
    assert np.isfinite(path.ebic).all()
    assert list(path.best().support) == [3, 5]
    zero = pf.path(X, np.zeros(40), [1, 2], 1.0)
    assert (zero.objectives == 0).all()
    assert not np.isnan(zero.ebic).any()
    str(zero)


def test_limits_keep_true_bounds() -> None:
    X, y = hard()
    with ways.trees():
        path = pf.path(X, y, range(4, 8), 1.0, node_limit=2, threads=1)
        quick = pf.path(X, y, range(4, 8), 1.0, time_limit=1e-9)
    assert len(path) == 4
    for solution in path:
        assert solution.status == "node_limit"
        assert solution.lower_bound <= solution.objective
        assert pf.check(solution.certificate, X, y)
    for solution in quick:
        assert len(solution.support) == solution.k
        assert solution.lower_bound <= solution.objective
    assert all(s.status == "time_limit" for s in quick)


def test_stopping_from_progress_leaves_a_shorter_path() -> None:
    X, y = hard()

    def stop(progress: pf.Progress) -> None:
        if "7" in progress.label:
            raise KeyboardInterrupt

    path = pf.path(X, y, range(5, 10), 1.0, progress=stop)
    assert list(path.ks) == [5, 6, 7]
    assert [s.status for s in path] == ["optimal"] * 2 + ["interrupted"]
    assert path[-1].lower_bound <= path[-1].objective
    assert len(path[-1].support) == 7


def test_progress_hands_on_errors() -> None:
    X, y = hard()

    def fail(progress: pf.Progress) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        pf.path(X, y, range(5, 10), 1.0, progress=fail)


def test_ctrl_c_leaves_a_shorter_path() -> None:
    script = """
import json, sys, numpy as np, parsifal as pf
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 300)), rng.standard_normal(60)
started = False
def tell(progress):
    global started
    if not started and "15" in progress.label:
        started = True
        print("go", flush=True)
path = pf.path(X, y, [1, 15, 16], 10.0, progress=tell)
print(json.dumps([path.ks.tolist(), [s.status for s in path]]))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert json.loads(out) == [[1, 15], ["optimal", "interrupted"]]
