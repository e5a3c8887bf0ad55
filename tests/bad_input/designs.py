# ruff: noqa: E501
"""What designs, kernels, groups and certificates refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
DESIGNS: Table = [
    (
        ["solve_kernels"],
        {
            "kernels": {
                "None": "kernels must be a sequence of matrices and factors, not NoneType",
                "3": "kernels must be a sequence of matrices and factors, not int",
                "[]": "kernels is empty; give at least one matrix or factor",
                "X": "kernels[0] has shape (4,); a matrix or factor of numbers with 12 rows is needed",
                "[np.eye(5)]": "kernels[0] has shape (5, 5); a matrix or factor of numbers with 12 rows is needed",
                "[np.full((12, 12), np.nan)]": "kernels[0] holds NaN or infinite values",
                "[np.triu(np.ones((12, 12)))]": "kernels[0] is not symmetric",
                "['rbf']": "kernels[0] has shape (); a matrix or factor of numbers with 12 rows is needed",
                "[np.eye(12, dtype=complex)]": "kernels[0] holds complex numbers; a matrix or factor of real ones is needed",
            },
            "y": {
                "None": "y has shape (); a vector of length 0 is needed",
                "1.0": "y has shape (); a vector of length 0 is needed",
                "'y'": "y has shape (); a vector of length 0 is needed",
                "Y[:5]": "kernels[0] has shape (12, 12); a matrix or factor of numbers with 5 rows is needed",
                "[]": "kernels[0] has shape (12, 12); a matrix or factor of numbers with 0 rows is needed",
            },
            "penalty": {
                "-1": "penalty must be a finite number >= 0, not -1",
                "np.nan": "penalty must be a finite number >= 0, not nan",
                "np.inf": "penalty must be a finite number >= 0, not inf",
                "'x'": "penalty must be a number, not 'x'",
                "[1.0]": "penalty has 1 prices, but there are 2 kernels or groups",
                "[1.0, -1]": "penalty[1] must be a finite number >= 0, not -1",
                "[1.0, 'x']": "penalty[1] must be a number, not 'x'",
                "True": "penalty must be a number, not True",
            },
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
            "warm_start": {
                "[9]": "warm_start names kernel or group 9, but there are 2",
                "[0, 1]": "warm_start has 2 kernels or groups, but k = 1",
                "'a'": "warm_start has shape (); a vector of kernel or group indices is needed",
            },
            "force_in": {
                "[7]": "force_in names kernel or group 7, but there are 2",
                "[0, 1]": "force_in names 2 kernels or groups, but k = 1; raise k or force fewer in",
                "['a']": "force_in has dtype <U1; whole kernel or group indices or a boolean mask are needed",
            },
            "force_out": {
                "[7]": "force_out names kernel or group 7, but there are 2",
            },
            "progress": {
                "'yes'": "progress must be True, False or a function, not 'yes'",
                "1": "progress must be True, False or a function, not 1",
                "None": "progress must be True, False or a function, not None",
            },
        },
    ),
    (
        ["solve_kernels", "solve_groups"],
        {
            "y": {
                "Y[:, None]": "y has shape (12, 1); a vector is needed: pass y.ravel()",
                "X": "y has shape (12, 4); a vector of length 12 is needed",
                "Y.astype('U4')": "y has dtype <U4; numbers are needed (try y.astype(float))",
                "Y.astype(object)": "y has dtype object; numbers are needed (try y.astype(float))",
                "Y.astype(complex)": "y has dtype complex128; pass real numbers, e.g. y.real",
                "changed(Y, 7, np.nan)": "y[7] is nan; drop the row or impute the value",
                "changed(Y, 2, np.inf)": "y[2] is inf; drop the row or impute the value",
                "changed(Y, 4, 1e200)": "y[4] is 1e+200, too large to square; rescale y",
            },
            "k": {
                "0": "k must be >= 1, not 0",
                "-3": "k must be >= 1, not -3",
                "2.5": "k must be a whole number >= 1, not 2.5",
                "np.nan": "k must be a whole number >= 1, not nan",
                "'2'": "k must be a whole number >= 1, not '2'",
                "True": "k must be a whole number >= 1, not True",
                "[1]": "k must be a whole number >= 1, not [1]",
                "None": "give k (how many kernels or groups), penalty (the price of one), or both",
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
        },
    ),
    (
        ["solve_groups", "as_design"],
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
                "np.ma.masked_array(X, mask=X > 1)": "X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)",
                "pd.DataFrame(X, columns=list('aacd'))": "columns 0 and 1 are both named 'a'; rename one of them",
            },
        },
    ),
    (
        ["solve_groups"],
        {
            "X": {
                "changed(X, (3, 2), np.nan)": "X[3, 2] is not finite; drop or impute missing values",
                "changed(X, (5, 1), -np.inf)": "X[5, 1] is not finite; drop or impute missing values",
                "changed(X, (5, 1), 1e200)": "X[5, 1] is 1e+200, too large to square; rescale the column",
                "sp.csr_matrix(changed(X, (3, 2), np.nan))": "X[3, 2] is not finite; drop or impute missing values",
                "pd.DataFrame(changed(X, (3, 2), np.nan), columns=list('abcd'))": "X[3, 2] is not finite; drop or impute missing values",
            },
            "y": {
                "None": "y has shape (); a vector of length 12 is needed",
                "1.0": "y has shape (); a vector of length 12 is needed",
                "'y'": "y has shape (); a vector of length 12 is needed",
                "Y[:5]": "y has 5 entries but X has 12 rows",
                "[]": "y has 0 entries but X has 12 rows",
            },
            "groups": {
                "None": "groups must be lists of columns or one label a column, not None",
                "3": "groups must be lists of columns or one label a column, not 3",
                "[]": "groups is empty or holds an empty group; every group needs at least one column",
                "[[]]": "groups is empty or holds an empty group; every group needs at least one column",
                "[[0, 9]]": "groups[0] names column 9, but X has columns 0 to 3",
                "'ab'": "groups has 2 labels, but X has 4 columns",
                "[0, 0, 1]": "groups has 3 labels, but X has 4 columns",
                "[[0.5]]": "groups[0] has dtype float64; whole column indices or a boolean mask are needed",
                "[[-1]]": "groups[0] names column -1, but X has columns 0 to 3",
                "{'a': [0]}": "groups has 1 labels, but X has 4 columns",
            },
        },
    ),
    (
        ["open_design"],
        {
            "path": {
                "3": "path must be a path, not 3",
                "None": "path must be a path, not None",
                "'missing.npy'": "missing.npy does not exist",
                "'.'": "complex.npy: X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
                "'garbage'": "garbage is no .npy, .parquet, .zarr or .h5 file, and no folder of blocks",
                "'data.xyz'": "data.xyz is no .npy, .parquet, .zarr or .h5 file, and no folder of blocks",
                "'object.npy'": "object.npy is no .npy file: it holds Python objects, which are never read; save numbers, e.g. X.astype(float)",
                "'empty.csv'": "empty.csv is no .npy, .parquet, .zarr or .h5 file, and no folder of blocks",
                "'cut.npy'": "cut.npy is truncated: it has 200 bytes, its header promises 512",
            },
            "memory_limit": {
                "-1": "memory_limit is -1 bytes; at least 1048576 are needed",
                "np.nan": "memory_limit is nan bytes; at least 1048576 are needed",
                "'x'": "memory_limit must be a number of bytes, not 'x'",
                "[1.0]": "memory_limit must be a number of bytes, not [1.0]",
                "True": "memory_limit must be a number of bytes, not True",
                "0": "memory_limit is 0 bytes; at least 1048576 are needed",
            },
            "dataset": {
                "3": "dataset=3 makes sense for Zarr and HDF5 only; X.npy is neither",
                "'x'": "dataset='x' makes sense for Zarr and HDF5 only; X.npy is neither",
            },
            "dask": {
                "'no'": "dask must be True or False, not 'no'",
                "2": "dask must be True or False, not 2",
                "None": "dask must be True or False, not None",
                "[]": "dask must be True or False, not []",
            },
        },
    ),
    (
        ["check"],
        {
            "certificate": {
                "None": "certificate must be a Certificate, not None; Certificate.load reads one from a file",
                "3": "certificate must be a Certificate, not 3; Certificate.load reads one from a file",
                "'proof.npz'": "certificate must be a Certificate, not 'proof.npz'; Certificate.load reads one from a file",
            },
            "y": {
                "'y'": "y must be a vector of numbers, one for every row of X",
            },
            "exact": {
                "'yes'": "exact must be True or False, not 'yes'",
                "1": "exact must be True or False, not 1",
                "None": "exact must be True or False, not None",
            },
        },
    ),
    (
        ["Design.scan"],
        {
            "v": {
                "None": "v has shape (); it must have shape (12,)",
                "'v'": "v must be a vector of 12 numbers",
                "Y[:5]": "v has shape (5,); it must have shape (12,)",
                "X": "v has shape (12, 4); it must have shape (12,)",
                "changed(Y, 3, np.nan)": "v[3] is nan; it must be finite",
                "Y.astype(complex)": "v must be a vector of 12 numbers",
            },
            "threads": {
                "-1": "threads must be a whole number >= 0 (0: every core), not -1",
                "1.5": "threads must be a whole number >= 0 (0: every core), not 1.5",
                "'x'": "threads must be a whole number >= 0 (0: every core), not 'x'",
            },
        },
    ),
    (
        ["Design.columns", "Design.matvec"],
        {
            "idx": {
                "[9]": "idx holds 9, but the columns are 0 to 3",
                "'a'": "idx has shape (); it must be a vector of columns",
            },
        },
    ),
    (
        ["Design.columns"],
        {
            "idx": {
                "[-1]": "idx holds -1, but the columns are 0 to 3",
                "[0.5]": "idx has dtype float64; it must hold integers",
                "None": "idx has shape (); it must be a vector of columns",
                "[[0, 1]]": "idx has shape (1, 2); it must be a vector of columns",
            },
        },
    ),
    (
        ["Design.matvec"],
        {
            "coef": {
                "[1.0, 2.0]": "coef has shape (2,); it must have shape (1,)",
                "'x'": "coef must be a vector of 1 numbers",
                "None": "coef has shape (); it must have shape (1,)",
            },
        },
    ),
    (
        ["Design.rows"],
        {
            "start": {
                "-1": "rows -1 to 5 do not make a slice of 12 rows",
                "20": "rows 20 to 5 do not make a slice of 12 rows",
                "'x'": "rows x to 5 do not make a slice of 12 rows",
                "1.5": "rows 1.5 to 5 do not make a slice of 12 rows",
                "None": "rows None to 5 do not make a slice of 12 rows",
            },
            "stop": {
                "99": "rows 0 to 99 do not make a slice of 12 rows",
                "'x'": "rows 0 to x do not make a slice of 12 rows",
                "-3": "rows 0 to -3 do not make a slice of 12 rows",
            },
        },
    ),
    (
        ["Certificate.load"],
        {
            "path": {
                "3": "a path is needed to read a certificate from, not 3",
                "None": "a path is needed to read a certificate from, not None",
                "'missing.npz'": "[Errno 2] No such file or directory: 'missing.npz'",
                "'.'": ". cannot be read: Is a directory; check the name",
                "'garbage'": "garbage is not a readable Parsifal certificate: not an archive",
                "'X.npy'": "X.npy is not a readable Parsifal certificate: not an archive",
                "'other.npz'": "other.npz is not a readable Parsifal certificate: no certificate of format 3",
            },
            "limit": {
                "0": "limit must be a number of bytes > 0, not 0",
                "np.nan": "limit must be a number of bytes > 0, not nan",
                "True": "limit must be a number of bytes > 0, not True",
                "'1 GB'": "limit must be a number of bytes > 0, not '1 GB'",
            },
        },
    ),
    (
        ["Certificate.save"],
        {
            "path": {
                "3": "a path is needed to write to, not 3",
                "None": "a path is needed to write to, not None",
                "'nowhere/p.npz'": "cannot write nowhere/p.npz: No such file or directory; make its folder first",
                "'.'": "cannot write .: it is a folder; give a file's name",
            },
        },
    ),
    (
        ["Certificate.from_arrays"],
        {
            "arrays": {
                "None": "a certificate is made from a mapping of names to arrays",
                "{}": "no certificate of format 3",
                "{'format': np.asarray(99)}": "no certificate of format 3",
                "{'format': 3}": "a certificate is made from a mapping of names to arrays",
            },
        },
    ),
    (
        ["Path.best"],
        {
            "criterion": {
                "'magic'": 'criterion must be "aic", "bic" or "ebic", not \'magic\'',
                "None": 'criterion must be "aic", "bic" or "ebic", not None',
                "3": 'criterion must be "aic", "bic" or "ebic", not 3',
            },
        },
    ),
]
