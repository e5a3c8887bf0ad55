"""What an installed wheel must do, with no optional dependency: `python scripts/smoke.py` in a fresh environment.

Run from another directory than the repository's root, so that the package that is tried is the installed one.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import scipy.sparse

import parsifal as pf
import parsifal._core as core
from parsifal._dispatch import LEVEL

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 12))
Y = X[:, [1, 4, 9]] @ [2.0, -1.0, 0.5] + 0.3 * RNG.normal(size=80)
GAMMA = 0.5


def best_by_enumeration(k: int) -> tuple[float, tuple[int, ...]]:
    """The least of c(S) over all supports, from the normal equations."""

    def value(support: tuple[int, ...]) -> float:
        A = X[:, support]
        w = np.linalg.solve(A.T @ A + np.eye(len(support)) / GAMMA, A.T @ Y)
        return float(0.5 * np.sum((Y - A @ w) ** 2) + 0.5 / GAMMA * np.sum(w**2))

    return min((value(support), support) for support in itertools.combinations(range(X.shape[1]), k))


def installed() -> None:
    """Nothing of a source tree is in use, and the core is the one for this processor."""
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    assert any(Path(pf.__file__).is_relative_to(place) for place in places), pf.__file__
    if LEVEL is not None:
        wanted = "_core" if LEVEL == 1 else f"_core_v{LEVEL}"
        assert Path(core.__file__).name.partition(".")[0] == wanted, core.__file__


def solves() -> None:
    """The search finds what enumeration finds and proves it; other kinds of X give the same."""
    objective, support = best_by_enumeration(3)
    found = pf.solve(X, Y, k=3, gamma=GAMMA, threads=2)
    assert found.status == "optimal"
    assert tuple(found.support) == support
    assert abs(found.objective - objective) <= 1e-9 * objective
    assert found.lower_bound <= objective * (1 + 1e-12)
    verdict = pf.check(found.certificate, X, Y)
    assert verdict, verdict
    assert not pf.check(found.certificate, X, Y + 1.0)
    for other in (X.astype(np.float32), np.asfortranarray(X), scipy.sparse.csr_array(X), scipy.sparse.csc_array(X)):
        assert tuple(pf.solve(other, Y, k=3, gamma=GAMMA).support) == support
    penalised = pf.solve(X, Y, penalty=0.2, gamma=GAMMA)
    assert penalised.status == "optimal"


def sweeps() -> None:
    """One solution per k."""
    path = pf.path(X, Y, ks=[1, 2, 3], gamma=GAMMA)
    for k, found in zip((1, 2, 3), path):
        assert tuple(found.support) == best_by_enumeration(k)[1]


def estimators() -> None:
    """The scikit-learn face."""
    model = pf.SparseRegressor(k=3).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.9
    chosen = pf.SparseRegressorCV(ks=[1, 2, 3, 4], cv=3).fit(X, Y)
    assert chosen.score(X, Y) > 0.9


def extras() -> None:
    """What is not installed is named, with the command that installs it."""
    message = ""
    try:
        pf.solve(X, Y, k=3, gamma=GAMMA, method="cutting-plane")
    except pf.MissingBackendError as error:
        message = str(error)
    assert 'pip install "parsifal[scip]"' in message, message
    script = shutil.which("parsifal", path=sysconfig.get_path("scripts"))
    assert script is not None
    done = subprocess.run([script, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "parsifal[cli]" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr


def older_processors() -> None:
    """Each core in the wheel that this processor can run gives the same answer."""
    if LEVEL is None or "PARSIFAL_CPU" in os.environ:
        return
    for level in (1, 3, 4):
        if level < LEVEL:
            subprocess.run([sys.executable, __file__], env={**os.environ, "PARSIFAL_CPU": str(level)}, check=True)


def main() -> None:
    """Try everything."""
    for part in (installed, solves, sweeps, estimators, extras, older_processors):
        part()
    print(f"smoke: Python {sys.version.split()[0]}, NumPy {np.__version__}, core {Path(core.__file__).name}: all well")


if __name__ == "__main__":
    main()
