"""The thresholds against values worked out by hand, and the reported figures against the paper's own sums."""

from __future__ import annotations

import math

import pytest

from parsifal import InputError
from parsifal.paper import reported
from parsifal.paper.theory import n0, n1, noise_variance


def test_noise_of_the_papers_data() -> None:
    assert noise_variance(10, 20.0) == pytest.approx(0.025)
    assert noise_variance(10, 3.0) == pytest.approx(10 / 9)


def test_thresholds_by_hand() -> None:
    # p = e^2 is no whole number, so k log p / log(...) is worked out with p = 100: ln 100 = 4.60517, ln 21 = 3.04452.
    assert n0(100, 10, 1.0) == pytest.approx(20 * 4.605170186 / 3.044522438)
    # ln 90 = 4.49981.
    assert n1(100, 10, 1.0) == pytest.approx(21 * 4.499809670)


def test_figure_1() -> None:
    noise = noise_variance(10, 20.0)
    assert round(n1(2000, 10, noise)) == reported.FIGURE1["n1"]
    # The paper's "n0 about 50" is its formula with sigma^2 = 1; with the noise of its data it gives 23.
    assert round(n0(2000, 10, 1.0)) == reported.FIGURE1["n0"]
    assert n0(2000, 10, noise) == pytest.approx(22.74, abs=0.01)


def test_limits_of_the_noise() -> None:
    assert n0(100, 10, 0.0) == 0.0
    assert n0(100, 10, 1e12) > 1e10
    assert n1(100, 10, 0.0) == pytest.approx(20 * math.log(90))


@pytest.mark.parametrize(("p", "k", "noise"), [(10, 10, 1.0), (10, 0, 1.0), (10, 2, -1.0), (10, 2, math.nan)])
def test_bad_arguments(p: int, k: int, noise: float) -> None:
    with pytest.raises(InputError):
        n0(p, k, noise)
    with pytest.raises(InputError):
        n1(p, k, noise)


def test_reported_tables_are_complete() -> None:
    assert len(reported.TABLE1_EXACT) == len(reported.TABLE1_LASSO) == 27
    for table in (reported.TABLE1_EXACT, reported.TABLE1_LASSO):
        missing = {cell for cell, value in table.items() if value is None}
        assert missing == {(k, 200_000, 100_000) for k in (10, 20, 30)}
    assert reported.TABLE1_EXACT[20, 100_000, 20_000] == 62.7
    assert reported.TABLE1_LASSO[30, 200_000, 10_000] == 480.3
    assert set(reported.NONLINEAR) == {(a, n) for a in (0, 1) for n in (100, 200, 300, 400, 500)}
    assert reported.NONLINEAR[1, 400] == (100, 28)
