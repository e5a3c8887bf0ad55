"""The best support under signs, prices and side constraints, from the definition: every set of columns is looked at.

The fit with signs is found by its definition, too: of all subsets of the support whose plain ridge fit has the right
signs, the best one. Nothing of the package is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A problem: data, ridge, a price and a sign for every column, and which supports are allowed.

    The columns of `always` are in every fit, without ridge, price or sign.
    """

    X: FloatArray
    y: FloatArray
    k: int
    gamma: float
    price: FloatArray
    sign: npt.NDArray[np.int64]
    allowed: Callable[[frozenset[int]], bool]
    always: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def values(self) -> dict[frozenset[int], float]:
        """The objective of every allowed support of at most k columns."""
        p = self.X.shape[1]
        plain = {frozenset(s): self._plain(s) for m in range(self.k + 1) for s in combinations(range(p), m)}
        out = {}
        for support in plain:
            if not self.allowed(support):
                continue
            inside = (frozenset(s) for m in range(len(support) + 1) for s in combinations(sorted(support), m))
            fits = min(plain[part][0] for part in inside if plain[part][1])
            out[support] = fits + float(self.price[sorted(support)].sum())
        return out

    def _plain(self, support: Sequence[int]) -> tuple[float, bool]:
        """The ridge fit without signs: its value, and whether its coefficients have the right signs all the same."""
        index = list(support)
        always = self.always.reshape(self.y.size, -1)
        k, q = len(index), always.shape[1]
        ridge = np.hstack([np.zeros((k, q)), np.eye(k) / np.sqrt(self.gamma)])
        stacked = np.vstack([np.hstack([always, self.X[:, index]]), ridge])
        target = np.concatenate([self.y, np.zeros(k)])
        w = np.linalg.lstsq(stacked, target, rcond=None)[0] if k + q else np.zeros(0)
        rest = target - stacked @ w
        return 0.5 * float(rest @ rest), bool(np.all(self.sign[index] * w[q:] >= 0))
