"""X'r for a vector r of random signs: one number a column, which tells X from any other matrix.

A change of X that does not know r moves X'r with probability one, in the columns that were changed. The numbers come
with a read that is made anyway (`Design.read` gives a second product beside X'v), and are compared with another such
read when a solve is taken up again.
"""

from __future__ import annotations

import math
import secrets

import numpy as np

from parsifal.arrays import BoolArray, FloatArray
from parsifal.design import Design, Scan
from parsifal.design.read import Read

# Sums in another order differ by rounding alone, which is far below this.
_TOLERANCE = 1e-9


class Sketch:
    """The signs, as a seed, and the products once a read has given them.

    Parameters
    ----------
    seed : int, optional
        Drawn from the system by default: nobody can make a matrix beforehand that goes unnoticed.
    products : array of shape (p,), optional
        X'r, as saved.
    """

    def __init__(self, seed: int | None = None, products: FloatArray | None = None) -> None:
        if seed is not None and not 0 <= seed < 1 << 63:
            raise ValueError(f"no seed of a sketch: {seed}")
        self.seed = secrets.randbits(63) if seed is None else seed
        self.products = products

    def signs(self, n: int) -> FloatArray:
        """r: the same for a seed on every machine and with every NumPy."""
        words = np.random.Philox(key=self.seed).random_raw(-(-n // 64)).astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), count=n, bitorder="little")
        return 1.0 - 2.0 * bits.astype(np.float64)

    def read(self, design: Design, v: FloatArray) -> Scan:
        """Read X at v; `sums` are X'r, which the sketch keeps if it has none yet."""
        scan = design.read(Read(v=v, sum_weight=self.signs(design.shape[0]), stats=True))
        if self.products is None:
            self.products = scan.sums
        return scan

    def differs(self, scan: Scan, n: int, ignored: BoolArray | None = None) -> int | None:
        """The first column whose product is not the one that is kept, given a read by this sketch; None if all are."""
        assert scan.sums is not None
        assert scan.squares is not None
        assert self.products is not None
        slack = _TOLERANCE * np.sqrt(scan.squares) * math.sqrt(n)
        # A NaN in what was saved differs from everything.
        wrong = ~(np.abs(scan.sums - self.products) <= slack)
        if ignored is not None:
            wrong &= ~ignored
        return int(np.argmax(wrong)) if wrong.any() else None
