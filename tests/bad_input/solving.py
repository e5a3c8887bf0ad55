# ruff: noqa: E501
"""What `solve` refuses, with what its relatives have in common with it."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
SOLVING: Table = [
    (
        ["solve", "path", "k_best"],
        {
            "fit_intercept": {
                "'no'": "fit_intercept must be True or False, not 'no'",
                "2": "fit_intercept must be True or False, not 2",
            },
            "standardize": {
                "'no'": "standardize must be True or False, not 'no'",
                "None": "standardize must be True or False, not None",
            },
        },
    ),
    (
        ["Solution.check"],
        {
            "y": {"['a'] * 12": "y must be a vector of numbers, one for every row of X"},
            "exact": {"2": "exact must be True or False, not 2"},
        },
    ),
    (
        ["Solution.summary"],
        {
            "X": {"X[:, :3]": "X has 3 columns, but this solution is for 4"},
            "y": {"Y[:5]": "y has 5 entries but X has 12 rows"},
        },
    ),
    (
        ["solve", "relax", "loss", "path", "k_best"],
        {
            "X": {
                "None": "X is a NoneType; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
                "'X'": "X is a str; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
                "3.0": "X is a float; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
                "Y": "X has shape (12,); it must have two dimensions, e.g. X.reshape(-1, 1)",
                "X[None]": "X has shape (1, 12, 4); it must have two dimensions, e.g. X.reshape(len(X), -1)",
                "X[:0]": "X has shape (0, 4); it needs at least one row and one column",
                "X[:, :0]": "X has shape (12, 0); it needs at least one row and one column",
                "X.astype('U4')": "X has dtype <U4; encode it as numbers first",
                "X.astype(object)": "X has dtype object; if its entries are numbers, convert it with X.astype(float)",
                "X.astype(complex)": "X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "sp.csr_matrix(X.astype(complex))": "X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "FRAME.astype({'c': complex})": "column 'c' has dtype complex128; pass real numbers, e.g. its real and imaginary parts as two columns",
                "changed(X, (3, 2), np.nan)": "X[3, 2] is NaN; drop or impute missing values",
                "changed(X, (5, 1), -np.inf)": "X[5, 1] is -inf; drop or replace infinite values",
                "changed(X, (5, 1), 1e200)": "X[5, 1] is 1e+200, too large to square; rescale the column",
                "sp.csr_matrix(changed(X, (3, 2), np.nan))": "X[3, 2] is NaN; drop or impute missing values",
                "pd.DataFrame(changed(X, (3, 2), np.nan), columns=list('abcd'))": "X[3, 2] (column 'c') is NaN; drop or impute missing values",
                "np.ma.masked_array(X, mask=X > 1)": "X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)",
                "pd.DataFrame(X, columns=list('aacd'))": "columns 0 and 1 are both named 'a'; rename one of them",
            },
            "y": {
                "None": "y has shape (); a vector of length 12 is needed",
                "1.0": "y has shape (); a vector of length 12 is needed",
                "'y'": "y has shape (); a vector of length 12 is needed",
                "Y[:5]": "y has 5 entries but X has 12 rows",
                "Y[:, None]": "y has shape (12, 1); a vector is needed: pass y.ravel()",
                "X": "y has shape (12, 4); a vector of length 12 is needed",
                "Y.astype('U4')": "y has dtype <U4; numbers are needed (try y.astype(float))",
                "Y.astype(object)": "y has dtype object; numbers are needed (try y.astype(float))",
                "Y.astype(complex)": "y has dtype complex128; pass real numbers, e.g. y.real",
                "changed(Y, 7, np.nan)": "y[7] is nan; drop the row or impute the value",
                "changed(Y, 2, np.inf)": "y[2] is inf; drop the row or impute the value",
                "changed(Y, 4, 1e200)": "y[4] is 1e+200, too large to square; rescale y",
                "[]": "y has 0 entries but X has 12 rows",
            },
            "X, y": {
                "(X[:0], Y[:0])": "X has shape (0, 4); it needs at least one row and one column",
                "(changed(X, (3, 2), np.nan), np.zeros(12))": "X[3, 2] is NaN; drop or impute missing values",
            },
            "gamma": {
                "0": "gamma must be a number > 0 (large means a weak ridge), not 0",
                "-1": "gamma must be a number > 0 (large means a weak ridge), not -1",
                "np.nan": "gamma must be a number > 0 (large means a weak ridge), not nan",
                "-np.inf": "gamma must be a number > 0 (large means a weak ridge), not -inf",
                "None": "gamma must be a number, not None",
                "True": "gamma must be a number, not True",
                "[1.0]": "gamma must be a number, not [1.0]",
                "np.array([1.0])": "gamma must be a number, not array([1.])",
                "1j": "gamma must be a number, not 1j",
            },
        },
    ),
    (
        ["solve", "relax", "k_best"],
        {
            "k": {
                "0": "k must be >= 1, not 0",
                "-3": "k must be >= 1, not -3",
                "2.5": "k must be a whole number >= 1, not 2.5",
                "np.nan": "k must be a whole number >= 1, not nan",
                "'2'": "k must be a whole number >= 1, not '2'",
                "True": "k must be a whole number >= 1, not True",
                "[1]": "k must be a whole number >= 1, not [1]",
                "None": "give k (how many columns), penalty (the price of a column), or both",
            },
        },
    ),
    (
        ["solve", "relax", "path", "k_best"],
        {
            "gamma": {
                "'foo'": "gamma must be a positive number or \"auto\", not 'foo'",
            },
            "sign": {
                "2": "sign must be 1 (coefficients >= 0), -1 (<= 0) or 0 (either), not 2",
                "'+'": "sign must be 1 (coefficients >= 0), -1 (<= 0) or 0 (either), not '+'",
                "True": "sign must be 1 (coefficients >= 0), -1 (<= 0) or 0 (either), not True",
                "[1, 1]": "sign has shape (2,), but X has 4 columns; give one entry a column",
                "[1, 1, 3, 0]": "sign of column 2 is 3; it must be 1 (>= 0), -1 (<= 0) or 0 (either)",
                "{0: 'x'}": "the sign of 0 must be 1 (coefficients >= 0), -1 (<= 0) or 0 (either), not 'x'",
                "{9: 1}": "sign names column 9, but X has columns 0 to 3",
                "{'a': 1}": "sign names columns, but X has no column names; give indices",
            },
            "penalty": {
                "-1": "penalty must be a finite number >= 0, not -1",
                "np.nan": "penalty must be a finite number >= 0, not nan",
                "np.inf": "penalty must be a finite number >= 0, not inf",
                "'x'": "penalty must be a number, not 'x'",
                "[1.0]": "penalty has shape (1,), but X has 4 columns; give one entry a column",
                "[1.0, 0.0, -1, 2]": "penalty of column 2 is -1.0; prices are finite numbers >= 0",
                "{0: -1}": "the penalty of 0 must be a finite number >= 0, not -1",
                "{7: 1.0}": "penalty names column 7, but X has columns 0 to 3",
                "{'a': 1.0}": "penalty names columns, but X has no column names; give indices",
                "['a', 'b', 'c', 'd']": "penalty must hold one number a column",
                "True": "penalty must be a number, not True",
            },
            "force_in": {
                "[7]": "force_in names column 7, but X has columns 0 to 3",
                "[-1]": "force_in names column -1, but X has columns 0 to 3",
                "[1, 1]": "force_in names a column twice",
                "[1.0]": "force_in has dtype float64; whole column indices or a boolean mask are needed",
                "1": "force_in has shape (); a vector of column indices is needed",
                "[[0, 1]]": "force_in has shape (1, 2); a vector of column indices is needed",
                "[True, False]": "force_in is a mask of length 2, but X has 4 columns",
                "['a']": "force_in names columns, but X has no column names; give indices",
                "'a'": "force_in names columns, but X has no column names; give indices",
                "{0: 1}": "force_in has shape (); a vector of column indices is needed",
                "[0, 1, 2]": "force_in names 3 columns, but k = 2; raise k or force fewer columns in",
            },
            "force_out": {
                "[7]": "force_out names column 7, but X has columns 0 to 3",
                "[0, 4]": "force_out names column 4, but X has columns 0 to 3",
                "[-1]": "force_out names column -1, but X has columns 0 to 3",
                "[1, 1]": "force_out names a column twice",
                "[1.0]": "force_out has dtype float64; whole column indices or a boolean mask are needed",
                "1": "force_out has shape (); a vector of column indices is needed",
                "[[0, 1]]": "force_out has shape (1, 2); a vector of column indices is needed",
                "[True, False]": "force_out is a mask of length 2, but X has 4 columns",
                "['a']": "force_out names columns, but X has no column names; give indices",
                "'a'": "force_out names columns, but X has no column names; give indices",
                "{0: 1}": "force_out has shape (); a vector of column indices is needed",
            },
            "force_in, force_out": {
                "([1], [2, 1])": "column 1 is both in force_in and in force_out",
            },
            "X, force_out": {
                "(FRAME, ['a', 'e'])": "force_out names 'e', which is not a column of X",
            },
        },
    ),
    (
        ["solve", "path", "k_best"],
        {
            "rel_gap": {
                "None": "rel_gap must be a number, not None",
                "-1": "rel_gap must be a finite number >= 0, not -1",
                "np.nan": "rel_gap must be a finite number >= 0, not nan",
                "np.inf": "rel_gap must be a finite number >= 0, not inf",
                "'x'": "rel_gap must be a number, not 'x'",
                "[1.0]": "rel_gap must be a number, not [1.0]",
                "True": "rel_gap must be a number, not True",
            },
            "time_limit": {
                "-1": "time_limit must be a finite number >= 0, not -1",
                "np.nan": "time_limit must be a finite number >= 0, not nan",
                "np.inf": "time_limit must be a finite number >= 0, not inf",
                "'1'": "time_limit must be a number, not '1'",
                "'x'": "time_limit must be a number, not 'x'",
                "[1.0]": "time_limit must be a number, not [1.0]",
                "True": "time_limit must be a number, not True",
            },
            "node_limit": {
                "0": "node_limit must be >= 1, not 0",
                "-3": "node_limit must be >= 1, not -3",
                "2.5": "node_limit must be a whole number >= 1, not 2.5",
                "np.nan": "node_limit must be a whole number >= 1, not nan",
                "'2'": "node_limit must be a whole number >= 1, not '2'",
                "True": "node_limit must be a whole number >= 1, not True",
                "[1]": "node_limit must be a whole number >= 1, not [1]",
            },
            "threads": {
                "0": "threads must be >= 1, not 0",
                "-3": "threads must be >= 1, not -3",
                "2.5": "threads must be a whole number >= 1, not 2.5",
                "np.nan": "threads must be a whole number >= 1, not nan",
                "'2'": "threads must be a whole number >= 1, not '2'",
                "True": "threads must be a whole number >= 1, not True",
                "[1]": "threads must be a whole number >= 1, not [1]",
                "-5": "threads must be >= 1, not -5",
            },
            "progress": {
                "'yes'": "progress must be True, False or a function, not 'yes'",
                "1": "progress must be True, False or a function, not 1",
                "None": "progress must be True, False or a function, not None",
            },
        },
    ),
    (
        ["solve"],
        {
            "warm_start": {
                "[0, 1, 2]": "warm_start has 3 columns, but k = 2",
                "[9]": "warm_start names column 9, but X has columns 0 to 3",
                "[0.5]": "warm_start has dtype float64; whole column indices or a boolean mask are needed",
                "[True] * 3": "warm_start is a mask of length 3, but X has 4 columns",
                "[1, 1]": "warm_start names a column twice",
                "0": "warm_start has shape (); a vector of column indices is needed",
                "'a'": "warm_start has shape (); a vector of column indices is needed",
            },
            "branching": {
                "'foo'": "branching must be one of largest, fractional, strong, pseudo, not 'foo'",
                "None": "branching must be one of largest, fractional, strong, pseudo, not None",
                "['pseudo']": "branching must be one of largest, fractional, strong, pseudo, not ['pseudo']",
            },
            "memory_limit": {
                "'x'": "memory_limit must be a number, not 'x'",
                "-1": "memory_limit must be a finite number >= 0, not -1",
                "np.nan": "memory_limit must be a finite number >= 0, not nan",
                "None": "memory_limit must be a number, not None",
            },
            "certificate_limit": {
                "np.nan": "certificate_limit must be a finite number >= 0, not nan",
                "None": "certificate_limit must be a number, not None",
            },
            "checkpoint": {
                "3": "checkpoint must be a path, not 3",
                "'nowhere/state.npz'": "cannot write nowhere/state.npz: No such file or directory; make its folder first",
                "'.'": "checkpoint . is a folder; give a file's name",
                "'X.npy'": "X.npy is no checkpoint, or a damaged one (not an archive); delete it to start anew",
                "'garbage'": "garbage is no checkpoint, or a damaged one (not an archive); delete it to start anew",
            },
            "method": {
                "'magic'": "method must be one of search, cutting-plane, big-m, not 'magic'",
                "None": "method must be one of search, cutting-plane, big-m, not None",
                "3": "method must be one of search, cutting-plane, big-m, not 3",
            },
            "backend": {
                "'highs'": 'backend does not apply to method="search"; use method="cutting-plane" or method="big-m"',
            },
            "warm_start, constraints": {
                "([0, 1], pf.constraints.Exclude(0, 1))": "warm_start violates Exclude(columns=(0, 1))",
            },
            "root_cuts": {
                "3": 'root_cuts does not apply to method="search"; use method="cutting-plane"',
            },
            "fractional_cuts": {
                "False": 'fractional_cuts does not apply to method="search"; use method="cutting-plane"',
            },
            "screen": {
                "False": 'screen does not apply to method="search"; use method="cutting-plane"',
            },
            "big_m": {
                "3.0": 'big_m does not apply to method="search"; use method="big-m"',
            },
            "warm_start, force_out": {
                "([0], [0])": "warm_start contradicts force_in or force_out",
            },
            "warm_start, force_in": {
                "([0], [1])": "warm_start contradicts force_in or force_out",
            },
        },
    ),
    (
        ["solve", "path"],
        {
            "certificate_limit": {
                "'x'": "certificate_limit must be a number, not 'x'",
                "-1": "certificate_limit must be a finite number >= 0, not -1",
            },
        },
    ),
    (
        ["solve", "path", "k_best"],
        {
            "constraints": {
                "3": "constraints must be a sequence of constraints, not 3",
                "[3]": "3 is no constraint; use AtMost, Implies, Exclude or Linear of parsifal.constraints",
                "pf.constraints.Linear({0: 1.0}, lower=2)": "no support of at most 2 columns satisfies Linear(coefs={0: 1.0}, lower=2, upper=inf); drop a constraint, or raise k",
            },
        },
    ),
]
