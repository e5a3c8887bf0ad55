"""Exact arithmetic on doubles: a double is a whole number times a power of two.

A matrix is cut into digits of a few bits, held as doubles: a product of two digits, and the sum of as many as there are
rows, stays below 2^53, so that a product of matrices of digits has no rounding in whatever order it is summed. Digits
are put together to whole numbers of any size (arrays of Python's `int`), and everything after is done on those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
# Python's int, of any size.
Whole = npt.NDArray[np.object_]


def digit_bits(terms: int) -> int:
    """Bits of a digit, such that the sum of so many products of two digits is below 2^53."""
    return (53 - max(terms, 1).bit_length()) // 2


def shifted(value: Any, by: int) -> Any:
    """value * 2^by, rounded down; of a whole number or an array of them."""
    return value << by if by >= 0 else value >> -by


def lowest_bit(value: float) -> int:
    """The largest e for which a double is a whole multiple of 2^e; 0 for zero."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length() if numerator else 0


def whole_numbers(values: FloatArray) -> tuple[Whole, int]:
    """Whole numbers and a unit u, such that values are the numbers times 2^u."""
    unit = min((lowest_bit(value) for value in values.tolist() if value), default=0)
    out = np.empty(values.size, dtype=object)
    out[:] = [scaled(value, -unit) for value in values.tolist()]
    return out, unit


def as_doubles(values: Whole, unit: int) -> tuple[Whole, int]:
    """Whole numbers times 2^unit, each rounded to a double, half to even; and their unit.

    Numbers of more than 1000 bits lose those below first. Bits that are zero in all of them are dropped.
    """
    below = max(0, longest(values) - 1000)
    rounded = [int(float(value >> below)) for value in values.tolist()]
    together = reduce(or_, rounded, 0)
    zeros = (together & -together).bit_length() - 1 if together else 0
    out = np.empty(values.size, dtype=object)
    out[:] = [value >> zeros for value in rounded]
    return out, unit + below + zeros


def scaled(value: float, by: int) -> int:
    """A double times 2^by, rounded down."""
    numerator, denominator = value.as_integer_ratio()
    return int(shifted(numerator, by - denominator.bit_length() + 1))


def longest(values: Whole) -> int:
    """Bits of the largest of whole numbers."""
    return max((abs(value).bit_length() for value in values.ravel().tolist()), default=0)


def dot(a: Whole, b: Whole) -> int:
    """The sum of products."""
    return sum(map(int.__mul__, a.tolist(), b.tolist()))


def assemble(sums: IntArray, bits: int) -> Whole:
    """The whole numbers whose digits are `sums`, the highest first; digits may be negative and have carries in them."""
    digits = sums.copy()
    for at in range(digits.shape[0] - 1, 0, -1):
        carry = digits[at] >> bits
        digits[at] -= carry << bits
        digits[at - 1] += carry
    out: Whole = digits[0].astype(object)
    # As many digits at a time as an int64 holds: operations on Python's int are the slow ones.
    several = 62 // bits
    for start in range(1, digits.shape[0], several):
        group = digits[start : start + several]
        word = group[0]
        for digit in group[1:]:
            word = (word << bits) + digit
        out = (out << bits * group.shape[0]) + word.astype(object)
    return out


def digits_of(values: Whole, bits: int) -> FloatArray:
    """The digits of whole numbers, the highest first, each with its number's sign."""
    several = 62 // bits
    words = max(1, -(-longest(values) // (bits * several)))
    sign = np.where(values < 0, -1.0, 1.0)
    magnitude = np.abs(values)
    out = np.empty((words * several, values.size))
    mask, word_mask = (1 << bits) - 1, (1 << bits * several) - 1
    for number in range(words):
        word = ((magnitude >> bits * several * (words - 1 - number)) & word_mask).astype(np.int64)
        for at in range(several):
            out[number * several + at] = sign * ((word >> bits * (several - 1 - at)) & mask)
    used = np.flatnonzero(out.any(axis=1))
    return out[used[0] if used.size else -1 :]


@dataclass(frozen=True)
class Digits:
    """The rows of a matrix, exactly: entry (j, i) is 2^unit[j] times the whole number of digits `parts[:, j, i]`.

    Attributes
    ----------
    parts : FloatArray of shape (digits, rows, columns)
        The highest digit first.
    unit : list[int], one a row
    bits : int
        Bits of a digit.
    """

    parts: FloatArray
    unit: list[int]
    bits: int

    def take(self, rows: IntArray) -> Digits:
        return Digits(self.parts[:, rows], [self.unit[row] for row in rows.tolist()], self.bits)

    def times(self, vector: Whole) -> Whole:
        """The whole matrix times a vector of whole numbers."""
        products = self.parts @ digits_of(vector, self.bits).T
        return assemble(self._by_weight(products.transpose(0, 2, 1)), self.bits)

    def transpose_times(self, vector: Whole) -> Whole:
        """The whole matrix, transposed, times a vector of whole numbers."""
        return assemble(self._by_weight(digits_of(vector, self.bits) @ self.parts), self.bits)

    def gram(self) -> Whole:
        """The whole matrix times its transpose."""
        count, rows = self.parts.shape[:2]
        upper = np.triu_indices(rows)
        sums = np.zeros((2 * count - 1, upper[0].size), dtype=np.int64)
        for a in range(count):
            for b in range(a, count):
                product = (self.parts[a] @ self.parts[b].T).astype(np.int64)
                sums[a + b] += (product if a == b else product + product.T)[upper]
        out = np.empty((rows, rows), dtype=object)
        out[upper] = assemble(sums, self.bits)
        out[upper[1], upper[0]] = out[upper]
        return out

    @staticmethod
    def _by_weight(products: FloatArray) -> IntArray:
        """Add up the products of digit a with digit b that have the same a + b."""
        first, second = products.shape[:2]
        sums = np.zeros((first + second - 1, *products.shape[2:]), dtype=np.int64)
        for a in range(first):
            for b in range(second):
                sums[a + b] += products[a, b].astype(np.int64)
        return sums


def split(rows: FloatArray, bits: int, *, top: int | None = None, most: int | None = None) -> Digits:
    """Cut finite doubles into digits.

    Parameters
    ----------
    rows : FloatArray
        The matrix.
    bits : int
        Of a digit.
    top : int, optional
        All entries are below 2^top; by default every row has its own, so that rows may be of any size.
    most : int, optional
        So many digits, the rest being dropped; by default as many as it takes to drop nothing.
    """
    mantissa, exponent = np.frexp(rows)
    place = exponent.astype(np.int64) - 53
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    some = whole != 0
    lowest = np.min(place + np.frexp((whole & -whole).astype(np.float64))[1] - 1, axis=1, where=some, initial=1 << 20)
    highest = np.max(place + 53, axis=1, where=some, initial=-(1 << 20))
    empty = ~some.any(axis=1)
    highest[empty] = lowest[empty] = 0
    if top is not None:
        highest[:] = top
    count = most or max(1, -(-int(np.max(highest - lowest, initial=0)) // bits))
    mask, parts = (1 << bits) - 1, np.empty((count, *rows.shape))
    for at in range(count):
        shift = place - (highest - bits * (at + 1))[:, None]
        left = (whole & mask) << np.clip(shift, 0, bits)
        right = whole >> np.clip(-shift, 0, 63)
        parts[at] = np.where(shift >= 0, left, right) & mask
    parts *= np.sign(rows)
    return Digits(parts, (highest - bits * count).tolist(), bits)
