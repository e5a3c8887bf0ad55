# ruff: noqa: E501
"""What data sets, measures, reports and pictures refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
OTHERS: Table = [
    (
        ["datasets.make_sparse_regression"],
        {
            "n_samples": {
                "0": "n_samples must be >= 1, not 0",
                "-3": "n_samples must be >= 1, not -3",
                "2.5": "n_samples must be a whole number >= 1, not 2.5",
                "np.nan": "n_samples must be a whole number >= 1, not nan",
                "'2'": "n_samples must be a whole number >= 1, not '2'",
                "True": "n_samples must be a whole number >= 1, not True",
                "[1]": "n_samples must be a whole number >= 1, not [1]",
            },
            "n_features": {
                "0": "n_features must be >= 1, not 0",
                "-3": "n_features must be >= 1, not -3",
                "2.5": "n_features must be a whole number >= 1, not 2.5",
                "np.nan": "n_features must be a whole number >= 1, not nan",
                "'2'": "n_features must be a whole number >= 1, not '2'",
                "True": "n_features must be a whole number >= 1, not True",
                "[1]": "n_features must be a whole number >= 1, not [1]",
            },
            "k": {
                "9": "k = 9 nonzero coefficients do not fit into n_features = 5 columns",
            },
            "rho": {
                "1.0": "rho must be in [0, 1), not 1.0",
            },
            "random_state": {
                "'x'": "random_state must be a whole number, a numpy Generator or None, not 'x'",
                "-1": "random_state must be >= 0, not -1",
                "1.5": "random_state must be a whole number, a numpy Generator or None, not 1.5",
            },
            "dtype": {
                "'text'": "dtype must be float64 or float32, not 'text'",
                "int": "dtype must be float64 or float32, not int64",
                "complex": "dtype must be float64 or float32, not complex128",
                "3": "dtype must be float64 or float32, not 3",
            },
            "order": {
                "'A'": 'order must be "C" or "F", not \'A\'',
                "None": 'order must be "C" or "F", not None',
                "3": 'order must be "C" or "F", not 3',
            },
        },
    ),
    (
        ["datasets.make_sparse_regression", "datasets.SyntheticDesign"],
        {
            "k": {
                "0": "k must be >= 1, not 0",
                "-3": "k must be >= 1, not -3",
                "2.5": "k must be a whole number >= 1, not 2.5",
                "np.nan": "k must be a whole number >= 1, not nan",
                "'2'": "k must be a whole number >= 1, not '2'",
                "True": "k must be a whole number >= 1, not True",
                "[1]": "k must be a whole number >= 1, not [1]",
            },
            "rho": {
                "-0.1": "rho must be a finite number >= 0, not -0.1",
                "np.nan": "rho must be a finite number >= 0, not nan",
                "'x'": "rho must be a number, not 'x'",
            },
            "sqrt_snr": {
                "0": "sqrt_snr must be > 0; use math.inf for data without noise",
                "-1": "sqrt_snr must be a finite number >= 0, not -1",
                "np.nan": "sqrt_snr must be a finite number >= 0, not nan",
                "'x'": "sqrt_snr must be a number, not 'x'",
            },
        },
    ),
    (
        ["datasets.SyntheticDesign"],
        {
            "n": {
                "0": "n must be >= 1, not 0",
                "-3": "n must be >= 1, not -3",
                "2.5": "n must be a whole number >= 1, not 2.5",
                "np.nan": "n must be a whole number >= 1, not nan",
                "'2'": "n must be a whole number >= 1, not '2'",
                "True": "n must be a whole number >= 1, not True",
                "[1]": "n must be a whole number >= 1, not [1]",
            },
            "p": {
                "0": "p must be >= 1, not 0",
                "-3": "p must be >= 1, not -3",
                "2.5": "p must be a whole number >= 1, not 2.5",
                "np.nan": "p must be a whole number >= 1, not nan",
                "'2'": "p must be a whole number >= 1, not '2'",
                "True": "p must be a whole number >= 1, not True",
                "[1]": "p must be a whole number >= 1, not [1]",
            },
            "k": {
                "9": "k = 9 nonzero coefficients do not fit into p = 5 columns",
            },
            "rho": {
                "1.0": "rho must be in [0, 0.9999], not 1.0",
            },
            "seed": {
                "'x'": "seed must be a whole number from 0 to 2**64 - 1, not 'x'",
                "-1": "seed must be a whole number from 0 to 2**64 - 1, not -1",
                "1.5": "seed must be a whole number from 0 to 2**64 - 1, not 1.5",
                "None": "seed must be a whole number from 0 to 2**64 - 1, not None",
                "2**70": "seed must be a whole number from 0 to 2**64 - 1, not 1180591620717411303424",
            },
        },
    ),
    (
        ["metrics.accuracy", "metrics.false_alarm_rate"],
        {
            "true_support": {
                "None": "true_support has shape (); a vector of column indices is needed",
                "'x'": "true_support has shape (); a vector of column indices is needed",
            },
            "support": {
                "None": "support has shape (); a vector of column indices is needed",
                "'x'": "support has shape (); a vector of column indices is needed",
                "[0.5]": "support has dtype float64; whole column indices or a boolean mask are needed",
            },
        },
    ),
    (
        ["metrics.accuracy"],
        {
            "true_support": {
                "[0.5]": "true_support has dtype float64; whole column indices or a boolean mask are needed",
                "[[0]]": "true_support has shape (1, 1); a vector of column indices is needed",
                "3": "true_support has shape (); a vector of column indices is needed",
            },
            "support": {
                "[[0]]": "support has shape (1, 1); a vector of column indices is needed",
                "[-1]": "support names column -1; column indices start at 0",
            },
        },
    ),
    (
        ["report"],
        {
            "model": {
                "None": "the model must be a SparseRegressor or a SparseRegressorCV, not None",
                "pf.SparseRegressor()": "the model is not fitted; call fit first",
                "3": "the model must be a SparseRegressor or a SparseRegressorCV, not 3",
                "kernel_model()": "the model must be a SparseRegressor or a SparseRegressorCV, not SparseKernelRegressor(gamma=1.0, k=1, kernels=['linear', 'rbf'])",
            },
            "X": {
                "None": "X is a NoneType; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
                "X[:, :3]": "X has 3 features, but SparseRegressor is expecting 4 features as input.",
                "X[:5]": "y has 12 entries but X has 5 rows",
            },
            "y": {
                "None": "This SparseRegressor estimator requires y to be passed, but the target y is None.",
                "Y[:5]": "y has 5 entries but X has 12 rows",
            },
            "path": {
                "3": "path must be a path, not 3",
                "None": "path must be a path, not None",
                "'nowhere/r.html'": "cannot write nowhere/r.html: No such file or directory; make its folder first",
                "'.'": "cannot write .: it is a folder; give a file's name",
            },
            "sample_weight": {
                "np.ones(5)": "sample_weight has shape (5,); it must have shape (12,)",
            },
            "history": {
                "3": "history must be a History, or another sequence of Progress",
                "[3]": "history must be a History, or another sequence of Progress",
            },
            "time_limit": {
                "-1": "time_limit must be a finite number >= 0, not -1",
                "np.nan": "time_limit must be a finite number >= 0, not nan",
                "'x'": "time_limit must be a number, not 'x'",
            },
            "target": {
                "3": "target must be a text, not 3",
                "None": "target must be a text, not None",
            },
            "command": {
                "3": "command must be a text, not 3",
            },
            "data": {
                "3": "data must be pairs of texts, (name, value), not 3",
                "[3]": "data must be pairs of texts, (name, value), not [3]",
                "[('a',)]": "data must be pairs of texts, (name, value), not [('a',)]",
            },
        },
    ),
    (
        ["plots.coefficients", "plots.criteria", "plots.r2"],
        {
            "path": {
                "None": "path must come from pf.path, not be None",
                "3": "path must come from pf.path, not be 3",
            },
        },
    ),
    (
        ["plots.coefficients"],
        {
            "path": {
                "[]": "path must come from pf.path, not be []",
                "cv_model()": "path must come from pf.path, not be SparseRegressorCV(cv=3, gammas=(0.1, 1.0), ks=(1, 2))",
            },
            "names": {
                "-1": "names must be >= 1, not -1",
                "'x'": "names must be a whole number >= 1, not 'x'",
                "2.5": "names must be a whole number >= 1, not 2.5",
            },
            "ax": {
                "'ax'": "ax must be matplotlib Axes, not 'ax'",
            },
        },
    ),
    (
        [
            "plots.coefficients",
            "plots.criteria",
            "plots.r2",
            "plots.cv_curve",
            "plots.support_agreement",
            "plots.shrinkage",
            "plots.residuals",
            "plots.ranking",
        ],
        {
            "ax": {
                "3": "ax must be matplotlib Axes, not 3",
            },
        },
    ),
    (
        ["plots.criteria"],
        {
            "which": {
                "'magic'": 'which must be a sequence of "aic", "bic" and "ebic", not \'magic\'',
                "['magic']": 'which may name "aic", "bic" and "ebic", not \'magic\'',
                "[]": 'which must be a sequence of "aic", "bic" and "ebic", not []',
                "3": 'which must be a sequence of "aic", "bic" and "ebic", not 3',
            },
        },
    ),
    (
        ["plots.cv_curve", "plots.support_agreement"],
        {
            "model": {
                "None": "the model must be a SparseRegressorCV, not None",
                "model()": "the model must be a SparseRegressorCV, not SparseRegressor(k=2)",
            },
        },
    ),
    (
        ["plots.cv_curve"],
        {
            "model": {
                "3": "the model must be a SparseRegressorCV, not 3",
                "pf.SparseRegressorCV()": "the model is not fitted; call fit first",
            },
        },
    ),
    (
        ["plots.support_agreement"],
        {
            "most": {
                "0": "most must be >= 1, not 0",
                "-1": "most must be >= 1, not -1",
                "'x'": "most must be a whole number >= 1, not 'x'",
            },
        },
    ),
    (
        ["plots.bounds"],
        {
            "history": {
                "None": "history must come from pf.solve(..., progress=history), not be None",
                "3": "history must come from pf.solve(..., progress=history), not be 3",
                "[]": "the history is empty; pass it to solve as progress=history",
                "[3]": "history must come from pf.solve(..., progress=history), not be 3",
            },
            "ax": {
                "3": "the history is empty; pass it to solve as progress=history",
            },
        },
    ),
    (
        ["plots.shrinkage", "plots.residuals"],
        {
            "model": {
                "None": "the model must be a SparseRegressor or a SparseRegressorCV, not None",
                "pf.SparseRegressor()": "the model is not fitted; call fit first",
            },
        },
    ),
    (
        ["plots.shrinkage"],
        {
            "most": {
                "0": "most must be >= 1, not 0",
            },
        },
    ),
    (
        ["plots.residuals"],
        {
            "y": {
                "Y[:5]": "y has 5 entries but X has 12 rows",
            },
        },
    ),
    (
        ["plots.ranking"],
        {
            "best": {
                "None": "best must come from pf.k_best, not be None",
                "3": "best must come from pf.k_best, not be 3",
            },
        },
    ),
]
