"""The arithmetic of the exact check against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from oracles.rational import dot, gram, is_positive_semidefinite, rows
from parsifal.proof.exact_arithmetic import (
    Digits,
    as_doubles,
    assemble,
    digit_bits,
    digits_of,
    longest,
    lowest_bit,
    scaled,
    split,
    whole_numbers,
)
from parsifal.proof.exact_diagonal import NotSemidefinite, guard_bits, lowering, whole_diagonal
from parsifal.proof.exact_groups import gain


def whole_matrix(digits: Digits) -> list[list[int]]:
    """The whole numbers that the digits stand for, by the definition."""
    count, height, width = digits.parts.shape
    weight = [1 << digits.bits * (count - 1 - at) for at in range(count)]
    return [
        [sum(int(digits.parts[at, j, i]) * weight[at] for at in range(count)) for i in range(width)]
        for j in range(height)
    ]


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((4, 9)) * 10.0 ** rng.integers(-300, 300, (4, 9))
    some = rng.standard_normal((5, 20))
    some[2], some[3, ::2] = 0.0, 0.0
    extreme = np.array([[5e-324, -1.7976931348623157e308, 2.0**-1022], [-0.0, 0.0, 3 * 5e-324]])
    return {
        "ordinary": rng.standard_normal((6, 50)),
        "badly scaled": rng.standard_normal((6, 30)) * 10.0 ** np.arange(-20, 22, 7)[:, None],
        "wide": wide,
        "zeros": some,
        "extreme": extreme,
        "integers": rng.integers(-3, 4, (3, 8)).astype(float),
        "largest digits": np.full((2, 1000), 2.0**53 - 1),
        "empty": np.zeros((0, 3)),
        "no columns": np.zeros((3, 0)),
    }


@pytest.mark.parametrize("kind", matrices())
def test_digits_lose_nothing(kind: str) -> None:
    X = matrices()[kind]
    digits = split(X, digit_bits(max(X.shape)))
    assert np.all(np.abs(digits.parts) < 2**digits.bits)
    assert np.all(digits.parts == np.round(digits.parts))
    for row, whole, unit in zip(rows(X), whole_matrix(digits), digits.unit):
        assert [value * Fraction(2) ** unit for value in whole] == row


@pytest.mark.parametrize("kind", matrices())
def test_products(kind: str) -> None:
    X = matrices()[kind]
    digits, rng = split(X, digit_bits(max(X.shape))), np.random.default_rng(2)
    whole = whole_matrix(digits)
    for size in (0, 1, 60, 300):
        left, right = (np.zeros(m, dtype=object) for m in X.shape)
        for vector in (left, right):
            vector[:] = [int(v * 2**53) << size for v in rng.standard_normal(vector.size)]
        assert digits.times(right).tolist() == [sum(a * b for a, b in zip(row, right)) for row in whole]
        expected = [sum(row[i] * left[j] for j, row in enumerate(whole)) for i in range(X.shape[1])]
        assert digits.transpose_times(left).tolist() == expected
    products = digits.gram()
    for i, a in enumerate(whole):
        for j, b in enumerate(whole):
            assert products[i, j] == sum(x * y for x, y in zip(a, b))


def test_sums_of_products_stay_below_the_last_whole_double() -> None:
    for terms in (1, 2, 3, 7, 8, 1000, 1023, 1024, 10**6):
        bits = digit_bits(terms)
        assert terms * (2**bits - 1) ** 2 < 2**53


@pytest.mark.parametrize("bits", [16, 20, 21, 26])
def test_whole_numbers_and_their_digits(bits: int) -> None:
    rng = np.random.default_rng(3)
    for size in (1, 30, 64, 65, 200):
        values = np.array([0, *(int(v * 2**53) << size >> 40 for v in rng.standard_normal(20))], dtype=object)
        digits = digits_of(values, bits)
        assert np.abs(digits).max() < 2**bits
        assert assemble(digits.astype(np.int64), bits).tolist() == values.tolist()
        assert longest(values) == max(abs(value).bit_length() for value in values)
    carries = rng.integers(-(2**58), 2**58, (7, 40))
    expected = [sum(int(v) << bits * (6 - at) for at, v in enumerate(column)) for column in carries.T]
    assert assemble(carries, bits).tolist() == expected


def test_whole_numbers_are_rounded_as_doubles_are() -> None:
    rng = np.random.default_rng(5)
    ties = [sign * ((1 << 53 | low) << drop | 1 << drop - 1) for sign in (1, -1) for low in (0, 1) for drop in (1, 40)]
    drawn = [
        int(rng.integers(-(2**62), 2**62)) * int(rng.integers(1, 2**62)) >> int(rng.integers(120)) for _ in range(300)
    ]
    values = np.array([0, 1, -1, 2**53 - 1, 1 - 2**54, *ties, *drawn], dtype=object)
    rounded, unit = as_doubles(values, -70)
    expected = [Fraction(float(value)) / 2**70 for value in values]
    assert [Fraction(value) * Fraction(2) ** unit for value in rounded] == expected
    even, unit = as_doubles(np.array([12, -4, 0], dtype=object), 3)
    assert (even.tolist(), unit) == ([3, -1, 0], 5)
    assert as_doubles(np.array([0, 0], dtype=object), 3)[1] == 3
    long, unit = as_doubles(np.array([3 << 2000, 1], dtype=object), 0)
    assert (long.tolist(), unit) == ([3, 0], 2000)


def test_doubles_as_whole_numbers() -> None:
    for value in (1.0, -3.0, 0.1, 5e-324, -1.7976931348623157e308, 12.0):
        assert Fraction(value) / Fraction(2) ** lowest_bit(value) % 2 == 1
        for by in (-60, 0, 5, 1100):
            assert scaled(value, by) == Fraction(value) * Fraction(2) ** by // 1
    assert lowest_bit(0.0) == 0
    values = np.array([0.1, -2.5e10, 0.0, 3e-20])
    whole, unit = whole_numbers(values)
    assert [value * Fraction(2) ** unit for value in whole] == [Fraction(value) for value in values.tolist()]


def test_what_a_fixing_gains() -> None:
    """Against the best of all choices, for all ties and signs."""
    rng = np.random.default_rng(4)

    def most(values: list[int], room: int) -> int:
        return max(sum(c) for size in range(min(room, len(values)) + 1) for c in combinations(values, size))

    for _ in range(300):
        values = rng.integers(-3, 4, rng.integers(1, 6)).tolist()
        free = sorted((value for value in values if value > 0), reverse=True)
        for room in range(4):
            chosen = sum(free[:room])
            assert chosen == most(values, room)
            for at, value in enumerate(values):
                others = values[:at] + values[at + 1 :]
                assert chosen - gain(free, room, value, into=True) == most(others, room)
                if room > 0:
                    assert chosen - gain(free, room, value, into=False) == value + most(others, room - 1)


# Positive semidefinite matrices


def lowered(X: np.ndarray, d: np.ndarray) -> tuple[bool, list[Fraction]]:
    """Whether X'X - diag(d) is positive semidefinite as it is, and what is taken off d, after which it has to be."""
    digits = split(np.ascontiguousarray(X.T), digit_bits(max(X.shape)))
    whole = whole_diagonal(digits, d)
    rest = whole - lowering(digits, whole)
    unit = [Fraction(4) ** unit / 2 ** guard_bits(digits.bits) for unit in digits.unit]
    used = [value * scale for value, scale in zip(rest.tolist(), unit)]
    plain, matrix = gram(X), gram(X)
    for j, value in enumerate(d.tolist()):
        plain[j][j] -= Fraction(value)
        matrix[j][j] -= used[j]
    assert is_positive_semidefinite(matrix)
    return is_positive_semidefinite(plain), [Fraction(value) - u for value, u in zip(d.tolist(), used)]


