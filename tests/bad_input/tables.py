# ruff: noqa: E501
"""What the transformer of tables refuses."""

from __future__ import annotations

from bad_input.calls import Table

TABLES: Table = [
    (
        ["TableEncoder"],
        {
            "drop": {
                "'a'": "drop must be a list of names of columns, not 'a'",
                "[1]": "drop must be a list of names of columns, not [1]",
                "['z']": "drop names 'z', which is not a column of X",
            },
            "categorical": {"'a'": "categorical must be a list of names of columns, not 'a'"},
            "dates": {"['g', 'z']": "dates names 'z', which is not a column of X"},
            "numbers": {"(None,)": "numbers must be a list of names of columns, not (None,)"},
            "impute": {"'mean'": "impute must be 'median', not 'mean'; leave it out to refuse missing values"},
            "unknown": {"'zero'": "unknown must be 'refuse' or 'ignore', not 'zero'"},
            "strict": {
                "True": "strict refuses X: column 'g': text. This would do: TableEncoder(categorical=['g'], strict=True)"
            },
        },
    ),
    (
        ["TableEncoder.fit", "TableEncoder.transform"],
        {
            "X": {
                "None": "X is a NoneType; pass a pandas or polars DataFrame, a pyarrow Table, or an array of two dimensions",
                "np.zeros(3)": "X is a ndarray of shape (3,); pass a pandas or polars DataFrame, a pyarrow Table, or an array of two dimensions",
                "pl.LazyFrame({'a': [1]})": "X is a LazyFrame, which has no rows yet; pass X.collect()",
                "MIXED[:0]": "X has no columns, or no rows; pass at least one of each",
            }
        },
    ),
    (
        ["TableEncoder.fit"],
        {"X": {"MIXED[:1]": "X has one row; at least two are needed"}},
    ),
    (
        ["TableEncoder.transform"],
        {
            "X": {
                "MIXED[['a']]": "X has no column 'g', which fit has seen; add it",
                "MIXED.assign(b=1)": "column 'b' of X was not there in fit; leave it out",
                "MIXED.assign(g='w')": "column 'g' is 'w' in row 1, a level that the training data did not have; correct it, or fit with unknown='ignore'",
            }
        },
    ),
]
