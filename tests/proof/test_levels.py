"""Sets of few columns level by level: what takes too much off, by exact arithmetic, is tried from the data."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from parsifal.proof import levels
from parsifal.proof.levels import Levels
from parsifal.proof.scaled import unit
from proof.test_whole import solved


class Tried:
    """Notes the sets that no bound has closed."""

    def __init__(self, paid: np.ndarray) -> None:
        self.paid, self.blur = paid, unit(64) * 100
        self.sets: set[tuple[int, ...]] = set()
        self.places = 0

    def spend(self, places: int = 1) -> None:
        self.places += places

    def note(self, inside: Iterable[int], free: Iterable[int], room: int) -> None:
        for size in range(room + 1):
            self.sets |= {tuple(sorted([*map(int, inside), *more])) for more in combinations(map(int, free), size)}

    def try_set(self, index: np.ndarray) -> None:
        self.note(index.tolist(), [], 0)

    def go_through(self, inside: np.ndarray, free: np.ndarray, room: int) -> None:
        self.note(inside.tolist(), free.tolist(), room)

    def explore(
        self, inside: np.ndarray, columns: np.ndarray, b: np.ndarray, G: np.ndarray, most: float, room: int
    ) -> None:
        assert b.shape == columns.shape
        assert G.shape == (columns.size, columns.size)
        self.note(inside.tolist(), columns.tolist(), room)


def problem(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((seed, 77))
    m = int(rng.integers(3, 8))
    X = rng.standard_normal((15, m))
    if kind == "near":
        X += 2 * rng.standard_normal((15, 1))
    if kind == "dependent":
        X[:, -1] = X[:, 0] - X[:, 1] + 1e-5 * rng.standard_normal(15)
    X /= np.linalg.norm(X, axis=0)
    G = X.T @ X
    np.fill_diagonal(G, 1.0)
    return X.T @ (X[:, :2].sum(axis=1) + 0.5 * rng.standard_normal(15)), G


@pytest.mark.parametrize("at_once", [1, 1 << 17])
@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "near", "dependent"])
def test_every_set_that_takes_too_much_is_tried(
    kind: str, places: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "_AT_ONCE", at_once)
    # Whichever of the bounds is asked first.
    monkeypatch.setattr(levels, "_MANY_PLACES", places)
    below = closed = 0
    for seed in range(6):
        b, G = problem(seed, kind)
        m, rng = b.size, np.random.default_rng(seed)
        paid = rng.uniform(0.0, 0.1, m) if seed % 2 else np.zeros(m)
        price = [Fraction(float(value)) for value in paid]
        for room in range(2, min(m, 5) + 1):
            taken = {
                T: solved(G[np.ix_(T, T)], b[list(T)]) - sum(price[j] for j in T)
                for size in range(2, room + 1)
                for T in combinations(range(m), size)
            }
            largest = float(max(taken.values()))
            for share in (0.3, 0.9, 0.99, 1 - 1e-12, 1 + 1e-9):
                tried = Tried(paid)
                Levels(tried, np.array([100]), np.arange(m)).close(b, G, share * largest, room)
                open_sets = {T for T, value in taken.items() if value > Fraction(share * largest)}
                # The place's own column is number 100.
                assert {(*T, 100) for T in open_sets} <= tried.sets
                below += len(open_sets)
                closed += sum((*T, 100) not in tried.sets for T in taken)
    assert below > 50
    assert closed > 100
