"""The Lasso at k nonzeros against its definition, and the path by strong rules against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso, lasso_path

from parsifal import InputError
from parsifal.datasets import SyntheticDesign, make_sparse_regression
from parsifal.paper.glmnet import glmnet_path, on_path
from parsifal.paper.lasso import lasso_at, lasso_cv


def nonzeros(X: np.ndarray, y: np.ndarray, weight: float) -> np.ndarray:
    """Support of the Lasso by another algorithm, to high accuracy."""
    model = Lasso(weight, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    return np.flatnonzero(np.abs(model.coef_) > 1e-9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [1, 3, 6])
def test_least_regularised_point_with_k_nonzeros(seed: int, k: int) -> None:
    X, y, _ = make_sparse_regression(25, 40, 5, rho=0.5, sqrt_snr=3.0, random_state=seed)
    point = lasso_at(X, y, k)
    assert point is not None
    # Just above the breakpoint there are k nonzeros, and they are these.
    assert nonzeros(X, y, point.weight * (1 + 1e-4)).tolist() == point.support.tolist()
    assert point.support.size == k
    # Nowhere below it are there k: that is what least regularised means.
    for weight in np.geomspace(point.weight * (1 - 1e-3), point.weight * 5e-2, 25):
        assert nonzeros(X, y, weight).size != k


def test_orthogonal_columns_by_hand() -> None:
    # On orthogonal columns the Lasso soft-thresholds: column j enters at |x_j'y| / n, here at 3, 2 and 1.
    n = 4
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((n, 3)))[0] * np.sqrt(n)
    y = X @ np.array([3.0, -2.0, 1.0])
    for k, lowest, coef in ((1, 2.0, [1.0]), (2, 1.0, [2.0, -1.0]), (3, 0.0, [3.0, -2.0, 1.0])):
        point = lasso_at(X, y, k)
        assert point is not None
        assert point.support.tolist() == list(range(k))
        assert point.weight == pytest.approx(lowest, abs=1e-8)
        assert point.coef == pytest.approx(coef)


def test_more_nonzeros_than_the_path_has() -> None:
    X, y, _ = make_sparse_regression(5, 20, 2, random_state=0)
    assert lasso_at(X, y, 15) is None
    with pytest.raises(InputError):
        lasso_at(X, y, 0)


@pytest.mark.parametrize(("n", "p"), [(30, 80), (80, 30)])
def test_strong_rules_give_the_path(n: int, p: int) -> None:
    X, y, _ = make_sparse_regression(n, p, 4, rho=0.7, sqrt_snr=3.0, random_state=1, order="F")
    path = glmnet_path(X, y, early_stop=False)
    assert len(path) == 100
    weights, coefs, _ = lasso_path(X, y, alphas=[point.weight for point in path], tol=1e-10, max_iter=100_000)
    assert weights[-1] == pytest.approx(weights[0] * (1e-2 if n < p else 1e-4))
    for i, point in enumerate(path):
        coef = np.zeros(p)
        coef[point.support] = point.coef
        assert coef == pytest.approx(coefs[:, i], abs=1e-4)


def test_path_of_a_design_that_is_not_stored_and_early_stop() -> None:
    design = SyntheticDesign(200, 100, 3, rho=0.1, seed=1)
    path = glmnet_path(design, design.y)
    same = glmnet_path(design.columns(np.arange(100)), design.y)
    assert len(path) == len(same) < 100
    assert path[-1].support.tolist() == same[-1].support.tolist()
    found = on_path(path, 3)
    assert found is not None
    assert found.support.tolist() == design.support.tolist()
    assert on_path(path, 99) is None


def test_no_path() -> None:
    with pytest.raises(InputError, match="orthogonal"):
        glmnet_path(np.eye(4)[:, :2], np.array([0.0, 0.0, 1.0, 1.0]))


def test_cross_validated_lasso_finds_the_truth_and_more() -> None:
    X, y, support = make_sparse_regression(120, 60, 3, random_state=0, order="F")
    found = lasso_cv(X, y, 5)
    assert set(support) <= set(found)
    assert found.size > support.size
