# ruff: noqa: E501
"""What kernels and nonlinear features refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
NONLINEAR: Table = [
    (
        ["SparseKernelRegressor"],
        {
            "kernels": {
                "3": "kernels must be a sequence, not 3",
                "[]": "kernels is empty; give at least one",
                "[3]": "kernels[0] is 3; give a kernel's name, (name, parameters), a callable, or an array",
                "[np.eye(5)]": "kernels[0] has shape (5, 5); a kernel matrix or factor of 12 rows is needed",
            },
            "k": {
                "0": "k must be >= 1, not 0",
                "-3": "k must be >= 1, not -3",
                "2.5": "k must be a whole number >= 1, not 2.5",
                "np.nan": "k must be a whole number >= 1, not nan",
                "'2'": "k must be a whole number >= 1, not '2'",
                "True": "k must be a whole number >= 1, not True",
                "[1]": "k must be a whole number >= 1, not [1]",
            },
            "gamma": {
                "0": "gamma must be a finite number > 0 (large means a weak ridge), not 0",
                "-1": "gamma must be a finite number > 0 (large means a weak ridge), not -1",
                "np.nan": "gamma must be a finite number > 0 (large means a weak ridge), not nan",
                "np.inf": "gamma must be a finite number > 0 (large means a weak ridge), not inf",
                "None": "gamma must be a number, not None",
                "True": "gamma must be a number, not True",
                "'foo'": "gamma must be a positive number or \"auto\", not 'foo'",
                "[1.0]": "gamma must be a number, not [1.0]",
                "np.array([1.0])": "gamma must be a number, not array([1.])",
                "1j": "gamma must be a number, not 1j",
            },
            "groups": {
                "3": "give kernels or groups, not both",
                "[]": "give kernels or groups, not both",
                "[[0, 9]]": "give kernels or groups, not both",
                "'ab'": "give kernels or groups, not both",
                "[[0]]": "give kernels or groups, not both",
            },
            "penalty": {
                "-1": "penalty must be a finite number >= 0, not -1",
                "np.nan": "penalty must be a finite number >= 0, not nan",
                "np.inf": "penalty must be a finite number >= 0, not inf",
                "'x'": "penalty must be a number, not 'x'",
                "[1.0]": "penalty has 1 prices, but there are 2 kernels or groups",
                "True": "penalty must be a number, not True",
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
            "normalize": {
                "'no'": "normalize must be True or False, not 'no'",
                "2": "normalize must be True or False, not 2",
                "None": "normalize must be True or False, not None",
                "[]": "normalize must be True or False, not []",
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
            "progress": {
                "'yes'": "progress must be True, False or a function, not 'yes'",
                "1": "progress must be True, False or a function, not 1",
                "None": "progress must be True, False or a function, not None",
            },
        },
    ),
    (
        [
            "SparseKernelRegressor.fit",
            "SparseKernelRegressor.predict",
            "NonlinearFeatures.fit",
            "NonlinearFeatures.fit_design",
            "NonlinearFeatures.transform",
            "NonlinearFeatures.design",
        ],
        {
            "X": {
                "None": "X is a NoneType; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
            },
        },
    ),
    (
        [
            "SparseKernelRegressor.fit",
            "SparseKernelRegressor.predict",
            "NonlinearFeatures.fit",
            "NonlinearFeatures.transform",
            "NonlinearFeatures.design",
        ],
        {
            "X": {
                "'X'": "X is a str; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
            },
        },
    ),
    (
        ["SparseKernelRegressor.fit", "NonlinearFeatures.fit"],
        {
            "X": {
                "3.0": "X has shape (); it must have two dimensions. Reshape your data: X.reshape(-1, 1) is one feature, X.reshape(1, -1) is one row",
                "X[None]": "X has shape (1, 12, 4); it must have two dimensions, e.g. X.reshape(len(X), -1)",
                "X[:0]": "X has 0 sample(s) (shape=(0, 4)) while a minimum of 1 is required.",
                "X[:, :0]": "X has 0 feature(s) (shape=(12, 0)) while a minimum of 1 is required.",
                "X.astype(complex)": "Complex data not supported: X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "sp.csr_matrix(X.astype(complex))": "Complex data not supported: X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "FRAME.astype({'c': complex})": "column 'c' has dtype complex128; pass real numbers, e.g. its real and imaginary parts as two columns",
                "X.astype(complex).astype(object) + 1j - 1j": "Complex data not supported: X[0, 0] is (0.1257302210933933+0j); pass real numbers",
                "np.ma.masked_array(X, mask=X > 1)": "X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)",
                "pd.DataFrame(X, columns=list('aacd'))": "columns 0 and 1 are both named 'a'; rename one of them",
            },
        },
    ),
    (
        [
            "SparseKernelRegressor.fit",
            "SparseKernelRegressor.predict",
            "NonlinearFeatures.fit",
            "NonlinearFeatures.transform",
        ],
        {
            "X": {
                "Y": "X has shape (12,); it must have two dimensions. Reshape your data: X.reshape(-1, 1) is one feature, X.reshape(1, -1) is one row",
            },
        },
    ),
    (
        ["SparseKernelRegressor.fit", "NonlinearFeatures.fit", "NonlinearFeatures.fit_design"],
        {
            "X": {
                "X.astype('U4')": "X has dtype <U4; encode it as numbers first",
            },
        },
    ),
    (
        ["SparseKernelRegressor.fit"],
        {
            "X": {
                "changed(X, (5, 1), 1e200)": "X[5, 1] is 1e+200, too large to square; rescale the column",
            },
            "y": {
                "None": "This SparseKernelRegressor estimator requires y to be passed, but the target y is None.",
                "1.0": "y has shape (); a vector of length 12 is needed",
                "'y'": "y has shape (); a vector of length 12 is needed",
                "Y[:5]": "y has 5 entries but X has 12 rows",
                "X": "y has 4 columns; fit one model a column, e.g. with sklearn.multioutput.MultiOutputRegressor(model).fit(X, y)",
                "Y.astype('U4')": "y has dtype <U4; numbers are needed (try y.astype(float))",
                "Y.astype(complex)": "Complex data not supported: y has dtype complex128; pass real numbers, e.g. y.real",
                "changed(Y, 7, np.nan)": "Input y contains NaN.",
                "changed(Y, 2, np.inf)": "Input y contains infinity or a value too large for dtype('float64').",
                "changed(Y, 4, 1e200)": "y[4] is 1e+200, too large to square; rescale y",
                "[]": "y has 0 entries but X has 12 rows",
            },
        },
    ),
    (
        ["SparseKernelRegressor.predict"],
        {
            "X": {
                "X[:, :3]": "X has 3 features, but SparseKernelRegressor is expecting 4 features as input.",
            },
            "given": {
                "3": "given must be a mapping from kernels' numbers to arrays, not 3",
            },
        },
    ),
    (
        ["NonlinearFeatures"],
        {
            "functions": {
                "3": "functions must be names, callables or (name, callable) pairs, not 3",
                "[3]": "functions holds 3; give names, callables or (name, callable) pairs",
                "[]": "functions is empty; give at least one name or callable",
                "{}": "functions is empty; give at least one name or callable",
                "{'a': 3}": "functions holds ('a', 3); give names, callables or (name, callable) pairs",
            },
            "products": {
                "'magic'": "products must be one of False, True, 'all', not 'magic'",
                "3": "products must be one of False, True, 'all', not 3",
                "None": "products must be one of False, True, 'all', not None",
            },
            "invalid": {
                "'magic'": "invalid must be one of 'clip', 'drop', 'error', not 'magic'",
                "None": "invalid must be one of 'clip', 'drop', 'error', not None",
            },
            "hierarchy": {
                "'both'": "hierarchy must be one of None, 'strong', 'weak', not 'both'",
                "True": "hierarchy must be one of None, 'strong', 'weak', not True",
            },
            "constant": {
                "'magic'": "constant must be one of 'drop', 'keep', not 'magic'",
                "None": "constant must be one of 'drop', 'keep', not None",
            },
        },
    ),
    (
        ["NonlinearFeatures.fit_design", "NonlinearFeatures.design"],
        {
            "X": {
                "Y": "X has shape (12,); it must have two dimensions, e.g. X.reshape(-1, 1)",
            },
        },
    ),
    (
        ["NonlinearFeatures.fit_design"],
        {
            "X": {
                "X[:0]": "X has shape (0, 4); it needs at least one row and one column",
                "changed(X, (3, 2), np.nan)": "X[3, 2] is nan; drop or impute missing and infinite values",
            },
        },
    ),
    (
        ["NonlinearFeatures.transform"],
        {
            "X": {
                "POSITIVE[:, :3]": "X has 3 features, but NonlinearFeatures is expecting 4 features as input.",
            },
        },
    ),
    (
        ["NonlinearFeatures.design"],
        {
            "X": {
                "POSITIVE[:, :3]": "X has 3 columns, but fit saw 4",
            },
        },
    ),
    (
        ["NonlinearFeatures.formula"],
        {
            "coef": {
                "None": "coef has shape (); it must have shape (38,)",
                "[1.0]": "coef has shape (1,); it must have shape (38,)",
                "'x'": "coef must be 38 numbers, and intercept a number",
                "np.full(len(features().get_feature_names_out()), np.nan)": "coef and intercept must be finite",
            },
            "intercept": {
                "'x'": "coef must be 38 numbers, and intercept a number",
                "None": "coef must be 38 numbers, and intercept a number",
                "np.nan": "coef and intercept must be finite",
            },
            "digits": {
                "-1": "digits must be >= 1, not -1",
                "'x'": "digits must be a whole number >= 1, not 'x'",
                "2.5": "digits must be a whole number >= 1, not 2.5",
                "0": "digits must be >= 1, not 0",
            },
        },
    ),
    (
        ["NonlinearFeatures.formula", "NonlinearFeatures.get_feature_names_out"],
        {
            "input_features": {
                "3": "input_features must be the columns' names, not 3",
            },
        },
    ),
    (
        ["NonlinearFeatures.at_most_per_variable"],
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
