"""The loss of a weighted sum of kernels, its gradient, and the dual bound.

For kernel matrices K_j = Z_j Z_j' and weights s in [0, 1]^m,

    c(s) = 1/2 y' (I + gamma sum_j s_j K_j)^-1 y = 1/2 y'alpha,    dc/ds_j = -gamma/2 q_j,   q_j = alpha'K_j alpha,

which is the loss of sparse regression with |Z_j'alpha|^2 in place of (x_j'alpha)^2. For any alpha,

    D(alpha) = y'alpha - 1/2 |alpha|^2 - sum of the k largest positive (gamma/2 q_j - price_j)  <=  c(S) + prices of S.

Kernels of low rank are held as factors Z_j, side by side; the others as matrices. A factor that leaves out a part E_j
of its kernel adds |alpha|^2 times a bound on E_j's eigenvalues to q_j wherever a bound is taken, so the bound is one
for the kernel as given. Rounding is bounded and taken off as well (docs/numerics.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, qr

from parsifal.arrays import BoolArray, FloatArray, IntArray
from parsifal.bound.dual import dual_terms
from parsifal.bound.rounding import sum_unit
from parsifal.errors import InputError, NumericalError
from parsifal.problem.gap import resolution

# What products that underflow can be worth in q_j, times n^2, entries being at most about one.
_UNDERFLOW = 2.0**-1060
_EPS = float(np.finfo(np.float64).eps)
# A kernel of at most this share of n in rank is worth a factor.
_LOW_RANK = 0.4
# Part of a kernel's trace that its factor may leave out; bounds pay for it.
_LEFT_OUT = 1e-13
# Inner products that are off by more than this may not stand in for the data.
_MOST_SLACK = 1e-9
# A matrix whose factor would leave out more, for want of digits in its entries, stays a matrix: gaps could not close.
_MOST_LEFT_OUT = 1e-11


@dataclass(frozen=True)
class Block:
    """One kernel: a factor Z, or a matrix, and a bound on the eigenvalues of the kernel less what is held of it."""

    factor: FloatArray | None
    matrix: FloatArray | None
    left_out: float = 0.0


def factor_block(Z: FloatArray) -> Block:
    """The kernel ZZ'; a factor with more columns than it needs becomes a matrix."""
    n, r = Z.shape
    if r <= _LOW_RANK * n:
        return Block(np.ascontiguousarray(Z), None)
    return Block(None, Z @ Z.T, sum_unit(r) * float(np.sum(Z * Z)))


def matrix_block(K: FloatArray, name: str, eps: float = _EPS) -> Block:
    """A positive semidefinite matrix, factored if its rank is low.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel.
    name : str
        What to call it in an error.
    eps : float
        Relative rounding error of the entries; a matrix that is indefinite by no more is replaced by its positive part,
        which then is the kernel.
    """
    n = len(K)
    size = float(np.max(np.abs(K), initial=0.0))
    if not np.isfinite(size):
        raise InputError(f"{name} holds NaN or infinite values")
    if np.max(np.abs(K - K.T), initial=0.0) > 1e-8 * size:
        raise InputError(f"{name} is not symmetric")
    K = 0.5 * (K + K.T)
    trace = float(np.trace(K))
    if size == 0.0:
        return Block(np.zeros((n, 0)), None)
    lower, pivot, rank, info = lapack.dpstrf(K, tol=_LEFT_OUT * max(trace, 0.0) / n, lower=1)
    del info
    L = np.tril(lower)[:, :rank]
    Z = np.empty_like(L)
    Z[pivot - 1] = L
    rest = K - Z @ Z.T
    # The rest of a semidefinite matrix is as small as the pivots that were left; anything else shows up here.
    if trace <= 0.0 or np.max(np.abs(rest)) > 1e-8 * size:
        values, vectors = np.linalg.eigh(K)
        if trace > 0.0 and values[0] >= -4.0 * n * eps * size:
            keep = values > _EPS * n * values[-1]
            return factor_block(vectors[:, keep] * np.sqrt(values[keep]))
        raise InputError(
            f"{name} is not positive semidefinite (smallest eigenvalue {values[0]:.3g}, largest entry {size:.3g}); "
            "only such a matrix is a kernel"
        )
    # No eigenvalue is larger than the largest sum of a row's sizes.
    left_out = float(np.abs(rest).sum(axis=1).max()) * (1.0 + sum_unit(n)) + n * sum_unit(rank) * size
    if rank > _LOW_RANK * n or left_out > _MOST_LEFT_OUT * trace:
        # The mean of two entries is rounded, and K is a sum of something semidefinite and the rest: no eigenvalue is
        # farther below zero than that, and the kernel is K's positive part.
        return Block(None, K, left_out + n * sum_unit(0) * size)
    return Block(Z, None, left_out)


