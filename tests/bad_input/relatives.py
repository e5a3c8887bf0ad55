# ruff: noqa: E501
"""What the other methods of `solve`, and `relax`, `loss`, `path` and `k_best` for themselves, refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
RELATIVES: Table = [
    (
        ["solve by cutting planes"],
        {
            "gamma, sign": {
                "(np.inf, 1)": 'method="cutting-plane" needs a ridge; give a finite gamma, or use method="search"',
            },
            "backend": {
                "'cplex'": "backend must be one of scip, highs, gurobi, not 'cplex'",
                "None": "backend must be one of scip, highs, gurobi, not None",
                "3": "backend must be one of scip, highs, gurobi, not 3",
            },
            "constraints": {
                "3": "constraints must be a sequence of constraints, not 3",
                "'x'": "'x' is no constraint; use AtMost, Implies, Exclude or Linear of parsifal.constraints",
                "[3]": "3 is no constraint; use AtMost, Implies, Exclude or Linear of parsifal.constraints",
                "[None]": "None is no constraint; use AtMost, Implies, Exclude or Linear of parsifal.constraints",
            },
            "root_cuts": {
                "-1": "root_cuts must be a whole number >= 0, not -1",
                "2.5": "root_cuts must be a whole number >= 0, not 2.5",
                "'x'": "root_cuts must be a whole number >= 0, not 'x'",
                "None": "root_cuts must be a whole number >= 0, not None",
                "True": "root_cuts must be a whole number >= 0, not True",
            },
            "fractional_cuts": {
                "'no'": "fractional_cuts must be True or False, not 'no'",
                "2": "fractional_cuts must be True or False, not 2",
                "None": "fractional_cuts must be True or False, not None",
                "[]": "fractional_cuts must be True or False, not []",
            },
            "screen": {
                "'no'": "screen must be True or False, not 'no'",
                "2": "screen must be True or False, not 2",
                "None": "screen must be True or False, not None",
                "[]": "screen must be True or False, not []",
            },
            "branching": {
                "'strong'": 'branching does not apply to method="cutting-plane"; use method="search"',
            },
            "checkpoint": {
                "'f.npz'": 'checkpoint does not apply to method="cutting-plane"; use method="search"',
            },
            "warm_start, constraints": {
                "([0, 1], pf.constraints.Exclude(0, 1))": "warm_start violates the constraints",
            },
        },
    ),
    (
        ["solve by big-M"],
        {
            "sign": {
                "1": 'sign does not apply to method="big-m"; use method="search" or method="cutting-plane"',
                "np.ones(4)": 'sign does not apply to method="big-m"; use method="search" or method="cutting-plane"',
            },
            "penalty": {
                "np.arange(4.0)": 'a penalty per column does not apply to method="big-m"; use method="search" or method="cutting-plane"',
            },
            "big_m": {
                "-1": "big_m must be a finite number >= 0, not -1",
                "np.nan": "big_m must be a finite number >= 0, not nan",
                "'x'": "big_m must be a number, not 'x'",
            },
            "root_cuts": {
                "3": 'root_cuts does not apply to method="big-m"; use method="cutting-plane"',
            },
        },
    ),
    (
        ["relax"],
        {
            "tolerance": {
                "None": "tolerance must be a number, not None",
            },
        },
    ),
    (
        ["relax", "k_best"],
        {
            "tolerance": {
                "-1": "tolerance must be a finite number >= 0, not -1",
                "np.nan": "tolerance must be a finite number >= 0, not nan",
                "np.inf": "tolerance must be a finite number >= 0, not inf",
                "'x'": "tolerance must be a number, not 'x'",
                "[1.0]": "tolerance must be a number, not [1.0]",
                "True": "tolerance must be a number, not True",
            },
        },
    ),
    (
        ["loss"],
        {
            "gamma": {
                "'foo'": "gamma must be a number, not 'foo'",
            },
            "support": {
                "[4]": "support names column 4, but X has columns 0 to 3",
                "[-1]": "support names column -1, but X has columns 0 to 3",
                "[0, 0]": "support names a column twice",
                "[0.5]": "a fractional s must have shape (4,) and entries in [0, 1]",
                "np.full(4, 1.5)": "a fractional s must have shape (4,) and entries in [0, 1]",
                "np.full(4, np.nan)": "a fractional s must have shape (4,) and entries in [0, 1]",
                "[True]": "support is a mask of length 1, but X has 4 columns",
                "[[0, 1]]": "support has shape (1, 2); a vector of column indices is needed",
                "'a'": "support has shape (); a vector of column indices is needed",
                "None": "support has shape (); a vector of column indices is needed",
                "2": "support has shape (); a vector of column indices is needed",
            },
        },
    ),
    (
        ["path"],
        {
            "ks": {
                "None": "ks must be a sequence of whole numbers >= 1, not None",
                "3": "ks must be a sequence of whole numbers >= 1, not 3",
                "[]": "ks is empty; give at least one size",
                "[0]": "an entry of ks must be >= 1, not 0",
                "[1.5]": "an entry of ks must be a whole number >= 1, not 1.5",
                "'12'": "ks must be a sequence of whole numbers >= 1, not '12'",
                "[-1, 2]": "an entry of ks must be >= 1, not -1",
                "[np.nan]": "an entry of ks must be a whole number >= 1, not nan",
                "range(0)": "ks is empty; give at least one size",
            },
        },
    ),
    (
        ["k_best"],
        {
            "count": {
                "0": "count must be >= 1, not 0",
                "-3": "count must be >= 1, not -3",
                "2.5": "count must be a whole number >= 1, not 2.5",
                "np.nan": "count must be a whole number >= 1, not nan",
                "'2'": "count must be a whole number >= 1, not '2'",
                "True": "count must be a whole number >= 1, not True",
                "[1]": "count must be a whole number >= 1, not [1]",
            },
        },
    ),
]
