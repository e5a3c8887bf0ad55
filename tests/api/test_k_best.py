"""`k_best` against enumeration of all supports."""

from __future__ import annotations

import json
import math
import pickle
import signal
import subprocess
import sys
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import parsifal as pf
from oracles import ways
from oracles.exact import ExactValues
from oracles.reference import Reference, make_data, reference


def plain(X: Any, y: Any) -> Reference:
    return reference(X, y, fit_intercept=False, standardize=False)


def assert_ranking(best: pf.Ranking, expected: list[tuple[float, Any]], supports: bool = True) -> None:
    """The listed are the first of the expected, and the bound is one on the rest."""
    values = [v for v, _ in expected]
    np.testing.assert_allclose([e.objective for e in best], values[: len(best)], rtol=2e-6, atol=1e-10)
    assert len({tuple(e.support) for e in best}) == len(best)
    if supports:
        assert [tuple(e.support) for e in best] == [s for _, s in expected[: len(best)]]
    exact = {s: v for v, s in expected}
    listed = {tuple(int(j) for j in e.support) for e in best}
    for entry in best:
        assert entry.objective == pytest.approx(exact[tuple(entry.support)], rel=1e-9, abs=1e-10)
        assert len(entry.coef) == len(entry.support)
    rest = min((v for s, v in exact.items() if s not in listed), default=math.inf)
    assert best.lower_bound <= rest * (1 + 1e-9)
    if rest == math.inf:
        assert best.lower_bound == math.inf


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gamma", [0.01, 1.0, 1e5])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_first_ten(seed: int, gamma: float, k: int) -> None:
    X, y = make_data(seed, noise=4.0)
    best = pf.k_best(X, y, k, gamma)
    ref = plain(X, y)
    expected = ref.ranked(gamma, ref.supports(k, exactly=True))
    assert len(best) == min(10, len(expected))
    assert best.status == "optimal"
    assert_ranking(best, expected)
    for entry in best:
        np.testing.assert_allclose(entry.coef, ref.fit(entry.support, gamma)[0], rtol=1e-5, atol=1e-9)
    if len(expected) > 10:
        assert best.lower_bound >= best[-1].objective * (1 - 2e-6)
        assert best.margin <= expected[1][0] / expected[0][0] - 1 + 1e-9
        assert best.margin >= expected[1][0] / expected[0][0] - 1 - 1e-5
    tally: dict[str, float] = {}
    for e in best:
        for j in e.support:
            tally[f"x{j}"] = tally.get(f"x{j}", 0) + 1 / len(best)
    assert best.frequency == pytest.approx(tally)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.3])
def test_all_within_a_tolerance(seed: int, tolerance: float) -> None:
    X, y = make_data(seed, noise=4.0)
    ref = plain(X, y)
    expected = ref.ranked(0.5, ref.supports(3, exactly=True))
    inside = [v for v, _ in expected if v <= expected[0][0] * (1 + tolerance)]
    best = pf.k_best(X, y, 3, 0.5, tolerance=tolerance)
    assert best.status == "optimal"
    assert len(best) == len(inside)
    assert_ranking(best, expected)
    assert best.lower_bound >= expected[0][0] * (1 + tolerance) * (1 - 2e-6)


def test_tolerance_and_count() -> None:
    X, y = make_data(0, noise=4.0)
    ref = plain(X, y)
    expected = ref.ranked(0.5, ref.supports(3, exactly=True))
    best = pf.k_best(X, y, 3, 0.5, count=4, tolerance=10.0)
    assert len(best) == 4
    assert_ranking(best, expected)
    everything = pf.k_best(X, y, 3, 0.5, tolerance=1e6)
    assert len(everything) == math.comb(7, 3)
    assert everything.lower_bound == math.inf
    assert everything.status == "optimal"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0.5, 20.0, 300.0])
@pytest.mark.parametrize("k", [None, 3])
def test_penalised(seed: int, penalty: float, k: int | None) -> None:
    X, y = make_data(seed, p=6, noise=4.0)
    ref = plain(X, y)
    expected = ref.ranked(0.5, ref.supports(k or 6), penalty)
    best = pf.k_best(X, y, k, 0.5, count=12, penalty=penalty)
    assert len(best) == 12
    assert_ranking(best, expected)


def test_forced_columns() -> None:
    X, y = make_data(1, noise=4.0)
    ref = plain(X, y)
    expected = ref.ranked(0.5, ref.supports(4, exactly=True, force_in=(0,), force_out=(3, 5)))
    best = pf.k_best(X, y, 4, 0.5, count=20, force_in=[0], force_out=[3, 5])
    assert len(best) == len(expected) == 4
    assert_ranking(best, expected)
    expected = ref.ranked(0.5, ref.supports(4, force_in=(0,), force_out=(3, 5)), 5.0)
    best = pf.k_best(X, y, 4, 0.5, count=100, penalty=5.0, force_in=[0], force_out=[3, 5])
    assert len(best) == len(expected)
    assert_ranking(best, expected)
    assert len(pf.k_best(X, y, 2, 0.5, force_in=[0, 4])) == 1


