"""Real tables with more columns than rows, or nearly: gene expression and spectra, from packages of PyPI and Debian."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.peers.environments import R_TABLES
from benchmarks.peers.realdata import locate
from benchmarks.speed.instances import Data

# Tables of r-cran-pls and r-cran-caret: rows, columns besides the response.
FROM_R = {
    "gasoline": (60, 401),  # octane numbers from near-infrared spectra
    "yarn": (28, 268),  # density of yarn, the same
    "tecator": (215, 100),  # fat of meat, the same
    "bloodbrain": (208, 134),  # how well compounds cross into the brain, from descriptors
    "cox2": (462, 255),  # logarithm of the half maximal inhibitory concentration, from descriptors
}


def standardised(X: np.ndarray, y: np.ndarray) -> Data:
    """Columns that vary, with mean 0 and mean square 1; the response centred."""
    X = X - X.mean(axis=0)
    scale = np.sqrt(np.mean(X**2, axis=0))
    keep = scale > 1e-9 * max(float(scale.max()), 1e-300)
    return np.asfortranarray(X[:, keep] / scale[keep]), y - y.mean()


def one_gene(X: np.ndarray) -> Data:
    """The gene that varies most, from all others."""
    gene = int(np.argmax(X.var(axis=0)))
    return standardised(np.delete(X, gene, axis=1), X[:, gene])


def khan() -> Data:
    """ISLP's Khan: 83 tumours, 2308 genes."""
    parts = []
    for part in ("train", "test"):
        with locate(f"ISLP/data/Khan_x{part}.csv").open(encoding="utf-8-sig") as lines:
            rows = [line.strip().replace('"', "").split(",") for line in lines][1:]
        # The files have row names, which the header does not count.
        parts.append(np.array([[float(cell) for cell in row[-2308:]] for row in rows if len(row) >= 2308]))
    return one_gene(np.concatenate(parts))


def nci60() -> Data:
    """ISLP's NCI60: 64 cell lines, 6830 genes."""
    return one_gene(np.load(locate("ISLP/data/NCI60data.npy")))


def from_r(name: str) -> Data:
    """A table that `make peers` has taken from an R package."""
    file = R_TABLES / f"{name}.csv"
    if not file.exists():
        raise FileNotFoundError(f"{name} is not here: run make peers")
    table = np.loadtxt(file, delimiter=",")
    return standardised(table[:, 1:], table[:, 0])


LOADERS: dict[str, Callable[[], Data]] = {
    "khan": khan,
    "nci60": nci60,
    **{name: (lambda name=name: from_r(name)) for name in FROM_R},  # type: ignore[misc]
}