class Oracle:
    """Loss, gradient and dual bound for a set of kernels and a response.

    Parameters
    ----------
    blocks : sequence of Block
        The kernels.
    y : ndarray of shape (n,)
        The response.
    gamma : float
        Ridge weight.
    price : float or array
        Price of a kernel, or of every kernel.
    compress : bool
        Whether the data may be replaced by fewer rows with the same inner products.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        y: FloatArray,
        gamma: float,
        price: float | FloatArray = 0.0,
        *,
        compress: bool = True,
    ) -> None:
        self.gamma = gamma
        self.m = len(blocks)
        self.rows = len(y)  # of the data, whatever stands in for them
        self.price: FloatArray = np.broadcast_to(np.asarray(price, dtype=np.float64), (self.m,))
        self.half = 0.5 * float(y @ y)
        self.resolution = resolution(y)
        self._low = np.array([j for j, block in enumerate(blocks) if block.factor is not None], dtype=np.int64)
        self._full = np.array([j for j, block in enumerate(blocks) if block.factor is None], dtype=np.int64)
        factors = [blocks[j].factor for j in self._low]
        Z = np.hstack([np.zeros((len(y), 0)), *(f for f in factors if f is not None)])
        self._start = np.concatenate([[0], np.cumsum([0 if f is None else f.shape[1] for f in factors])]).astype(
            np.int64
        )
        matrices = [blocks[j].matrix for j in self._full]
        self._K = np.stack([K for K in matrices if K is not None]) if matrices else np.zeros((0, 0, 0))
        self.left_out = np.array([block.left_out for block in blocks])
        self.slack = 0.0  # of inner products among [Z, y], relative to the norms, where others stand in for the data
        self.size = float(np.linalg.norm(y))
        self._data = Z, y
        if compress and len(self._full) == 0 and Z.shape[1] + 1 < len(y):
            R, slack = compressed(np.column_stack([Z, y]))
            if slack <= _MOST_SLACK:
                Z, y, self.slack = np.ascontiguousarray(R[:, :-1]), np.ascontiguousarray(R[:, -1]), slack
        self._Z = Z
        self._views: list[FloatArray | None] = [None] * self.m
        for at, j in enumerate(self._low.tolist()):
            self._views[j] = Z[:, self._start[at] : self._start[at + 1]]
        self.y = y
        self.n = len(y)
        self._owner = np.repeat(np.arange(len(self._low)), np.diff(self._start))
        self._nonempty = np.flatnonzero(np.diff(self._start) > 0)
        # What the rounding of q_j is relative to: Frobenius norms of factors and of matrices.
        self._factor_norms = np.sqrt(self._sum_by_kernel(np.einsum("ij,ij->j", Z, Z)))
        self._matrix_norms = np.sqrt(np.einsum("jab,jab->j", self._K, self._K))

    def value_and_gradient(self, s: FloatArray) -> tuple[float, FloatArray]:
        """c(s) + price's and its gradient, for weights in [0, 1]."""
        system = self.system(s)
        alpha = system.solve(self.y)
        q = self.quadratic(alpha)
        return self.value(s, alpha, q), -dual_terms(q, self.gamma, self.price)

    def value(self, s: FloatArray, alpha: FloatArray, q: FloatArray | None = None) -> float:
        """1/2 |y - sum_j Z_j w_j|^2 + sum_j |w_j|^2 / (2 gamma s_j) + price's at w_j = gamma s_j Z_j'alpha.

        At alpha(s) this is c(s) + price's; at any other alpha it is more, so rounding does not make it a false
        value.
        """
        rest = self.y - self.gamma * self.apply(s, alpha)
        ridge = self.gamma * float(s @ (self.quadratic(alpha) if q is None else q))
        return float(0.5 * (rest @ rest) + 0.5 * ridge + self.price @ s)

    def quadratic(self, alpha: FloatArray) -> FloatArray:
        """q_j = alpha'K_j alpha for every kernel."""
        out = np.zeros(self.m)
        if len(self._low):
            g = alpha @ self._Z
            out[self._low] = self._sum_by_kernel(g * g)
        if len(self._full):
            out[self._full] = (self._K @ alpha) @ alpha
        return np.maximum(out, 0.0)

    def vectors(self, alpha: FloatArray, kernels: IntArray) -> FloatArray:
        """K_j alpha for the kernels, as columns."""
        out = np.empty((self.n, len(kernels)))
        for i, j in enumerate(kernels):
            Z = self.factor(j)
            out[:, i] = self.matrix(j) @ alpha if Z is None else Z @ (Z.T @ alpha)
        return out

    def apply(self, s: FloatArray, alpha: FloatArray) -> FloatArray:
        """sum_j s_j K_j alpha."""
        used = np.flatnonzero(s)
        return self.vectors(alpha, used) @ s[used]

    def factor(self, j: int) -> FloatArray | None:
        """Z_j, or None where the kernel is held as a matrix."""
        return self._views[j]

    def matrix(self, j: int) -> FloatArray:
        """K_j of a kernel that is held as a matrix."""
        return np.asarray(self._K[np.searchsorted(self._full, j)])

    def system(self, s: FloatArray) -> System:
        """I + gamma sum_j s_j K_j, factored."""
        used = np.flatnonzero(s).tolist()
        factors = [(np.sqrt(self.gamma * s[j]), self.factor(j)) for j in used]
        B = np.hstack([np.zeros((self.n, 0)), *(root * Z for root, Z in factors if Z is not None)])
        whole = [j for j, (_, Z) in zip(used, factors) if Z is None]
        return System(B, [self.gamma * s[j] * self.matrix(j) for j in whole])

    def bound(
        self,
        alpha: FloatArray,
        q: FloatArray,
        fixed_in: BoolArray,
        free: BoolArray,
        room: int,
        *,
        reach: float,
    ) -> tuple[float, FloatArray]:
        """D(alpha) at a node, less all that rounding can be worth, and the terms a_j that it was made of, rounded up.

        Parameters
        ----------
        alpha, q : ndarray
            Any vector, and `quadratic` of it. Where others stand in for the data it must come from `System.point`.
        fixed_in, free : boolean masks
            Kernels that are in, and kernels that are open; the others are out.
        room : int
            How many of the open ones may enter.
        reach : float
            Sizes of the terms that alpha is the sum of, from `System.point`.
        """
        unit, square = sum_unit(self.n), float(alpha @ alpha)
        length = float(np.sqrt(square))
        # Stand-ins R for the data A: the dual point is y - Zw in the data, alpha + slip in the stand-ins.
        slip = sum_unit(self.n) * reach if self.slack else 0.0
        relative = unit * length + slip + self.slack * reach
        safe = q + self.left_out * square
        error = relative * self._factor_norms
        safe[self._low] += error * (2.0 * np.sqrt(q[self._low]) + error)
        safe[self._full] += 2.0 * unit * square * self._matrix_norms
        safe *= 1.0 + sum_unit(self.n + self._Z.shape[1])
        safe += len(alpha) ** 2 * _UNDERFLOW
        a = dual_terms(safe, self.gamma, self.price)
        a += sum_unit(0) * (np.abs(a) + self.price)
        chosen = largest(a[free], room)
        inside = float(a[fixed_in].sum())
        first = float(self.y @ alpha)
        value = first - 0.5 * square - inside - float(chosen.sum())
        blur = self.size * relative + 0.5 * (self.slack * reach**2 + slip * (2.0 * length + slip) + unit * square)
        sizes = abs(first) + 0.5 * square + float(np.abs(a[fixed_in]).sum()) + float(chosen.sum())
        return float(value - blur - sum_unit(int(np.count_nonzero(fixed_in)) + len(chosen)) * sizes), a

    def point_in_data(self, s: FloatArray, alpha: FloatArray) -> FloatArray:
        """The dual point y - sum_j Z_j (gamma s_j Z_j'alpha) in the data themselves, where others stand in for them."""
        if not self.slack:
            return alpha
        Z, y = self._data
        weights = self.gamma * np.repeat(s[self._low], np.diff(self._start))
        return np.asarray(y - Z @ (weights * (alpha @ self._Z)))

    def _sum_by_kernel(self, values: FloatArray) -> FloatArray:
        out = np.zeros(len(self._low))
        if len(self._nonempty):
            out[self._nonempty] = np.add.reduceat(values, self._start[self._nonempty])
        return out


