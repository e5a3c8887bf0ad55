"""`SparseKernelRegressor`: scikit-learn's contract, predictions, every way to give a kernel."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import parsifal as pf
from parsifal.errors import InputError
from parsifal.estimators.kernel_regressor import SparseKernelRegressor


@parametrize_with_checks(
    [SparseKernelRegressor(), SparseKernelRegressor(["rbf", "linear", "laplacian"], k=2, fit_intercept=False)]
)
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def data(n: int = 80, p: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.standard_normal((n, p)) + 1.0
    y = 3.0 + np.sin(X[:, 0]) + 0.5 * X[:, 2] + 0.1 * rng.standard_normal(n)
    return X, y, 2.0 * rng.standard_normal((20, p)) + 1.0


def dot(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return 0.3 * (A @ B.T)


def test_finds_the_shape_of_every_effect() -> None:
    X, y, _ = data()
    model = SparseKernelRegressor(k=2, gamma=1.0).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert model.selected_ == ["rbf(a)", "linear(c)"]
    assert model.status_ == "optimal"
    assert model.lower_bound_ <= model.objective_
    assert model.gap_ <= 1e-6
    assert len(model.kernels_) == 12
    assert model.score(pd.DataFrame(X, columns=list("abcdef")), y) > 0.9


@pytest.mark.parametrize("normalize", [False, True])
def test_predictions_are_those_of_kernel_ridge(normalize: bool) -> None:
    X, y, new = data()
    kernels = [
        ("rbf", {"gamma": 0.5}, [0]),
        ("rbf", {"gamma": 0.1}),
        ("poly", {"degree": 2}, [1, 2]),
        (dot, [2]),
        dot,
        "linear",
    ]
    model = SparseKernelRegressor(
        kernels, k=3, gamma=0.7, fit_intercept=False, standardize=False, normalize=normalize
    ).fit(X, y)

    def total(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        parts = [
            pairwise_kernels(A[:, [0]], B[:, [0]], metric="rbf", gamma=0.5),
            pairwise_kernels(A, B, metric="rbf", gamma=0.1),
            pairwise_kernels(A[:, [1, 2]], B[:, [1, 2]], metric="poly", degree=2),
            dot(A[:, [2]], B[:, [2]]),
            dot(A, B),
            linear_kernel(A, B),
        ]
        return sum(model.kernel_scale_[j] * parts[j] for j in model.support_)

    assert (model.kernel_scale_ == 1.0).all() != normalize
    ridge = KernelRidge(alpha=1 / 0.7, kernel="precomputed").fit(total(X, X), y)
    np.testing.assert_allclose(model.predict(new), ridge.predict(total(new, X)), rtol=1e-7)
    np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, rtol=1e-6, atol=1e-9)
    assert len(model.support_) == 3


def test_the_intercept_is_free() -> None:
    X, y, new = data()
    model = SparseKernelRegressor(k=2, gamma=0.3).fit(X, y)
    shifted = SparseKernelRegressor(k=2, gamma=0.3).fit(X, y + 1000.0)
    assert model.support_.tolist() == shifted.support_.tolist()
    np.testing.assert_allclose(shifted.predict(new), model.predict(new) + 1000.0, rtol=1e-9)
    assert np.mean(y - model.predict(X)) == pytest.approx(0.0, abs=1e-9)
    # The same from the stationarity of min over w, b of the primal, with b written as a kernel of almost no ridge.
    K = sum(model.kernel_scale_[j] * model._specs[j].between(model.X_fit_, model.X_fit_) for j in model.support_)
    ridge = KernelRidge(alpha=1 / 0.3, kernel="precomputed").fit(K + 1e7, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(K + 1e7), rtol=1e-4)


def test_groups() -> None:
    X, y, new = data(p=9)
    groups = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    model = SparseKernelRegressor(groups=groups, k=1, standardize=False, normalize=False, gamma=0.2).fit(X, y)
    assert model.support_.tolist() == [0]
    assert model.selected_ == ["[x0, x1, x2]"]
    np.testing.assert_allclose(model.predict(new), new @ model.coef_ + model.intercept_, rtol=1e-9)
    centred = pf.solve_groups(X - X.mean(axis=0), y - y.mean(), groups, 1, 0.2)
    np.testing.assert_allclose(model.coef_, centred.coef, rtol=1e-8, atol=1e-12)
    scaled = SparseKernelRegressor(groups=groups, k=2).fit(X, y)
    np.testing.assert_allclose(scaled.predict(new), new @ scaled.coef_ + scaled.intercept_, rtol=1e-9)
    free = SparseKernelRegressor(groups=groups, k=2, fit_intercept=False).fit(X, y)
    assert free.intercept_ == 0.0
    np.testing.assert_array_equal(free.predict(np.zeros((3, 9))), 0.0)
    single = SparseKernelRegressor(groups=[[j] for j in range(9)], k=2, gamma=0.1).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = pf.solve(Z, y - y.mean(), k=2, gamma=0.1)
    assert single.objective_ == pytest.approx(plain.objective, rel=2e-6)
    np.testing.assert_allclose(single.coef_, plain.coef / X.std(axis=0), rtol=1e-6, atol=1e-10)


def test_matrices_and_factors_of_the_rows() -> None:
    X, y, new = data()
    computed = [("rbf", {"gamma": 0.5}, [0]), ("linear", [2]), ("linear", [3])]
    options: dict[str, Any] = {"k": 2, "gamma": 0.2, "standardize": False}
    model = SparseKernelRegressor(computed, **options).fit(X, y)
    K = pairwise_kernels(X[:, [0]], metric="rbf", gamma=0.5)
    given = SparseKernelRegressor([K, ("factor", X[:, [2]]), X[:, [3]]], **options).fit(X, y)
    assert given.support_.tolist() == model.support_.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"pass K\(new, training\) as given=\{0: ...\}"):
        given.predict(new)
    arrays = {0: pairwise_kernels(new[:, [0]], X[:, [0]], metric="rbf", gamma=0.5), 1: new[:, [2]]}
    np.testing.assert_allclose(given.predict(new, given=arrays), model.predict(new), rtol=1e-9)
    with pytest.raises(InputError, match=r"given\[1\] has shape"):
        given.predict(new, given=arrays | {1: new})


def test_clone_pickle_pipeline_and_search() -> None:
    X, y, new = data()
    model = SparseKernelRegressor([("rbf", {"gamma": 0.5}, [j]) for j in range(6)], k=2)
    copy = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(copy.predict(new), model.fit(X, y).predict(new))
    assert make_pipeline(StandardScaler(), model).fit(X, y).score(X, y) > 0.8
    grid = GridSearchCV(SparseKernelRegressor(), {"k": [1, 2]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"k": 2}


def test_constant_columns_and_constant_response() -> None:
    X, y, _ = data()
    X[:, 1] = 5.0
    model = SparseKernelRegressor(k=3).fit(X, y)
    assert not any("x1" in name for name in model.selected_)
    flat = SparseKernelRegressor(k=3).fit(X, np.full(len(y), 7.0))
    np.testing.assert_allclose(flat.predict(X), 7.0)
    assert flat.status_ == "optimal"


def test_a_limit_warns() -> None:
    X, y, _ = data(p=20)
    rng = np.random.default_rng(1)
    with pytest.warns(ConvergenceWarning, match="ended with status 'node_limit': the choice of kernels is within"):
        model = SparseKernelRegressor(k=6, gamma=5.0, node_limit=1).fit(X, y + rng.standard_normal(len(y)))
    assert model.gap_ > 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": ["nonsense"]}, r"kernels\[0\] names 'nonsense', which is no kernel of scikit-learn"),
        ({"kernels": []}, "kernels is empty"),
        ({"kernels": [3]}, r"kernels\[0\] is 3"),
        ({"kernels": 3}, "kernels must be a sequence"),
        ({"kernels": [("rbf", [99])]}, r"kernels\[0\] names column 99"),
        ({"kernels": [("rbf", ["age"])]}, r"kernels\[0\] names column 'age', which is not there"),
        ({"kernels": [(dot, {"a": 1})]}, "bind them first"),
        ({"kernels": [np.ones((3, 3))]}, "rows is needed"),
        ({"kernels": [lambda A, B: np.ones(3)]}, "gave shape"),
        ({"kernels": [lambda A, B: 1j * (A @ B.T)]}, "gave complex numbers"),
        ({"kernels": [("sigmoid", {"gamma": 2.0, "coef0": -2.0})]}, "not positive semidefinite"),
        ({"kernels": ["rbf"], "groups": [[0]]}, "not both"),
        ({"k": None}, "give k"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    X, y, _ = data()
    with pytest.raises(InputError, match=message):
        SparseKernelRegressor(**options).fit(X, y)
