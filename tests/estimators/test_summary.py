"""`summary()` against refits of every support with a feature left out or replaced."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from oracles.reference import make_data, reference


def worth(ref: Any, support: Any, gamma: float, penalty: float, out: Any = ()) -> dict[int, tuple[float, int, float]]:
    """For each feature: objective without it, best replacement, objective with that."""
    answer = {}
    for j in support:
        rest = [i for i in support if i != j]
        without = ref.fit(rest, gamma)[1] + penalty * len(rest)
        others = [i for i in range(ref.Z.shape[1]) if i not in support and i not in out]
        swaps = [(ref.fit([*rest, i], gamma)[1] + penalty * len(support), i) for i in others]
        value, i = min(swaps) if swaps else (np.nan, -1)
        answer[j] = (without, i, value)
    return answer


@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"standardize": False}, {"gamma": 1e3}, {"penalty": 1.5}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_against_refits(options: dict[str, Any], weighted: bool) -> None:
    X, y = make_data(1, noise=3.0)
    weight = np.linspace(0.5, 2, 40) if weighted else None
    est = pf.SparseRegressor(k=3, **options).fit(X, y, sample_weight=weight)
    shape = {name: options[name] for name in ("fit_intercept", "standardize") if name in options}
    ref = reference(X, y, weight, **shape)
    expected = worth(ref, list(est.support_), est.gamma_, options.get("penalty", 0.0))
    rows = est.summary().rows
    assert sorted(row.feature for row in rows) == sorted(f"x{j}" for j in est.support_)
    for row in rows:
        j = int(row.feature[1:])
        without, i, value = expected[j]
        assert row.coef == pytest.approx(est.coef_[j])
        assert row.standardized == pytest.approx(
            est.coef_[j] * (ref.scale[j] if options.get("standardize", True) else 1)
        )
        assert row.left_out == pytest.approx(without / est.objective_ - 1, rel=1e-6)
        assert row.replacement == f"x{i}"
        assert row.replaced == pytest.approx(value / est.objective_ - 1, rel=1e-5)
        assert row.replaced >= -1e-6


def test_features_forced_out_do_not_replace() -> None:
    X, y = make_data(1)
    est = pf.SparseRegressor(k=2, force_out=[1, 3]).fit(X, y)
    ref = reference(X, y)
    expected = worth(ref, list(est.support_), est.gamma_, 0.0, out=(1, 3))
    for row in est.summary().rows:
        assert row.replacement == f"x{expected[int(row.feature[1:])][1]}"


def test_nothing_left_to_replace_with() -> None:
    X, y = make_data(1, p=2)
    for row in pf.SparseRegressor(k=2).fit(X, y).summary().rows:
        assert row.replacement is None
        assert row.left_out is not None
    empty = pf.SparseRegressor(penalty=1e9).fit(X, y).summary()
    assert len(empty.rows) == 0
    assert str(empty)
    assert empty._repr_html_()
    assert len(empty.to_frame()) == 0  # type: ignore[arg-type]


def test_frame() -> None:
    X, y = make_data(1)
    summary = pf.SparseRegressor(k=3).fit(pd.DataFrame(X, columns=list("abcdefg")), y).summary()
    frame = summary.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 3
    text = frame.to_string()
    for row in summary.rows:
        assert row.feature in text
    assert any(np.allclose(frame[c], [row.coef for row in summary.rows]) for c in frame.select_dtypes("number"))
    assert any(np.allclose(frame[c], [row.left_out for row in summary.rows]) for c in frame.select_dtypes("number"))


def test_text() -> None:
    X, y = make_data(1)
    est = pf.SparseRegressor(k=3).fit(pd.DataFrame(X, columns=list("abcdefg")), y)
    text = str(est.summary())
    assert "status: optimal" in text
    for row in est.summary().rows:
        assert row.feature in text
        assert row.replacement in text
    assert max(len(line) for line in text.splitlines()) < 160
    assert str(pickle.loads(pickle.dumps(est.summary()))) == text


def test_html_is_escaped() -> None:
    X, y = make_data(1)
    names = [f"<u>{j}</u>&\"x'" for j in range(7)]
    est = pf.SparseRegressor(k=3).fit(pd.DataFrame(X, columns=names), y)
    for html in (est.summary()._repr_html_(), est._repr_html_()):
        assert "<u>" not in html
        assert "&lt;u&gt;" in html
    before = pf.SparseRegressor(force_in=["<b>bad"])._repr_html_()
    assert "<b>bad" not in before


def test_large_data_need_the_data_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsifal.estimators.base._SUMMARY_WORK", 1e5)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 400), dtype=np.float32)
    y = X[:, :2].sum(axis=1) + 0.1 * rng.standard_normal(600)
    est = pf.SparseRegressor(k=2).fit(X, y)
    full = est.summary(X, y)
    ref = reference(X[:, :60], y)
    expected = worth(ref, [0, 1], est.gamma_, 0.0)
    for row in full.rows:
        assert row.left_out == pytest.approx(expected[int(row.feature[1:])][0] / est.objective_ - 1, rel=1e-4)
        assert row.replacement is not None
    quick = est.summary()
    assert [row.coef for row in quick.rows] == [row.coef for row in full.rows]
    str(quick), quick._repr_html_(), quick.to_frame()


def test_summary_of_given_data_equals_that_of_the_fit() -> None:
    X, y = make_data(2)
    weight = np.linspace(0, 1, 40)
    est = pf.SparseRegressor(k=3).fit(X, y, sample_weight=weight)
    for a, b in zip(est.summary().rows, est.summary(X, y, weight).rows):
        assert a.feature == b.feature
        assert a.left_out == pytest.approx(b.left_out)
        assert a.replacement == b.replacement
        assert a.replaced == pytest.approx(b.replaced)
    with pytest.raises(ValueError, match="features"):
        est.summary(X[:, :3], y)
    with pytest.raises(ValueError, match="y"):
        est.summary(X)
    with pytest.raises(ValueError, match="pass the same: summary"):
        est.summary(X, y)
