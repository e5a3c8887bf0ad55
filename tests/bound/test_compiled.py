"""The problem as the compiled core holds it: by reference, and refused where its parts do not fit."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import parsifal._core as core

X = np.random.default_rng(0).normal(size=(20, 8))
Y = X[:, 0] - X[:, 3]


def parts() -> dict[str, Any]:
    norm = np.linalg.norm(X, axis=0)
    rounding = core.Rounding(norm=norm, unit=1e-14, error=1e-14, base=1e-14, drift=1e-14, reach=1.0)
    gram = np.asfortranarray(X.T @ X)
    point = {"v0": np.zeros(8), "beta0": X.T @ Y, "ls0": 0.5 * float(Y @ Y)}
    return {"gram": gram, **point, "gamma": 1.0, "penalty": 0.0, "k": 2, "rounding": rounding}


def bound(problem: core.Quadratic) -> float:
    fix, start = np.zeros(8, np.int8), np.zeros(8)
    r = core.relax(problem, fix=fix, start=start, cutoff=np.inf, tolerance=1e-9, max_solves=100)
    return float(r["bound"])


def test_arrays_are_referred_to_and_kept() -> None:
    given = parts()
    problem = core.Quadratic(**given)
    before = bound(problem)
    given["gram"] *= 2
    changed = bound(problem)
    assert changed != before
    del given
    gc.collect()
    assert bound(problem) == changed


def test_other_layouts_are_copied_and_kept() -> None:
    given = parts()
    expected = bound(core.Quadratic(**given))
    wide = np.zeros(16)
    wide[::2] = given["beta0"]
    other = {"gram": np.ascontiguousarray(given["gram"]), "beta0": wide[::2], "v0": np.zeros(8, np.float32)}
    problem = core.Quadratic(**{**given, **other})
    del other, wide
    gc.collect()
    assert bound(problem) == expected


def test_only_by_name() -> None:
    with pytest.raises(TypeError):
        core.Quadratic(*parts().values())
    with pytest.raises(TypeError):
        core.SearchOptions(1e-6, 0.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        core.choose(X.T @ Y, np.zeros(8, np.int8), 1.0, 0.0, 2)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["gram", "v0", "beta0"])
def test_sizes_that_differ(name: str) -> None:
    given = parts()
    with pytest.raises(ValueError, match="differ in size"):
        core.Quadratic(**{**given, name: given[name][1:]})


def test_arguments_of_another_size() -> None:
    problem = core.Quadratic(**parts())
    fix, start = np.zeros(8, np.int8), np.zeros(8)
    with pytest.raises(ValueError, match="fix must have one entry a column"):
        core.relax(problem, fix=fix[1:], start=start, cutoff=np.inf, tolerance=1e-9, max_solves=100)
    with pytest.raises(ValueError, match="s must have one entry a column"):
        core.restarts(problem, fix=fix, s=start[1:], count=1)
    with pytest.raises(ValueError, match="support names a column that is not there"):
        core.local_search(problem, fix=fix, support=[8], greedy=False, max_moves=1)
    with pytest.raises(ValueError, match="w must have one entry a column"):
        core.search(
            problem, fix=fix, w=start[1:], diagonal=start, twin=[-1] * 8, objective=1.0, options=core.SearchOptions()
        )
    with pytest.raises(ValueError, match="a search needs a thread"):
        core.SearchOptions(threads=0)
