"""What is left of y and of other columns once the columns that are in are taken out, from the data and rounded safely.

The ridge is put into the columns: x~_j is x_j and, in a coordinate of its own, sqrt(ridge_j). Twice the objective of a
support is then the squared distance of y from the span of its x~_j, with or without a ridge. Let A hold the x~_i of the
columns in. For any numbers u and U, r = y - A u and Z = X~_J - A U are an exact change of variables: A and Z_T have the
span of A and X~_T. What is not quite orthogonal is charged. With A'A >= h Id, e = A'r and E = A'Z_T,

    twice the objective of A and T  >=  |r|^2 - 2 |e|^2 / h - max over w of (2 w'Z_T'r - w'(Z_T'Z_T - 2 |E|^2 / h) w),

since the coefficients v on A add -2 (e - E w)'v + v'A'A v >= -|e - E w|^2 / h (docs/numerics.md).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.scaled import UNDERFLOW, Scaled, length, precise_residual, total, unit

# A column of which rounding leaves less than this, relatively, is looked at by itself.
_UNCLEAR = 1e-10


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Columns beside a place, as a problem of numbers alone.

    For every set T of at most `room` of the `columns`, twice the objective of the place with T is at least
    ``rest - b_T'G_T^-1 b_T`` and the price of all, in exact arithmetic on these very numbers; and also if b and every
    entry of G are changed by up to `spare` times |r| and one. The diagonal of G is `diagonal` throughout.

    Attributes
    ----------
    unclear : int array
        Columns that nothing is said about.
    dependent : int array
        Columns that are within `independence` of the span of those in, which no support that counts has.
    """

    columns: IntArray
    b: FloatArray
    G: FloatArray
    diagonal: float
    rest: float
    spare: float
    unclear: IntArray
    dependent: IntArray


