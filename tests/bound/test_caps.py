"""The largest sum of terms where groups are capped, in the search and in both checks, against every set of columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import parsifal as pf
import parsifal._core as _core
from parsifal.bound.fixing import fix_columns
from parsifal.constraints import AtMost, Exclude, Implies, Linear, side_rows
from parsifal.design import as_design
from parsifal.problem.column_rules import ColumnRules
from parsifal.proof.caps import Caps
from parsifal.proof.exact_checker import Taken

GAMMA = 2.0


class Case:
    """Terms of whole numbers, columns in and out, groups with caps, and the best allowed sets by trying all."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([4, seed])
        p = int(rng.integers(2, 9))
        self.p, self.k = p, int(rng.integers(1, p + 1))
        # With gamma = 2 and no price a_j = beta_j^2: whole numbers, and ties among them.
        self.beta = rng.integers(0, 6, p).astype(float) * rng.choice([-1, 1], p)
        self.terms = self.beta**2
        self.fix = rng.choice([0, 0, 0, 1, -1], p).astype(np.int8)
        order, start = rng.permutation(p), 0
        self.groups: list[tuple[list[int], int]] = []
        while start < p and rng.random() < 0.8:
            size = int(rng.integers(1, 4))
            self.groups.append((order[start : start + size].tolist(), int(rng.integers(0, 3))))
            start += size
        self.rules = ColumnRules(
            price=np.zeros(p),
            sign=np.zeros(p, dtype=np.int8),
            rows=side_rows([AtMost(columns, most) for columns, most in self.groups], as_design(np.ones((1, p)))),
        )
        self.room = self.k - int(np.count_nonzero(self.fix == 1))

    @property
    def possible(self) -> bool:
        inside = set(np.flatnonzero(self.fix == 1).tolist())
        return self.room >= 0 and all(len(inside & set(columns)) <= most for columns, most in self.groups)

    def best(self, *, having: int = -1, lacking: int = -1) -> float:
        """The largest sum of a set of free columns; -inf if there is none."""
        inside = set(np.flatnonzero(self.fix == 1).tolist())
        free = np.flatnonzero(self.fix == 0).tolist()
        found = -np.inf
        for size in range(self.room + 1):
            for chosen in combinations(free, size):
                whole = inside | set(chosen)
                if (having >= 0 and having not in whole) or lacking in whole:
                    continue
                if all(len(whole & set(columns)) <= most for columns, most in self.groups):
                    found = max(found, float(self.terms[list(chosen)].sum()))
        return found


def cases(block: int) -> list[Case]:
    drawn = [Case(seed) for seed in range(150 * block, 150 * block + 150)]
    return [case for case in drawn if case.possible]


@pytest.mark.parametrize("block", range(2))
def test_the_search(block: int) -> None:
    for case in cases(block):
        inside = float(case.terms[case.fix == 1].sum())
        asked = {"gamma": GAMMA, "penalty": 0.0, "k": case.k}
        taken = _core.choose(case.beta, case.fix, **asked, rules=case.rules.compiled)[0]
        assert taken == inside + case.best()
        # With the cutoff just below what the other choice comes to it is decided, and just above it is not.
        bound = 1000.0 - taken
        for j in np.flatnonzero(case.fix == 0):
            for side in (1, -1):
                other = case.best(lacking=int(j)) if side > 0 else case.best(having=int(j))
                reach = 1000.0 - inside - other
                for cutoff in (reach - 0.5, reach + 0.5):
                    if not np.isfinite(cutoff) or cutoff < bound:
                        continue
                    new, count = fix_columns(case.beta, case.fix, bound=bound, cutoff=cutoff, **asked, rules=case.rules)
                    if count >= 0:
                        assert (new[j] == side) <= (reach > cutoff)


@pytest.mark.parametrize("block", range(2))
def test_the_checks(block: int) -> None:
    for case in cases(block):
        found = Caps.__new__(Caps)
        found.cap, found.most = case.rules.rows.caps(case.p)
        everything = np.arange(case.p)
        choice = found.choose(case.terms, everything, case.fix, case.room)
        best = case.best()
        assert choice.terms.sum() == best
        free = np.flatnonzero(case.fix == 0)
        group = {j: int(g) for j, g in enumerate(found.cap) if g >= 0}
        inside = np.flatnonzero(case.fix == 1)
        left = [int(most) - int(np.count_nonzero(found.cap[inside] == g)) for g, most in enumerate(found.most)]
        exact = Taken({int(j): int(case.terms[j]) for j in free}, case.room, group, left)
        assert exact.total == best
        for j in free.tolist():
            having, lacking = case.best(having=j), case.best(lacking=j)
            assert choice.barred[j] == exact.barred(j) == (having == -np.inf)
            value, last, out = case.terms[j], choice.last_in[j], choice.best_out[j]
            if having > -np.inf:
                assert best - having == exact.including(j)
                assert best - having == max(last - value, 0.0)
            assert best - lacking == exact.without(j)
            chosen = value > 0 and value >= last and not choice.barred[j]
            assert best - lacking == (value - out if chosen else 0.0)


def test_which_rows_are_caps() -> None:
    """Rows of ones, in order, that share no column with an earlier one."""
    design = as_design(np.ones((2, 8)))
    asked = [AtMost([0, 1]), AtMost([1, 2]), Exclude(2, 3), Implies(4, 5), Linear({6: 2.0, 7: 1.0}, upper=2)]
    cap, most = side_rows(asked, design).caps(8)
    assert cap.tolist() == [0, 0, 1, 1, -1, -1, -1, -1]
    assert most.tolist() == [1, 1]


def test_caps_raise_the_bound() -> None:
    """One of each of many groups of near copies: without the caps the bound takes several of the best group."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=(80, 10))
    X = np.repeat(base, 4, axis=1) + 0.1 * rng.normal(size=(80, 40))
    y = X[:, [0, 4, 8]] @ [3.0, 2.0, 1.5] + rng.normal(size=80)
    groups = [AtMost(list(range(4 * g, 4 * g + 4))) for g in range(10)]
    gamma = 0.05
    capped = pf.solve(X, y, 4, gamma, constraints=groups, threads=1, fit_intercept=False)
    # The same constraints, written so that they are no caps.
    pairs = [Linear(dict.fromkeys(range(4 * g, 4 * g + 4), 2.0), upper=2) for g in range(10)]
    plain = pf.solve(X, y, 4, gamma, constraints=pairs, threads=1, fit_intercept=False)
    assert capped.objective == pytest.approx(plain.objective, rel=1e-9)
    assert capped.stats["root_bound"] > plain.stats["root_bound"]
    assert capped.check(X, y)
    assert capped.check(X, y, exact=True)
    assert plain.check(X, y)
