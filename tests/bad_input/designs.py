# ruff: noqa: E501
"""What designs, certificates and constraints refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
DESIGNS: Table = [
    (
        ["as_design"],
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
                "'y'": "y must be a vector of 12 numbers",
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
                "'other.npz'": "other.npz is not a readable Parsifal certificate: no certificate of format 1",
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
                "{}": "no certificate of format 1",
                "{'format': np.asarray(99)}": "no certificate of format 1",
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
    (
        ["constraints.AtMost"],
        {
            "columns": {
                "None": "AtMost(columns=None, count=1): columns must be a sequence of indices or names",
                "3": "AtMost(columns=3, count=1): columns must be a sequence of indices or names",
                "[9]": "AtMost(columns=[9], count=1) names column 9, but X has columns 0 to 3",
                "[-1]": "AtMost(columns=[-1], count=1) names column -1, but X has columns 0 to 3",
                "[0.5]": "AtMost(columns=[0.5], count=1) names column 0.5, but X has columns 0 to 3",
                "['a']": "AtMost(columns=['a'], count=1) names column 'a', which X does not have",
                "[0, 0]": "AtMost(columns=[0, 0], count=1) names a column twice",
            },
            "count": {
                "-1": "AtMost(columns=[0, 1], count=-1): count must be a whole number >= 0",
                "1.5": "AtMost(columns=[0, 1], count=1.5): count must be a whole number >= 0",
                "'x'": "AtMost(columns=[0, 1], count='x'): count must be a whole number >= 0",
                "None": "AtMost(columns=[0, 1], count=None): count must be a whole number >= 0",
            },
        },
    ),
    (
        ["constraints.Exclude"],
        {
            "columns": {
                "[]": "Exclude(columns=()) names fewer than two columns",
                "[9]": "Exclude(columns=(9,)) names fewer than two columns",
                "['a']": "Exclude(columns=('a',)) names fewer than two columns",
                "[0, 0]": "Exclude(columns=(0, 0)) names a column twice",
                "[None]": "Exclude(columns=(None,)) names fewer than two columns",
                "[0.5]": "Exclude(columns=(0.5,)) names fewer than two columns",
            },
        },
    ),
    (
        ["constraints.Implies"],
        {
            "column": {
                "9": "Implies(column=9, needs=1) names column 9, but X has columns 0 to 3",
                "None": "Implies(column=None, needs=1) names column None, but X has columns 0 to 3",
                "'a'": "Implies(column='a', needs=1) names column 'a', which X does not have",
                "0.5": "Implies(column=0.5, needs=1) names column 0.5, but X has columns 0 to 3",
            },
            "needs": {
                "9": "Implies(column=0, needs=9) names column 9, but X has columns 0 to 3",
                "None": "Implies(column=0, needs=None) names column None, but X has columns 0 to 3",
                "'a'": "Implies(column=0, needs='a') names column 'a', which X does not have",
            },
        },
    ),
    (
        ["constraints.Linear"],
        {
            "coefs": {
                "None": "Linear: coefs has shape (), but X has 4 columns",
                "3": "Linear: coefs has shape (), but X has 4 columns",
                "{9: 1.0}": "Linear(coefs={9: 1.0}, lower=-inf, upper=1.0) names column 9, but X has columns 0 to 3",
                "{0: np.nan}": "Linear: coefs must be finite, and lower and upper numbers",
                "{0: 'x'}": "Linear(coefs={0: 'x'}, lower=-inf, upper=1.0): 'x' is no number",
                "[1.0]": "Linear: coefs has shape (1,), but X has 4 columns",
                "{'a': 1.0}": "Linear(coefs={'a': 1.0}, lower=-inf, upper=1.0) names column 'a', which X does not have",
            },
            "lower": {
                "np.nan": "Linear: coefs must be finite, and lower and upper numbers",
                "'x'": "Linear: coefs must be finite, and lower and upper numbers",
                "None": "Linear: coefs must be finite, and lower and upper numbers",
            },
            "upper": {
                "np.nan": "Linear: coefs must be finite, and lower and upper numbers",
                "'x'": "Linear: coefs must be finite, and lower and upper numbers",
                "None": "Linear: coefs must be finite, and lower and upper numbers",
            },
            "lower, upper": {
                "(2.0, 1.0)": "Linear: lower = 2.0 is above upper = 1.0",
            },
        },
    ),
]