def test_duplicates_and_useless_columns() -> None:
    X, y = make_data(2, p=4)
    doubled = np.hstack([X, X[:, :2], -X[:, 1:2], np.zeros((40, 1))])
    ref = plain(doubled, y)
    for k in (1, 2, 3):
        expected = ref.ranked(0.5, ref.supports(k, exactly=True))
        best = pf.k_best(doubled, y, k, 0.5, count=25)
        assert len(best) == min(25, len(expected))
        assert_ranking(best, expected, supports=False)
    expected = ref.ranked(0.5, ref.supports(3), 2.0)
    assert_ranking(pf.k_best(doubled, y, 3, 0.5, count=30, penalty=2.0), expected, supports=False)


def test_zero_response_and_perfect_fit() -> None:
    X, _ = make_data(2, p=5)
    best = pf.k_best(X, np.zeros(40), 2, 0.5, count=100)
    assert len(best) == 10
    assert [e.objective for e in best] == [0.0] * 10
    assert not math.isnan(best.margin)
    str(best)
    exact = pf.k_best(X, X[:, 0] + X[:, 3], 2, 1e6, count=3)
    assert tuple(exact[0].support) == (0, 3)


def test_more_columns_than_rows() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(30, 40, 2, sqrt_snr=2.0, random_state=0)
    ref = plain(X, y)
    best = pf.k_best(X, y, 2, 1.0, count=8)
    assert_ranking(best, ref.ranked(1.0, ref.supports(2, exactly=True)))
    assert tuple(best[0].support) == tuple(pf.solve(X, y, k=2, gamma=1.0).support)


def test_inputs_names_and_text() -> None:
    X, y = make_data(3)
    frame = pd.DataFrame(X, columns=["<b>", "two", "three", "four", "five", "six", "seven"])
    named, sparse, bare = (pf.k_best(M, y, 2, count=3) for M in (frame, sp.csr_matrix(X), X))
    for other in (named, sparse):
        assert [tuple(e.support) for e in other] == [tuple(e.support) for e in bare]
    assert set(named.frequency) <= set(frame.columns)
    assert all(frame.columns[j] in str(named) for j in named[0].support)
    assert all(f"x{j}" in str(bare) for j in bare[0].support)
    assert len(str(bare).splitlines()) >= 3
    assert bare.gamma == pytest.approx(np.sqrt(40) / (X**2).sum(axis=0).mean())
    assert bare.k == 2
    assert isinstance(bare, pf.Ranking)
    assert bare[:2] == bare.entries[:2]
    assert {"solves", "nodes", "seconds", "reads"} <= set(bare.stats)
    assert str(pickle.loads(pickle.dumps(bare))) == str(bare)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"count": 0}, "count"),
        ({"count": 2.5}, "count"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"k": 0}, "k"),
        ({"k": None}, "k"),
        ({"gamma": -1}, "gamma"),
        ({"time_limit": -1}, "time_limit"),
        ({"force_in": [0, 1, 2]}, "force_in"),
    ],
)
def test_bad_options(options: dict[str, Any], name: str) -> None:
    X, y = make_data(3)
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        pf.k_best(X, y, **{"k": 2, **options})


def test_k_beyond_the_columns_means_all() -> None:
    X, y = make_data(3)
    assert [tuple(e.support) for e in pf.k_best(X, y, 9, 1.0)] == [tuple(range(7))]


def hard() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 24)), rng.standard_normal(40)


@pytest.mark.parametrize("limit", [{"time_limit": 1e-9}, {"node_limit": 1}])
def test_limits_keep_what_is_proven(limit: dict[str, Any]) -> None:
    X, y = hard()
    ref = plain(X, y)
    exact = {s: v for v, s in ref.ranked(1.0, ref.supports(4, exactly=True))}
    with ways.trees():
        best = pf.k_best(X, y, 4, 1.0, count=5, **limit)
    assert best.status == next(iter(limit))
    listed = {tuple(int(j) for j in e.support) for e in best}
    assert len(listed) == len(best) <= 5
    for entry in best:
        assert entry.objective == pytest.approx(exact[tuple(entry.support)], rel=1e-9)
    assert [e.objective for e in best] == sorted(e.objective for e in best)
    assert best.lower_bound <= min(v for s, v in exact.items() if s not in listed) * (1 + 1e-9)
    assert not math.isnan(best.margin)
    str(best)
    assert isinstance(best.frequency, dict)


