"""What `solve`, `relax` and `loss` refuse, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import parsifal as pf

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 4)), RNG.standard_normal(12)


def with_entry(array: np.ndarray, place: Any, value: float) -> np.ndarray:
    out = array.copy()
    out[place] = value
    return out


DATA = {
    "X a vector": ({"X": Y}, "X has shape (12,); it must have two dimensions, e.g. X.reshape(-1, 1)"),
    "X a cube": ({"X": X[None]}, "X has shape (1, 12, 4); it must have two dimensions, e.g. X.reshape(len(X), -1)"),
    "X of strings": ({"X": X.astype("U4")}, "X has dtype <U4; encode it as numbers first"),
    "X of objects": (
        {"X": X.astype(object)},
        "X has dtype object; if its entries are numbers, convert it with X.astype(float)",
    ),
    "X complex": (
        {"X": X.astype(complex)},
        "X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
    ),
    "X none": ({"X": None}, "X is a NoneType; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, "X has shape (0, 4); it needs at least one row and one column"),
    "no columns": ({"X": X[:, :0]}, "X has shape (12, 0); it needs at least one row and one column"),
    "X nan": ({"X": with_entry(X, (3, 2), np.nan)}, "X[3, 2] is NaN; drop or impute missing values"),
    "X nan, sparse": (
        {"X": sp.csr_matrix(with_entry(X, (3, 2), np.nan))},
        "X[3, 2] is NaN; drop or impute missing values",
    ),
    "X nan, named": (
        {"X": pd.DataFrame(with_entry(X, (3, 2), np.nan), columns=list("abcd"))},
        "X[3, 2] (column 'c') is NaN; drop or impute missing values",
    ),
    "X infinite": ({"X": with_entry(X, (5, 1), -np.inf)}, "X[5, 1] is -inf; drop or replace infinite values"),
    "X nan where y is zero": (
        {"X": with_entry(X, (3, 2), np.nan), "y": np.zeros(12)},
        "X[3, 2] is NaN; drop or impute missing values",
    ),
    "X too large": (
        {"X": with_entry(X, (5, 1), 1e200)},
        "X[5, 1] is 1e+200, too large to square; rescale the column",
    ),
    "y nan": ({"y": with_entry(Y, 7, np.nan)}, "y[7] is nan; drop the row or impute the value"),
    "y infinite": ({"y": with_entry(Y, 2, np.inf)}, "y[2] is inf; drop the row or impute the value"),
    "y too large": ({"y": with_entry(Y, 4, 1e200)}, "y[4] is 1e+200, too large to square; rescale y"),
    "y short": ({"y": Y[:5]}, "y has 5 entries but X has 12 rows"),
    "y a column": ({"y": Y[:, None]}, "y has shape (12, 1); a vector is needed: pass y.ravel()"),
    "y a matrix": ({"y": X}, "y has shape (12, 4); a vector of length 12 is needed"),
    "y a number": ({"y": 1.0}, "y has shape (); a vector of length 12 is needed"),
    "y of strings": ({"y": Y.astype("U4")}, "y has dtype <U4; numbers are needed (try y.astype(float))"),
    "y of objects": ({"y": Y.astype(object)}, "y has dtype object; numbers are needed (try y.astype(float))"),
    "y complex": ({"y": Y.astype(complex)}, "y has dtype complex128; numbers are needed (try y.astype(float))"),
    "gamma negative": ({"gamma": -1}, "gamma must be a finite number > 0 (large means a weak ridge), not -1"),
    "gamma nan": ({"gamma": np.nan}, "gamma must be a finite number > 0 (large means a weak ridge), not nan"),
    "gamma infinite": ({"gamma": np.inf}, "gamma must be a finite number > 0 (large means a weak ridge), not inf"),
    "gamma none": ({"gamma": None}, "gamma must be a number, not None"),
    "gamma a bool": ({"gamma": True}, "gamma must be a number, not True"),
    "gamma a list": ({"gamma": [1.0]}, "gamma must be a number, not [1.0]"),
    "gamma an array": ({"gamma": np.array([1.0])}, "gamma must be a number, not array([1.])"),
}

PROBLEM = {
    "gamma zero": ({"gamma": 0}, "gamma must be a finite number > 0 (large means a weak ridge), not 0"),
    "gamma a word": ({"gamma": "foo"}, "gamma must be a positive number or \"auto\", not 'foo'"),
    "neither k nor penalty": ({"k": None}, "give k (how many columns), penalty (the price of a column), or both"),
    "k zero": ({"k": 0}, "k must be >= 1, not 0"),
    "k negative": ({"k": -3}, "k must be >= 1, not -3"),
    "k a fraction": ({"k": 2.5}, "k must be a whole number >= 1, not 2.5"),
    "k nan": ({"k": np.nan}, "k must be a whole number >= 1, not nan"),
    "k a word": ({"k": "2"}, "k must be a whole number >= 1, not '2'"),
    "k a bool": ({"k": True}, "k must be a whole number >= 1, not True"),
    "k a list": ({"k": [1]}, "k must be a whole number >= 1, not [1]"),
    "penalty negative": ({"penalty": -1}, "penalty must be a finite number >= 0, not -1"),
    "penalty nan": ({"penalty": np.nan}, "penalty must be a finite number >= 0, not nan"),
    "penalty infinite": ({"penalty": np.inf}, "penalty must be a finite number >= 0, not inf"),
    "penalty a word": ({"penalty": "x"}, "penalty must be a number, not 'x'"),
    "force_in beyond": ({"force_in": [7]}, "force_in names column 7, but X has columns 0 to 3"),
    "force_in negative": ({"force_in": [-1]}, "force_in names column -1, but X has columns 0 to 3"),
    "force_out beyond": ({"force_out": [0, 4]}, "force_out names column 4, but X has columns 0 to 3"),
    "force_in twice": ({"force_in": [1, 1]}, "force_in names a column twice"),
    "forced in and out": ({"force_in": [1], "force_out": [2, 1]}, "column 1 is both in force_in and in force_out"),
    "too many forced in": (
        {"force_in": [0, 1, 2]},
        "force_in names 3 columns, but k = 2; raise k or force fewer columns in",
    ),
    "mask too short": ({"force_in": [True, False]}, "force_in is a mask of length 2, but X has 4 columns"),
    "names without names": ({"force_in": ["a"]}, "force_in names columns, but X has no column names; give indices"),
    "unknown name": (
        {"X": pd.DataFrame(X, columns=list("abcd")), "force_out": ["a", "e"]},
        "force_out names 'e', which is not a column of X",
    ),
    "force_in of floats": (
        {"force_in": [1.0]},
        "force_in has dtype float64; whole column indices or a boolean mask are needed",
    ),
    "force_in a number": ({"force_in": 1}, "force_in has shape (); a vector of column indices is needed"),
    "force_out a matrix": ({"force_out": [[0, 1]]}, "force_out has shape (1, 2); a vector of column indices is needed"),
}

SOLVE = {
    "rel_gap negative": ({"rel_gap": -1}, "rel_gap must be a finite number >= 0, not -1"),
    "rel_gap nan": ({"rel_gap": np.nan}, "rel_gap must be a finite number >= 0, not nan"),
    "rel_gap a word": ({"rel_gap": "x"}, "rel_gap must be a number, not 'x'"),
    "rel_gap none": ({"rel_gap": None}, "rel_gap must be a number, not None"),
    "time_limit negative": ({"time_limit": -1}, "time_limit must be a finite number >= 0, not -1"),
    "time_limit nan": ({"time_limit": np.nan}, "time_limit must be a finite number >= 0, not nan"),
    "time_limit a word": ({"time_limit": "1"}, "time_limit must be a number, not '1'"),
    "node_limit zero": ({"node_limit": 0}, "node_limit must be >= 1, not 0"),
    "node_limit a fraction": ({"node_limit": 1.5}, "node_limit must be a whole number >= 1, not 1.5"),
    "node_limit a word": ({"node_limit": "a"}, "node_limit must be a whole number >= 1, not 'a'"),
    "threads zero": ({"threads": 0}, "threads must be >= 1, not 0"),
    "threads negative": ({"threads": -1}, "threads must be >= 1, not -1"),
    "threads a fraction": ({"threads": 1.5}, "threads must be a whole number >= 1, not 1.5"),
    "branching unknown": (
        {"branching": "foo"},
        "branching must be one of largest, fractional, strong, pseudo, not 'foo'",
    ),
    "branching none": ({"branching": None}, "branching must be one of largest, fractional, strong, pseudo, not None"),
    "branching a list": (
        {"branching": ["pseudo"]},
        "branching must be one of largest, fractional, strong, pseudo, not ['pseudo']",
    ),
    "progress a word": ({"progress": "yes"}, "progress must be True, False or a function, not 'yes'"),
    "progress a number": ({"progress": 1}, "progress must be True, False or a function, not 1"),
    "progress none": ({"progress": None}, "progress must be True, False or a function, not None"),
    "memory_limit a word": ({"memory_limit": "x"}, "memory_limit must be a number, not 'x'"),
    "memory_limit negative": ({"memory_limit": -1}, "memory_limit must be a finite number >= 0, not -1"),
    "memory_limit nan": ({"memory_limit": np.nan}, "memory_limit must be a finite number >= 0, not nan"),
    "warm_start too large": ({"warm_start": [0, 1, 2]}, "warm_start has 3 columns, but k = 2"),
    "warm_start beyond": ({"warm_start": [9]}, "warm_start names column 9, but X has columns 0 to 3"),
    "warm_start of floats": (
        {"warm_start": [0.5]},
        "warm_start has dtype float64; whole column indices or a boolean mask are needed",
    ),
    "warm_start mask": ({"warm_start": [True] * 3}, "warm_start is a mask of length 3, but X has 4 columns"),
    "warm_start twice": ({"warm_start": [1, 1]}, "warm_start names a column twice"),
    "warm_start a number": ({"warm_start": 0}, "warm_start has shape (); a vector of column indices is needed"),
    "warm_start against force_out": (
        {"warm_start": [0], "force_out": [0]},
        "warm_start contradicts force_in or force_out",
    ),
    "warm_start against force_in": (
        {"warm_start": [0], "force_in": [1]},
        "warm_start contradicts force_in or force_out",
    ),
}

RELAX = {
    "tolerance negative": ({"tolerance": -1}, "tolerance must be a finite number >= 0, not -1"),
    "tolerance nan": ({"tolerance": np.nan}, "tolerance must be a finite number >= 0, not nan"),
    "tolerance a word": ({"tolerance": "x"}, "tolerance must be a number, not 'x'"),
    "tolerance none": ({"tolerance": None}, "tolerance must be a number, not None"),
}

LOSS = {
    "gamma zero": ({"gamma": 0}, "gamma must be a finite number > 0 (large means a weak ridge), not 0"),
    "gamma a word": ({"gamma": "foo"}, "gamma must be a number, not 'foo'"),
    "beyond": ({"support": [4]}, "support names column 4, but X has columns 0 to 3"),
    "negative": ({"support": [-1]}, "support names column -1, but X has columns 0 to 3"),
    "twice": ({"support": [0, 0]}, "support names a column twice"),
    "short s": ({"support": [0.5]}, "a fractional s must have shape (4,) and entries in [0, 1]"),
    "s above one": ({"support": np.full(4, 1.5)}, "a fractional s must have shape (4,) and entries in [0, 1]"),
    "s negative": ({"support": np.full(4, -0.5)}, "a fractional s must have shape (4,) and entries in [0, 1]"),
    "s nan": ({"support": np.full(4, np.nan)}, "a fractional s must have shape (4,) and entries in [0, 1]"),
    "mask": ({"support": [True]}, "support is a mask of length 1, but X has 4 columns"),
    "matrix": ({"support": [[0, 1]]}, "support has shape (1, 2); a vector of column indices is needed"),
    "word": ({"support": "a"}, "support has shape (); a vector of column indices is needed"),
    "none": ({"support": None}, "support has shape (); a vector of column indices is needed"),
    "number": ({"support": 2}, "support has shape (); a vector of column indices is needed"),
}

CALLS: dict[str, tuple[Any, dict[str, Any], tuple[dict[str, Any], ...]]] = {
    "solve": (pf.solve, {"X": X, "y": Y, "k": 2, "gamma": 1.0}, (DATA, PROBLEM, SOLVE)),
    "relax": (pf.relax, {"X": X, "y": Y, "k": 2, "gamma": 1.0}, (DATA, PROBLEM, RELAX)),
    "loss": (pf.loss, {"X": X, "y": Y, "support": [0], "gamma": 1.0}, (DATA, LOSS)),
}
TABLE = [
    pytest.param(function, {**usual, **changed}, message, id=f"{call}: {name}")
    for call, (function, usual, tables) in CALLS.items()
    for table in tables
    for name, (changed, message) in table.items()
]


@pytest.mark.parametrize(("function", "arguments", "message"), TABLE)
def test_refused(function: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(pf.InputError) as caught:
        function(**arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)
    finite = any(word in message for word in ("is NaN;", "is nan;", "inf;", "too large to square"))
    assert isinstance(caught.value, pf.NonFiniteError) == finite


@pytest.mark.parametrize("function", [pf.solve, pf.relax])
def test_a_ragged_list(function: Any) -> None:
    with pytest.raises(pf.InputError, match=r"^X is a list that does not make a matrix: "):
        function([[1.0, 2.0], [3.0]], [1.0, 2.0], k=1)


ACCEPTED = {
    "whole float k": {"k": 2.0},
    "k beyond p": {"k": 10**30},
    "NumPy numbers": {"k": np.int32(2), "gamma": np.float32(1.0), "penalty": np.int64(0)},
    "penalty alone": {"k": None, "penalty": 0.1},
    "penalty zero": {"k": None, "penalty": 0},
    "everything forced out": {"force_out": [0, 1, 2, 3]},
    "nothing forced": {"force_in": [], "force_out": []},
    "masks": {"force_in": [True, False, False, False], "force_out": np.array([False, True, False, False])},
    "whole-number y": {"y": np.arange(12)},
    "boolean y": {"y": np.arange(12) % 2 == 0},
    "float32 y": {"y": Y.astype(np.float32)},
    "series y": {"y": pd.Series(Y)},
    "strided y": {"y": np.repeat(Y, 2)[::2]},
    "tiny gamma": {"gamma": 1e-300},
    "huge gamma": {"gamma": 1e12},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    arguments = {"X": X, "y": Y, "k": 2, "gamma": 1.0, **ACCEPTED[name]}
    assert pf.solve(**arguments).status == "optimal"
    relaxation = pf.relax(**arguments)
    assert relaxation.bound <= relaxation.primal * (1 + 1e-12)


def test_a_gamma_beyond_double_precision_is_told() -> None:
    """With gamma |x_j|^2 = 1e300 the last digit of a residual decides over the bound: the answer says so."""
    sol = pf.solve(X, Y, k=2, gamma=1e300)
    assert sol.status == "gap_open"
    assert 0 <= sol.lower_bound <= sol.objective
    assert np.array_equal(sol.support, pf.solve(X, Y, k=2, gamma=1e6).support)
    assert pf.check(sol.certificate, X, Y)


@pytest.mark.parametrize(
    "options",
    [{"rel_gap": 0.0}, {"rel_gap": 2.0}, {"node_limit": 5.0}, {"threads": 7}, {"warm_start": []}, {"memory_limit": 0}],
    ids=str,
)
def test_accepted_by_solve(options: dict[str, Any]) -> None:
    assert pf.solve(X, Y, k=2, gamma=1.0, **options).status == "optimal"
