"""What the side constraints refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The calls; then by parameter, an expression for the argument and the message in full.
CONSTRAINTS: Table = [
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
            "any": {
                "'no'": "Implies(column=0, needs=1, any=True): any must be True or False",
            },
            "needs, any": {
                "([], True)": "Implies(column=0, needs=[], any=True) names nothing that the column needs",
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
