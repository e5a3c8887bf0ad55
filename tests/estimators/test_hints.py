"""Names from elsewhere, tables of other libraries, and other small things that a first user tries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import parsifal as pf
from oracles.reference import make_data

X, Y = make_data(0)
FRAME = pd.DataFrame(X, columns=["Years", *"bcdefg"])


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("alpha", "the ridge is 1/gamma"),
        ("lambda_", "the ridge is 1/gamma"),
        ("n_nonzero_coefs", "the number of features is k"),
        ("gama", "did you mean 'gamma"),
        ("zzzzz", r"has no parameter 'zzzzz'$"),
    ],
)
@pytest.mark.parametrize("kind", [pf.SparseRegressor, pf.SparseRegressorCV])
def test_parameters_of_other_libraries(kind: type, given: str, hint: str) -> None:
    with pytest.raises(TypeError, match=hint) as raised:
        kind(**{given: 1})
    assert isinstance(raised.value, pf.InputError)


def test_a_subclass_has_parameters_of_its_own() -> None:
    class Own(pf.SparseRegressor):
        def __init__(self, extra: int = 1, k: int | None = None) -> None:
            super().__init__(k)
            self.extra = extra

    assert clone(Own(extra=3, k=2)).extra == 3


def test_one_name_is_a_name() -> None:
    model = pf.SparseRegressor(k=2, force_in="Years").fit(FRAME, Y)
    assert "Years" in model.get_feature_names_out()
    assert "Years" in pf.solve(FRAME, Y, k=2, force_in="Years", fit_intercept=True).selected
    with pytest.raises(pf.InputError, match="'years', which is not a column of X; did you mean 'Years'"):
        pf.SparseRegressor(k=2, force_in="years").fit(FRAME, Y)


@pytest.mark.parametrize("make", [pa.Table.from_pandas, pa.RecordBatch.from_pandas])
def test_arrow_tables_have_names(make: object) -> None:
    table = make(FRAME)  # type: ignore[operator]
    model, expected = pf.SparseRegressor(k=2).fit(table, Y), pf.SparseRegressor(k=2).fit(FRAME, Y)
    assert list(model.get_feature_names_out()) == list(expected.get_feature_names_out())
    np.testing.assert_allclose(model.predict(table), expected.predict(FRAME))
    assert pf.solve(table, Y, k=2, fit_intercept=True).selected == pf.solve(FRAME, Y, k=2, fit_intercept=True).selected
    cv = pf.SparseRegressorCV(ks=(1, 2), gammas=1.0).fit(table, Y)
    assert list(cv.feature_names_in_) == list(FRAME.columns)


def test_arrow_columns_of_every_kind() -> None:
    table = pa.table(
        {
            "float": pa.chunked_array([X[:20, 0], X[20:, 0]]),
            "whole": pa.array(np.arange(40), pa.int16()),
            "truth": pa.array(np.arange(40) % 2 == 0),
            "decimal": pa.array(np.round(X[:, 1], 2)).cast(pa.decimal128(10, 2)),
        }
    )
    expected = np.column_stack([X[:, 0], np.arange(40), np.arange(40) % 2 == 0, np.round(X[:, 1], 2)])
    np.testing.assert_allclose(pf.as_design(table).columns(range(4)), expected)
    with pytest.raises(pf.InputError, match="column 'text' has dtype string"):
        pf.as_design(table.append_column("text", pa.array(["a"] * 40)))
    with pytest.raises(pf.NonFiniteError, match=r"X\[3, 4\] \(column 'gap'\) is NaN"):
        pf.solve(table.append_column("gap", pa.array([*range(3), None, *range(36)])), Y, k=1, fit_intercept=False)


def test_lazy_frames() -> None:
    for model in (pf.SparseRegressor(k=2), pf.SparseRegressorCV(ks=(1, 2))):
        with pytest.raises(pf.InputError, match=r"pass X.collect\(\)"):
            model.fit(pl.DataFrame(X).lazy(), Y)


def test_mixed_column_names() -> None:
    frame = FRAME.rename(columns={"b": 3})
    with pytest.raises(pf.InputError, match=r"types int, str; .*X.columns.astype\(str\)"):
        pf.SparseRegressor(k=2).fit(frame, Y)


def test_strings_in_y() -> None:
    with pytest.raises(pf.InputError, match="numbers are needed"):
        pf.SparseRegressor(k=2).fit(X, [str(value) for value in Y.tolist()])
    with pytest.raises(pf.InputError, match="is the string"):
        pf.SparseRegressor(k=2).fit(X, pd.Series([str(value) for value in Y], dtype=object))


def test_an_edge_of_the_gammas_is_told() -> None:
    with pytest.warns(UserWarning, match="the smallest of the gammas, 100, is the best") as caught:
        pf.SparseRegressorCV(ks=(1,), gammas=(100.0, 1e3, 1e4)).fit(X, np.random.default_rng(0).standard_normal(40))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("kind", [pf.SparseRegressor, pf.SparseRegressorCV])
def test_a_lazy_target_has_to_be_collected(kind: type) -> None:
    lazy = pl.DataFrame({"y": Y}).lazy()
    for call in (lambda: kind().fit(X, lazy), lambda: pf.solve(X, lazy, k=2)):
        with pytest.raises(pf.InputError, match=r"y is a polars LazyFrame; pass y\.collect\(\)"):
            call()


@pytest.mark.parametrize("column", [Y[:, None], pd.DataFrame({"y": Y})])
def test_a_target_of_one_column_is_taken_with_a_word_at_the_users_line(column: object) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y was passed") as told:
        model = pf.SparseRegressor(k=2).fit(X, column)
    assert told[0].filename == __file__
    assert np.array_equal(model.coef_, pf.SparseRegressor(k=2).fit(X, Y).coef_)


def test_the_summary_says_which_coefficients_a_refit_predicts_with() -> None:
    told = "coef_, intercept_ and predictions are those of least squares"
    assert told in str(pf.SparseRegressor(k=2, refit="ols").fit(X, Y).summary())
    assert told not in str(pf.SparseRegressor(k=2).fit(X, Y).summary())
