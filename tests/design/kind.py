"""What a kind of matrix is made of, and the numbers in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsifal.design import Design

N, P = 61, 23
DTYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64", "bool"]


@dataclass
class Kind:
    """A design, what it must equal, and the memory it must not have copied (if it is a single array)."""

    design: Design
    dense: np.ndarray
    memory: np.ndarray | None = None
    # Relative precision of a scan: longer sums of larger terms round more.
    tol: float = 1e-12


def values(dtype: str = "float64", shape: tuple[int, int] = (N, P), seed: int = 0) -> np.ndarray:
    X = 5.0 * np.random.default_rng(seed).standard_normal(shape)
    if dtype == "bool":
        return X > 0
    return (np.abs(X) if dtype.startswith("u") else X).astype(dtype)
