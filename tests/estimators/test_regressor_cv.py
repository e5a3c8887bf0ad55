"""`SparseRegressorCV` against a plain loop over folds, ks and gammas."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LassoCV
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import parsifal as pf
from estimators.helpers import GAMMAS, KS, cv
from oracles.reference import make_data, reference

# The gammas are few, and one of them is the best.
pytestmark = pytest.mark.filterwarnings("ignore:the .* of the gammas")


def naive(X: Any, y: Any, splits: Any, weight: Any = None, ks: Any = KS, gammas: Any = GAMMAS, **options: Any) -> Any:
    """Predictions of the best supports, by enumeration: [gamma][k][fold]."""
    forced = {name: options.pop(name) for name in ("force_in", "force_out") if name in options}
    out = []
    for gamma in gammas:
        rows = []
        for k in ks:
            row = []
            for train, test in splits:
                ref = reference(X[train], y[train], None if weight is None else weight[train], **options)
                coef, intercept = ref.unscaled(ref.best(k, gamma, **forced)[0], gamma)
                row.append(X[test] @ coef + intercept)
            rows.append(row)
        out.append(rows)
    return out


def errors(predictions: Any, y: np.ndarray, splits: Any, weight: Any = None) -> np.ndarray:
    return np.array(
        [
            [
                [
                    np.average((y[test] - guess) ** 2, weights=None if weight is None else weight[test])
                    for guess, (_, test) in zip(row, splits)
                ]
                for row in rows
            ]
            for rows in predictions
        ]
    )


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_mse_path_is_that_of_a_plain_loop(seed: int, fit_intercept: bool, standardize: bool) -> None:
    X, y = make_data(seed, noise=3.0)
    options = {"fit_intercept": fit_intercept, "standardize": standardize}
    model = cv(**options).fit(X, y)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    mse = errors(naive(X, y, splits, **options), y, splits)
    np.testing.assert_allclose(model.mse_path_, mse, rtol=1e-6)
    np.testing.assert_allclose(model.score_path_, -mse, rtol=1e-6)
    assert (model.gap_path_ <= 1e-6).all()
    g, i = np.unravel_index(np.argmin(mse.mean(axis=2)), mse.shape[:2])
    assert model.best_index_ == (g, i)
    assert (model.k_, model.gamma_) == (KS[i], GAMMAS[g])
    assert list(model.ks_) == list(KS)
    assert list(model.gammas_) == list(GAMMAS)
    final = pf.SparseRegressor(k=KS[i], gamma=GAMMAS[g], **options).fit(X, y)
    np.testing.assert_allclose(model.coef_, final.coef_, rtol=1e-7, atol=1e-12)
    assert model.intercept_ == pytest.approx(final.intercept_, abs=1e-9)
    assert model.status_ == "optimal"
    assert model.check(X, y)
    assert len(model.summary().rows) == KS[i]


def test_support_path() -> None:
    X, y = make_data(0, noise=3.0)
    model = cv().fit(X, y)
    for f, (train, _) in enumerate(KFold(4, shuffle=True, random_state=0).split(X)):
        ref = reference(X[train], y[train])
        for g, gamma in enumerate(GAMMAS):
            for i, k in enumerate(KS):
                assert tuple(model.support_path_[g][i][f]) == ref.best(k, gamma)[0]


def test_one_standard_error() -> None:
    for seed in range(3):
        X, y = make_data(seed, noise=3.0)
        model = cv(one_se=True).fit(X, y)
        mean = model.mse_path_.mean(axis=2)
        g, i = np.unravel_index(np.argmin(mean), mean.shape)
        limit = mean[g, i] + model.mse_path_[g, i].std(ddof=1) / np.sqrt(4)
        smallest = min(KS[b] for a in range(3) for b in range(4) if mean[a, b] <= limit)
        assert model.k_ <= cv().fit(X, y).k_
        assert model.k_ == smallest
        a, b = model.best_index_
        assert mean[a, b] <= limit * (1 + 1e-12)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"])
def test_scoring_by_name(scoring: str) -> None:
    X, y = make_data(1, noise=3.0)
    model = cv(scoring=scoring).fit(X, y)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    guess = naive(X, y, splits)
    scorer = get_scorer(scoring)
    expected = np.array(
        [
            [[scorer._sign * scorer._score_func(y[t], g) for g, (_, t) in zip(row, splits)] for row in rows]
            for rows in guess
        ]
    )
    np.testing.assert_allclose(model.score_path_, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.mse_path_, errors(guess, y, splits), rtol=1e-6)
    g, i = np.unravel_index(np.argmax(expected.mean(axis=2)), (3, 4))
    assert (model.k_, model.gamma_) == (KS[i], GAMMAS[g])


def median_score(estimator: Any, X: Any, y: Any) -> float:
    return -float(np.median(np.abs(y - estimator.predict(X))))


def test_scoring_by_callable() -> None:
    X, y = make_data(1, noise=3.0)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    guess = naive(X, y, splits)
    model = cv(scoring=median_score).fit(X, y)
    expected = [[[-np.median(np.abs(y[t] - g)) for g, (_, t) in zip(row, splits)] for row in rows] for rows in guess]
    np.testing.assert_allclose(model.score_path_, expected, rtol=1e-6)
    made = cv(scoring=make_scorer(mean_absolute_error, greater_is_better=False)).fit(X, y)
    named = cv(scoring="neg_mean_absolute_error").fit(X, y)
    np.testing.assert_allclose(made.score_path_, named.score_path_)
    with pytest.raises(ValueError, match="scoring"):
        cv(scoring="magic").fit(X, y)


def test_splitters() -> None:
    X, y = make_data(2, noise=3.0)
    groups = np.arange(40) % 5
    for splitter, arguments in (
        (KFold(3, shuffle=True, random_state=0), {}),
        (GroupKFold(5), {"groups": groups}),
        (ShuffleSplit(3, test_size=0.3, random_state=1), {}),
        (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), {}),
        (list(KFold(3).split(X)), {}),
    ):
        splits = splitter if isinstance(splitter, list) else list(splitter.split(X, y, arguments.get("groups")))
        model = cv(cv=splitter, ks=(1, 2), gammas=[0.2]).fit(X, y, **arguments)
        expected = errors(naive(X, y, splits, ks=(1, 2), gammas=(0.2,)), y, splits)
        np.testing.assert_allclose(model.mse_path_, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="groups"):
        cv(cv=GroupKFold(5)).fit(X, y)
    assert cv(cv=LeaveOneOut(), ks=(1, 2), gammas=0.2).fit(X, y).mse_path_.shape == (1, 2, 40)
    once = iter(KFold(3).split(X))
    assert cv(cv=once, ks=(1, 2), gammas=0.2).fit(X, y).mse_path_.shape == (1, 2, 3)


def test_sample_weights() -> None:
    X, y = make_data(2, noise=3.0)
    weight = np.random.default_rng(0).uniform(0.1, 3, 40)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    model = cv().fit(X, y, sample_weight=weight)
    expected = errors(naive(X, y, splits, weight), y, splits, weight)
    np.testing.assert_allclose(model.mse_path_, expected, rtol=1e-6)
    final = pf.SparseRegressor(k=model.k_, gamma=model.gamma_).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, final.coef_, rtol=1e-7)
    assert model.check(X, y, sample_weight=weight)
    # All folds count alike, as in LassoCV.
    mean = expected.mean(axis=2)
    assert model.best_index_ == np.unravel_index(np.argmin(mean), mean.shape)


def test_a_weight_of_two_is_the_row_twice_and_one_of_zero_no_row() -> None:
    X, y = make_data(2, noise=3.0)
    count = np.random.default_rng(1).integers(0, 4, 40)
    count[20:30] = 0  # a fold of nothing but rows that are left out
    fold = np.arange(40) // 10
    rows = np.repeat(np.arange(40), count)

    def splits(fold: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]

    weighted = cv(cv=splits(fold)).fit(X, y, sample_weight=count.astype(float))
    repeated = cv(cv=splits(fold[rows])).fit(X[rows], y[rows])
    assert weighted.best_index_ == repeated.best_index_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(weighted.mse_path_[:, :, [0, 1, 3]], repeated.mse_path_, rtol=1e-7)


def test_gammas() -> None:
    X, y = make_data(3)
    auto = cv(gammas="auto").fit(X, y)
    coarse = np.array([0.1, 1, 10, 100, np.inf]) / np.sqrt(40)
    assert len(auto.gammas_) == 7
    assert (np.diff(auto.gammas_) > 0).all()
    assert all(np.isclose(auto.gammas_, gamma).any() or np.isinf(gamma) for gamma in coarse)
    assert np.isinf(auto.gammas_[-1])
    # The finer ones are beside the best of the coarse ones.
    errors = auto.mse_path_.mean(axis=2).min(axis=1)
    known = [*coarse[:-1], auto.gammas_[-1]]
    fine = [g for g, gamma in enumerate(auto.gammas_) if not np.isclose(known, gamma).any()]
    rough = [g for g in range(7) if g not in fine]
    best = min(rough, key=lambda g: errors[g])
    assert min(abs(g - best) for g in fine) == 1
    assert cv(gammas=0.3).fit(X, y).mse_path_.shape == (1, 4, 4)
    assert list(cv(gammas=np.array([0.3, 0.1])).fit(X, y).gammas_) == [0.1, 0.3]
    for bad in (0.0, -1, [1.0, np.nan], [], "some", [0.1, "x"], None):
        with pytest.raises(ValueError, match="gamma"):
            cv(gammas=bad).fit(X, y)


def test_infinity_stands_for_gammas_that_cannot_be_told_from_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 4))
    y = X @ np.array([1.0, 0.5, 0.0, 0.0]) + rng.standard_normal(4000)
    unit = 1 / np.sqrt(4000)
    auto = pf.SparseRegressorCV().fit(X, y)
    # 100 unit n is 6300 on nearly uncorrelated columns, 10 unit n is 630.
    assert all(np.isclose(auto.gammas_, gamma).any() for gamma in (0.1 * unit, unit, 10 * unit))
    assert np.isinf(auto.gammas_[-1])
    finite = auto.gammas_[:-1]
    least = np.linalg.eigvalsh(np.corrcoef(X.T))[0] * 3200
    assert finite.max() * least < 1000 * 1.1
    # What was left out would have had the error of infinity, up to a hundredth of its standard error.
    both = pf.SparseRegressorCV(gammas=[100 * unit, np.inf]).fit(X, y)
    weak, none = both.mse_path_.mean(axis=2)
    assert (np.abs(weak - none) < 0.01 * both.mse_path_[1].std(axis=1, ddof=1) / np.sqrt(5)).all()
    # Columns that depend on each other are told apart by any ridge, and gammas that were given are all tried.
    same = np.column_stack([X, X[:, 0] + X[:, 1]])
    assert any(np.isclose(pf.SparseRegressorCV().fit(same, y).gammas_, 100 * unit))
    assert list(both.gammas_) == [100 * unit, np.inf]
    # Signs need a ridge: infinity is not tried, and stands for nothing.
    signed = pf.SparseRegressorCV(positive=True).fit(X, y)
    assert np.isclose(signed.gammas_, 100 * unit).any()


def test_order_of_gammas_does_not_matter() -> None:
    X, y = make_data(3, noise=3.0)
    up, down = cv().fit(X, y), cv(gammas=GAMMAS[::-1]).fit(X, y)
    assert (up.k_, up.gamma_) == (down.k_, down.gamma_)
    for g, gamma in enumerate(down.gammas_):
        np.testing.assert_allclose(down.mse_path_[g], up.mse_path_[list(up.gammas_).index(gamma)], rtol=1e-6)


def test_ks() -> None:
    X, y = make_data(3)
    assert list(cv(ks=range(1, 30)).fit(X, y).ks_) == list(range(1, 8))
    assert list(cv(ks=[3, 1, 3]).fit(X, y).ks_) == [1, 3]
    assert list(pf.SparseRegressorCV(gammas=0.2).fit(X, y).ks_) == list(range(1, 8))
    for bad in ([], [0], [2.5], [8], "a", None, 3):
        with pytest.raises(ValueError, match="ks"):
            cv(ks=bad).fit(X, y)


def test_forced_features() -> None:
    X, y = make_data(4, noise=3.0)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    model = cv(ks=(2, 3), force_in=[0], force_out=[1]).fit(X, y)
    expected = naive(X, y, splits, ks=(2, 3), force_in=(0,), force_out=(1,))
    np.testing.assert_allclose(model.mse_path_, errors(expected, y, splits), rtol=1e-6)
    assert 0 in model.support_
    assert 1 not in model.support_
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    named = cv(ks=(2, 3), force_in=["a"], force_out=["b"]).fit(frame, y)
    np.testing.assert_allclose(named.mse_path_, model.mse_path_)


def test_too_few_rows() -> None:
    X, y = make_data(4)
    with pytest.raises(ValueError, match=r"n_splits=4|rows|samples"):
        cv().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match=r"1"):
        cv(cv=1).fit(X, y)
    small = cv(cv=2, ks=(1,), gammas=1.0).fit(X[:4], y[:4])
    assert np.isfinite(small.mse_path_).all()
    with pytest.raises(ValueError, match=r"(?i)row|empty|train"):
        cv(cv=[(np.arange(0), np.arange(40))]).fit(X, y)


def test_a_column_that_is_constant_in_a_fold() -> None:
    X, y = make_data(4)
    X[:, 2] = 0.0
    X[:5, 2] = 1.0
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    np.testing.assert_allclose(cv().fit(X, y).mse_path_, errors(naive(X, y, splits), y, splits), rtol=1e-6)


def test_copies_and_params() -> None:
    X, y = make_data(6)
    model = cv(one_se=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.mse_path_, model.mse_path_)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "mse_path_")
    assert "SparseRegressorCV" in model._repr_html_()
    assert "SparseRegressorCV" in clone(model)._repr_html_()


def test_in_a_pipeline() -> None:
    X, y = make_data(6)
    pipe = make_pipeline(StandardScaler(), cv()).fit(X, y)
    assert pipe[-1].transform(X).shape == (40, pipe[-1].k_)
    assert pipe.score(X, y) > 0.5


def test_attributes_as_lasso_cv_has_them() -> None:
    X, y = make_data(6)
    model, lasso = cv().fit(X, y), LassoCV(cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert model.mse_path_.shape[-1] == lasso.mse_path_.shape[-1]
    for name in ("coef_", "intercept_", "n_features_in_"):
        assert np.shape(getattr(model, name)) == np.shape(getattr(lasso, name))
    assert isinstance(model.k_, int)
    assert isinstance(model.gamma_, float)
    assert isinstance(model.best_index_, tuple)


def test_ties_go_to_fewer_features() -> None:
    X, y = make_data(6)
    X[:, 1:] = 0.0
    assert cv(gammas=1.0).fit(X, y).k_ == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(bad: float) -> None:
    X, y = make_data(6)
    X[4, 2] = bad
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        cv().fit(X, y)
