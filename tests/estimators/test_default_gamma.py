"""What `gamma="auto"` of the estimators is, and what it is worth on data where the paper's value goes wrong."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from sklearn.model_selection import KFold

import parsifal as pf


def islp(name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of ISLP; the package is found, not imported, for it needs many others."""
    spec = importlib.util.find_spec("ISLP")
    assert spec is not None, "the data come with ISLP: pip install --no-deps ISLP"
    assert spec.submodule_search_locations is not None
    (file,) = Path(spec.submodule_search_locations[0]).rglob(f"{name}.csv")
    table = pd.read_csv(file).dropna()
    y = table.pop(target).to_numpy(dtype=float)
    return pd.get_dummies(table, drop_first=True).astype(float), y


@pytest.mark.parametrize(
    ("n", "p", "gamma"),
    [(400, 8, 10.0), (60, 12, 4.0), (60, 40, 0.5), (64, 60, 0.125), (100, 250, 0.1), (25, 500, 0.2)],
)
def test_rows_beyond_the_columns_within_the_papers_value_and_ten(n: int, p: int, gamma: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    assert pf.SparseRegressor(k=1).fit(X, y).gamma_ == pytest.approx(gamma)


def test_weights_count_as_rows_and_adjusted_columns_do_not_count() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 10)), rng.standard_normal(40)
    assert pf.SparseRegressor(k=1).fit(X, y, np.full(40, 0.5)).gamma_ == pytest.approx(1.0)
    assert pf.SparseRegressor(k=1, adjust=[0, 1]).fit(X, y).gamma_ == pytest.approx(4.0)


def test_units_of_x_do_not_matter_without_standardisation() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 5)), rng.standard_normal(50)
    options: dict[str, Any] = {"k": 2, "standardize": False}
    one, other = (pf.SparseRegressor(**options).fit(scale * X, y) for scale in (1.0, 1e3))
    np.testing.assert_allclose(one.predict(X), other.predict(1e3 * X), rtol=1e-9)
    assert one.gamma_ == pytest.approx(9.0 / np.mean((X - X.mean(axis=0)) ** 2))


def test_solve_and_path_keep_the_papers_value() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((64, 4)), rng.standard_normal(64)
    sol = pf.solve(X, y, k=2, fit_intercept=True, standardize=True)
    assert sol.gamma == pytest.approx(1 / 8)
    path = pf.path(X, y, ks=[2], fit_intercept=True, standardize=True)
    assert path[0].gamma == pytest.approx(1 / 8)


def test_the_lorenz_equations_come_out_right() -> None:
    """Terms up to the second degree, slopes by central differences of noisy measurements, as PySINDy has them."""
    times = np.arange(5000) * 0.002

    def slope(_: float, state: np.ndarray) -> list[float]:
        x, y, z = state
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    states = solve_ivp(slope, (0, times[-1]), [-8, 8, 27], t_eval=times, rtol=1e-10, atol=1e-10).y.T
    measured = states + 0.02 * np.random.default_rng(0).standard_normal(states.shape)
    x, y, z = measured.T
    terms = {"x": x, "y": y, "z": z, "xx": x * x, "xy": x * y, "xz": x * z, "yy": y * y, "yz": y * z, "zz": z * z}
    library = pd.DataFrame(terms)
    truth = [{"x": -10, "y": 10}, {"x": 28, "y": -1, "xz": -1}, {"z": -8 / 3, "xy": 1}]
    for slopes, equation in zip(np.gradient(measured, times, axis=0).T, truth):
        model = pf.SparseRegressor(k=3).fit(library, slopes)
        assert model.status_ == "optimal"
        found = {name: coef for name, coef in zip(library, model.coef_) if abs(coef) > 0.05}
        assert found.keys() == equation.keys()
        for name, coef in equation.items():
            assert found[name] == pytest.approx(coef, rel=0.03)


@pytest.mark.parametrize("k", [6, 10])
def test_hitters_has_the_signs_of_least_squares_and_its_features(k: int) -> None:
    X, y = islp("Hitters", "Salary")
    model = pf.SparseRegressor(k=k).fit(X, y)
    assert model.status_ == "optimal"
    assert model.support_.tolist() == pf.SparseRegressor(k=k, gamma=np.inf).fit(X, y).support_.tolist()
    coef = model.coef_[model.support_]
    assert (np.sign(coef) == np.sign(model.least_squares_.coef)).all()
    np.testing.assert_allclose(coef, model.least_squares_.coef, rtol=0.05)


def test_college_is_within_two_percent_of_its_best_gamma() -> None:
    X, y = islp("College", "Apps")
    values = X.to_numpy()
    folds = list(KFold(5, shuffle=True, random_state=0).split(values))

    def error(gamma: float | str) -> float:
        total = 0.0
        for train, test in folds:
            model = pf.SparseRegressor(k=10, gamma=gamma).fit(values[train], y[train])
            total += float(((y[test] - model.predict(values[test])) ** 2).sum())
        return total

    best = min(error(gamma) for gamma in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, np.inf))
    assert error("auto") <= 1.02 * best
    assert error(1 / np.sqrt(len(y))) > 1.02 * best


def test_many_columns_are_proven_as_with_the_papers_value() -> None:
    X, y, truth = pf.datasets.make_sparse_regression(150, 2000, k=10, sqrt_snr=5, random_state=0)
    model = pf.SparseRegressor(k=10, node_limit=100).fit(X, y)
    assert model.gamma_ == pytest.approx(1 / np.sqrt(150))
    assert model.status_ == "optimal"
    assert model.support_.tolist() == sorted(truth)
