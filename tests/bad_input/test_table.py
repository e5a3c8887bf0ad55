"""Every public function and command with every kind of nonsense: the message in full, and nothing left out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import parsifal as pf
from bad_input import files
from bad_input.calls import CALLS, Table, call
from bad_input.choices import CHOICES
from bad_input.command_calls import COMMANDS, options_of, prepare
from bad_input.command_line import COMMAND_LINE
from bad_input.designs import DESIGNS
from bad_input.linear import LINEAR
from bad_input.nonlinear import NONLINEAR
from bad_input.others import OTHERS
from bad_input.relatives import RELATIVES
from bad_input.side_constraints import CONSTRAINTS
from bad_input.solving import SOLVING
from bad_input.tables import TABLES
from parsifal.cli.app import app

# Made by the package and read by the user; or what scikit-learn brings, whose arguments it checks itself.
RESULTS = {
    "CheckResult",
    "History",
    "Incumbent",
    "KernelSolution",
    "LeastSquares",
    "Loss",
    "Progress",
    "Ranking",
    "Relaxation",
    "Solution",
}
RESULTS |= {"Certificate", "GroupCertificate", "KernelCertificate", "Path", "Design", "datasets.SparseData"}
# Nothing can be wrong with these, or it is said by another row.
FREE = {
    ("solve", "backend"): "checked by the method that has one; see solve by cutting planes",
    ("SparseRegressor", "backend"): "with method, in one row",
    ("SparseRegressorCV", "backend"): "with method, in one row",
    ("SparseRegressorCV.fit", "groups"): "the splitter's to check",
    ("TableEncoder.fit", "y"): "ignored, as scikit-learn wants it",
    ("TableEncoder.get_feature_names_out", "input_features"): "ignored, as scikit-learn gives it",
    ("NonlinearFeatures.fit", "y"): "ignored, as scikit-learn wants it",
    ("Design.scan", "stats"): "any truth value",
    ("plots.cv_curve", "all_gammas"): "any truth value",
    ("check", "X"): "a matrix that is not the certificate's makes it invalid, which is no error",
    ("SparseRegressor.summary", "y"): "as in fit",
    ("Solution.check", "X"): "as in check",
    ("plots.residuals", "X"): "as in predict",
}
FREE_METHODS = {
    "Certificate.write": "an open file, for `save`",
    "GroupCertificate.write": "an open file, for `save`",
    "KernelCertificate.write": "an open file, for `save`",
    "Design.read": "for the solver, on vectors that are known to be right",
    "Design.rounding_norms": "for the solver and the checker, on norms that a read gave",
    "NonlinearFeatures.only_with_parents": "no arguments",
    "SparseRegressorCV.predict": "SparseRegressor's",
    "SparseRegressorCV.check": "SparseRegressor's",
    "SparseRegressorCV.summary": "SparseRegressor's",
}


def rows(*tables: Table) -> Iterator[tuple[str, str, str, str]]:
    for table in tables:
        for names, parameters in table:
            for parameter, messages in parameters.items():
                for argument, message in messages.items():
                    for name in names:
                        yield name, parameter, argument, message


PYTHON = sorted(set(rows(SOLVING, RELATIVES, LINEAR, NONLINEAR, TABLES, DESIGNS, CONSTRAINTS, CHOICES, OTHERS)))
SHELL = sorted(set(rows(COMMAND_LINE)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("bad")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        files.make()
        prepare(invoke)
        yield place


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def is_about_the_data(message: str) -> bool:
    """Whether an entry is what `NonFiniteError` is for; of the columns of a group all errors are `InputError`s."""
    return any(word in message for word in ("is NaN;", "is nan;", "inf;", "too large to square"))


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", sorted({row[0] for row in PYTHON}))
def test_refused(here: Path, name: str) -> None:
    wrong = []
    for _, parameter, argument, message in (row for row in PYTHON if row[0] == name):
        try:
            call(name, parameter, argument)
            found = "accepted"
        except (pf.ParsifalError, FileNotFoundError) as error:
            found = str(error)
            expected = is_about_the_data(found) and (name, parameter) != ("solve_groups", "X")
            if isinstance(error, pf.InputError) and isinstance(error, pf.NonFiniteError) != expected:
                wrong.append(f"{parameter} = {argument}: a {type(error).__name__}")
        if found != message:
            wrong.append(f"{parameter} = {argument}: {found!r}, not {message!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", sorted({row[0] for row in SHELL}))
def test_refused_by_a_command(here: Path, command: str) -> None:
    arguments = [name for name, option in options_of(command).items() if option.param_type_name == "argument"]
    wrong = []
    for _, option, value, message in (row for row in SHELL if row[0] == command):
        words = list(COMMANDS[command])
        if option == "--backend":
            words += ["--method", "cutting-plane"]
        if option in arguments:
            words[arguments.index(option)] = value
        else:
            words += [option, value]
        result = invoke(command, *words)
        # One line on standard error, no traceback, exit code 2.
        if (result.exit_code, result.stderr) != (2, f"error: {message}\n"):
            wrong.append(f"{option} {value!r}: {result.exit_code}, {result.stderr!r}, not {message!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", CALLS)
def test_usual_arguments_work(here: Path, name: str) -> None:
    """Otherwise a row could be refused for another reason than its own."""
    _, function, usual = CALLS[name]
    if name == "plots.bounds" or name.endswith("Certificate.from_arrays"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(**usual)


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Everything that a user may call, by the names of the table."""
    for name in pf.__all__:
        value = getattr(pf, name)
        if inspect.ismodule(value):
            for inner in getattr(value, "__all__", vars(value)):
                function = getattr(value, inner)
                own = getattr(function, "__module__", None) in (
                    value.__name__,
                    f"{value.__name__.rpartition('.')[0]}.synthetic",
                )
                if callable(function) and own and not inner.startswith("_"):
                    yield f"{name}.{inner}", function
        elif inspect.isclass(value):
            if issubclass(value, (Exception, Warning)):
                continue
            yield name, value
            for method, function in inspect.getmembers(value, callable):
                ours = str(getattr(function, "__module__", "")).startswith("parsifal")
                if not method.startswith("_") and ours and not inspect.isclass(function):
                    yield f"{name}.{method}", function
        else:
            yield name, value


