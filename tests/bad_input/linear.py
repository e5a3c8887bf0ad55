# ruff: noqa: E501
"""What the linear estimators refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
LINEAR: Table = [
    (
        ["SparseRegressor"],
        {
            "k": {
                "0": "k must be >= 1, not 0",
                "-3": "k must be >= 1, not -3",
                "2.5": "k must be a whole number >= 1, not 2.5",
                "np.nan": "k must be a whole number >= 1, not nan",
                "'2'": "k must be a whole number >= 1, not '2'",
                "True": "k must be a whole number >= 1, not True",
                "[1]": "k must be a whole number >= 1, not [1]",
                "9": "k = 9, but X has 4 feature(s); choose k <= 4",
            },
            "gamma": {
                "0": "gamma must be a number > 0 (large means a weak ridge), not 0",
                "-1": "gamma must be a number > 0 (large means a weak ridge), not -1",
                "np.nan": "gamma must be a number > 0 (large means a weak ridge), not nan",
                "-np.inf": "gamma must be a number > 0 (large means a weak ridge), not -inf",
                "None": "gamma must be a number, not None",
                "True": "gamma must be a number, not True",
                "'foo'": "gamma must be a positive number or \"auto\", not 'foo'",
                "[1.0]": "gamma must be a number, not [1.0]",
                "np.array([1.0])": "gamma must be a number, not array([1.])",
                "1j": "gamma must be a number, not 1j",
            },
            "rel_gap": {
                "np.nan": "rel_gap must be a finite number >= 0, not nan",
                "np.inf": "rel_gap must be a finite number >= 0, not inf",
                "'x'": "rel_gap must be a number, not 'x'",
                "[1.0]": "rel_gap must be a number, not [1.0]",
                "True": "rel_gap must be a number, not True",
            },
            "time_limit": {
                "np.nan": "time_limit must be a finite number >= 0, not nan",
                "np.inf": "time_limit must be a finite number >= 0, not inf",
                "'x'": "time_limit must be a number, not 'x'",
                "[1.0]": "time_limit must be a number, not [1.0]",
                "True": "time_limit must be a number, not True",
            },
            "node_limit": {
                "-3": "node_limit must be >= 1, not -3",
                "2.5": "node_limit must be a whole number >= 1, not 2.5",
                "np.nan": "node_limit must be a whole number >= 1, not nan",
                "'2'": "node_limit must be a whole number >= 1, not '2'",
                "True": "node_limit must be a whole number >= 1, not True",
                "[1]": "node_limit must be a whole number >= 1, not [1]",
            },
            "warm_start": {
                "'no'": "warm_start must be True or False, not 'no'",
                "2": "warm_start must be True or False, not 2",
                "None": "warm_start must be True or False, not None",
                "[]": "warm_start must be True or False, not []",
            },
        },
    ),
    (
        ["SparseRegressor", "SparseRegressorCV"],
        {
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
            "refit": {
                "'ridge'": "refit must be \"ols\" or None, not 'ridge'",
                "True": 'refit must be "ols" or None, not True',
            },
            "fit_intercept": {
                "'no'": "fit_intercept must be True or False, not 'no'",
                "2": "fit_intercept must be True or False, not 2",
                "None": "fit_intercept must be True or False, not None",
                "[]": "fit_intercept must be True or False, not []",
            },
            "standardize": {
                "'no'": "standardize must be True or False, not 'no'",
                "2": "standardize must be True or False, not 2",
                "None": "standardize must be True or False, not None",
                "[]": "standardize must be True or False, not []",
            },
            "method": {
                "'magic'": "method must be one of search, cutting-plane, big-m, not 'magic'",
                "None": "method must be one of search, cutting-plane, big-m, not None",
                "3": "method must be one of search, cutting-plane, big-m, not 3",
            },
            "constraints": {
                "3": "constraints must be a sequence of constraints, not 3",
            },
            "positive": {
                "'no'": "positive must be True or False, not 'no'",
                "None": "positive must be True or False, not None",
            },
            "positive, sign": {
                "(True, {0: 1})": "give positive=True or sign, not both",
            },
            "positive, refit": {
                "(True, 'ols')": 'refit="ols" does not keep signs; leave it out, or give gamma=np.inf instead',
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
            },
            "force_out": {
                "[7]": "force_out names column 7, but X has columns 0 to 3",
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
            "adjust": {
                "[7]": "adjust names column 7, but X has columns 0 to 3",
                "[-1]": "adjust names column -1, but X has columns 0 to 3",
                "[1, 1]": "adjust names a column twice",
                "[1.0]": "adjust has dtype float64; whole column indices or a boolean mask are needed",
                "1": "adjust has shape (); a vector of column indices is needed",
                "[True, False]": "adjust is a mask of length 2, but X has 4 columns",
                "['a']": "adjust names columns, but X has no column names; give indices",
                "[0, 1, 2, 3]": "adjust names every column of X, which leaves none to choose",
            },
            "adjust, force_in": {
                "([1], [1])": "column 1 is both in adjust and in force_in",
            },
            "rel_gap": {
                "None": "rel_gap must be a number, not None",
                "-1": "rel_gap must be a finite number >= 0, not -1",
            },
            "time_limit": {
                "-1": "time_limit must be a finite number >= 0, not -1",
            },
            "node_limit": {
                "0": "node_limit must be >= 1, not 0",
            },
            "checkpoint": {
                "3": "checkpoint must be a path, not 3",
                "'nowhere/f.npz'": "cannot write nowhere/f.npz: No such file or directory; make its folder first",
                "'.'": "checkpoint . is a folder; give a file's name",
            },
            "n_jobs": {
                "0": "n_jobs must be a whole number other than 0 (-1: all cores) or None, not 0",
                "1.5": "n_jobs must be a whole number other than 0 (-1: all cores) or None, not 1.5",
                "'x'": "n_jobs must be a whole number other than 0 (-1: all cores) or None, not 'x'",
            },
            "progress": {
                "'yes'": "progress must be True, False or a function, not 'yes'",
                "1": "progress must be True, False or a function, not 1",
                "None": "progress must be True, False or a function, not None",
            },
            "method, backend": {
                "('cutting-plane', 'cplex')": "backend must be one of scip, highs, gurobi, not 'cplex'",
            },
        },
    ),
    (
        ["SparseRegressor.fit", "SparseRegressor.predict", "SparseRegressor.check", "SparseRegressorCV.fit"],
        {
            "X": {
                "None": "X is a NoneType; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
            },
        },
    ),
    (
        ["SparseRegressor.fit", "SparseRegressor.predict", "SparseRegressorCV.fit"],
        {
            "X": {
                "'X'": "X is a str; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
                "Y": "X has shape (12,); it must have two dimensions. Reshape your data: X.reshape(-1, 1) is one feature, X.reshape(1, -1) is one row",
                "X[:0]": "X has 0 sample(s) (shape=(0, 4)) while a minimum of 1 is required.",
                "X.astype('U4')": "X has dtype <U4; encode it as numbers first",
                "X.astype(complex)": "Complex data not supported: X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "sp.csr_matrix(X.astype(complex))": "Complex data not supported: X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "FRAME.astype({'c': complex})": "column 'c' has dtype complex128; pass real numbers, e.g. its real and imaginary parts as two columns",
                "X.astype(complex).astype(object) + 1j - 1j": "Complex data not supported: X[0, 0] is (0.1257302210933933+0j); pass real numbers",
            },
        },
    ),
    (
        ["SparseRegressor.fit", "SparseRegressorCV.fit"],
        {
            "X": {
                "3.0": "X has shape (); it must have two dimensions. Reshape your data: X.reshape(-1, 1) is one feature, X.reshape(1, -1) is one row",
                "X[None]": "X has shape (1, 12, 4); it must have two dimensions, e.g. X.reshape(len(X), -1)",
                "X[:, :0]": "X has 0 feature(s) (shape=(12, 0)) while a minimum of 1 is required.",
                "changed(X, (3, 2), np.nan)": "X[3, 2] is NaN; drop or impute missing values",
                "changed(X, (5, 1), -np.inf)": "X[5, 1] is -inf; drop or replace infinite values",
                "changed(X, (5, 1), 1e200)": "X[5, 1] is 1e+200, too large to square; rescale the column",
                "sp.csr_matrix(changed(X, (3, 2), np.nan))": "X[3, 2] is NaN; drop or impute missing values",
                "pd.DataFrame(changed(X, (3, 2), np.nan), columns=list('abcd'))": "X[3, 2] (column 'c') is NaN; drop or impute missing values",
                "np.ma.masked_array(X, mask=X > 1)": "X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)",
                "pd.DataFrame(X, columns=list('aacd'))": "columns 0 and 1 are both named 'a'; rename one of them",
            },
            "y": {
                "1.0": "y has shape (); a vector of length 12 is needed",
                "'y'": "y has shape (); a vector of length 12 is needed",
                "X": "y has 4 columns; fit one model a column, e.g. with sklearn.multioutput.MultiOutputRegressor(model).fit(X, y)",
                "Y.astype(str).astype(object)": "y[0] is the string '1.801634869866125'; numbers are needed (try y.astype(float))",
                "Y.astype('U4')": "y has dtype <U4; numbers are needed (try y.astype(float))",
                "Y.astype(complex)": "Complex data not supported: y has dtype complex128; pass real numbers, e.g. y.real",
                "changed(Y, 7, np.nan)": "y[7] is nan; drop the row or impute the value",
                "changed(Y, 2, np.inf)": "y[2] is inf; drop the row or impute the value",
                "changed(Y, 4, 1e200)": "y[4] is 1e+200, too large to square; rescale y",
                "[]": "y has 0 entries but X has 12 rows",
            },
            "sample_weight": {
                "-np.ones(12)": "sample_weight[0] is -1; a weight must be a finite number >= 0",
                "np.zeros(12)": "sample_weight is zero everywhere; at least one row must count",
                "changed(np.ones(12), 3, np.nan)": "sample_weight[3] is nan; a weight must be a finite number >= 0",
                "np.ones((12, 2))": "sample_weight has shape (12, 2); it must have shape (12,)",
                "'w'": "sample_weight must be 12 numbers, or one for all rows",
                "np.ones(12, dtype=complex)": "sample_weight must be 12 numbers, or one for all rows",
            },
        },
    ),
    (
        ["SparseRegressor.fit", "SparseRegressor.check", "SparseRegressor.summary"],
        {
            "y": {
                "None": "This SparseRegressor estimator requires y to be passed, but the target y is None.",
            },
        },
    ),
    (
        ["SparseRegressor.fit", "SparseRegressor.check", "SparseRegressor.summary", "SparseRegressorCV.fit"],
        {
            "y": {
                "Y[:5]": "y has 5 entries but X has 12 rows",
            },
            "sample_weight": {
                "np.ones(5)": "sample_weight has shape (5,); it must have shape (12,)",
            },
        },
    ),
    (
        ["SparseRegressor.predict", "SparseRegressor.check", "SparseRegressor.summary"],
        {
            "X": {
                "X[:, :3]": "X has 3 features, but SparseRegressor is expecting 4 features as input.",
            },
        },
    ),
    (
        ["SparseRegressor.check", "SparseRegressor.summary"],
        {
            "X": {
                "X[:5]": "y has 12 entries but X has 5 rows",
            },
        },
    ),
    (
        ["SparseRegressorCV"],
        {
            "ks": {
                "None": "ks must be a sequence of whole numbers >= 1, not None",
                "3": "ks must be a sequence of whole numbers >= 1, not 3",
                "[]": "ks is empty; give at least one size",
                "[0]": "an entry of ks must be >= 1, not 0",
                "[1.5]": "an entry of ks must be a whole number >= 1, not 1.5",
                "'12'": "ks must be a sequence of whole numbers >= 1, not '12'",
                "[9]": "every k in ks is larger than the number of features: X has 4 feature(s)",
                "[np.nan]": "an entry of ks must be a whole number >= 1, not nan",
            },
            "gammas": {
                "'foo'": "gammas must be positive numbers or \"auto\", not 'foo'",
                "[]": "gammas is empty; give at least one ridge weight",
                "[0]": "gamma must be a number > 0 (large means a weak ridge), not 0",
                "[-1]": "gamma must be a number > 0 (large means a weak ridge), not -1",
                "[np.nan]": "gamma must be a number > 0 (large means a weak ridge), not nan",
                "None": "gamma must be a number, not None",
                "['a']": "gamma must be a number, not 'a'",
            },
            "cv": {
                "1": "cv = 1, but n_samples = 12; give at least 2 folds, and a row for each",
                "0": "cv = 0, but n_samples = 12; give at least 2 folds, and a row for each",
                "'five'": "cv must be a number of folds, a splitter or (train, test) pairs, not 'five'",
                "13": "cv = 13, but n_samples = 12; give at least 2 folds, and a row for each",
                "[]": "cv gives no folds; give a number of folds, a splitter or (train, test) pairs of rows",
                "3.5": "cv must be a number of folds, a splitter or (train, test) pairs, not 3.5",
                "[([0, 1], [99])]": "cv holds 99, but the rows are 0 to 11",
                "[([], [0])]": "fold 0 has 0 training and 1 test rows; use fewer folds or more rows",
            },
            "scoring": {
                "'magic'": "scoring 'magic' is not known; sklearn.metrics.get_scorer_names() lists the names",
                "3": "scoring must be a scorer's name, a callable or None, not 3",
            },
            "one_se": {
                "'no'": "one_se must be True or False, not 'no'",
                "2": "one_se must be True or False, not 2",
                "None": "one_se must be True or False, not None",
                "[]": "one_se must be True or False, not []",
            },
            "node_limit": {
                "1.5": "node_limit must be a whole number >= 1, not 1.5",
            },
            "fold_node_limit": {
                "0": "node_limit must be >= 1, not 0",
                "1.5": "node_limit must be a whole number >= 1, not 1.5",
            },
            "fold_time_limit": {
                "-1": "time_limit must be a finite number >= 0, not -1",
                "'x'": "time_limit must be a number, not 'x'",
            },
            "checkpoint": {
                "'garbage'": "garbage is no journal of a cross-validation: it is something else; delete it to start anew",
            },
            "ks, force_in": {
                "([1], [0, 1])": "force_in names 2 features, but ks begins with 1",
            },
        },
    ),
    (
        ["SparseRegressorCV.fit"],
        {
            "y": {
                "None": "This SparseRegressorCV estimator requires y to be passed, but the target y is None.",
            },
        },
    ),
]
