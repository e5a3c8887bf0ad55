"""Every public call with arguments that work; a row of a table changes one or two of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

import parsifal as pf

_RNG = np.random.default_rng(0)
X, Y = _RNG.standard_normal((12, 4)), _RNG.standard_normal(12)
FRAME = pd.DataFrame(X, columns=list("abcd"))
POSITIVE = np.abs(X) + 0.5


def changed(array: np.ndarray, place: Any, value: float) -> np.ndarray:
    """The array with another entry."""
    out = array.copy()
    out[place] = value
    return out


@cache
def model() -> pf.SparseRegressor:
    return pf.SparseRegressor(k=2).fit(X, Y)


@cache
def cv_model() -> pf.SparseRegressorCV:
    return pf.SparseRegressorCV(ks=(1, 2), cv=3, gammas=(0.1, 1.0)).fit(X, Y)


@cache
def kernel_model() -> pf.SparseKernelRegressor:
    return pf.SparseKernelRegressor(["linear", "rbf"], k=1, gamma=1.0).fit(X, Y)


@cache
def features() -> pf.NonlinearFeatures:
    return pf.NonlinearFeatures(products=True).fit(POSITIVE)


MIXED = pd.DataFrame({"a": [1.0, 2.0, 4.0, 3.0, 5.0, 7.0], "g": ["u", "v", "u", "v", "u", "v"]})


@cache
def encoder() -> pf.TableEncoder:
    return pf.TableEncoder().fit(MIXED)


@cache
def solved() -> pf.Solution:
    return pf.solve(X, Y, k=2, gamma=1.0)


@cache
def groups_solved() -> pf.KernelSolution:
    return pf.solve_groups(X, Y, GROUPS, k=1, gamma=1.0)


@cache
def kernels_solved() -> pf.KernelSolution:
    return pf.solve_kernels(KERNELS, Y, k=1, gamma=1.0)


@cache
def swept() -> pf.Path:
    return pf.path(X, Y, ks=(1, 2), gamma=1.0)


@cache
def ranked() -> pf.Ranking:
    return pf.k_best(X, Y, k=2, gamma=1.0, count=2)


def _fitted(make: Callable[..., Any]) -> Callable[..., Any]:
    """What a constructor is given is looked at by fit."""
    return lambda **options: make(**options).fit(X, Y)


def _featured(**options: Any) -> Any:
    return pf.NonlinearFeatures(**options).fit(POSITIVE)


def _encoded(**options: Any) -> Any:
    return pf.TableEncoder(**options).fit(MIXED)


# Calls, and for each parameter the messages by argument.
Table = list[tuple[list[str], dict[str, dict[str, str]]]]

GROUPS = [[0, 1], [2, 3]]
KERNELS = [X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T]
PROBLEM: dict[str, Any] = {"X": X, "y": Y, "k": 2, "gamma": 1.0}
CUTS = {**PROBLEM, "method": "cutting-plane", "backend": "highs"}

# Name: the public callable, how it is called, and arguments that work. Names that are equal up to the first blank are
# about the same callable, with other arguments.
CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "solve": (pf.solve, pf.solve, PROBLEM),
    "solve by cutting planes": (pf.solve, pf.solve, CUTS),
    "solve by big-M": (pf.solve, pf.solve, {**CUTS, "method": "big-m"}),
    "relax": (pf.relax, pf.relax, PROBLEM),
    "loss": (pf.loss, pf.loss, {"X": X, "y": Y, "support": [0], "gamma": 1.0}),
    "path": (pf.path, pf.path, {"X": X, "y": Y, "ks": (1, 2), "gamma": 1.0}),
    "k_best": (pf.k_best, pf.k_best, {**PROBLEM, "count": 2}),
    "solve_kernels": (pf.solve_kernels, pf.solve_kernels, {"kernels": KERNELS, "y": Y, "k": 1, "gamma": 1.0}),
    "solve_groups": (pf.solve_groups, pf.solve_groups, {"X": X, "y": Y, "groups": GROUPS, "k": 1, "gamma": 1.0}),
    "as_design": (pf.as_design, pf.as_design, {"X": X}),
    "open_design": (pf.open_design, pf.open_design, {"path": "X.npy"}),
    "check": (pf.check, lambda **kw: pf.check(**{"certificate": solved().certificate, **kw}), {"X": X, "y": Y}),
    "SparseRegressor": (pf.SparseRegressor, _fitted(pf.SparseRegressor), {"k": 2}),
    "SparseRegressor.fit": (
        pf.SparseRegressor.fit,
        lambda **kw: pf.SparseRegressor(k=2).fit(**kw),
        {"X": X, "y": Y},
    ),
    "SparseRegressor.predict": (pf.SparseRegressor.predict, lambda **kw: model().predict(**kw), {"X": X}),
    "SparseRegressor.check": (pf.SparseRegressor.check, lambda **kw: model().check(**kw), {"X": X, "y": Y}),
    "SparseRegressor.summary": (pf.SparseRegressor.summary, lambda **kw: model().summary(**kw), {"X": X, "y": Y}),
    "SparseRegressorCV": (
        pf.SparseRegressorCV,
        _fitted(pf.SparseRegressorCV),
        {"ks": (1, 2), "gammas": (0.1, 1.0), "cv": 3},
    ),
    "SparseRegressorCV.fit": (
        pf.SparseRegressorCV.fit,
        lambda **kw: pf.SparseRegressorCV(ks=(1, 2), cv=3).fit(**kw),
        {"X": X, "y": Y},
    ),
    "SparseKernelRegressor": (
        pf.SparseKernelRegressor,
        _fitted(pf.SparseKernelRegressor),
        {"kernels": ["linear", "rbf"], "k": 1, "gamma": 1.0},
    ),
    "SparseKernelRegressor.fit": (
        pf.SparseKernelRegressor.fit,
        lambda **kw: pf.SparseKernelRegressor(["linear", "rbf"], k=1, gamma=1.0).fit(**kw),
        {"X": X, "y": Y},
    ),
    "SparseKernelRegressor.predict": (
        pf.SparseKernelRegressor.predict,
        lambda **kw: kernel_model().predict(**kw),
        {"X": X},
    ),
    "SparseKernelRegressor.check": (
        pf.SparseKernelRegressor.check,
        lambda **kw: kernel_model().check(**kw),
        {"X": X, "y": Y},
    ),
    "TableEncoder": (pf.TableEncoder, _encoded, {}),
    "TableEncoder.fit": (pf.TableEncoder.fit, lambda **kw: pf.TableEncoder().fit(**kw), {"X": MIXED}),
    "TableEncoder.transform": (pf.TableEncoder.transform, lambda **kw: encoder().transform(**kw), {"X": MIXED}),
    "NonlinearFeatures": (pf.NonlinearFeatures, _featured, {}),
    "NonlinearFeatures.fit": (
        pf.NonlinearFeatures.fit,
        lambda **kw: pf.NonlinearFeatures().fit(**kw),
        {"X": POSITIVE},
    ),
    "NonlinearFeatures.fit_design": (
        pf.NonlinearFeatures.fit_design,
        lambda **kw: pf.NonlinearFeatures().fit_design(**kw),
        {"X": POSITIVE},
    ),
    "NonlinearFeatures.transform": (
        pf.NonlinearFeatures.transform,
        lambda **kw: features().transform(**kw),
        {"X": POSITIVE},
    ),
    "NonlinearFeatures.design": (pf.NonlinearFeatures.design, lambda **kw: features().design(**kw), {"X": POSITIVE}),
    "NonlinearFeatures.formula": (
        pf.NonlinearFeatures.formula,
        lambda **kw: features().formula(**{"coef": np.zeros(len(features().get_feature_names_out())), **kw}),
        {},
    ),
    "NonlinearFeatures.get_feature_names_out": (
        pf.NonlinearFeatures.get_feature_names_out,
        lambda **kw: features().get_feature_names_out(**kw),
        {},
    ),
    "NonlinearFeatures.at_most_per_variable": (
        pf.NonlinearFeatures.at_most_per_variable,
        lambda **kw: features().at_most_per_variable(**kw),
        {},
    ),
    "Design.scan": (pf.Design.scan, lambda **kw: pf.as_design(X).scan(**kw), {"v": Y}),
    "Design.columns": (pf.Design.columns, lambda **kw: pf.as_design(X).columns(**kw), {"idx": [0]}),
    "Design.matvec": (pf.Design.matvec, lambda **kw: pf.as_design(X).matvec(**kw), {"idx": [0], "coef": [1.0]}),
    "Design.rows": (pf.Design.rows, lambda **kw: pf.as_design(X).rows(**kw), {"start": 0, "stop": 5}),
    "Certificate.load": (pf.Certificate.load, pf.Certificate.load, {"path": "proof.npz"}),
    "Certificate.save": (
        pf.Certificate.save,
        lambda **kw: solved().certificate.save(**kw),
        {"path": "saved.npz"},
    ),
    "Certificate.from_arrays": (pf.Certificate.from_arrays, pf.Certificate.from_arrays, {"arrays": {}}),
    "Solution.check": (pf.Solution.check, lambda **kw: solved().check(**kw), {"X": X, "y": Y}),
    "Solution.summary": (pf.Solution.summary, lambda **kw: solved().summary(**kw), {"X": X, "y": Y}),
    "plots.r2": (pf.plots.r2, lambda **kw: pf.plots.r2(**{"path": swept(), **kw}), {}),
    "plots.shrinkage": (pf.plots.shrinkage, lambda **kw: pf.plots.shrinkage(**{"model": model(), **kw}), {}),
    "plots.residuals": (
        pf.plots.residuals,
        lambda **kw: pf.plots.residuals(**{"model": model(), **kw}),
        {"X": X, "y": Y},
    ),
    "GroupCertificate.load": (pf.GroupCertificate.load, pf.GroupCertificate.load, {"path": "groups.npz"}),
    "KernelCertificate.load": (pf.KernelCertificate.load, pf.KernelCertificate.load, {"path": "kernels.npz"}),
    "GroupCertificate.save": (
        pf.GroupCertificate.save,
        lambda **kw: groups_solved().certificate.save(**kw),
        {"path": "saved.npz"},
    ),
    "KernelCertificate.save": (
        pf.KernelCertificate.save,
        lambda **kw: kernels_solved().certificate.save(**kw),
        {"path": "saved.npz"},
    ),
    "GroupCertificate.from_arrays": (pf.GroupCertificate.from_arrays, pf.GroupCertificate.from_arrays, {"arrays": {}}),
    "KernelCertificate.from_arrays": (
        pf.KernelCertificate.from_arrays,
        pf.KernelCertificate.from_arrays,
        {"arrays": {}},
    ),
    "Path.best": (pf.Path.best, lambda **kw: swept().best(**kw), {}),
    "constraints.AtMost": (
        pf.constraints.AtMost,
        lambda **kw: pf.solve(**CUTS, constraints=pf.constraints.AtMost(**kw)),
        {"columns": [0, 1], "count": 1},
    ),
    "constraints.Exclude": (
        pf.constraints.Exclude,
        lambda columns: pf.solve(**CUTS, constraints=pf.constraints.Exclude(*columns)),
        {"columns": [0, 1]},
    ),
    "constraints.Implies": (
        pf.constraints.Implies,
        lambda **kw: pf.solve(**CUTS, constraints=pf.constraints.Implies(**kw)),
        {"column": 0, "needs": 1},
    ),
    "constraints.Linear": (
        pf.constraints.Linear,
        lambda **kw: pf.solve(**CUTS, constraints=pf.constraints.Linear(**kw)),
        {"coefs": {0: 1.0, 1: 1.0}, "upper": 1.0},
    ),
    "datasets.make_sparse_regression": (
        pf.datasets.make_sparse_regression,
        pf.datasets.make_sparse_regression,
        {"n_samples": 10, "n_features": 5, "k": 2},
    ),
    "datasets.SyntheticDesign": (
        pf.datasets.SyntheticDesign,
        pf.datasets.SyntheticDesign,
        {"n": 10, "p": 5, "k": 2},
    ),
    "metrics.accuracy": (pf.metrics.accuracy, pf.metrics.accuracy, {"true_support": [0], "support": [0]}),
    "metrics.false_alarm_rate": (
        pf.metrics.false_alarm_rate,
        pf.metrics.false_alarm_rate,
        {"true_support": [0], "support": [0]},
    ),
    "report": (
        pf.report,
        lambda **kw: pf.report(**{"model": model(), **kw}),
        {"X": X, "y": Y, "path": "report.html", "time_limit": 0.0},
    ),
    "plots.coefficients": (
        pf.plots.coefficients,
        lambda **kw: pf.plots.coefficients(**{"path": swept(), **kw}),
        {},
    ),
    "plots.criteria": (pf.plots.criteria, lambda **kw: pf.plots.criteria(**{"path": swept(), **kw}), {}),
    "plots.cv_curve": (pf.plots.cv_curve, lambda **kw: pf.plots.cv_curve(**{"model": cv_model(), **kw}), {}),
    "plots.support_agreement": (
        pf.plots.support_agreement,
        lambda **kw: pf.plots.support_agreement(**{"model": cv_model(), **kw}),
        {},
    ),
    "plots.bounds": (pf.plots.bounds, pf.plots.bounds, {"history": []}),
    "plots.ranking": (pf.plots.ranking, lambda **kw: pf.plots.ranking(**{"best": ranked(), **kw}), {}),
}

# What the expressions in the tables may use.
NAMES = {name: value for name, value in globals().items() if not name.startswith("_") and not inspect.ismodule(value)}
NAMES |= {"np": np, "pd": pd, "pl": pl, "sp": sp, "pf": pf}


def call(name: str, parameters: str, expression: str) -> Any:
    """Call with one argument, or several (names with commas, a tuple), replaced."""
    _, function, usual = CALLS[name]
    value = eval(expression, dict(NAMES))
    names = parameters.split(", ")
    return function(**{**usual, **(dict(zip(names, value)) if len(names) > 1 else {parameters: value})})
