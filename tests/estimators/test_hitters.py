"""The classical best subset problem with a published answer: Hitters, k = 1 .. 8 (James et al., An Introduction to
Statistical Learning, the lab on subset selection)."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf

GAMMA = 1e6

PUBLISHED = {
    1: "CRBI",
    2: "Hits CRBI",
    3: "Hits CRBI PutOuts",
    4: "Hits CRBI Division_W PutOuts",
    5: "AtBat Hits CRBI Division_W PutOuts",
    6: "AtBat Hits Walks CRBI Division_W PutOuts",
    7: "Hits Walks CAtBat CHits CHmRun Division_W PutOuts",
    8: "AtBat Hits Walks CHmRun CRuns CWalks Division_W PutOuts",
}


@pytest.fixture(scope="module")
def hitters() -> tuple[pd.DataFrame, np.ndarray]:
    """Standardised columns and centred salaries; the package is found, not imported, for it needs many others."""
    spec = importlib.util.find_spec("ISLP")
    assert spec is not None, "the data come with ISLP: pip install --no-deps ISLP"
    assert spec.submodule_search_locations is not None
    (file,) = Path(spec.submodule_search_locations[0]).rglob("Hitters.csv")
    table = pd.read_csv(file).dropna(subset=["Salary"])
    y = table.pop("Salary").to_numpy(dtype=float)
    X = pd.get_dummies(table, drop_first=True).astype(float)
    return (X - X.mean()) / X.std(ddof=0), y - y.mean()


def test_the_data_are_the_published_ones(hitters: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = hitters
    assert X.shape == (263, 19)
    assert y.shape == (263,)


@pytest.mark.parametrize("k", PUBLISHED)
def test_published_best_subsets(hitters: tuple[pd.DataFrame, np.ndarray], k: int) -> None:
    X, y = hitters
    solution = pf.solve(X, y, k=k, gamma=GAMMA)
    assert solution.status == "optimal"
    assert sorted(X.columns[solution.support]) == sorted(PUBLISHED[k].split())
    result = pf.check(solution.certificate, X, y)
    assert result, result.reason
    assert solution.certificate.lower_bound >= (1 - 1e-6) * solution.objective
