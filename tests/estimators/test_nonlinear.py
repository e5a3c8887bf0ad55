"""Dictionaries of nonlinear features: names, rules, the lazy design, and scikit-learn's contract."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import parsifal as pf
from parsifal.design import standardized
from parsifal.errors import InputError, LiftingWarning, NonFiniteError
from parsifal.estimators.functions import PAPER, known_names, resolve
from parsifal.estimators.nonlinear import NonlinearFeatures

RNG = np.random.default_rng(0)


# Some of scikit-learn's data hold zeros, whose logarithm is clipped with a warning.
@pytest.mark.filterwarnings("ignore::parsifal.errors.LiftingWarning")
@parametrize_with_checks(
    [
        NonlinearFeatures(),
        NonlinearFeatures(products=True),
        NonlinearFeatures(["x", "exp(x)"], "all", invalid="drop", constant="keep"),
    ]
)
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_papers_eight_functions() -> None:
    X = RNG.standard_normal((30, 2))
    lift = NonlinearFeatures().fit(X)
    x = X[:, 1]
    expected = [x, np.sqrt(abs(x)), np.log(abs(x)), x**2, x**3, np.cos(10 * np.pi * x), np.sin(x), np.tanh(2 * x)]
    np.testing.assert_allclose(lift.transform(X)[:, 8:], np.column_stack(expected), rtol=1e-12, atol=1e-12)
    names = lift.get_feature_names_out().tolist()
    assert names[8:] == ["x1", "sqrt|x1|", "log|x1|", "x1^2", "x1^3", "cos(10 pi x1)", "sin(x1)", "tanh(2 x1)"]
    assert lift.n_features_out_ == 16
    assert lift.origin_.tolist() == [[j, -1] for j in (0, 1) for _ in PAPER]


def test_every_known_function_computes_what_its_name_says() -> None:
    x = np.array([[0.3, -1.7, 2.5]])
    space = {
        name: getattr(np, name)
        for name in ("sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "exp", "cbrt", "sign")
    }
    space |= {
        "log": np.log,
        "sqrt": np.sqrt,
        "pi": np.pi,
        "step": lambda x: np.where(x > 0, 1.0, 0.0),
        "relu": lambda x: np.where(x > 0, x, 0.0),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "A": np.abs(x),
        "x": x,
    }
    extra = ("x^4", "|x|^1.5", "x^-2", "cos(2 pi x)", "tanh(0.5 x)", "exp(-x)", "exp(-2 x)", "sin(pi x)", "sin(3x)")
    for name in (*known_names(), *extra):
        text = name.replace("|x|^", "A**").replace("(1 + |x|)", "(1 + A)").replace("|x|", "(A)").replace("^", "**")
        text = text.replace(" pi x", " *pi*x").replace("(*pi", "(pi").replace("(pi x", "(pi*x")
        for digit in "0123456789":
            text = text.replace(f"{digit} x", f"{digit}*x").replace(f"{digit}x", f"{digit}*x")
        text = text.replace("(-x)", "(-1*x)").replace("exp(-x**2)", "exp(-(x**2))")
        np.testing.assert_allclose(resolve(name)[0](x), eval(text, space), rtol=1e-13, err_msg=f"{name} -> {text}")


def test_names() -> None:
    def wave(x: np.ndarray) -> np.ndarray:
        return np.sin(x) ** 2

    frame = pd.DataFrame(RNG.standard_normal((20, 2)), columns=["age", "mean radius"])
    functions = [
        "x",
        "square",
        "log",
        "tanh(2 x)",
        np.arctan,
        wave,
        ("x^1.5", lambda x: np.abs(x) ** 1.5),
        ("soft", np.tanh),
    ]
    lift = NonlinearFeatures(functions, products=True).fit(frame)
    assert lift.get_feature_names_out().tolist() == [
        "age", "age^2", "log|age|", "tanh(2 age)", "arctan(age)", "wave(age)", "age^1.5", "soft(age)",
        "mean radius", "(mean radius)^2", "log|mean radius|", "tanh(2 (mean radius))", "arctan(mean radius)",
        "wave(mean radius)", "(mean radius)^1.5", "soft(mean radius)", "age*(mean radius)",
    ]  # fmt: skip
    assert lift.design(frame).feature_names == tuple(lift.get_feature_names_out())
    table = lift.set_output(transform="pandas").transform(frame)
    assert list(table.columns) == list(lift.get_feature_names_out())
    assert list(NonlinearFeatures("x^2").fit(pl.DataFrame({"a": [1.0, 2.0]})).get_feature_names_out()) == ["a^2"]
    polars = NonlinearFeatures("x^2").set_output(transform="polars").fit_transform(pl.DataFrame({"a": [1.0, 2.0]}))
    assert polars["a^2"].to_list() == [1.0, 4.0]
    spaced = NonlinearFeatures(["sin(3x)", "exp(-x)", "cos(pi x)"]).fit(frame[["age"]])
    assert spaced.get_feature_names_out().tolist() == ["sin(3 age)", "exp(-age)", "cos(pi age)"]
    mapping = NonlinearFeatures({"half x": lambda x: x / 2}).fit(frame)
    assert mapping.get_feature_names_out().tolist() == ["half age", "half (mean radius)"]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (["x", "nonsense"], "no function is named 'nonsense'; known are x, "),
        ([], "functions is empty"),
        (3, "functions must be names"),
        ([3], "functions holds 3"),
        ([lambda x: x], "without a name"),
        (["x", "linear"], "functions holds 'x' twice"),
        ([("total", lambda x: x.sum())], "must work entry by entry"),
    ],
)
def test_functions_that_are_none(functions: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        NonlinearFeatures(functions).fit(np.ones((3, 2)) + np.arange(3)[:, None])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"invalid": "ignore"}, "invalid must be one of 'clip', 'drop', 'error', not 'ignore'"),
        ({"constant": None}, "constant must be one of"),
        ({"products": "some"}, "products must be one of False, True, 'all'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NonlinearFeatures(**options).fit(np.eye(3))


def test_domain_rules() -> None:
    frame = pd.DataFrame({"a": [1.0, 0.0, 3.0, 9.0], "b": [1e80, 2.0, 3.0, -1e80]})
    place = r"log\|a\| is infinite or too large to square at row 1, where a = 0"
    with pytest.raises(InputError, match=place):
        NonlinearFeatures(invalid="error").fit(frame)
    with pytest.warns(LiftingWarning, match=place):
        drop = NonlinearFeatures(invalid="drop").fit(frame)
    reason = "infinite or too large to square"
    assert drop.dropped_ == {"log|a|": reason, "b^2": reason, "b^3": reason, "cos(10 pi a)": "constant"}
    assert "log|a|" not in drop.get_feature_names_out()
    with pytest.warns(LiftingWarning, match=r"and 2 features more"):
        clip = NonlinearFeatures(invalid="clip").fit(frame)
    assert clip.clipped_ == ["log|a|", "b^2", "b^3"]
    table = clip.set_output(transform="pandas").transform(frame)
    assert table["log|a|"].tolist() == [0.0, 0.0, np.log(3.0), np.log(9.0)]
    assert table["b^2"].tolist() == [9.0, 4.0, 9.0, 9.0]
    assert table["b^3"].tolist() == [27.0, 8.0, 27.0, 8.0]
    new = pd.DataFrame({"a": [0.5, 0.0], "b": [1.0, 1e90]})
    assert clip.transform(new)["log|a|"].tolist() == [np.log(0.5), 0.0]
    assert clip.transform(new)["b^3"].tolist() == [1.0, 27.0]
    lift = NonlinearFeatures(["x", "log|x|"], invalid="drop").fit(pd.DataFrame({"a": [2.0, 4.0], "b": [2.0, 5.0]}))
    with pytest.raises(NonFiniteError, match=r"log\|x\| has no usable value at X\[1, 0\] = 0"):
        lift.transform(new)


def test_undefined_values_are_never_clipped() -> None:
    X = np.array([[1.0], [-2.0], [3.0]])
    root = [("sqrt", np.sqrt), "x"]
    with pytest.raises(InputError, match=r"sqrt\(x0\) is undefined at row 1, where x0 = -2; .*use invalid='drop'"):
        NonlinearFeatures(root).fit(X)
    with pytest.warns(LiftingWarning, match="dropped"):
        lift = NonlinearFeatures(root, invalid="drop").fit(X)
    assert lift.dropped_ == {"sqrt(x0)": "undefined"}
    with pytest.raises(NonFiniteError, match=r"sqrt\(x\) has no usable value at X\[0, 0\] = -1"):
        NonlinearFeatures(root).fit(X[[0, 2]]).transform([[-1.0]])


def test_a_feature_without_any_usable_value_is_dropped() -> None:
    X = np.column_stack([np.zeros(4), np.arange(4.0) + 1.0])
    with pytest.warns(LiftingWarning):
        lift = NonlinearFeatures(["x", "1/x"], constant="keep").fit(X)
    assert lift.get_feature_names_out().tolist() == ["x0", "x1", "1/x1"]


def test_constant_features() -> None:
    X = np.column_stack([np.array([0.0, 1.0, 0.0, 1.0]), np.arange(4.0) + 1.0, np.full(4, 7.0)])
    lift = NonlinearFeatures(["x", "cos(10 pi x)", "step(x)"], products=True).fit(X)
    assert lift.get_feature_names_out().tolist() == ["x0", "step(x0)", "x1", "x0*x1"]
    assert set(lift.dropped_.values()) == {"constant"}
    assert set(lift.dropped_) == {"cos(10 pi x0)", "cos(10 pi x1)", "step(x1)", "x2", "cos(10 pi x2)", "step(x2)"}
    assert NonlinearFeatures(["x", "step(x)"], constant="keep").fit(X).n_features_out_ == 6
    with pytest.raises(InputError, match=r"no feature is left \(n_samples = 1\): all are constant"):
        NonlinearFeatures().fit(np.ones((1, 2)))


def test_products_of_columns_without_the_columns_themselves() -> None:
    X = RNG.standard_normal((10, 3))
    lift = NonlinearFeatures(["x^2"], products=True).fit(X)
    assert lift.get_feature_names_out().tolist() == ["x0^2", "x1^2", "x2^2", "x0*x1", "x0*x2", "x1*x2"]
    np.testing.assert_allclose(lift.transform(X)[:, 4], X[:, 0] * X[:, 2])
    assert lift.parents_.max() == -1


def test_products_that_overflow() -> None:
    X = np.array([[1e100, 1e100], [2.0, 3.0], [4.0, 5.0]])
    with pytest.raises(InputError, match=r"x0\*x1 is infinite or too large to square at row 0"):
        NonlinearFeatures(["x"], products=True, invalid="error").fit(X)
    with pytest.warns(LiftingWarning, match=r"x0\*x1"):
        lift = NonlinearFeatures(["x"], products=True).fit(X)
    assert lift.transform(X)[:, 2].tolist() == [20.0, 6.0, 20.0]
    with pytest.warns(LiftingWarning):
        other = NonlinearFeatures(["x"], products=True, invalid="drop").fit(X)
    assert other.get_feature_names_out().tolist() == ["x0", "x1"]
    other.fit(X[1:])
    with pytest.raises(NonFiniteError, match="product of x of column 0 and x of column 1"):
        other.transform(X)


def test_all_products_and_who_is_whose_parent() -> None:
    X = RNG.standard_normal((12, 2))
    lift = NonlinearFeatures(["x", "x^2"], products="all").fit(X)
    names = lift.get_feature_names_out().tolist()
    assert names == ["x0", "x0^2", "x1", "x1^2", "x0*x1", "x0*x1^2", "x0^2*x1", "x0^2*x1^2"]
    assert lift.parents_.tolist() == [[-1, -1], [0, -1], [-1, -1], [2, -1], [0, 2], [0, 3], [1, 2], [1, 3]]
    assert lift.origin_.tolist() == [[0, -1], [0, -1], [1, -1], [1, -1]] + [[0, 1]] * 4
    assert {j: group.tolist() for j, group in lift.groups_.items()} == {0: [0, 1, 4, 5, 6, 7], 1: [2, 3, 4, 5, 6, 7]}
    at_most = lift.at_most_per_variable(2)
    assert [(c.count, list(c.columns)) for c in at_most] == [(2, [0, 1, 4, 5, 6, 7]), (2, [2, 3, 4, 5, 6, 7])]
    pairs = [(names[c.column], names[c.needs]) for c in lift.only_with_parents()]
    assert ("x0*x1", "x0") in pairs
    assert ("x0^2*x1", "x0^2") in pairs
    assert len(pairs) == 10


def test_the_design_of_many_kinds_of_base() -> None:
    X = np.abs(RNG.standard_normal((40, 4))) + 0.1
    lift = NonlinearFeatures(products=True).fit(X)
    dense = lift.transform(X)
    for base in (X, np.asfortranarray(X), X.astype(np.float32), sp.csc_array(X), sp.csr_array(X), pf.as_design(X)):
        design = lift.design(base)
        rtol = 1e-4 if getattr(base, "dtype", float) == np.float32 else 1e-12
        np.testing.assert_allclose(design.columns(range(design.shape[1])), dense, rtol=rtol, atol=rtol)
    _, mean, scale = standardized(lift.design(X), with_mean=True, with_std=True)
    np.testing.assert_allclose(mean, dense.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(1 / scale, dense.std(axis=0), rtol=1e-10)
    y = RNG.standard_normal(40)
    lazy, held = pf.solve(lift.design(X), y, k=3, gamma=0.1), pf.solve(dense, y, k=3, gamma=0.1)
    assert lazy.support.tolist() == held.support.tolist()
    assert lazy.objective == pytest.approx(held.objective, rel=1e-12)
    assert lazy.selected == lift.get_feature_names_out()[held.support].tolist()
    assert pf.check(lazy.certificate, dense, y).valid


def test_fit_on_a_design_and_what_it_refuses() -> None:
    frame = pd.DataFrame(RNG.standard_normal((8, 2)), columns=["a", "b"])
    lift = NonlinearFeatures(["x", "x^2"])
    design = lift.fit_design(pf.as_design(frame))
    assert design.feature_names == ("a", "a^2", "b", "b^2")
    np.testing.assert_array_equal(lift.transform(pf.as_design(frame)), lift.transform(frame))
    with pytest.raises(InputError, match="X has 3 columns, but fit saw 2"):
        lift.design(np.ones((4, 3)))
    with pytest.raises(InputError, match="column 0 is 'b', but fit saw 'a' there"):
        lift.design(frame[["b", "a"]])
    holes = frame.to_numpy().copy()
    holes[3, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"X\[3, 1\] is nan"):
        NonlinearFeatures().fit_design(holes)
    with pytest.raises(NonFiniteError, match=r"X\[3, 1\] is nan"):
        lift.design(holes).scan(np.ones(8))
    with pytest.raises(NonFiniteError, match=r"X\[3, 1\] is nan"):
        lift.design(holes).rows(2, 5).columns([3])
    with pytest.raises(InputError, match="both named 'a\\^2'"):
        NonlinearFeatures(["x", "x^2"]).fit(
            frame.rename(columns={"b": "a^2"}).assign(**{"a^2": [1.0, 2.0] * 4})[["a", "a^2"]]
        )


def test_clone_pickle_pipeline_and_search() -> None:
    X = RNG.standard_normal((60, 3))
    y = 2 * X[:, 0] ** 2 + np.sin(X[:, 1])
    lift = NonlinearFeatures(["x", ("cap", np.tanh)], products=True)
    copy = pickle.loads(pickle.dumps(clone(lift).fit(X)))
    np.testing.assert_array_equal(copy.transform(X), lift.fit_transform(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(NonlinearFeatures().fit(X))).transform(X).shape, (60, 24))
    pipe = make_pipeline(NonlinearFeatures(), Ridge(1e-6))
    assert pipe.fit(X, y).score(X, y) > 0.999
    grid = GridSearchCV(pipe, {"nonlinearfeatures__functions": [["x"], ["x", "x^2", "sin(x)"]]}, cv=3).fit(X, y)
    assert grid.best_params_["nonlinearfeatures__functions"] == ["x", "x^2", "sin(x)"]


def test_formula() -> None:
    lift = NonlinearFeatures(["x", "x^2"]).fit(RNG.standard_normal((5, 2)))
    assert lift.formula([0, -2.0, 0.5, 3.14159265], 1.5) == "3.142*x1^2 - 2*x0^2 + 0.5*x1 + 1.5"
    assert lift.formula([0, -2.0, 0, 0], digits=2) == "-2*x0^2"
    assert lift.formula([0, 0, 0, 0]) == "0"
    with pytest.raises(InputError, match="coef has shape"):
        lift.formula([1.0])


def test_constraints_hold_in_the_answer() -> None:
    pytest.importorskip("pyscipopt")
    rng = np.random.default_rng(5)
    Z = rng.uniform(-1, 1, (60, 3))
    y = Z[:, 0] + Z[:, 0] ** 2 + Z[:, 0] ** 3 + 0.05 * rng.standard_normal(60)
    lift = NonlinearFeatures(["x", "x^2", "x^3"], products=True).fit(Z)
    X = lift.transform(Z)
    model = pf.SparseRegressor(k=3, gamma=10.0, method="cutting-plane")
    free = model.fit(X, y).support_
    assert free.tolist() == [0, 1, 2]

    def best(allowed: Callable[[frozenset[int]], bool]) -> tuple[int, ...]:
        plain = pf.k_best(*centred(X, y), k=3, gamma=10.0, count=200)
        return tuple(next(e.support.tolist() for e in plain if allowed(frozenset(e.support.tolist()))))

    one = model.set_params(constraints=lift.at_most_per_variable(1)).fit(X, y)
    assert one.status_ == "optimal"
    groups = [set(group.tolist()) for group in lift.groups_.values()]
    assert tuple(one.support_.tolist()) == best(lambda s: all(len(s & group) <= 1 for group in groups))
    family = model.set_params(constraints=lift.only_with_parents()).fit(X, y)
    needs = [(int(c), int(q)) for c, row in enumerate(lift.parents_) for q in row if q >= 0]
    assert tuple(family.support_.tolist()) == best(lambda s: all(q in s for c, q in needs if c in s))


def centred(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
