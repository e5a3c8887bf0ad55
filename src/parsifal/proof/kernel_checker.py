"""The check of a certificate of kernels: NumPy and nothing of the solver.

Every kernel is looked at times a power of two of its own that brings its largest entry to the size of one, and y
likewise; gamma takes the powers, one for each kernel. A kernel is a factor Z, K = ZZ', or a matrix; one that is not
quite symmetric counts as its symmetric part, one that is indefinite by rounding as its positive part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.proof.certificate import FixArray, FloatArray, fingerprint
from parsifal.proof.choice import KernelCertificate
from parsifal.proof.choice_tree import ChoiceTree, Point, plain_choice, weighted_rows, within
from parsifal.proof.kernel_objective import Part, fitted, mean_parts
from parsifal.proof.preconditions import Refused, require
from parsifal.proof.scaled import UNDERFLOW, below, ldexp, objective_tolerance, scaling_power, total, unit

_LARGEST = 2.0**400
_INDEFINITE = (
    1e-8  # of the largest entry: what an eigenvalue may be below zero, and two entries may differ, by rounding
)
_LEAST_VALUE = 2.0**-900
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One kernel, times ``4.0**power``: a factor or a matrix of `values`.

    `norm` is their Frobenius norm, `indefinite` a bound on how far its eigenvalues are below zero, and `rest` what the
    mean of two entries that differ lost by rounding, None if that is nothing.
    """

    values: FloatArray
    factor: bool
    power: int
    norm: float
    indefinite: float = 0.0
    rest: FloatArray | None = None

    def square(self, alpha: FloatArray) -> tuple[float, float]:
        """alpha'K alpha, and how far it, or its value for K's positive part, may be from that.

        Proof: z_j'alpha is off by at most unit(n) |z_j| |alpha|, and alpha'K alpha by 2 unit(n) |K| |alpha|^2.
        """
        n, length = alpha.size, float(np.linalg.norm(alpha))
        if self.factor:
            products = self.values.T @ alpha
            value = float(products @ products)
            error = unit(n) * self.norm * length
            return value, error * (2.0 * math.sqrt(value) + error) + 2 * unit(products.size) * value + UNDERFLOW
        value = float(alpha @ (self.values @ alpha))
        off = (2.0 * unit(n) * self.norm + self.indefinite) * length * length * (1 + unit(n))
        return value, off + UNDERFLOW


