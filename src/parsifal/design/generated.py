"""The paper's synthetic data as a design that is not stored: entries are made, by a counter, while they are read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.arguments import check_count, check_number
from parsifal.arrays import FloatArray, IntArray
from parsifal.design.base import check_slice
from parsifal.design.leaf import Leaf
from parsifal.errors import InputError

# What the recursion along a row forgets before its first column that counts: less than the rounding of a float.
_FORGOTTEN = 2.0**-24
_LEAST_WIDTH = 64
# Columns of a solve that may be held in memory, as for a matrix of this size in memory.
_HELD_BYTES = 1 << 30


class SyntheticDesign(Leaf):
    """An instance of any size: ``y = X w + E`` with X made block by block while it is read.

    Rows of X are N(0, Sigma) with ``Sigma_ij = rho ** abs(i - j)``; k entries of w are -1 or 1, the others 0;
    ``|X w| / |E| = sqrt_snr`` exactly. Entry (i, j) depends on the seed and its place alone: Philox counters, normals
    by Box and Muller in float32, and along a row the recursion x_j = rho x_{j-1} + sqrt(1 - rho^2) z_j, begun anew
    every so many columns, and so early that what came before has faded below 2^-24. So it is the same bit for bit
    whatever is read, in blocks of any size, on any number of threads, on any machine.

    Parameters
    ----------
    n, p : int
        Rows and columns of X.
    k : int
        Number of nonzero coefficients, at places chosen uniformly.
    rho : float
        Correlation of neighbouring columns, in [0, 1). Near 1 a single column costs many: about
        ``50 / (1 - rho)``.
    sqrt_snr : float
        ``|X w| / |E|``; ``math.inf`` means no noise.
    seed : int
        The same seed gives the same data.

    Attributes
    ----------
    y : array of shape (n,)
        The response.
    coef : array of shape (p,)
        The true coefficients: 0, -1 or 1.
    support : int array of shape (k,)
        The columns with a nonzero coefficient, sorted.
    """

    def __init__(self, n: int, p: int, k: int, rho: float = 0.0, sqrt_snr: float = 20.0, seed: int = 0) -> None:
        rows, width = check_count(n, "n"), check_count(p, "p")
        size = check_count(k, "k")
        if size > width:
            raise InputError(f"k = {size} nonzero coefficients do not fit into p = {width} columns")
        correlation = check_number(rho, "rho", minimum=0.0)
        if correlation > 0.9999:
            raise InputError(f"rho must be in [0, 0.9999], not {rho}")
        ratio = math.inf if sqrt_snr == math.inf else check_number(sqrt_snr, "sqrt_snr", minimum=0.0)
        if ratio == 0.0:
            raise InputError("sqrt_snr must be > 0; use math.inf for data without noise")
        if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
            raise InputError(f"seed must be a whole number from 0 to 2**64 - 1, not {seed!r}")
        self._arguments = (rows, width, size, correlation, ratio, int(seed))
        self._open(0, rows, None)
        rng = np.random.Generator(np.random.Philox(int(seed)))
        self.support: IntArray = np.sort(rng.choice(width, size, replace=False)).astype(np.int64)
        self.coef: FloatArray = np.zeros(width)
        self.coef[self.support] = rng.choice([-1.0, 1.0], size)
        signal = self.matvec(self.support, self.coef[self.support])
        noise = rng.standard_normal(rows)
        if ratio < math.inf:
            signal += noise * (np.linalg.norm(signal) / (ratio * np.linalg.norm(noise)))
        self.y: FloatArray = signal

    def _open(self, start: int, stop: int, parent: SyntheticDesign | None) -> None:
        n, p, _, rho, _, seed = self._arguments
        burn = math.ceil(math.log(_FORGOTTEN) / math.log(rho)) if rho > 0.0 else 0
        matrix = _core.SyntheticMatrix(
            seed=seed,
            rho=rho,
            innovation=math.sqrt((1.0 - rho) * (1.0 + rho)),
            burn=burn,
            width=max(_LEAST_WIDTH, 4 * burn),
            n=n,
            p=p,
            lo=start,
            hi=stop,
        )
        super().__init__(
            matrix,
            (stop - start, p),
            feature_names=None,
            # As if stored in float32.
            nbytes=4 * (stop - start) * p,
            eps=float(np.finfo(np.float32).eps),
            parent=parent,
            first_row=start,
        )

    @property
    def held_bytes(self) -> int:
        return min(_HELD_BYTES, super().held_bytes)

    def rows(self, start: int, stop: int) -> SyntheticDesign:
        check_slice(start, stop, self.shape[0])
        part = object.__new__(SyntheticDesign)
        part._arguments, part.support, part.coef = self._arguments, self.support, self.coef
        part.y = self.y[start:stop]
        part._open(self._first_row + start, self._first_row + stop, self)
        return part

    def __reduce__(self) -> tuple[Any, ...]:
        start = self._first_row
        return _restore, (self._arguments, start, start + self.shape[0])

    def __repr__(self) -> str:
        n, p, k, rho, sqrt_snr, seed = self._arguments
        return f"SyntheticDesign(n={n}, p={p}, k={k}, rho={rho}, sqrt_snr={sqrt_snr}, seed={seed})"


def _restore(arguments: tuple[Any, ...], start: int, stop: int) -> SyntheticDesign:
    whole = SyntheticDesign(*arguments)
    return whole if stop - start == whole.shape[0] else whole.rows(start, stop)
