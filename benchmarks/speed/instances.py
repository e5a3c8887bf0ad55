"""The problems of the search's speed table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from parsifal.datasets import make_sparse_regression

Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem, drawn anew for every seed; real data (`fixed`) are the same for all."""

    group: str
    label: str
    k: int
    gamma: float
    draw: Callable[[int], Data]
    n: int
    p: int
    fixed: bool = False


def synthetic(
    group: str,
    *,
    n: int,
    p: int,
    k: int = 10,
    rho: float = 0.0,
    sqrt_snr: float = 20.0,
    gamma: float | None = None,
) -> Instance:
    """A problem of `make_sparse_regression`; gamma = 1/sqrt(n) unless given."""

    def draw(seed: int) -> Data:
        # Fortran order: what lasso_path would otherwise convert to first.
        data = make_sparse_regression(n, p, k, rho=rho, sqrt_snr=sqrt_snr, random_state=seed, order="F")
        return data.X, data.y

    label = f"n={n} p={p} k={k} rho={rho:g} sqrt_snr={sqrt_snr:g}"
    return Instance(
        group=group,
        label=label + (" gamma=1/sqrt(n)" if gamma is None else f" gamma={gamma:g}"),
        k=k,
        gamma=1 / np.sqrt(n) if gamma is None else gamma,
        draw=draw,
        n=n,
        p=p,
    )


def standardised_degree_2(features: np.ndarray, target: np.ndarray) -> Data:
    """All squares and products, each column with mean 0 and mean square 1; the target centred."""
    lifted = PolynomialFeatures(degree=2, include_bias=False).fit_transform(features)
    return np.asfortranarray(StandardScaler().fit_transform(lifted)), target - target.mean()


def diabetes() -> Data:
    """scikit-learn's diabetes data: 442 rows, 65 columns."""
    data = load_diabetes()
    return standardised_degree_2(data.data, data.target)


def breast_cancer() -> Data:
    """`mean radius` from the other 29 measurements of scikit-learn's breast cancer data: 569 rows, 464 columns."""
    data = load_breast_cancer()
    target = list(data.feature_names).index("mean radius")
    return standardised_degree_2(np.delete(data.data, target, axis=1), data.data[:, target])


def real(group: str, name: str, load: Callable[[], Data], k: int, gamma: float | None) -> Instance:
    """A problem of real data; gamma = 1/sqrt(n) unless given."""
    X, y = load()
    n, p = X.shape
    return Instance(
        group=group,
        label=f"{name} n={n} p={p} k={k}" + (" gamma=1/sqrt(n)" if gamma is None else f" gamma={gamma:g}"),
        k=k,
        gamma=1 / np.sqrt(n) if gamma is None else gamma,
        draw=lambda seed: (X, y),
        n=n,
        p=p,
        fixed=True,
    )


def table() -> list[Instance]:
    """The rows of the speed table."""
    rows = [synthetic("a", n=n, p=2000) for n in (60, 80, 100, 120, 150, 200)]
    rows += [synthetic("b", n=n, p=2000, gamma=1.0) for n in (80, 100, 120, 150, 200)]
    rows += [synthetic("c", n=500, p=1000, rho=rho, sqrt_snr=s) for rho, s in ((0.5, 3.0), (0.7, 2.0))]
    rows += [real("d", "diabetes", diabetes, 10, gamma) for gamma in (None, 1.0)]
    rows += [real("e", "breast cancer", breast_cancer, 8, None)]
    rows += [synthetic("f", n=250, p=5000, sqrt_snr=3.0), synthetic("f", n=200, p=5000, k=20)]
    return rows


def growth() -> dict[str, list[Instance]]:
    """The series of the growth table: time against n, time against p, nodes against n below the transition."""
    return {
        "n": [synthetic("g", n=n, p=2000) for n in (200, 400, 800, 1600, 3200, 6400)],
        "p": [synthetic("g", n=300, p=p) for p in (1000, 2000, 4000, 8000, 16_000, 32_000)],
        "wall": [synthetic("g", n=n, p=2000) for n in (120, 110, 100, 90, 80, 70, 60, 55, 50)],
    }


def quick() -> tuple[list[Instance], dict[str, list[Instance]]]:
    """Both tables at the sizes of a smoke test."""
    rows = [
        synthetic("a", n=60, p=200, k=5),
        synthetic("b", n=60, p=200, k=5, gamma=1.0),
        synthetic("c", n=100, p=80, k=5, rho=0.5, sqrt_snr=3.0),
        real("d", "diabetes", diabetes, 3, None),
        synthetic("f", n=80, p=300, k=5, sqrt_snr=3.0),
    ]
    series = {
        "n": [synthetic("g", n=n, p=100, k=5) for n in (100, 200)],
        "p": [synthetic("g", n=100, p=p, k=5) for p in (100, 200)],
        "wall": [synthetic("g", n=n, p=100, k=5) for n in (50, 30)],
    }
    return rows, series