def compressed(A: FloatArray) -> tuple[FloatArray, float]:
    """Fewer rows with the same inner products of columns: the R factor, and by how much its products are off at most,
    relative to the columns' norms; that is looked at, not believed."""
    R = qr(A, mode="r", check_finite=False)[0][: A.shape[1]]
    norms = np.linalg.norm(A, axis=0)
    scale = np.outer(norms, norms)
    off = np.abs(R.T @ R - A.T @ A)
    if np.any(off[scale == 0.0]):
        return R, np.inf
    worst = float(np.max(np.divide(off, scale, out=np.zeros_like(off), where=scale > 0.0), initial=0.0))
    return R, worst + sum_unit(len(A)) + sum_unit(len(R))


def largest(values: FloatArray, count: int) -> FloatArray:
    """The `count` largest of the positive values."""
    values = values[values > 0.0]
    if count <= 0:
        return values[:0]
    return values if len(values) <= count else np.partition(values, len(values) - count)[-count:]


class System:
    """I + BB' + sum of matrices, factored in whichever space is smaller."""

    def __init__(self, B: FloatArray, matrices: list[FloatArray]) -> None:
        n, r = B.shape
        self._B: FloatArray | None = None
        if not matrices and r < n:
            self._B = B
            M = B.T @ B
        else:
            M = B @ B.T
            for K in matrices:
                M += K
        M[np.diag_indices_from(M)] += 1.0
        try:
            self._cho = cho_factor(M, lower=True, overwrite_a=True, check_finite=False) if len(M) else None
        except np.linalg.LinAlgError:
            raise NumericalError(
                "I + gamma K is not positive definite in double precision; use a smaller gamma or scale the kernels"
            ) from None

    def solve(self, v: FloatArray) -> FloatArray:
        """Solve the system for a vector or for columns."""
        if self._cho is None:
            return v.copy()
        if self._B is None:
            return np.asarray(cho_solve(self._cho, v, check_finite=False))
        return np.asarray(v - self._B @ self._inner(self._B, v))

    def point(self, y: FloatArray) -> tuple[FloatArray, float]:
        """``solve(y)``, and the sizes of the terms that it is the sum of: |y| and those of B's columns."""
        size = float(np.linalg.norm(y))
        if self._cho is None or self._B is None:
            return self.solve(y), size
        inner = self._inner(self._B, y)
        return y - self._B @ inner, size + float(np.abs(inner) @ np.linalg.norm(self._B, axis=0))

    def _inner(self, B: FloatArray, v: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(self._cho, B.T @ v, check_finite=False))
