"""Real tables that come with packages on PyPI: read from the packages' files, which are in `.peers/data`."""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.peers.environments import PEERS
from benchmarks.speed.instances import Data

# Name: the file in its package, the response, columns that are not used.
TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "hitters": ("ISLP/data/Hitters.csv", "Salary", ()),
    "college": ("ISLP/data/College.csv", "Outstate", ()),
    "applications": ("ISLP/data/College.csv", "Apps", ()),
    "boston": ("ISLP/data/Boston.csv", "medv", ()),
    "star98": ("statsmodels/datasets/star98/star98.csv", "PR50M", ()),
    "fair": ("statsmodels/datasets/fair/fair.csv", "affairs", ()),
    "auto": ("ISLP/data/Auto.csv", "mpg", ("name",)),
    "carseats": ("ISLP/data/Carseats.csv", "Sales", ()),
    "credit": ("ISLP/data/Credit.csv", "Balance", ("ID",)),
    "wage": ("ISLP/data/Wage.csv", "wage", ("logwage",)),
    "bikeshare": ("ISLP/data/Bikeshare.csv", "bikers", ("casual", "registered")),
    "longley": ("statsmodels/datasets/longley/longley.csv", "TOTEMP", ("Obs",)),
    "copper": ("statsmodels/datasets/copper/copper.csv", "WORLDCONSUMPTION", ("YEAR",)),
    "scotland": ("statsmodels/datasets/scotland/scotvote.csv", "YES", ("COUNCILDIST",)),
    "statecrime": ("statsmodels/datasets/statecrime/statecrime.csv", "murder", ("state",)),
    "randhie": ("statsmodels/datasets/randhie/randhie.csv", "mdvis", ()),
}


def locate(file: str) -> Path:
    """The file in the environment of data, or in this one."""
    for folder in sorted((PEERS / "data").glob("lib/python*/site-packages")):
        if (folder / file).exists():
            return folder / file
    package, _, rest = file.partition("/")
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / rest).exists():
            return Path(folder) / rest
    raise FileNotFoundError(f"{file} is in no package here: run make peers")


def table(name: str, *, interactions: bool) -> Data:
    """Rows without gaps; text becomes 0/1 columns; every column with mean 0 and mean square 1, the response centred."""
    file, response, dropped = TABLES[name]
    with locate(file).open(encoding="utf-8-sig", newline="") as lines:
        rows = [
            row
            for row in csv.DictReader(lines)
            if all((value or "").strip() not in ("", "NA") for value in row.values())
        ]
    y = np.array([float(row[response]) for row in rows])
    columns = []
    for key in rows[0]:
        if key in (response, *dropped):
            continue
        try:
            columns.append(np.array([float(row[key]) for row in rows]))
        except ValueError:
            levels = sorted({row[key] for row in rows})
            columns += [np.array([float(row[key] == level) for row in rows]) for level in levels[1:]]
    if interactions:
        columns += [a * b for a, b in combinations(list(columns), 2)] + [
            a * a for a in columns if np.unique(a).size > 2
        ]
    X = np.column_stack(columns)
    X = X - X.mean(axis=0)
    scale = np.sqrt(np.mean(X**2, axis=0))
    X = X[:, scale > 1e-9 * np.maximum(scale.max(), 1.0)]
    return np.asfortranarray(X / np.sqrt(np.mean(X**2, axis=0))), y - y.mean()


def loader(name: str, *, interactions: bool) -> Callable[[], Data]:
    """`table`, called later."""
    return lambda: table(name, interactions=interactions)