def test_progress_tells_of_every_solve_and_bounds_rise() -> None:
    X, y = hard()
    history = pf.History()
    best = pf.k_best(X, y, 4, 1.0, count=3, progress=history)
    assert len(history) > 3
    lows = [h.lower_bound for h in history]
    assert all(b >= a - 1e-6 * abs(a) for a, b in pairwise(lows))
    assert min(h.objective for h in history) == pytest.approx(best[0].objective)
    assert "3 found" in history[-1].label

    def stop(progress: pf.Progress) -> None:
        raise KeyboardInterrupt

    assert pf.k_best(X, y, 4, 1.0, progress=stop).status == "interrupted"


def test_ctrl_c_gives_the_list_so_far() -> None:
    script = """
import json, numpy as np, parsifal as pf
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 300)), rng.standard_normal(60)
started = False
def tell(progress):
    global started
    if not started:
        started = True
        print("go", flush=True)
best = pf.k_best(X, y, 12, 10.0, progress=tell)
print(json.dumps([len(best), best.status]))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    count, status = json.loads(out)
    assert status == "interrupted"
    assert count < 10


def test_a_cell_far_above_the_ceiling_is_out() -> None:
    # The best fit is nearly perfect, everything else thousands of times worse: margins must follow the ceiling.
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 5))
    y = 100 * X[:, 0] + 100 * X[:, 1] + 1e-3 * rng.standard_normal(12)
    found = pf.k_best(X, y, k=2, gamma=1e6, tolerance=0.5)
    assert found.status == "optimal"
    assert [entry.support.tolist() for entry in found] == [[0, 1]]


def test_an_intercept_and_scaled_columns_are_those_of_solve() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.standard_normal((60, 6)) * [1, 10, 100, 1, 5, 2] + 50, columns=list("abcdef"))
    y = 1000 + X["a"] - 0.2 * X["b"] + 0.3 * rng.standard_normal(60)
    options: dict[str, Any] = {"fit_intercept": True, "standardize": True}
    ranking, best = pf.k_best(X, y, 2, 1.0, count=3, **options), pf.solve(X, y, 2, 1.0, **options)
    first = ranking[0]
    assert [X.columns[j] for j in first.support] == ["a", "b"]
    assert ranking.intercepts[0] == pytest.approx(best.intercept)
    np.testing.assert_allclose(first.coef, best.coef[first.support], rtol=1e-9)
    assert first.objective == pytest.approx(best.objective)
    for entry, intercept in zip(ranking, ranking.intercepts, strict=True):
        residual = y - intercept - X.to_numpy()[:, entry.support] @ entry.coef
        assert residual.mean() == pytest.approx(0.0, abs=1e-9)
    assert pf.k_best(X, y - y.mean(), 2, 1.0, count=2).intercepts == (0.0, 0.0)


def test_a_level_of_y_that_nobody_fits_is_told() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 5)) + 10, rng.standard_normal(40) + 100
    with pytest.warns(UserWarning, match="no intercept is fitted") as told:
        pf.k_best(X, y, 2, count=2)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pf.k_best(X, y, 2, count=2, fit_intercept=False)


def test_the_only_support_is_not_called_optimal_where_its_fit_is_beyond_double_precision() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal(16), rng.standard_normal(16)
    X = 1e150 * np.column_stack([rng.standard_normal(16), x, x * (1 + 2.0**-52 * rng.integers(-2, 3, 16))])
    ranking = pf.k_best(X, y, 2, count=1, gamma=1e10, force_in=[1, 2], fit_intercept=False)
    exact = float(ExactValues(X, y).values(1e10)[(1, 2)])
    assert ranking.entries[0].objective > exact * (1 + 1e-3)
    assert ranking.status == "precision"
    assert ranking.lower_bound == np.inf or ranking.lower_bound <= exact


@pytest.mark.parametrize("units", [1.0, 2.0**-470, 2.0**-520, 2.0**-535, 2.0**-560, 2.0**-890, 2.0**180])
def test_the_only_support_in_any_units(units: float) -> None:
    """The squares of a column of 1e-267 are zero; it spans as much as in other units."""
    rng = np.random.default_rng(5)
    a, b, y = rng.standard_normal((3, 9))
    apart = pf.k_best(np.column_stack([units * a, b]), y, 2, gamma=np.inf, force_in=[0, 1])
    both = np.column_stack([a, b])
    assert apart.status == "optimal"
    assert apart[0].objective == pytest.approx(0.5 * np.sum((y - both @ np.linalg.lstsq(both, y, rcond=None)[0]) ** 2))
    together = pf.k_best(np.column_stack([units * a, a * (1 + 2.0**-51)]), y, 2, gamma=np.inf, force_in=[0, 1])
    assert together.status == "precision"