def test_no_parameter_is_missing() -> None:
    there = {
        (name.split(" ")[0], parameter) for name, parameters, _, _ in PYTHON for parameter in parameters.split(", ")
    }
    missing = []
    for name, function in public():
        if name in RESULTS or name in FREE_METHODS:
            continue
        for parameter in inspect.signature(function).parameters:
            known = (name, parameter) in there or (name, parameter) in FREE
            if parameter != "self" and not known:
                missing.append(f"{name}({parameter})")
    assert not missing, f"not in the tables: {', '.join(missing)}"


# Options of a command that nothing can be wrong with there.
FREE_OPTIONS = {
    **{(name, "--sheet"): "only counts for Excel" for name in ("fit", "path", "cv", "diagnose", "predict", "check")},
    ("check", "--decimal"): "the proof says it itself",
    ("check", "--encoding"): "the proof says it itself",
    ("reproduce", "--backend"): "only counts with the cutting planes, which name those they know",
}


def test_no_option_is_missing() -> None:
    there = {(command, option) for command, option, _, _ in SHELL}
    missing = [
        f"{command} {name}"
        for command in COMMANDS
        for name, option in options_of(command).items()
        if not getattr(option, "is_flag", False) and (command, name) not in there | set(FREE_OPTIONS)
    ]
    assert not missing, f"not in the table: {', '.join(missing)}"
    import typer.main

    assert set(typer.main.get_group(app).commands) == set(COMMANDS)
