"""Folds from triangles against folds from the rows themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

import parsifal as pf
from oracles.reference import make_data
from parsifal.estimators import regressor_cv
from parsifal.estimators.fold_triangles import fold_triangles

pytestmark = pytest.mark.filterwarnings("ignore:the .* of the gammas")


def both(monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, weight: Any = None, **options: Any) -> list[Any]:
    """The same cross-validation with triangles and without; whether there were any."""
    made = []

    def noted(*arguments: Any) -> Any:
        made.append(fold_triangles(*arguments))
        return made[-1]

    out = []
    for make in (noted, lambda *_: None):
        monkeypatch.setattr(regressor_cv, "fold_triangles", make)
        model = pf.SparseRegressorCV(**{"ks": (1, 2, 3), "gammas": (0.02, 1.0), "fold_node_limit": None, **options})
        out.append(model.fit(X, y, sample_weight=weight))
    return [*out, made[0] is not None]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"standardize": False},
        {"refit": "ols"},
        {"scoring": "neg_mean_absolute_error"},
        {"cv": TimeSeriesSplit(2)},
        {"cv": ShuffleSplit(3, random_state=0)},
        {"penalty": 0.3},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_as_rows(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = make_data(0, n=120, noise=2.0)
    X, y = X + 1e4 * rng.standard_normal(7), y + 1e4
    weight = rng.uniform(0, 2, 120) * (rng.random(120) < 0.9) if weighted else None
    fast, slow, used = both(monkeypatch, X, y, weight, **options)
    assert used
    np.testing.assert_allclose(fast.mse_path_, slow.mse_path_, rtol=1e-7)
    np.testing.assert_allclose(fast.score_path_, slow.score_path_, rtol=1e-7)
    np.testing.assert_allclose(fast.coef_, slow.coef_, rtol=1e-7)
    for g in range(2):
        for i in range(3):
            for a, b in zip(fast.support_path_[g][i], slow.support_path_[g][i]):
                np.testing.assert_array_equal(a, b)


def test_columns_that_are_constant_in_a_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data(0, n=120, noise=2.0)
    X[:, 3] = 7.3
    X[:, 4] = 0.1 + (np.arange(120) < 30)
    fast, slow, used = both(monkeypatch, X, y, cv=KFold(4))
    assert used
    np.testing.assert_allclose(fast.mse_path_, slow.mse_path_, rtol=1e-9)


def test_sparse_data(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data(0, n=120, noise=2.0)
    fast, slow, used = both(monkeypatch, sp.csr_matrix(np.where(np.abs(X) > 1, X, 0)), y)
    assert used
    np.testing.assert_allclose(fast.mse_path_, slow.mse_path_, rtol=1e-9)


@pytest.mark.parametrize("splitter", [LeaveOneOut(), RepeatedKFold(n_splits=5, n_repeats=4, random_state=0)])
def test_not_where_folds_cut_the_rows_into_many_parts(monkeypatch: pytest.MonkeyPatch, splitter: Any) -> None:
    X, y = make_data(0, n=120)
    assert not both(monkeypatch, X, y, cv=splitter, ks=(1,), gammas=1.0)[2]


def test_not_where_columns_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data(0, n=20)
    assert not both(monkeypatch, X, y)[2]


def test_a_perfect_fit_keeps_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    y = X[:, 0] + X[:, 1] + 1e-9 * rng.standard_normal(200)
    fast, slow, used = both(monkeypatch, X, y, ks=(2,), gammas=1e6, refit="ols")
    assert used
    np.testing.assert_allclose(fast.mse_path_, slow.mse_path_, rtol=1e-4)