def relative(lost: list[Fraction], X: np.ndarray) -> float:
    return max(float(value / max(dot(column, column), Fraction(1, 10**300))) for value, column in zip(lost, rows(X.T)))


@pytest.mark.parametrize("seed", range(5))
def test_definite_matrices_keep_their_diagonal(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    X = rng.standard_normal((14, 8)) * 10.0 ** rng.integers(-6, 6, 8)
    norms = np.linalg.norm(X, axis=0)
    smallest = np.linalg.eigvalsh((X / norms).T @ (X / norms))[0]
    for share in (0.1, 0.9, 1 - 1e-9):
        fine, lost = lowered(X, share * smallest * norms**2)
        assert fine
        # Nothing but the rounding to the grid.
        assert 0 <= relative(lost, X) < 1e-30


def test_singular_matrices() -> None:
    rng = np.random.default_rng(6)
    for m in (1, 2, 5, 9):
        v = rng.integers(-5, 6, m).astype(float)
        # X'X = I + vv', so that the diagonal 1 leaves vv', of rank one.
        fine, lost = lowered(np.vstack([np.eye(m), v]), np.ones(m))
        assert fine
        assert relative(lost, np.vstack([np.eye(m), v])) < 1e-14
    fine, lost = lowered(np.eye(4), np.ones(4))
    assert fine
    assert not any(lost)
    X = np.column_stack([np.eye(3), np.eye(3)[:, 0]])
    fine, lost = lowered(X, np.array([0.0, 1.0, 1.0, 0.0]))
    assert fine
    assert relative(lost, X) < 1e-14


def test_a_matrix_that_is_indefinite_by_a_hair() -> None:
    """The smallest eigenvalue is about -2^-58: the diagonal gives up as little, and what is left is proved."""
    X = np.array([[1.0, 1.0], [0.0, 2.0**-29]])
    d = np.array([2.0**-57, 0.0])
    fine, lost = lowered(X, d)
    assert not fine
    assert 0 < relative(lost, X) < 1e-14
    fine, _ = lowered(X, np.array([2.0**-59, 0.0]))
    assert fine


@pytest.mark.parametrize("excess", [1e-7, 1e-3, 1.0, 1e10, 1e300])
def test_indefinite_matrices_are_refused(excess: float) -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((12, 5))
    smallest = np.linalg.eigvalsh(X.T @ X)[0]
    with pytest.raises(NotSemidefinite):
        lowered(X, np.full(5, smallest * (1 + excess)))
    digits = split(X.T.copy(), digit_bits(12))
    with pytest.raises(NotSemidefinite):
        lowering(digits, whole_diagonal(digits, np.array([0.0, 0.0, 100.0 + excess, 0.0, -excess])))


def test_zero_columns_and_negative_diagonals() -> None:
    X = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, -1.0]])
    for d in ([0.5, 0.0, -1e300], [0.5, -1e-300, 0.0], [-1.0, -2.0, -3.0]):
        fine, lost = lowered(X, np.array(d))
        assert fine
        assert max(lost) < 1e-30
    with pytest.raises(NotSemidefinite):
        lowered(X, np.array([0.5, 1e-9, 0.0]))