class Place:
    """The columns `index` in, and what is left of y.

    Attributes
    ----------
    some : int array
        Which of them have anything to say.
    rest : float
        Not above twice the objective of the columns in, less what their price adds; with `h` = 0 nothing is known,
        and it is -inf.
    """

    def __init__(self, data: Scaled, index: IntArray) -> None:
        self.data, self.index = data, index
        block, ridge = data.X.take(index), data.ridge[index]
        # A column of zeros adds nothing to a span; with a ridge, a coordinate in which nothing else is.
        self.some = some = np.flatnonzero(block.any(axis=0))
        self.q, self.terms = some.size, data.n + some.size
        # Roots that are a little too small: less of a ridge lowers every objective.
        roots = np.sqrt(ridge[some]) * (1 - 2.0**-51)
        A = np.concatenate([block[:, some], np.diag(roots)])
        # By powers of two, which change no digit: what a column with a large ridge rounds would count for all others.
        self.A = np.ldexp(A, -np.frexp(np.linalg.norm(A, axis=0))[1])
        self.norms = np.linalg.norm(self.A, axis=0) * (1 + unit(self.terms))
        y = np.concatenate([data.y, np.zeros(self.q)])
        self.W, self.V, self.h = _inverse(self.A, self.norms)
        u = self.W @ (self.V.T @ y)
        self.r = precise_residual(y, self.A, u)
        again = u + self.W @ (self.V.T @ self.r)
        if np.isfinite(again).all():
            u, self.r = again, precise_residual(y, self.A, again)
        self.length = length(self.r)
        # How far r is from y - A u at most.
        self.drift = unit(0) * self.length + 4 * unit(self.q) ** 2 * (data.size + float(np.abs(u) @ self.norms))
        self.drift += UNDERFLOW
        off = unit(self.terms) * self.length + self.drift
        e = float(np.linalg.norm(np.abs(self.A.T @ self.r) + off * self.norms)) if self.q else 0.0
        shortest = max(0.0, self.length * (1 - unit(self.terms)) - self.drift)
        self.rest = -np.inf
        if self.h > 0 and np.isfinite(self.length):
            charge = 2.02 * e * e / self.h + UNDERFLOW if self.q else 0.0
            self.rest = total(shortest * shortest * (1 - 4 * unit(0)), -charge)

    def value(self) -> float:
        """Not above the objective of the columns in, and no more than zero and their price where it is not known."""
        price = self.data.price_of(self.index)
        return max(price, total(0.5 * self.rest, price)) if self.rest > 0 else price

    def spread(self, columns: IntArray, block: FloatArray, room: int, independence: float) -> Spread:
        """The columns beside the place, of which `block` are the data.

        Proof: with U as computed, columns of Z are off by at most unit(q) (|x_j| + sum |U_ij| |a_i|). Divided by the
        computed |z_j|, products of two of them are off by 3 rho, rho the largest relative error of a column with that
        of a sum of n + q products; b by 2 rho |r| and what r is off by. An error of `one` in every entry of G_T changes
        w'G_T w by at most m one |w|^2, and one of `one` |r| in b changes 2 w'b by at most one |w|^2 + m one |r|^2. So
        much is taken off the diagonal and off the rest. `spare` is left of it for the elimination.
        """
        data, ridge = self.data, self.data.ridge[columns]
        U = self.W @ (self.V[: data.n].T @ block)
        Z = np.concatenate([block - self.A[: data.n] @ U, -self.A[data.n :] @ U]) if self.q else block
        norms = np.sqrt(np.einsum("ij,ij->j", block, block))
        error = unit(self.q) * (norms + np.abs(U).T @ self.norms) + UNDERFLOW
        z = np.sqrt(np.einsum("ij,ij->j", Z, Z) + ridge)
        within = (z + error) * (1 + unit(self.terms)) < independence * norms * (1 - unit(self.terms))
        if independence > 0:
            within |= ~block.any(axis=0)  # zero is in every span
        apart = np.linalg.norm(np.abs(self.A.T @ Z) + self.norms[:, None] * (unit(self.terms) * z + error), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = error / z + unit(self.terms)
            leak = 2.02 * (apart / z) ** 2 / self.h if self.q else np.zeros(z.size)
            clear = (rho < _UNCLEAR) & (leak < _UNCLEAR)
        kept = np.flatnonzero(clear & ~within)
        spare = unit(4 * room + 32)
        one = 4 * float(rho[kept].max(initial=0.0)) + self.drift / max(self.length, UNDERFLOW) + 2 * spare
        shift = (room + 1) * one + room * float(leak[kept].max(initial=0.0))
        square = self.length * self.length * (1 + unit(self.terms))
        unit_z = Z / z if kept.size == z.size else Z[:, kept] / z[kept]
        G = unit_z.T @ unit_z
        np.fill_diagonal(G, 1.0 - shift)
        return Spread(
            columns=columns[kept],
            b=unit_z.T @ self.r,
            G=G,
            diagonal=1.0 - shift,
            rest=total(self.rest, -1.01 * (room * one + 64 * spare) * square),
            spare=spare,
            unclear=columns[~clear & ~within],
            dependent=columns[within],
        )


def _inverse(A: FloatArray, norms: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """W, V = A W with columns that are nearly orthonormal, and h for which A'A - h Id is positive semidefinite.

    Proof: let V'V - Id, for V = A W in exact arithmetic, be at most `off` in Frobenius norm, off < 1. Then W has an
    inverse, and A'A = W^-T V'V W^-1 >= (1 - off) (W W')^-1 >= (1 - off) / |W|_F^2. Column k of the computed V is off by
    unit(q) sum |a_i| |W_ik|, and its products by unit(n + q) of the lengths besides. h is 0 where off is not below 1.
    """
    terms, q = A.shape
    if q == 0:
        return np.zeros((0, 0)), A, np.inf
    W = np.zeros((q, q))
    with contextlib.suppress(np.linalg.LinAlgError):
        W = np.linalg.inv(np.linalg.qr(A)[1])
    if not np.isfinite(W).all():
        W = np.zeros((q, q))
    V = A @ W
    error = unit(q) * (norms @ np.abs(W)) + UNDERFLOW
    lengths = np.linalg.norm(V, axis=0) * (1 + unit(terms)) + error
    off = np.abs(V.T @ V - np.eye(q)) + unit(terms) * np.outer(lengths, lengths)
    off += 2 * (np.outer(lengths, error) + np.outer(error, lengths))
    worst, square = float(np.linalg.norm(off)) * 1.01, float(np.sum(W * W)) * 1.01
    return W, V, (1 - worst) / square if worst < 1 and np.isfinite(square) else 0.0
