"""The outlook: the theory's formulas, the estimate of the noise, and the extrapolated time."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parsifal as pf
from parsifal.design import as_design
from parsifal.errors import InputError
from parsifal.estimators.outlook import extrapolate, information_threshold, lasso_threshold, outlook, span
from parsifal.problem.progress import Progress


def test_thresholds_of_the_papers_first_figure() -> None:
    # p = 2000, k = 10, sqrt(SNR) = 20: the paper gives n1 = 152.
    noise = 10 / 20**2
    assert lasso_threshold(10, 2000, noise) == pytest.approx(152.1, abs=0.1)
    assert information_threshold(10, 2000, noise) == pytest.approx(20 * math.log(2000) / math.log(801))


def test_thresholds_at_the_ends() -> None:
    assert information_threshold(5, 100, math.inf) == math.inf
    assert lasso_threshold(5, 100, math.inf) == math.inf
    assert information_threshold(5, 100, 0.0) == 0.0
    assert lasso_threshold(5, 5, 1.0) == 0.0
    values = [information_threshold(5, 100, noise) for noise in (0.01, 0.1, 1.0, 10.0)]
    assert values == sorted(values)


def test_few_rows_of_the_papers_first_figure() -> None:
    # Right of n0 and left of n1, where the rows are too few for any to be left out.
    data = pf.datasets.make_sparse_regression(80, 2000, 10, sqrt_snr=20.0, random_state=0)
    found = outlook(as_design(data.X), data.y, k=10, ks=[10], time_limit=20, threads=1)
    assert found.snr == pytest.approx(400, rel=0.5)
    assert found.n0 < 80 < found.n1
    assert "can be expected to be the true ones" in found.verdict
    assert found.sizes[0].solved


@pytest.mark.parametrize("sqrt_snr", [2.0, 5.0])
def test_noise_and_size_are_recovered(sqrt_snr: float) -> None:
    data = pf.datasets.make_sparse_regression(300, 60, 4, sqrt_snr=sqrt_snr, random_state=0)
    found = outlook(as_design(data.X), data.y, time_limit=10, threads=1)
    assert found.k == 4
    assert found.snr == pytest.approx(sqrt_snr**2, rel=0.25)
    assert all(size.solved for size in found.sizes)
    assert [size.k for size in found.sizes] == [2, 4, 8]
    assert found.n1 == pytest.approx(lasso_threshold(4, 60, 4 / found.snr))
    assert "beyond n1" in found.verdict


def test_too_few_rows_are_named() -> None:
    data = pf.datasets.make_sparse_regression(24, 400, 6, sqrt_snr=1.0, random_state=1)
    found = outlook(as_design(data.X), data.y, k=6, ks=[2], time_limit=2, threads=1)
    assert found.snr == 0
    assert found.n0 == np.inf
    assert "No signal" in found.verdict
    with pytest.raises(InputError, match="choose k between 1 and 400"):
        outlook(as_design(data.X), data.y, k=500)


def snapshots(bound: float, slope: float, doublings: int) -> list[Progress]:
    return [
        Progress(
            objective=100.0,
            lower_bound=bound + slope * i / 4,
            nodes=int(16 * 2 ** (i / 4)),
            open_nodes=5,
            seconds=0.1 * 2 ** (i / 4),
            reads=1,
        )
        for i in range(4 * doublings + 1)
    ]


def test_time_is_extrapolated_by_doublings() -> None:
    # 3 per doubling: from 80 after five doublings to 100 takes 20/3 more.
    history = snapshots(65.0, 3.0, 5)
    assert extrapolate(history, 100.0) == pytest.approx(history[-1].seconds * 2 ** (20 / 3), rel=0.15)
    assert extrapolate(history[:2], 100.0) == math.inf
    assert extrapolate(snapshots(65.0, 0.0, 5), 100.0) == math.inf


def test_spans_in_words() -> None:
    words = [span(seconds) for seconds in (0.0123, 1.5, 600.0, 1e4, 1e6, math.inf)]
    assert words == ["12 ms", "1.5 s", "10 minutes", "2.8 hours", "12 days", "an unknown time"]


def test_the_verdict_where_no_end_is_in_sight() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 200)), rng.standard_normal(60)
    found = outlook(as_design(X), y, k=15, ks=[15], gamma=10.0, time_limit=1.0, threads=1)
    (size,) = found.sizes
    assert not size.solved
    assert size.expected_seconds > size.seconds
    assert "for k = 15" in found.verdict
