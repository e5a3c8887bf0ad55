"""What takes reads of the data is done once: the view of the data, and what each feature is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import parsifal as pf
from parsifal.cli import job
from parsifal.estimators import base, summary
from parsifal.problem import standardise

FIT = ("fit", "-k", 3)
PATH = ("path", "--ks", "2-3")
CV = ("cv", "--ks", "2-3", "--gammas", "0.1", "--folds", 3)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often each was called, by estimators or commands; views of a fold's rows do not count."""
    counts = {"prepare": 0, "worth": 0}
    prepare, worth = standardise.prepare, summary.worth

    def counted_prepare(*args: Any, rows: Any = None, **options: Any) -> Any:
        counts["prepare"] += rows is None
        return prepare(*args, rows=rows, **options)

    def counted_worth(*args: Any) -> Any:
        counts["worth"] += 1
        return worth(*args)

    for module in (base, job):
        monkeypatch.setattr(module, "prepare", counted_prepare)
    monkeypatch.setattr(summary, "worth", counted_worth)
    return counts


@pytest.mark.parametrize("command", [FIT, PATH, CV], ids=lambda command: command[0])
def test_a_command_with_all_files(run, diabetes: Path, calls: dict[str, int], command: tuple[object, ...]) -> None:
    name, *options = command
    files = ("--out", "m.json", "--certificate", "p.npz", "--report", "r.html", "--report-time", 2)
    run(name, diabetes, "-t", "y", *options, *files)
    assert calls == {"prepare": 1, "worth": 1}


def test_worth_beyond_what_a_fit_computes(run, diabetes: Path, calls: dict[str, int], monkeypatch) -> None:
    text = run(*FIT, diabetes, "-t", "y").stdout
    monkeypatch.setattr(base, "_SUMMARY_WORK", 0.0)
    assert run(*FIT, diabetes, "-t", "y", "--report", "r.html", "--report-time", 0).stdout.startswith(text[:400])
    assert calls == {"prepare": 2, "worth": 2}


def test_a_report_takes_what_the_fit_computed(diabetes_frame, calls: dict[str, int], here: Path) -> None:
    X, y = diabetes_frame.drop(columns="y"), diabetes_frame["y"]
    model = pf.SparseRegressor(k=3).fit(X, y)
    content = pf.report(model, X, y, here / "r.html", time_limit=0)
    assert calls["worth"] == 1
    by_feature = {row.feature: row for row in model.summary().rows}
    assert by_feature == {row.feature: row for row in content.rows}


def test_an_estimator_of_a_user_keeps_no_data(diabetes_frame) -> None:
    model = pf.SparseRegressor(k=3).fit(diabetes_frame.drop(columns="y"), diabetes_frame["y"])
    assert not hasattr(model, "_view")
