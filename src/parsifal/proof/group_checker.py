"""The check of a certificate of groups: NumPy and nothing of the solver.

The columns of all groups are looked at side by side, a column of two groups twice, in the units of `Scaled`; a group's
term is the sum of its columns' terms less its price.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from parsifal.proof.certificate import FixArray, FloatArray, IntArray
from parsifal.proof.choice import GroupCertificate
from parsifal.proof.choice_tree import ChoiceTree, Point, plain_choice, weighted_rows, within
from parsifal.proof.columns import Columns
from parsifal.proof.preconditions import _in_order, _rises, require
from parsifal.proof.records import safe_diagonal
from parsifal.proof.scaled import UNDERFLOW, Scaled, cancel, objective_tolerance, precise_residual, total, unit
from parsifal.proof.tall import Tall

_LARGEST = 2.0**400  # of a residual, scaled; the allowance for underflow counts with it
_MOST_TIGHTENED = 8000  # columns of a frame with a diagonal, whose Gram matrix is made
_MOST_FRAMES = 32  # held at a time
_TINY, _HIGHEST_PRICE = 2.0**-900, 2.0**1000
_NONE = 1 << 20  # a power of two that no double has


def plain_groups(certificate: GroupCertificate) -> GroupCertificate:
    """As `plain_choice`, and the arrays of groups, coefficients and frames."""
    c = plain_choice(certificate)
    m, q = c.price.size, c.group_column.size
    require(c.group_offset.size == m + 1 and _in_order(c.group_offset, c.group_column), "group_offset is not in order")
    require(np.all(np.diff(c.group_offset) > 0), "a group has no column")
    require(within(c.group_column, 0, c.columns), "group_column names a column that X does not have")
    require(c.frame.size == c.records, "frame has not one entry a record")
    require(c.coef_offset.size == c.records + 1, "coef_offset has the wrong length")
    require(_in_order(c.coef_offset, c.coef_index), "coef_offset is not in order")
    require(c.coef_value.size == c.coef_index.size, "coef_value and coef_index differ in length")
    require(within(c.coef_index, 0, q) and _rises(c.coef_index, c.coef_offset), "the coefficients are not in order")
    frames = c.frame_offset.size - 1
    require(frames >= 0 and c.diagonal_offset.size == frames + 1, "the frames' offsets differ in length")
    require(_in_order(c.frame_offset, c.frame_group), "frame_offset is not in order")
    require(_in_order(c.diagonal_offset, np.zeros(c.diagonal.size, dtype=np.int64)), "diagonal_offset is not in order")
    require(within(c.frame_group, 0, m) and _rises(c.frame_group, c.frame_offset), "a frame's groups are not in order")
    width = np.concatenate([[0], np.cumsum(np.diff(c.group_offset)[c.frame_group])])
    require(np.array_equal(width[c.frame_offset], c.diagonal_offset), "a diagonal has not one entry a column")
    require(within(c.frame, -1, frames) and c.frame[0] == -1, "a record names no such frame, or the first has one")
    members = int(np.diff(c.group_offset)[c.support].sum())
    require(c.coef.size == members, "coef has not one entry for every column of the support")
    return c


class Members:
    """The groups' columns side by side, each times a power of two of its own, as `Scaled` takes columns."""

    def __init__(self, c: GroupCertificate, X: Any) -> None:
        columns = Columns(X)
        require(
            columns.shape == (c.rows, c.columns),
            f"X has shape {columns.shape}, the certificate is for {(c.rows, c.columns)}",
        )
        used = np.unique(c.group_column)
        require(columns.finite[used].all(), "X holds a non-finite number")
        root = weighted_rows(c)
        if root is None:
            block, exponent = columns.take(used), columns.exponent[used]
        else:
            block, exponent = _weighted(columns.unscaled(used), root)
        at = np.searchsorted(used, c.group_column)
        self.block: FloatArray = block[:, at]
        self.exponent: IntArray = exponent[at]
        self.shape = self.block.shape
        self.norms: FloatArray = np.linalg.norm(self.block, axis=0)
        self.finite = np.ones(at.size, dtype=bool)

    def take(self, index: IntArray) -> FloatArray:
        """The columns of this index, scaled."""
        return self.block[:, index]


