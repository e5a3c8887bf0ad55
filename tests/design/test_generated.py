"""Generated designs: the same entries however they are read, and the distribution that is promised."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import parsifal as pf
import parsifal._core as _core
from parsifal.datasets import SyntheticDesign


def test_philox_gives_the_published_words() -> None:
    # Random123's known answers for philox4x32, 7 rounds.
    assert _core.philox(0, 0, 0, 0, 0, 0) == (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)
    ones = 0xFFFFFFFF
    assert _core.philox(ones, ones, ones, ones, ones, ones) == (0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662)


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5, 0.95])
def test_entries_are_the_same_however_they_are_read(rho: float) -> None:
    n, p = 2200, 700
    design = SyntheticDesign(n, p, 5, rho=rho, seed=9)
    X = design.columns(np.arange(p))
    assert np.array_equal(X, X.astype(np.float32))
    rng = np.random.default_rng(0)
    for _ in range(5):
        idx = rng.integers(0, p, 20)
        assert np.array_equal(design.columns(idx), X[:, idx])
        start, stop = np.sort(rng.choice(n + 1, 2, replace=False))
        part = design.rows(int(start), int(stop))
        assert np.array_equal(part.columns(idx), X[start:stop, idx])
        assert np.array_equal(part.y, design.y[start:stop])
    for width in (1, 7, 64, 333):
        blocks = [design.columns(np.arange(left, min(p, left + width))) for left in range(0, p, width)]
        assert np.array_equal(np.concatenate(blocks, axis=1), X)
    # The entries depend on their place, not on the shape of the matrix around them.
    smaller = SyntheticDesign(300, 90, 5, rho=rho, seed=9)
    assert np.array_equal(smaller.columns(np.arange(90)), X[:300, :90])
    assert not np.array_equal(SyntheticDesign(300, 90, 5, rho=rho, seed=10).columns([0]), X[:300, :1])
    again = pickle.loads(pickle.dumps(design.rows(5, 50)))
    assert np.array_equal(again.columns([3]), X[5:50, [3]])


def test_the_entries_themselves() -> None:
    """Pinned: every machine and every later version must make these."""
    X = SyntheticDesign(3, 3, 1, rho=0.0, seed=1).columns([0, 1, 2])
    Z = SyntheticDesign(3, 3, 1, rho=0.5, seed=1).columns([0, 1, 2])
    assert X.astype(np.float32).tobytes().hex() == PINNED_INDEPENDENT
    assert Z.astype(np.float32).tobytes().hex() == PINNED_CORRELATED


PINNED_INDEPENDENT = "fda02f3e860c82bf8a8504bf11aea8bf53afc0bfe705a3bf1084a03ea00f81bfcd6901bf"
PINNED_CORRELATED = "fda02f3e374c4bbf7c6a58bf11aea8bfc035fbbfbf6405c01084a03e4b6937bfe5c74bbf"


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_distribution(rho: float) -> None:
    n, p = 4000, 1500
    X = SyntheticDesign(n, p, 1, rho=rho, seed=2).columns(np.arange(p))
    rows = math.sqrt(n * p)
    effective = rows * math.sqrt((1 - rho) / (1 + rho))
    assert abs(X.mean()) < 4 / effective
    assert abs(X.var() - 1) < 8 / effective
    for lag in (1, 2, 5):
        # Also across the places where the recursion begins anew.
        assert abs(np.mean(X[:, lag:] * X[:, :-lag]) - rho**lag) < 8 / effective
    width = max(64, 4 * (0 if rho == 0 else math.ceil(math.log(2.0**-24) / math.log(rho))))
    for border in range(width, min(p, 4 * width), width):
        assert abs(np.mean(X[:, border] * X[:, border - 1]) - rho) < 6 / math.sqrt(n)
    # Normal: tails, and the Kolmogorov distance of one column.
    assert abs(np.mean(np.abs(X) > 3) - 0.0026998) < 40 * 0.0026998 / effective + 2e-5
    column = np.sort(X[:, 0])
    cdf = 0.5 * (1 + np.array([math.erf(x / math.sqrt(2)) for x in column]))
    assert np.max(np.abs(cdf - np.arange(n) / n)) < 1.95 / math.sqrt(n)
    # Rows are independent of each other.
    assert abs(np.mean(X[1:] * X[:-1])) < 6 / effective


def test_response() -> None:
    design = SyntheticDesign(500, 80, 6, rho=0.2, sqrt_snr=3.0, seed=5)
    X = design.columns(np.arange(80))
    assert np.array_equal(np.flatnonzero(design.coef), design.support)
    assert set(np.abs(design.coef[design.support])) == {1.0}
    signal = X @ design.coef
    assert np.linalg.norm(signal) / np.linalg.norm(design.y - signal) == pytest.approx(3.0)
    clean = SyntheticDesign(500, 80, 6, rho=0.2, sqrt_snr=math.inf, seed=5)
    np.testing.assert_allclose(clean.y, signal, atol=1e-12)


def test_solve_in_few_reads() -> None:
    design = SyntheticDesign(4000, 8000, 10, rho=0.1, seed=3)
    sol = pf.solve(design, design.y, k=10, gamma=1 / math.sqrt(4000))
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, design.support)
    assert sol.stats["reads"] <= 3
    assert pf.check(sol.certificate, design, design.y)


def test_bad_arguments() -> None:
    for arguments, message in (
        ({"k": 9}, "do not fit into p = 8"),
        ({"rho": 1.0}, "rho must be in"),
        ({"rho": -0.1}, "rho must be"),
        ({"sqrt_snr": 0.0}, "sqrt_snr must be > 0"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"n": 0}, "n must be >= 1"),
    ):
        with pytest.raises(pf.InputError, match=message):
            SyntheticDesign(**{"n": 10, "p": 8, "k": 2, **arguments})
