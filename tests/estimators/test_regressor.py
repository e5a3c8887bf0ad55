"""`SparseRegressor` against enumeration on data that were weighted, centred and scaled by plain NumPy."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge

import parsifal as pf
from oracles.reference import make_data, reference


def assert_optimal(
    est: Any, X: Any, y: Any, weight: Any = None, k: int = 3, penalty: float = 0.0, **forced: Any
) -> None:
    ref = reference(X, y, weight, fit_intercept=est.fit_intercept, standardize=est.standardize)
    gamma = ref.auto_gamma if est.gamma == "auto" else est.gamma
    support, value = ref.best(k, gamma, penalty, **forced)
    coef, intercept = ref.unscaled(support, gamma)
    assert est.status_ == "optimal"
    assert est.gamma_ == pytest.approx(gamma, rel=1e-10)
    assert tuple(est.support_) == support
    assert est.objective_ == pytest.approx(value, rel=1e-8)
    assert est.lower_bound_ <= value * (1 + 1e-9)
    assert est.gap_ <= est.rel_gap
    np.testing.assert_allclose(est.coef_, coef, rtol=1e-6, atol=1e-9)
    assert est.intercept_ == pytest.approx(intercept, rel=1e-6, abs=1e-8)
    np.testing.assert_allclose(est.predict(X), np.asarray(X, dtype=float) @ coef + intercept, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("gamma", ["auto", 0.3, 1e4])
def test_finds_the_optimum(seed: int, fit_intercept: bool, standardize: bool, gamma: Any) -> None:
    X, y = make_data(seed)
    est = pf.SparseRegressor(k=3, gamma=gamma, fit_intercept=fit_intercept, standardize=standardize).fit(X, y)
    assert_optimal(est, X, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_weights(seed: int, fit_intercept: bool, standardize: bool) -> None:
    X, y = make_data(seed)
    weight = np.random.default_rng(seed).uniform(0, 3, len(y))
    weight[::7] = 0
    options: dict[str, Any] = {"k": 3, "fit_intercept": fit_intercept, "standardize": standardize}
    assert_optimal(pf.SparseRegressor(**options).fit(X, y, sample_weight=weight), X, y, weight)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_whole_weights_are_repeated_rows(fit_intercept: bool, standardize: bool) -> None:
    X, y = make_data(5)
    weight = np.random.default_rng(5).integers(0, 4, len(y))
    est = pf.SparseRegressor(k=2, fit_intercept=fit_intercept, standardize=standardize)
    weighted = clone(est).fit(X, y, sample_weight=weight)
    repeated = clone(est).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-12)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_)
    assert weighted.gamma_ == pytest.approx(repeated.gamma_)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


def test_rows_of_weight_zero_do_not_count_whatever_their_values() -> None:
    X, y = make_data(2)
    far, beyond = np.vstack([X, 1e6 * np.ones((3, X.shape[1]))]), np.concatenate([y, [-1e7, 0, 1e7]])
    weight = np.concatenate([np.ones(len(y)), np.zeros(3)])
    plain, weighted = pf.SparseRegressor(k=3).fit(X, y), pf.SparseRegressor(k=3).fit(far, beyond, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-7)
    assert weighted.intercept_ == pytest.approx(plain.intercept_)


@pytest.mark.parametrize("penalty", [0.0, 0.5, 3.0, 30.0, 1e6])
@pytest.mark.parametrize("k", [None, 2])
def test_penalty(penalty: float, k: int | None) -> None:
    X, y = make_data(3)
    est = pf.SparseRegressor(k=k, penalty=penalty).fit(X, y)
    ref = reference(X, y)
    _, value = ref.best(k or X.shape[1], ref.auto_gamma, penalty)
    assert est.status_ == "optimal"
    assert est.objective_ == pytest.approx(value, rel=1e-8)
    assert est.check(X, y)
    if penalty == 1e6:
        assert len(est.support_) == 0
        np.testing.assert_allclose(est.predict(X), y.mean())


def test_default_k_is_ten_or_all() -> None:
    X, y = make_data(0, n=60, p=14)
    assert len(pf.SparseRegressor().fit(X, y).support_) == 10
    assert len(pf.SparseRegressor().fit(X[:, :4], y).support_) == 4


def test_all_features_is_ridge() -> None:
    X, y = make_data(1)
    est = pf.SparseRegressor(k=7, gamma=2.0, standardize=False).fit(X, y)
    ridge = Ridge(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(est.coef_, ridge.coef_, rtol=1e-7)
    assert est.intercept_ == pytest.approx(ridge.intercept_)


def test_forced_features() -> None:
    X, y = make_data(4)
    est = pf.SparseRegressor(k=3, force_in=[0], force_out=[1, 5]).fit(X, y)
    assert_optimal(est, X, y, force_in=(0,), force_out=(1, 5))
    mask = np.zeros(7, dtype=bool)
    mask[[1, 5]] = True
    np.testing.assert_array_equal(pf.SparseRegressor(k=3, force_in=[0], force_out=mask).fit(X, y).coef_, est.coef_)


@pytest.mark.parametrize(("force_in", "force_out"), [([0, 1, 2], None), ([0], [0]), ([9], None), (["a"], None)])
def test_forced_features_that_cannot_be(force_in: Any, force_out: Any) -> None:
    X, y = make_data(4)
    with pytest.raises(ValueError, match="force"):
        pf.SparseRegressor(k=2, force_in=force_in, force_out=force_out).fit(X, y)


def test_auto_gamma_is_scale_free() -> None:
    X, y = make_data(6, noise=3.0)
    est = pf.SparseRegressor(k=3).fit(X, y)
    factor, shift = np.array([1e-5, 1e4, 3.0, 1e-3, 7.0, 1e2, 0.1]), np.linspace(-1, 1, 7)
    other = pf.SparseRegressor(k=3).fit((X + shift) * factor, 1e3 * y - 77)
    np.testing.assert_array_equal(other.support_, est.support_)
    np.testing.assert_allclose(other.predict((X + shift) * factor), 1e3 * est.predict(X) - 77, rtol=1e-7)
    np.testing.assert_allclose(other.coef_ * factor, 1e3 * est.coef_, rtol=1e-7)
    assert est.gamma_ == pytest.approx((40 - 7) / 7)
    # The ridge at its weakest, on a lone feature: its coefficient over the least squares one.
    single = pf.SparseRegressor(k=1).fit(X[:, [1]], y)
    slope = np.cov(X[:, 1], y)[0, 1] / X[:, 1].var(ddof=1)
    assert single.coef_[0] / slope == pytest.approx(1 / (1 + 1 / (10 * len(y))))


def test_auto_gamma_without_standardisation_is_scale_free_in_common_units() -> None:
    X, y = make_data(6, noise=3.0)
    options: dict[str, Any] = {"k": 3, "standardize": False, "fit_intercept": False}
    est = pf.SparseRegressor(**options).fit(X, y)
    other = pf.SparseRegressor(**options).fit(1e4 * X, 1e-3 * y)
    np.testing.assert_allclose(other.predict(1e4 * X), 1e-3 * est.predict(X), rtol=1e-7)


def test_certificate_holds_and_notices_changes() -> None:
    X, y = make_data(7)
    weight = np.linspace(0.5, 2, len(y))
    est = pf.SparseRegressor(k=3).fit(X, y, sample_weight=weight)
    assert est.certificate_ is est.solution_.certificate
    assert est.check(X, y, sample_weight=weight)
    for bad in (est.check(X, y), est.check(X, y + 0.01 * X[:, 0], weight), est.check(X * X, y, weight)):
        assert not bad
        assert bad.reason
    assert "sample_weight" in est.check(X, y).reason
    altered = X.copy()
    altered[3, est.support_[0]] += 0.1
    assert not est.check(altered, y, weight)
    broken = copy.deepcopy(est)
    broken.certificate_.coef[0] *= 1.01
    assert not broken.check(X, y, weight)
    assert est.check(X, y, weight)


@pytest.mark.parametrize("seed", range(3))
def test_check_covers_every_form(seed: int) -> None:
    X, y = make_data(seed, noise=4.0)
    for options in (
        {"k": 2, "fit_intercept": False},
        {"k": 4, "standardize": False},
        {"penalty": 2.0},
        {"k": 3, "force_in": [6]},
        {"k": 3, "gamma": 1e3},
    ):
        est = pf.SparseRegressor(**options).fit(X, y)  # type: ignore[arg-type]
        result = est.check(X, y)
        assert result, result.reason


def hard(n: int = 40, p: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)), rng.standard_normal(n)


@pytest.mark.parametrize("limit", [{"node_limit": 2}, {"time_limit": 1e-6}])
def test_warns_with_the_gap_at_a_limit(limit: dict[str, Any]) -> None:
    X, y = hard()
    est = pf.SparseRegressor(k=8, gamma=1.0, **limit)
    with pytest.warns(ConvergenceWarning, match=r"gap") as caught:
        est.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert est.status_ == next(iter(limit))
    assert est.gap_ > est.rel_gap
    assert est.gap_ == pytest.approx((est.objective_ - est.lower_bound_) / est.objective_)
    assert len(est.support_) == 8
    assert est.predict(X).shape == y.shape
    assert "gap" in str(est.summary())


def test_warm_start_keeps_the_features_of_the_fit_before() -> None:
    X, y = hard()
    with pytest.warns(ConvergenceWarning):
        est = pf.SparseRegressor(k=8, gamma=1.0, node_limit=40, warm_start=True).fit(X, y)
    before = est.objective_
    est.set_params(node_limit=1)
    with pytest.warns(ConvergenceWarning):
        est.fit(X, y)
    assert est.objective_ <= before * (1 + 1e-12)
    # Fewer, more, and other features than before are no trouble.
    A, b = make_data(0)
    for k, columns in ((2, 7), (5, 7), (3, 4), (1, 1)):
        est.set_params(k=k, node_limit=None, gamma="auto").fit(A[:, :columns], b)
        assert_optimal(est, A[:, :columns], b, k=min(k, columns))
    est.set_params(k=3, force_out=[1]).fit(A, b)
    est.set_params(force_out=est.support_.copy()).fit(A, b)
    assert_optimal(est, A, b, force_out=tuple(est.force_out))


def test_n_jobs_and_repeatability() -> None:
    X, y = make_data(9, n=50, p=20, noise=3.0)
    one, again = (pf.SparseRegressor(k=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, again.coef_)
    assert one.lower_bound_ == again.lower_bound_
    for jobs in (1, 2, -1):
        np.testing.assert_allclose(pf.SparseRegressor(k=5, n_jobs=jobs).fit(X, y).coef_, one.coef_, rtol=1e-9)


def test_progress_is_handed_on() -> None:
    X, y = hard()
    history = pf.History()
    est = pf.SparseRegressor(k=5, gamma=1.0, progress=history).fit(X, y)
    assert len(history) >= 1
    assert all(isinstance(h, pf.Progress) for h in history)
    assert history[-1].objective == pytest.approx(est.objective_)
    assert history[-1].lower_bound == pytest.approx(est.lower_bound_)
    for before, after in pairwise(history):
        assert after.objective <= before.objective * (1 + 1e-12)
        assert after.lower_bound >= before.lower_bound - 1e-9 * abs(before.lower_bound)
        assert after.seconds >= before.seconds


def test_copies_of_all_kinds(tmp_path: Any) -> None:
    X, y = make_data(0)
    est = pf.SparseRegressor(k=3, gamma=0.7, force_in=[2]).fit(X, y)
    joblib.dump(est, tmp_path / "model.joblib")
    for other in (pickle.loads(pickle.dumps(est)), copy.deepcopy(est), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(other.predict(X), est.predict(X))
        assert other.check(X, y)
        assert str(other.summary()) == str(est.summary())
    fresh = clone(est)
    assert fresh.get_params() == est.get_params()
    assert not hasattr(fresh, "coef_")


def test_a_pickle_does_not_hold_the_data() -> None:
    X, y = make_data(0, n=20_000, p=30)
    assert len(pickle.dumps(pf.SparseRegressor(k=3).fit(X, y))) < 0.05 * X.nbytes


def test_attributes_have_plain_types() -> None:
    X, y = make_data(0)
    est = pf.SparseRegressor(k=3).fit(X, y)
    assert isinstance(est.intercept_, float)
    assert est.coef_.shape == (7,)
    assert est.coef_.dtype == np.float64
    assert est.support_.dtype.kind == "i"
    assert est.n_features_in_ == 7
    assert not hasattr(est, "feature_names_in_")
    assert repr(est) == "SparseRegressor(k=3)"


def test_refit_forgets_the_names_before() -> None:
    pd = pytest.importorskip("pandas")
    X, y = make_data(0)
    est = pf.SparseRegressor(k=2).fit(pd.DataFrame(X, columns=list("abcdefg")), y)
    est.fit(X, y)
    assert not hasattr(est, "feature_names_in_")
    assert est.get_feature_names_out()[0].startswith("x")


def test_unfitted() -> None:
    est = pf.SparseRegressor()
    X, y = make_data(0)
    for call in (
        lambda: est.predict(X),
        lambda: est.transform(X),
        est.get_support,
        est.summary,
        lambda: est.check(X, y),
    ):
        with pytest.raises(NotFittedError):
            call()
    for name in ("gap_", "status_", "certificate_", "objective_", "lower_bound_"):
        assert not hasattr(est, name)
    assert "SparseRegressor" in est._repr_html_()


def test_score_is_r2() -> None:
    X, y = make_data(0)
    est = pf.SparseRegressor(k=3).fit(X, y)
    residual = y - est.predict(X)
    assert est.score(X, y) == pytest.approx(1 - residual @ residual / ((y - y.mean()) ** 2).sum())