def _weighted(block: FloatArray, root: FloatArray) -> tuple[FloatArray, IntArray]:
    """The rows times their roots, every column times a power of two that brings it to the size of one; and the powers.

    Columns are scaled when the rows have their weights: entries of rows with little weight may be so large that the
    others would underflow beside them. Mantissas are multiplied, so that nothing does before.
    """
    digits, power = np.frexp(block)
    root_digits, root_power = np.frexp(root)
    digits = root_digits[:, None] * digits
    more, power = np.frexp(digits)[1], power + root_power[:, None]
    highest = np.max(power + more, axis=0, where=digits != 0, initial=-_NONE)
    exponent = np.where(highest > -_NONE, 1 - highest, 0).astype(np.int64)
    return np.ldexp(digits, power + exponent), exponent


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Some groups: their columns, the data of these, and a diagonal, None where it is zero."""

    outside: FixArray
    columns: IntArray
    block: FloatArray
    norms: FloatArray
    diagonal: FloatArray | None


class GroupProof:
    """The dual points of a certificate of groups, for `ChoiceTree`."""

    def __init__(self, c: GroupCertificate, X: Any, y: FloatArray) -> None:
        self.c, self.members = c, Members(c, X)
        require(y.shape == (c.rows,), f"y has shape {y.shape}, the certificate is for {c.rows} rows")
        require(np.isfinite(y).all(), "y holds a non-finite number")
        root = weighted_rows(c)
        none = np.zeros(0)
        stated: Any = SimpleNamespace(
            shape=self.members.shape, gamma=c.gamma, penalty=0.0, price=none, sign=none, objective=c.objective
        )
        self.stated, data = stated, cast("Any", self.members)
        self.data = Scaled(stated, data, y if root is None else root * y)
        prices = np.array([_scaled_price(self.data, price) for price in c.price.tolist()])
        # A price that does not fit is lowered: a bound stays a bound.
        self.price: FloatArray = np.where(prices <= _TINY, 0.0, np.minimum(prices, _HIGHEST_PRICE))
        self.owner = np.repeat(np.arange(c.price.size), np.diff(c.group_offset))
        self.frames: dict[int, Frame] = {}

    def tree(self, claim: float) -> ChoiceTree:
        """The walk of the records, for a claim in scaled units."""
        return ChoiceTree(self.c, self.price, self.point, claim)

    def check_objective(self) -> None:
        """Proves: the support's coefficients have the objective that is claimed, and the lower bound is not above it,
        but for a relative 1e-12 and the rounding of a sum of the rows and columns."""
        c, data = self.c, self.data
        order = np.concatenate([np.zeros(0, dtype=np.int64), *(self.columns_of(g) for g in c.support)])
        value, error = data.objective(order, c.coef, self.stated)
        value += float(np.sum([_scaled_price(data, price) for price in c.price[c.support].tolist()]))
        tolerance = objective_tolerance(value, c.rows + order.size)
        known = np.isfinite(value) and error <= tolerance
        require(known, "the support's columns cancel beyond double precision: its objective cannot be known")
        found = data.in_units(value)
        require(abs(value - data.value(c.objective)) <= tolerance, f"the objective is {found!r}, not {c.objective!r}")
        require(data.value(c.lower_bound) <= value + tolerance, "the lower bound is above the objective")

    def columns_of(self, g: int) -> IntArray:
        return np.arange(self.c.group_offset[g], self.c.group_offset[g + 1])

    def point(self, r: int, fix: FixArray) -> Point:
        """The dual point of record r, over every group that is not out.

        Proves: with the computed alpha, whatever it is, the objective of S is at least y'alpha - 1/2 |alpha|^2 - sum
        over the columns of S of (z_j'alpha)^2 / (2 ridge_j), and the prices; in a frame with a diagonal as in
        `tightened`. Groups outside the frame need no term, for they are out.
        """
        c, data = self.c, self.data
        part = slice(c.coef_offset[r], c.coef_offset[r + 1])
        index = c.coef_index[part]
        w = data.coefficients(index, c.coef_value[part])
        frame = self.frame(int(c.frame[r]))
        require(not np.any(fix[frame.outside == 1] >= 0), f"record {r}: a group outside its frame is not out")
        at = np.searchsorted(frame.columns, index)
        known = np.isin(index, frame.columns).all()
        require(known, f"record {r} has a coefficient outside its frame")
        dense = np.zeros(frame.columns.size)
        dense[at] = w
        some = np.flatnonzero(dense)
        if cancel(data.y, dense, frame.norms):
            alpha = precise_residual(data.y, frame.block[:, some], dense[some])
        else:
            alpha = data.y - frame.block[:, some] @ dense[some]
        largest = float(np.abs(alpha).max(initial=0.0))
        require(largest < _LARGEST and not 0 < largest < 1 / _LARGEST, f"record {r}: its residual is beyond all units")
        if frame.diagonal is not None:
            base, terms = self.tightened(frame, frame.diagonal, dense, alpha)
        else:
            beta = frame.block.T @ alpha
            if r == 0:
                reach = data.size + float(np.abs(dense) @ frame.norms)
                data.check_fingerprint(self.c.fingerprint, beta, reach, fix[self.owner] >= 0)
            error = unit(data.n) * float(np.linalg.norm(alpha)) * frame.norms + UNDERFLOW
            base, terms = data.plain_base(alpha), data.terms(beta, error, frame.columns, None)
        return Point(base=base, terms=self.group_terms(frame.columns, terms))

    def group_terms(self, columns: IntArray, terms: FloatArray) -> FloatArray:
        """Upper bounds on the sums of the columns' terms less the prices; infinite for groups without columns here."""
        out = np.full(self.c.price.size, np.inf)
        if columns.size == 0:
            return out
        owner = self.owner[columns]
        start = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        width = int(np.max(np.diff(np.append(start, columns.size))))
        # All terms are nonnegative, since the price is not in them: their sum is off by unit(width) of itself.
        sums = np.add.reduceat(terms, start) * (1.0 + unit(width))
        out[owner[start]] = np.nextafter(sums - self.price[owner[start]], np.inf)
        return np.where(np.isnan(out), np.inf, out)

    def tightened(self, frame: Frame, d: FloatArray, w: FloatArray, alpha: FloatArray) -> tuple[float, FloatArray]:
        """Base and columns' terms in a frame with a diagonal.

        Proves, as `Records.tightened_point` does for columns: with alpha = y - Z w exactly, which the computed one is
        up to `drift`, the objective of S is at least y'alpha - 1/2 |alpha|^2 + 1/2 sum d_j w_j^2 - sum over the columns
        of S of (z_j'alpha + d_j w_j)^2 / (2 (ridge_j + d_j)), and the prices.
        """
        data = self.data
        size = float(np.abs(w) @ frame.norms)
        drift = unit(int(np.count_nonzero(w))) * (data.size + size) + UNDERFLOW
        moved = drift * (float(np.linalg.norm(data.y - alpha)) + drift) * 1.01
        squares, sizes = 0.5 * float(d @ w**2), 0.5 * float(np.abs(d) @ w**2)
        base = total(data.plain_base(alpha), -moved, squares, -unit(w.size) * sizes - UNDERFLOW)
        shift = d * w
        beta = frame.block.T @ alpha + shift
        relative = unit(data.n) * float(np.linalg.norm(alpha)) + drift
        error = relative * frame.norms + unit(0) * (np.abs(shift) + np.abs(beta)) + UNDERFLOW
        return base, data.terms(beta, error, frame.columns, d)

    def frame(self, number: int) -> Frame:
        """A frame of the certificate, its diagonal verified when it is first used; -1: all groups."""
        if number in self.frames:
            return self.frames[number]
        c = self.c
        outside = np.ones(c.price.size, dtype=np.int8)
        diagonal = None
        if number < 0:
            outside[:] = 0
            columns = np.arange(c.group_column.size)
        else:
            outside[c.frame_group[c.frame_offset[number] : c.frame_offset[number + 1]]] = 0
            columns = np.flatnonzero(outside[self.owner] == 0)
            given = c.diagonal[c.diagonal_offset[number] : c.diagonal_offset[number + 1]]
            diagonal = self.data.diagonal(columns, given)
        block = self.members.block if number < 0 else np.ascontiguousarray(self.members.block[:, columns])
        norms = self.members.norms[columns]
        if diagonal is not None:
            require(columns.size <= _MOST_TIGHTENED or not np.any(diagonal), f"frame {number}: too many columns")
            diagonal = safe_diagonal(number, diagonal, Tall.of(block)) if np.any(diagonal) else None
        if len(self.frames) >= _MOST_FRAMES:
            self.frames.clear()
        self.frames[number] = Frame(outside=outside, columns=columns, block=block, norms=norms, diagonal=diagonal)
        return self.frames[number]


def _scaled_price(data: Scaled, price: float) -> float:
    return data.value(price) if price > 0 else 0.0
