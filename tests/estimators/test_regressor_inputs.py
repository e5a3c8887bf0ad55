"""What `SparseRegressor` takes: arrays, frames, sparse matrices, awkward data; clear errors for the rest."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import parsifal as pf
from oracles.reference import make_data, reference

NAMES = list("abcdefg")


def fit(X: Any, y: Any, **options: Any) -> pf.SparseRegressor:
    return pf.SparseRegressor(**{"k": 3, **options}).fit(X, y)


def same(a: pf.SparseRegressor, b: pf.SparseRegressor, rtol: float = 1e-9) -> None:
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol)
    assert a.intercept_ == pytest.approx(b.intercept_, rel=rtol, abs=1e-9)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array])
def test_sparse_is_dense(form: Any, fit_intercept: bool, standardize: bool) -> None:
    X, y = make_data(0)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "standardize": standardize}
    dense, sparse = fit(X, y, **options), fit(form(X), y, **options)
    same(sparse, dense)
    np.testing.assert_allclose(sparse.predict(form(X)), dense.predict(X))
    weight = np.linspace(0, 2, len(y))
    weighted = pf.SparseRegressor(k=3, **options)
    same(
        weighted.fit(form(X), y, sample_weight=weight),
        pf.SparseRegressor(k=3, **options).fit(X, y, sample_weight=weight),
    )
    assert weighted.check(form(X), y, sample_weight=weight)
    chosen = sparse.transform(form(X))
    np.testing.assert_array_equal(chosen.toarray() if sp.issparse(chosen) else chosen, X[:, dense.support_])


def test_layouts_and_dtypes() -> None:
    X, y = make_data(1)
    dense = fit(X, y)
    wide = np.zeros((80, 14))
    wide[::2, ::2] = X
    locked = X.copy()
    locked.setflags(write=False)
    y_locked = y.copy()
    y_locked.setflags(write=False)
    backwards = X[::-1][::-1]
    for other in (
        np.asfortranarray(X),
        wide[::2, ::2],
        locked,
        backwards,
        X.tolist(),
        X.astype(object),
    ):
        same(fit(other, y_locked), dense)
    same(fit(X.astype(np.float32), y), fit(X.astype(np.float32).astype(float), y), rtol=1e-6)
    whole = np.round(10 * X)
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        same(fit(whole.clip(-127, 127).astype(dtype), y), fit(whole.clip(-127, 127), y))
    same(fit(X > 0, y), fit((X > 0).astype(float), y))
    same(fit(X, np.round(y).astype(int)), fit(X, np.round(y)))
    same(fit(X, y.astype(np.float32)), fit(X, y.astype(np.float32).astype(float)))


def test_data_are_left_alone() -> None:
    X, y = make_data(1)
    before, y_before = X.copy(), y.copy()
    est = fit(X, y)
    est.predict(X), est.transform(X), est.summary(X, y), est.check(X, y)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, y_before)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(make: Any) -> None:
    X, y = make_data(2)
    data = {name: X[:, j] for j, name in enumerate(NAMES)}
    dense, framed = fit(X, y), fit(make(data), y)
    same(framed, dense)
    assert list(framed.feature_names_in_) == NAMES
    assert list(framed.get_feature_names_out()) == [NAMES[j] for j in dense.support_]
    np.testing.assert_allclose(framed.predict(make(data)), dense.predict(X))
    assert framed.check(make(data), y)
    assert [row.feature for row in framed.summary().rows]
    assert {row.feature for row in framed.summary().rows} == {NAMES[j] for j in dense.support_}
    forced = pf.SparseRegressor(k=3, force_in=["a"], force_out=["b", "d"]).fit(make(data), y)
    same(forced, fit(X, y, force_in=[0], force_out=[1, 3]))
    with pytest.raises(ValueError, match="feature names"):
        framed.predict(make({name: data[name] for name in reversed(NAMES)}))
    with pytest.raises(ValueError, match="feature names"):
        framed.predict(make({name.upper(): v for name, v in data.items()}))
    with pytest.raises(ValueError, match="missing: - g"):
        framed.predict(make({name: data[name] for name in NAMES[:-1]}))
    with pytest.warns(UserWarning, match="feature names"):
        framed.predict(X)
    with pytest.warns(UserWarning, match="feature names"):
        dense.predict(make(data))
    with pytest.raises(ValueError, match="nosuch"):
        pf.SparseRegressor(k=2, force_in=["nosuch"]).fit(make(data), y)


def test_y_as_a_series_with_another_index() -> None:
    X, y = make_data(2)
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(100, 140))
    dense = fit(X, y)
    same(fit(frame, pd.Series(y, index=np.arange(40)[::-1])), dense)
    same(fit(pl.DataFrame(X, schema=NAMES), pl.Series(y)), dense)
    weight = np.linspace(1, 2, 40)
    same(
        pf.SparseRegressor(k=3).fit(frame, y, sample_weight=pd.Series(weight, index=frame.index)),
        pf.SparseRegressor(k=3).fit(X, y, sample_weight=weight),
    )


def test_frames_of_mixed_types() -> None:
    X, y = make_data(3)
    plain = np.column_stack([X[:, 0] > 0, np.round(X[:, 1]), X[:, 2:]]).astype(float)
    mixed = pd.DataFrame(
        {
            "flag": pd.array(X[:, 0] > 0, dtype="boolean"),
            "count": pd.array(np.round(X[:, 1]).astype(int), dtype="Int64"),
            "narrow": X[:, 2].astype(np.float32),
            "nullable": pd.array(X[:, 3], dtype="Float64"),
            "e": X[:, 4],
            "f": X[:, 5],
            "g": X[:, 6],
        }
    )
    plain[:, 2] = plain[:, 2].astype(np.float32)
    same(fit(mixed, y), fit(plain, y), rtol=1e-6)
    np.testing.assert_allclose(fit(mixed, y).predict(mixed), fit(plain, y).predict(plain), rtol=1e-6)
    same(fit(pl.from_pandas(mixed), y), fit(plain, y), rtol=1e-6)
    mixed.loc[4, "nullable"] = pd.NA
    with pytest.raises(ValueError, match=r"nullable|NaN|missing"):
        fit(mixed, y)


def test_columns_of_strings_are_refused_by_name() -> None:
    X, y = make_data(3)
    for frame in (
        pd.DataFrame(X, columns=NAMES).assign(colour="red"),
        pl.DataFrame(X, schema=NAMES).with_columns(colour=pl.lit("red")),
    ):
        with pytest.raises(ValueError, match="colour"):
            fit(frame, y)
    with pytest.raises(ValueError, match="encode it as numbers first"):
        fit(np.full((40, 2), "red"), y)


def test_duplicate_feature_names_are_refused() -> None:
    X, y = make_data(3)
    with pytest.raises(ValueError, match="columns 1 and 2 are both named 'b'; rename one of them"):
        fit(pd.DataFrame(X, columns=list("abbcdef")), y)


def test_number_names_are_no_names() -> None:
    X, y = make_data(3)
    est = fit(pd.DataFrame(X), y)
    assert not hasattr(est, "feature_names_in_")
    same(est, fit(X, y))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_with_its_place(bad: float) -> None:
    X, y = make_data(4)
    X[17, 5] = bad
    what = "NaN" if np.isnan(bad) else "inf"
    for matrix in (X, np.asfortranarray(X), sp.csr_matrix(X), sp.csc_matrix(X)):
        with pytest.raises(ValueError, match=rf"(?i){what}"):
            fit(matrix, y)
    for frame in (pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)):
        with pytest.raises(ValueError, match=r"(?s)(?=.*17)(?=.*(\bf\b|\b5\b))"):
            fit(frame, y)
    with pytest.raises(ValueError, match=r"(?s)(?=.*17)(?=.*\b5\b)"):
        fit(X, y)
    good, _ = make_data(4)
    for place in (0, 39):
        b = y.copy()
        b[place] = bad
        with pytest.raises(ValueError, match=rf"(?i){what}"):
            fit(good, b)


def test_predict_refuses_values_that_are_not_finite() -> None:
    X, y = make_data(4)
    est = fit(X, y)
    X[3, est.support_[0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        est.predict(X)

    frame = pd.DataFrame(X, columns=NAMES)
    named = fit(pd.DataFrame(make_data(4)[0], columns=NAMES), y)
    with pytest.raises(ValueError, match=r"row 3\b.*NaN"):
        named.predict(frame)
    # Of a frame only the chosen columns are read.
    frame = pd.DataFrame(make_data(4)[0], columns=NAMES)
    expected = named.predict(frame)
    frame.iloc[3, np.flatnonzero(~named.get_support())[0]] = np.nan
    np.testing.assert_array_equal(named.predict(frame), expected)


def test_masks_are_refused_not_dropped() -> None:
    X, y = make_data(4)
    with pytest.raises(ValueError, match="masked"):
        fit(np.ma.masked_array(X, mask=X > 2), y)


def test_designs_keep_their_names() -> None:
    X, y = make_data(4)
    frame = pd.DataFrame(X, columns=NAMES)
    est = fit(pf.as_design(frame), y)
    same(est, fit(X, y))
    assert list(est.feature_names_in_) == NAMES
    np.testing.assert_allclose(est.predict(pf.as_design(frame)), est.predict(frame))
    for other in (frame[NAMES[::-1]], frame[NAMES[:5]]):
        with pytest.raises(ValueError, match="feature names"):
            est.predict(pf.as_design(other))
    with pytest.raises(ValueError, match="features"):
        fit(X, y).predict(pf.as_design(frame[NAMES[:5]]))
    same(fit(pf.as_design(X), y), fit(X, y))


def test_selector() -> None:
    X, y = make_data(5)
    frame = pd.DataFrame(X, columns=NAMES)
    est = fit(frame, y)
    assert est.get_support().sum() == 3
    np.testing.assert_array_equal(est.get_support(indices=True), est.support_)
    np.testing.assert_array_equal(np.asarray(est.transform(frame)), X[:, est.support_])
    back = est.inverse_transform(np.asarray(est.transform(frame)))
    np.testing.assert_array_equal(back[:, est.support_], X[:, est.support_])
    assert not back[:, ~est.get_support()].any()
    out = est.set_output(transform="pandas").transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(est.get_feature_names_out())
    assert isinstance(est.set_output(transform="polars").transform(frame), pl.DataFrame)
    est.set_output(transform="default")
    np.testing.assert_array_equal(pf.SparseRegressor(k=3).fit_transform(X, y), X[:, est.support_])
    with pytest.raises(ValueError, match="missing:\n- d"):
        est.transform(frame[NAMES[:3]])
    assert SelectFromModel(pf.SparseRegressor(k=3)).fit(X, y).get_support().sum() <= 3


def test_pipelines() -> None:
    X, y = make_data(5)
    model = make_pipeline(StandardScaler(), pf.SparseRegressor(k=3)).fit(X, y)
    np.testing.assert_allclose(model.predict(X), fit(X, y).predict(X))
    selecting = make_pipeline(StandardScaler(), pf.SparseRegressor(k=2), LinearRegression()).fit(X, y)
    chosen = fit(X, y, k=2).support_
    np.testing.assert_allclose(selecting.predict(X), LinearRegression().fit(X[:, chosen], y).predict(X[:, chosen]))
    framed = selecting[:2].set_output(transform="pandas").fit(pd.DataFrame(X, columns=NAMES), y)
    assert list(framed.get_feature_names_out()) == [NAMES[j] for j in chosen]


def test_grid_search() -> None:
    X, y = make_data(5)
    grid = GridSearchCV(pf.SparseRegressor(), {"k": [1, 2, 3], "gamma": [0.01, 1.0, "auto"]}, cv=3).fit(X, y)
    best = grid.best_params_
    direct = cross_val_score(pf.SparseRegressor(**best), X, y, cv=3).mean()
    assert grid.best_score_ == pytest.approx(direct)
    assert not np.isnan(grid.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_x_is_not_copied(order: Any, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    n, p = 4000, 7000
    X = np.asarray(rng.standard_normal((n, p), dtype=np.float32), order=order)
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(n)
    weight = rng.random(n) if weighted else None
    tracemalloc.start()
    try:
        est = pf.SparseRegressor(k=3).fit(X, y, sample_weight=weight)
        assert tracemalloc.get_traced_memory()[1] < 0.1 * X.nbytes
        tracemalloc.reset_peak()
        est.predict(X)
        assert tracemalloc.get_traced_memory()[1] < 0.1 * X.nbytes
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(est.support_, [0, 1, 2])


def test_x_is_not_copied_by_compiled_code_either() -> None:
    script = """