def plain_kernels(certificate: KernelCertificate) -> KernelCertificate:
    """As `plain_choice`, and the dual points."""
    c = plain_choice(certificate)
    require(c.point.size == c.records, "point has not one entry a record")
    require(c.points.size % c.rows == 0, "points are not whole vectors")
    require(within(c.point, 0, c.points.size // c.rows), "a record names no such point")
    return c


class KernelProof:
    """The dual points of a certificate of kernels, for `ChoiceTree`."""

    def __init__(self, c: KernelCertificate, kernels: Any, y: FloatArray) -> None:
        self.c = c
        require(y.shape == (c.rows,), f"y has shape {y.shape}, the certificate is for {c.rows} rows")
        require(np.isfinite(y).all(), "y holds a non-finite number")
        given = _sequence(kernels)
        require(len(given) == c.price.size, f"there are {len(given)} kernels, the certificate is for {c.price.size}")
        root = weighted_rows(c)
        self.kernels = [_kernel(item, j, c.rows, root) for j, item in enumerate(given)]
        y = y if root is None else root * y
        self.power = scaling_power(y, c.objective)
        self.y: FloatArray = np.ldexp(y, self.power)
        self.size = float(np.linalg.norm(self.y))
        prices = np.ldexp(c.price, 2 * self.power)
        # What is not a number of ordinary size is lowered: a bound stays a bound.
        self.price: FloatArray = np.where(prices <= _LEAST_VALUE, 0.0, np.minimum(prices, 1 / _LEAST_VALUE))
        self.held: dict[int, Point] = {}

    def tree(self, claim: float) -> ChoiceTree:
        """The walk of the records, for a claim in scaled units."""
        return ChoiceTree(self.c, self.price, self.point, claim)

    def value(self, number: float) -> float:
        """An objective or a bound in scaled units, not less than it is."""
        scaled = ldexp(number, 2 * self.power)
        return max(scaled, _LEAST_VALUE) if number > 0 else 0.0 if scaled > -_LEAST_VALUE else scaled

    def in_units(self, number: float) -> float:
        """A bound in the units of the data, not more than it is."""
        unscaled = min(ldexp(number, -2 * self.power), _LARGEST_FLOAT)
        return unscaled if abs(unscaled) >= _LEAST_VALUE or number == 0 else below(unscaled)

    def weight(self, j: int) -> float:
        """gamma in the units of kernel j, not less than it is."""
        scaled = ldexp(self.c.gamma, -2 * self.kernels[j].power)
        return max(scaled, _LEAST_VALUE)

    def point(self, r: int, fix: FixArray) -> Point:
        """The dual point of record r, over every kernel.

        Proves: with alpha as it is stored, whatever it is, the objective of S is at least
        y'alpha - 1/2 |alpha|^2 - sum over S of gamma/2 alpha'K_j alpha, and the prices.
        """
        number = int(self.c.point[r])
        if number not in self.held:
            n = self.c.rows
            alpha = np.ldexp(self.c.points[number * n : (number + 1) * n], self.power)
            largest = float(np.abs(alpha).max(initial=0.0))
            ordinary = largest < _LARGEST and not 0 < largest < 1 / _LARGEST
            require(ordinary, f"record {r}: its dual point is beyond all units")
            first, square = float(self.y @ alpha), float(alpha @ alpha)
            length = float(np.linalg.norm(alpha))
            charge = unit(n) * (self.size * length + square) + UNDERFLOW
            squares = [kernel.square(alpha) for kernel in self.kernels]
            upper = np.array([max(value, 0.0) + error for value, error in squares])
            halves = 0.5 * np.array([self.weight(j) for j in range(upper.size)]) * upper
            terms = np.nextafter(halves * (1 + unit(0)) + UNDERFLOW - self.price, np.inf)
            terms = np.where(np.isnan(terms), np.inf, terms)
            self.held[number] = Point(base=total(first, -0.5 * square, -charge), terms=terms)
            if r == 0:
                self.check_fingerprint(squares, fix)
        return self.held[number]

    def check_fingerprint(self, squares: Sequence[tuple[float, float]], fix: FixArray) -> None:
        """Ties the certificate to its data; no bound rests on it."""
        powers = [-2 * (self.power + kernel.power) for kernel in self.kernels]
        unscaled = np.array([ldexp(value, power) for (value, _), power in zip(squares, powers)])
        off = np.array([ldexp(error, power) for (_, error), power in zip(squares, powers)])
        unscaled[fix < 0] = off[fix < 0] = 0.0
        allowed = 1e-9 * float(np.abs(unscaled).sum()) + 10 * float(off.sum())
        near = np.isfinite(allowed) and abs(fingerprint(unscaled) - self.c.fingerprint) <= allowed
        require(near, "the data are not those the certificate was made for (the fingerprint differs)")

    def check_objective(self) -> None:
        """Proves: the objective that is claimed is that of the coefficients, and not below what the support has with
        the positive parts of its kernels, and the lower bound is not above it, but for a relative 1e-12 and the
        rounding of a sum. What else rounding may be worth, which grows with the coefficients, has to fit in there.
        """
        c, n = self.c, self.c.rows
        chosen = [(self.kernels[j], self.weight(j)) for j in c.support.tolist()]
        require(all(math.isfinite(gamma) for _, gamma in chosen), "gamma is beyond the units of a kernel")
        width = [kernel.values.shape[1] for kernel, _ in chosen]
        require(c.coef.size == sum(width), "coef has not one entry for every column of the support's kernels")
        parts = np.split(c.coef, np.cumsum(width)[:-1]) if width else []
        coef = [
            np.ldexp(w, self.power - kernel.power * (1 if kernel.factor else 2))
            for (kernel, _), w in zip(chosen, parts)
        ]
        require(all(np.all(np.abs(w) < _LARGEST) for w in coef), "coef is beyond all units")
        fit = fitted(self.y, [Part(kernel.values, kernel.rest, kernel.factor) for kernel, _ in chosen], coef)
        terms = sum(width)
        ridges = [
            (square / gamma, off / gamma + _indefiniteness(kernel, gamma, w, fit.residual))
            for (kernel, gamma), w, (square, off) in zip(chosen, coef, fit.squares)
        ]
        price = float(np.ldexp(c.price[c.support], 2 * self.power).sum())
        value = 0.5 * float(fit.residual @ fit.residual) + 0.5 * sum(ridge for ridge, _ in ridges) + price
        length = float(np.linalg.norm(fit.residual))
        error = unit(n + terms) * value + fit.error * (length + fit.error) + sum(off for _, off in ridges)
        tolerance = objective_tolerance(value, n + terms)
        weak = sum(gamma * kernel.indefinite for kernel, gamma in chosen)
        require(
            weak <= 0.25,
            f"gamma makes too much of kernel matrices that may be indefinite by rounding (gamma times what their "
            f"eigenvalues may be below zero is {weak:.2g}, more than 0.25): give factors, or use a smaller gamma",
        )
        nothing = value < _LEAST_VALUE and (np.any(self.y) or np.any(c.coef))
        known = np.isfinite(value) and error <= tolerance and not nothing
        require(known, "the kernels' fit cancels beyond double precision: its objective cannot be known")
        near = abs(value - self.value(c.objective)) <= tolerance
        require(near, f"the objective is {self.in_units(value)!r}, not {c.objective!r}")
        require(self.value(c.lower_bound) <= value + tolerance, "the lower bound is above the objective")


def _indefiniteness(kernel: Kernel, gamma: float, w: FloatArray, residual: FloatArray) -> float:
    """What the objective of w may be below the support's with K's positive part, because K is indefinite by rounding.

    Proof: let r be the residual, w = gamma (r - delta), and K have no eigenvalue below -e, gamma e <= 1/4. The
    support's objective with K's positive part is at most t = 1/2 z'(I + gamma K)^-1 z, z = r + Kw, and the objective
    of w exceeds it by gamma/2 delta'K (I + gamma K)^-1 delta, which is not below -gamma e |delta|^2: nothing for a
    best fit, whose delta is zero. With several kernels let D = sum K_j d_j for the differences d_j of the w_j from the
    best; then d_j = -gamma (D + delta_j), and the objective exceeds t by 1/2 |D|^2 + gamma/2 sum (D + delta_j)'K_j
    (D + delta_j), which is not below (1/2 - gamma sum e_j) |D|^2 - gamma sum e_j |delta_j|^2.
    """
    if kernel.factor:
        return 0.0
    length = float(np.linalg.norm(w)) / gamma
    delta = float(np.linalg.norm(residual - w / gamma)) + unit(2) * (float(np.linalg.norm(residual)) + length)
    return 4 * gamma * kernel.indefinite * delta * delta


def _sequence(kernels: Any) -> list[Any]:
    try:
        return list(kernels)
    except TypeError:
        raise Refused("kernels must be a sequence of matrices and factors") from None


def _kernel(item: Any, j: int, n: int, root: FloatArray | None) -> Kernel:
    """A kernel as `solve_kernels` takes it: an array of n rows, or a pair of ``"factor"`` or ``"matrix"`` and one."""
    name, said = f"kernel {j}", None
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        said, item = item
    try:
        array = np.asarray(item)
        require(array.dtype.kind in "fiub", f"{name} holds no real numbers")
        values = np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise Refused(f"{name} is no matrix of numbers") from None
    require(values.ndim == 2 and len(values) == n, f"{name} has not {n} rows")
    require(np.isfinite(values).all(), f"{name} holds a non-finite number")
    factor = said == "factor" or (said is None and values.shape[1] != n)
    require(factor or values.shape[1] == n, f"{name} is not {n} by {n}")
    if root is not None:
        values = root[:, None] * values if factor else np.outer(root, root) * values
    largest = float(np.abs(values).max(initial=0.0))
    require(math.isfinite(largest), f"{name} is beyond double precision")
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    power = -exponent if factor else -(exponent // 2)
    values = np.ldexp(values, power if factor else 2 * power)
    norm = float(np.linalg.norm(values)) * (1 + unit(values.size))
    if factor:
        return Kernel(values=values, factor=True, power=power, norm=norm)
    symmetric, rest = mean_parts(values)
    size = float(np.abs(values).max(initial=0.0))
    even = float(np.abs(values - values.T).max(initial=0.0)) <= _INDEFINITE * size
    require(even, f"{name} is not symmetric")
    indefinite = _indefinite(symmetric, size, name)
    return Kernel(values=symmetric, factor=False, power=power, norm=norm, indefinite=indefinite, rest=rest)


def _indefinite(K: FloatArray, size: float, name: str) -> float:
    """A bound on how far K's eigenvalues are below zero.

    Proves: a Cholesky factorisation of K + shift I that runs to its end shows that no eigenvalue of K is below
    -(shift + n unit(n) (the largest diagonal entry)) (Rump; docs/numerics.md).
    """
    n = len(K)
    if size == 0.0:
        return 0.0
    error = n * unit(n + 8) * 2.0 * size
    shift = error
    while shift <= n * _INDEFINITE * size:
        shifted = K.copy()
        shifted[np.diag_indices(n)] += shift
        try:
            if np.isfinite(np.linalg.cholesky(shifted)).all():
                return shift + error
        except np.linalg.LinAlgError:
            pass
        shift *= 8.0
    raise Refused(f"{name} is not positive semidefinite")
