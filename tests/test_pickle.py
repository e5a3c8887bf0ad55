"""What users pickle names public addresses only, and loads where nothing has been imported before."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pickletools
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import parsifal as pf
from parsifal import constraints

PUBLIC = {"parsifal", *(f"parsifal.{name}" for name in pf.__all__ if isinstance(getattr(pf, name), types.ModuleType))}
CLASSES = [value for name in pf.__all__ if isinstance(value := getattr(pf, name), type)]

rng = np.random.default_rng(5)
X = rng.standard_normal((30, 6))
y = X[:, 0] - 2 * X[:, 3] + 0.1 * rng.standard_normal(30)


def _solved() -> tuple[pf.Solution, pf.History]:
    history = pf.History()
    return pf.solve(X, y, 2, 1.0, progress=history), history


def _all_constraints() -> list[constraints.Constraint]:
    return [
        constraints.AtMost([0, 1]),
        constraints.Exclude(0, 2),
        constraints.Implies(1, 2),
        constraints.Linear({0: 1.0}, upper=1.0),
    ]


def _errors() -> list[Exception]:
    kinds = [value for value in CLASSES if issubclass(value, Exception)]
    return [kind("message") for kind in kinds]


# One of each, with what has to be the same after the way there and back.
OBJECTS: dict[str, tuple[Callable[[], Any], str]] = {
    "SparseRegressor": (lambda: pf.SparseRegressor(k=2).fit(X, y), "it.predict(X), str(it.summary())"),
    "SparseRegressor, constraints": (
        lambda: pf.SparseRegressor(k=2, constraints=_all_constraints()),
        "repr(it.constraints)",
    ),
    "SparseRegressorCV": (
        lambda: pf.SparseRegressorCV(ks=[1, 2], gammas=1.0, cv=3).fit(X, y),
        "it.predict(X), it.mse_path_, str(it.summary())",
    ),
    "SparseKernelRegressor": (lambda: pf.SparseKernelRegressor(k=2).fit(X, y), "it.predict(X), it.selected_"),
    "SparseKernelRegressor, named": (
        lambda: pf.SparseKernelRegressor([("poly", {"degree": 2}, [0, 3]), "linear", X @ X.T], k=1).fit(X, y),
        "it.predict(X, {2: X @ X.T}), it.kernels_",
    ),
    "SparseKernelRegressor, groups": (
        lambda: pf.SparseKernelRegressor(groups=[[0, 1], [2, 3], [4, 5]], k=2).fit(X, y),
        "it.predict(X), it.coef_",
    ),
    "NonlinearFeatures": (
        lambda: pf.NonlinearFeatures(products=True).fit(X),
        "it.transform(X), it.get_feature_names_out().tolist()",
    ),
    "NonlinearFeatures, formulas": (
        lambda: pf.NonlinearFeatures(["|x|^1.5", "sin(-x)", "cos(2 pi x)", ("x^2", np.square)], products="all").fit(X),
        "it.transform(X), [function.name for function in it.functions_]",
    ),
    "NonlinearFeatures, not fitted": (lambda: pf.NonlinearFeatures(["x"]), "repr(it)"),
    "TableEncoder": (
        lambda: pf.TableEncoder().fit(np.array([["$1", 2.0], ["$1,000", 3.0], [None, 5.0]], dtype=object)),
        "it.transform(X[:, :2]), it.get_feature_names_out().tolist(), it.remarks_",
    ),
    "Solution": (lambda: _solved()[0], "it.coef, str(it), it.stats['nodes']"),
    "Solution, cutting planes": (
        lambda: pf.solve(X, y, 2, 1.0, method="cutting-plane", backend="highs"),
        "it.coef, it.rests_on",
    ),
    "LeastSquares": (
        lambda: pf.SparseRegressor(k=2).fit(X, y).least_squares_,
        "it.coef, it.standard_error, it.r2, repr(it)",
    ),
    "History": (lambda: _solved()[1], "[str(entry) for entry in it]"),
    "Certificate": (lambda: _solved()[0].certificate, "it.parent, str(it), str(pf.check(it, X, y))"),
    "GroupCertificate": (
        lambda: pf.solve_groups(X, y, [[0, 1], [2, 3]], 1, 1.0).certificate,
        "it.parent, str(it), str(pf.check(it, X, y))",
    ),
    "KernelCertificate": (
        lambda: pf.solve_kernels([X[:, :2], X[:, 2:]], y, 1, 1.0).certificate,
        "it.parent, str(it), str(pf.check(it, [X[:, :2], X[:, 2:]], y))",
    ),
    "CheckResult": (lambda: pf.check(_solved()[0].certificate, X, y), "str(it)"),
    "KernelSolution": (lambda: pf.solve_groups(X, y, [[0, 1], [2, 3]], 1, 1.0), "it.alpha, str(it)"),
    "Path": (lambda: pf.path(X, y, [1, 2], 1.0), "str(it)"),
    "Ranking": (lambda: pf.k_best(X, y, 2, 1.0, 3), "str(it), [entry.coef for entry in it]"),
    "Incumbent": (lambda: pf.k_best(X, y, 2, 1.0, 3)[0], "it.support, it.coef, it.objective"),
    "Relaxation": (lambda: pf.relax(X, y, 2, 1.0), "vars(it)"),
    "Loss": (lambda: pf.loss(X, y, [0, 3], 1.0), "tuple(it)"),
    "constraints": (_all_constraints, "repr(it)"),
    "errors": (_errors, "repr(it)"),
}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make() for name, (make, _) in OBJECTS.items()}


def _seen(name: str, it: Any) -> str:
    with np.printoptions(threshold=10**6, floatmode="unique"):
        return repr(eval(OBJECTS[name][1], {"it": it, "X": X, "y": y, "pf": pf}))


def _addresses(pickled: bytes) -> set[str]:
    """Modules of the package that a pickle names; protocol 2 has them as one operation, with the name behind."""
    return {
        module
        for operation, argument, _ in pickletools.genops(pickled)
        if operation.name == "GLOBAL" and (module := str(argument).split(" ")[0]).partition(".")[0] == "parsifal"
    }


@pytest.mark.parametrize("name", OBJECTS)
def test_names_public_addresses_only(made: dict[str, Any], name: str) -> None:
    found = _addresses(pickle.dumps(made[name], protocol=2))
    assert found
    assert found <= PUBLIC


@pytest.mark.parametrize("name", OBJECTS)
def test_a_copy_is_the_same(made: dict[str, Any], name: str) -> None:
    for again in (pickle.loads(pickle.dumps(made[name])), copy.deepcopy(made[name]), copy.copy(made[name])):
        assert _seen(name, again) == _seen(name, made[name])


def test_loads_in_a_fresh_process(made: dict[str, Any], tmp_path: Path) -> None:
    for number, it in enumerate(made.values()):
        (tmp_path / f"{number}.pkl").write_bytes(pickle.dumps(it))
    code = (
        "import pathlib, pickle, sys\n"
        "for number in range(int(sys.argv[2])):\n"
        "    print(type(pickle.loads((pathlib.Path(sys.argv[1]) / f'{number}.pkl').read_bytes())).__name__)\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path), str(len(made))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [type(it).__name__ for it in made.values()]


def test_one_of_every_class_is_pickled(made: dict[str, Any]) -> None:
    there = {type(it) for it in made.values()} | {type(it) for it in made["errors"]} | {type(made["History"][0])}
    # A design is data; it goes to other processes, and not into files.
    assert set(CLASSES) - {pf.Design} <= there


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls is not pf.Design], ids=lambda cls: cls.__name__)
def test_classes_go_by_their_public_name(cls: type) -> None:
    assert repr(cls) == f"<class 'parsifal.{cls.__name__}'>"
    assert getattr(importlib.import_module("parsifal"), cls.__name__) is cls
    # The file is not to be had from a class whose address is another; other lines than its own would be worse.
    with pytest.raises(OSError, match=r"could not find class|source code not available"):
        inspect.getsource(cls)


def test_methods_show_their_source() -> None:
    assert "def fit(" in inspect.getsource(pf.SparseRegressor.fit)
    assert "def gap(" in inspect.getsource(pf.Solution.gap.fget)


def test_dataclasses_and_clones_work(made: dict[str, Any]) -> None:
    solution = made["Solution"]
    assert dataclasses.replace(solution, rests_on="a test").rests_on == "a test"
    assert [field.name for field in dataclasses.fields(pf.Incumbent)] == ["support", "coef", "objective"]
    model = made["SparseRegressor"]
    assert clone(model).get_params() == model.get_params()
    assert "SparseRegressor" in model._repr_html_()
