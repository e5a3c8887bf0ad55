"""Options and data that `SparseRegressor` refuses, with the argument named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.reference import make_data


def fit(X: Any, y: Any, **options: Any) -> pf.SparseRegressor:
    return pf.SparseRegressor(**{"k": 3, **options}).fit(X, y)


BAD_OPTIONS = [
    ({"k": 0}, "k"),
    ({"k": -1}, "k"),
    ({"k": 2.5}, "k"),
    ({"k": "three"}, "k"),
    ({"k": np.nan}, "k"),
    ({"k": True}, "k"),
    ({"gamma": 0}, "gamma"),
    ({"gamma": -1.0}, "gamma"),
    ({"gamma": np.nan}, "gamma"),
    ({"gamma": "automatic"}, "gamma"),
    ({"gamma": None}, "gamma"),
    ({"penalty": -0.1}, "penalty"),
    ({"penalty": np.nan}, "penalty"),
    ({"rel_gap": -1}, "rel_gap"),
    ({"time_limit": -1}, "time_limit"),
    ({"node_limit": -1}, "node_limit"),
    ({"method": "magic"}, "method"),
    ({"n_jobs": 0}, "n_jobs|threads"),
    ({"k": 8}, "k"),
]


@pytest.mark.parametrize(("options", "name"), BAD_OPTIONS)
def test_bad_options(options: dict[str, Any], name: str) -> None:
    X, y = make_data(0)
    with pytest.raises(ValueError, match=rf"\b({name})\b"):
        fit(X, y, **options)


def test_bad_data() -> None:
    X, y = make_data(0)
    for weight in (-np.ones(40), np.zeros(40), np.ones(39), np.full(40, np.nan), np.ones((40, 2))):
        with pytest.raises(ValueError, match=r"(?i)weight"):
            pf.SparseRegressor(k=2).fit(X, y, sample_weight=weight)
    for bad_X, bad_y in (
        (X, y[:-1]),
        (X[0], y),
        (X[:0], y[:0]),
        (X[:, :0], y),
        (X, np.column_stack([y, y])),
        (X + 1j, y),
        (X, None),
    ):
        with pytest.raises(ValueError, match=r".{10}"):
            fit(bad_X, bad_y)
    est = fit(X, y)
    with pytest.raises(ValueError, match="7 features"):
        est.predict(X[:, :6])
    with pytest.raises(ValueError, match=r"(?i)reshape|2D"):
        est.predict(X[0])
