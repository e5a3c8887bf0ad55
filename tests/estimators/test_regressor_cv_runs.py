"""How a cross-validation runs: jobs, kinds of data, progress, limits, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import parsifal as pf
from estimators.helpers import cv
from oracles.reference import make_data

# The gammas are few, and one of them is the best.
pytestmark = pytest.mark.filterwarnings("ignore:the .* of the gammas")


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential"])
def test_joblib_backends(backend: str) -> None:
    X, y = make_data(5, noise=3.0)
    alone = cv().fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        inside = cv().fit(X, y)
    np.testing.assert_array_equal(inside.mse_path_, alone.mse_path_)
    np.testing.assert_allclose(inside.coef_, alone.coef_, rtol=1e-9)


@pytest.mark.parametrize("jobs", [2, -1])
def test_n_jobs(jobs: int) -> None:
    X, y = make_data(5, noise=3.0)
    np.testing.assert_array_equal(cv(n_jobs=jobs).fit(X, y).mse_path_, cv().fit(X, y).mse_path_)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_kinds_of_data(backend: str) -> None:
    X, y = make_data(6)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    dense = cv().fit(X, y)
    names = list("abcdefg")
    with joblib.parallel_config(backend=backend, n_jobs=2):
        for other in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), sp.csr_matrix(X), sp.csc_array(X)):
            model = cv().fit(other, y)
            np.testing.assert_allclose(model.mse_path_, dense.mse_path_, rtol=1e-8)
            np.testing.assert_allclose(model.predict(other), dense.predict(X))
    assert list(cv().fit(pd.DataFrame(X, columns=names), y).feature_names_in_) == names
    locked = X.copy()
    locked.setflags(write=False)
    np.testing.assert_array_equal(cv().fit(locked, y).mse_path_, dense.mse_path_)


def test_progress_bar(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = make_data(6)
    cv().fit(X, y)
    assert capfd.readouterr() == ("", "")
    cv(progress=True).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "48" in err  # 3 gammas, 4 ks, 4 folds


@pytest.mark.usefixtures("relaxations_alone")
def test_limits_of_folds_leave_gaps_that_are_told() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 24)), rng.standard_normal(40)
    model = pf.SparseRegressorCV(ks=(5,), gammas=1.0, cv=2, fold_node_limit=1).fit(X, y)
    assert (model.gap_path_ > 1e-6).any()
    assert model.status_ == "optimal"
    quick = pf.SparseRegressorCV(ks=(6,), gammas=1.0, cv=2, fold_time_limit=1e-6, fold_node_limit=None)
    assert (quick.fit(X, y).gap_path_ > 1e-6).any()


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_all_folds(jobs: int) -> None:
    script = f"""
import os, signal, threading, time, numpy as np, parsifal as pf
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 300)), rng.standard_normal(60)
model = pf.SparseRegressorCV(ks=[12], gammas=10.0, cv=3, fold_node_limit=None, n_jobs={jobs})
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("stopped", hasattr(model, "coef_"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout) == (0, "stopped False\n"), done.stderr


class _PressedAfter:
    """Presses Ctrl-C in the main thread once so many fits are done."""

    def __init__(self, fits: int) -> None:
        self.count = fits

    def __call__(self, _: object) -> None:
        pass

    def fits(self, done: int, total: int, seconds: float) -> None:
        if done == self.count:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # the signal is heard here, where the main thread runs the folds


@pytest.mark.parametrize(("fits", "whole"), [(2, 0), (9, 1)])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_ctrl_c_leaves_a_model_of_what_is_finished(fits: int, whole: int, scoring: str | None, tmp_path: Path) -> None:
    X, y = make_data(3)
    options = {"ks": [1, 2, 3], "gammas": [0.1, 1.0], "cv": 4, "scoring": scoring}
    model = cv(**options, progress=_PressedAfter(fits), checkpoint=tmp_path / "folds.jsonl")
    with pytest.warns(ConvergenceWarning, match=f"chosen from {whole} of 4 folds"):
        model.fit(X, y)
    assert model.interrupted_
    made = np.isfinite(model.mse_path_)
    assert np.array_equal(made, np.isfinite(model.score_path_))
    assert np.array_equal(made, np.isfinite(model.gap_path_))
    assert fits - 1 <= made.sum() <= fits
    assert made.all(axis=(0, 1)).sum() == whole
    g, i = model.best_index_
    assert made[g, i, 0]
    assert model.predict(X).shape == y.shape
    assert bool(model.check(X, y))
    # The other folds are made when it is fitted again, and all is as if nothing had happened.
    again = cv(**options, checkpoint=tmp_path / "folds.jsonl").fit(X, y)
    undisturbed = cv(**options).fit(X, y)
    assert not again.interrupted_
    assert np.array_equal(again.mse_path_, undisturbed.mse_path_)
    assert again.best_index_ == undisturbed.best_index_
    assert np.allclose(again.coef_, undisturbed.coef_)