import resource, numpy as np, parsifal as pf
rng = np.random.default_rng(0)
warm = rng.standard_normal((50, 60))
pf.SparseRegressor(k=3).fit(warm, warm[:, 0])
X = rng.standard_normal((4000, 4000))
y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(4000)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
est = pf.SparseRegressor(k=3).fit(X, y)
assert list(est.support_) == [0, 1, 2]
print((peak() - before) / X.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 0.1


def test_a_column_far_from_zero() -> None:
    X, y = make_data(6, n=80)
    noise = np.random.default_rng(1).standard_normal(80)
    for size in (1e6, 1e8):
        far = X.copy()
        far[:, 2] = size + noise
        target = y + 3 * (far[:, 2] - size)
        est = fit(far, target, k=4)
        near = far.copy()
        near[:, 2] -= size
        expected = fit(near, target, k=4)
        np.testing.assert_array_equal(est.support_, expected.support_)
        assert 2 in est.support_
        np.testing.assert_allclose(est.coef_, expected.coef_, rtol=1e-6)
        np.testing.assert_allclose(est.predict(far), expected.predict(near), atol=1e-5)
        assert est.check(far, target)


def test_constant_columns_and_duplicates() -> None:
    X, y = make_data(7)
    value = fit(X, y, gamma=0.1).objective_
    flat = np.column_stack([np.full(40, 3.3), X, np.zeros(40), np.full(40, 1e9 + 0.1)])
    est = fit(flat, y, gamma=0.1)
    np.testing.assert_array_equal(est.support_, fit(X, y, gamma=0.1).support_ + 1)
    assert np.isfinite(est.coef_).all()
    assert est.objective_ == pytest.approx(value)
    twice = fit(np.hstack([X, X, -2 * X]), y, gamma=0.1)
    assert twice.status_ == "optimal"
    assert twice.check(np.hstack([X, X, -2 * X]), y)
    assert twice.objective_ <= value * (1 + 1e-9)
    only = fit(np.full((40, 2), 7.0), y, k=2)
    np.testing.assert_allclose(only.predict(np.full((2, 2), 7.0)), y.mean())
    assert np.isfinite(only.coef_).all()


def test_constant_response() -> None:
    X, _ = make_data(7)
    for value in (0.0, 4.0, 1e9 + 0.3):
        est = fit(X, np.full(40, value))
        assert est.status_ == "optimal"
        np.testing.assert_allclose(est.predict(X), value, rtol=1e-12)
        np.testing.assert_allclose(est.coef_, 0, atol=1e-9 * max(value, 1))
        str(est.summary()), est._repr_html_()


def test_small_shapes() -> None:
    X, y = make_data(8)
    for n, p in ((2, 1), (2, 7), (3, 1), (40, 1), (5, 7)):
        est = fit(X[:n, :p], y[:n], k=1)
        ref = reference(X[:n, :p], y[:n])
        support, value = ref.best(1, ref.auto_gamma)
        assert est.objective_ == pytest.approx(value, rel=1e-7)
        assert tuple(est.support_) == support
        str(est.summary())


def test_whole_numbers_of_other_types_are_a_k() -> None:
    X, y = make_data(0)
    same(fit(X, y, k=np.int64(2), gamma=np.float32(0.5)), fit(X, y, k=2, gamma=0.5))
