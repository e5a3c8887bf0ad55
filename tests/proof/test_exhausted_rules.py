"""Exhausted records beside signs, prices of single columns and side constraints, against exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.rational import objective_of
from parsifal.constraints import AtMost, Exclude, Implies
from parsifal.proof.certificate import Certificate
from parsifal.proof.checker import provable_bound
from parsifal.proof.exact_completions import ExactCompletions
from parsifal.proof.exact_input import Wrong
from parsifal.proof.exact_problem import Problem
from parsifal.proof.exact_rows import ExactRows
from proof.exhausted import SHAPES, Exhaustible, exhaustible
from proof.helpers import ints, refuse

GAMMAS = (math.inf, 1e12, 1.0)
ASKED = ("signs", "prices", "rows", "all")


class Ruled:
    """A small problem with more asked of its columns, and the exact value of every support that counts."""

    def __init__(self, plain: Exhaustible, asked: str, seed: int) -> None:
        rng = np.random.default_rng([31, seed])
        p, self.plain = plain.X.shape[1], plain
        self.sign = np.zeros(p, dtype=np.int64)
        if asked in ("signs", "all"):
            self.sign = rng.integers(-1, 2, p) if seed % 2 else np.ones(p, dtype=np.int64)
        half = 0.5 * float(plain.y @ plain.y)
        self.price = np.full(p, plain.penalty)
        if asked in ("prices", "all"):
            self.price = rng.choice([0.0, 0.02, 0.2], p) * half * rng.random(p)
        self.rows: list[tuple[dict[int, int], int]] = []
        if asked in ("rows", "all"):
            # At most one of two; one needs another.
            self.rows = [({0: 1, 1: 1}, 1), ({p - 1: 1, 1: -1}, 0)]
        self.values: dict[tuple[int, ...], Fraction] = {}
        self.fits: dict[tuple[int, ...], tuple[int, ...]] = {}
        every = plain.exact.values(plain.gamma)
        for support in plain.values:
            if self.allows(support):
                best = support
                if self.sign.any():
                    parts = [part for m in range(len(support) + 1) for part in combinations(support, m)]
                    best = min(filter(self.fit, parts), key=lambda part: every[part])
                self.fits[support] = best
                self.values[support] = every[best] + sum((Fraction(v) for v in self.price[list(support)]), Fraction(0))
        self.optimum = min(self.values.values())
        self.support = min(self.values, key=lambda support: (self.values[support], len(support)))

    def fit(self, part: tuple[int, ...]) -> bool:
        """Whether a plain fit of these columns has the right signs."""
        coef = self.plain.exact.coef(part, self.plain.gamma)
        return all(int(self.sign[j]) * w >= 0 for j, w in zip(part, coef))

    def allows(self, support: tuple[int, ...]) -> bool:
        return all(sum(a for j, a in row.items() if j in support) <= upper for row, upper in self.rows)

    def certificate(self, **changes: Any) -> Certificate:
        plain, support = self.plain, ints(*self.support)
        part = self.fits[self.support]
        coef = np.zeros(support.size)
        coef[np.isin(support, part)] = [float(w) for w in plain.exact.coef(part, plain.gamma)]
        ridge = 1e300 if math.isinf(plain.gamma) else plain.gamma
        objective = objective_of(plain.X, plain.y, support, coef, ridge, 0.0)
        objective += sum((Fraction(v) for v in self.price[support]), Fraction(0))
        entries = [sorted(row.items()) for row, _ in self.rows]
        values: dict[str, Any] = {
            "penalty": 0.0,
            "price": self.price,
            "sign": self.sign,
            "row_offset": ints(*np.cumsum([0, *(len(row) for row in entries)])),
            "row_column": ints(*(j for row in entries for j, _ in row)),
            "row_coef": ints(*(a for row in entries for _, a in row)),
            "row_upper": ints(*(upper for _, upper in self.rows)),
            "support": support,
            "coef": coef,
            "objective": float(objective),
            "lower_bound": float(self.optimum) * (1 - 9e-8),
        }
        return plain.certificate(**{**values, **changes})


def drawn(shape: str, asked: str, gamma: float, count: int) -> list[Ruled]:
    return [
        Ruled(exhaustible(shape, seed, gamma, priced=seed % 3 == 1), asked, seed)
        for seed in range(count)
        if seed % 4 != 3
    ]


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("asked", ASKED)
def test_against_exact_values(asked: str, gamma: float) -> None:
    """What is proven is true, and claims above the optimum are refused, by both checks."""
    proven = 0
    for shape in SHAPES:
        for case in drawn(shape, asked, gamma, 2):
            honest, X, y = case.certificate(), case.plain.X, case.plain.y
            bound = provable_bound(honest, X, y)
            assert bound == -math.inf or Fraction(bound) <= case.optimum
            proven += bound >= honest.lower_bound
            for false in (math.nextafter(float(case.optimum), math.inf), float(case.optimum) * (1 + 1e-7)):
                if Fraction(false) > case.optimum:
                    claim = replace(honest, lower_bound=false, objective=max(false, honest.objective))
                    assert not pf.check(claim, X, y)
                    assert not pf.check(claim, X, y, exact=True)
    assert proven >= 12


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("asked", ASKED)
def test_exact_to_the_last_digit(asked: str, gamma: float) -> None:
    """The largest double that is not above the optimum is reached, and the next one is not."""
    for shape in SHAPES:
        for case in drawn(shape, asked, gamma, 2):
            claim = float(case.optimum)
            if Fraction(claim) > case.optimum:
                claim = math.nextafter(claim, -math.inf)
            for lower_bound, holds in ((claim, True), (math.nextafter(claim, math.inf), False)):
                certificate = case.certificate(lower_bound=lower_bound)
                whole = Problem(certificate, case.plain.X, case.plain.y)
                through = ExactCompletions(whole, ExactRows(certificate))
                fix = np.zeros(case.plain.X.shape[1], dtype=np.int8)
                if holds:
                    through.go_through(fix)
                else:
                    with pytest.raises(Wrong, match="an exhausted record has the support"):
                        through.go_through(fix)


def solved(**asked: Any) -> tuple[np.ndarray, np.ndarray, Certificate]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 60))
    y = X[:, :4] @ [1.0, -1.0, 0.8, 0.6] + rng.normal(size=40)
    found = pf.solve(X, y, 4, np.inf, fit_intercept=False, threads=1, **asked)
    assert found.status == "optimal"
    assert found.certificate is not None
    assert np.any(found.certificate.kind == 1)
    assert found.check(X, y)
    assert found.check(X, y, exact=True)
    return X, y, found.certificate


def test_a_rule_less_is_another_claim() -> None:
    """Without a sign, a price or a constraint, supports are better: the same bound is no longer proven."""
    X, y, positive = solved(sign=1)
    none = replace(positive, sign=ints())
    refuse(none, X, y, "an exhausted record has the support")
    assert "an exhausted record has the support" in pf.check(none, X, y, exact=True).reason
    X, y, priced = solved(penalty=np.where(np.arange(60) < 2, 9.0, 0.0))
    cheaper = replace(priced, price=np.zeros(60), objective=priced.objective - priced.price[priced.support].sum())
    for exact in (False, True):
        assert not pf.check(cheaper, X, y, exact=exact)
    X, y, rows = solved(constraints=[AtMost([0, 1, 2], 1), Exclude(3, 4), Implies(5, 6)])
    looser = rows.row_upper.copy()
    looser[0] = 3
    for exact in (False, True):
        result = pf.check(replace(rows, row_upper=looser), X, y, exact=exact)
        assert not result
        assert "an exhausted record has the support" in result.reason


def test_a_perfect_fit_that_is_not_allowed() -> None:
    """Nothing is left of y beside columns of the wrong sign: what others could add has to be looked at all the same."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 8))
    y = X[:, 0] - X[:, 1]
    for asked in ({"sign": 1}, {"constraints": [Exclude(0, 1)]}):
        found = pf.solve(X, y, 3, np.inf, fit_intercept=False, threads=1, **asked)
        assert found.status == "optimal"
        assert found.objective > 1e-3
        assert found.check(X, y)
        assert found.check(X, y, exact=True)


def test_nothing_but_y_is_left() -> None:
    """Every column is out: an exhausted record is about the empty support, in both checks."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    proof = pf.solve(X, y, k=2, gamma=np.inf, force_out=[0, 1, 2]).certificate
    assert proof.objective == pytest.approx(0.5 * float(y @ y))
    for exact in (False, True):
        assert pf.check(proof, X, y, exact=exact)
        assert not pf.check(replace(proof, lower_bound=1.01 * proof.objective), X, y, exact=exact)


def test_a_bound_is_lowered_below_a_perfect_fit_of_the_wrong_sign() -> None:
    """A forced column with the wrong sign fits y; a claim of its own value is lowered to that of what others add."""
    X, y = np.array([[2.0, 1.0], [1.0, 0.0]]), np.array([2.0, 1.0])
    plain = Exhaustible(X=X, y=y, k=2, gamma=math.inf, forced_in=(0,))
    half = 0.5 * float(y @ y)
    claim = plain.certificate(
        lower_bound=half * (1 - 1e-9), support=ints(0), coef=np.zeros(1), objective=half, sign=ints(-1, 0)
    )
    # Column 1 alone, beside a coefficient of zero.
    assert 0.0 <= provable_bound(claim, X, y) <= 0.5
    refuse(claim, X, y, "an exhausted record has the support")
    assert not pf.check(claim, X, y, exact=True)


def test_a_column_of_zeros_is_in_every_span() -> None:
    """Without a ridge a support with it does not count, also where a constraint asks for it: for the solver, both
    checks and the oracle."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 6))
    X[:, 1] = 0.0
    y = 2 * X[:, 4] + X[:, 0] + rng.normal(size=20)
    found = pf.solve(X, y, 2, np.inf, fit_intercept=False, constraints=[Implies(4, 1)])
    assert 4 not in found.support
    assert found.check(X, y)
    assert found.check(X, y, exact=True)
    assert not Exhaustible(X=X[:5, :3], y=y[:5], k=2, gamma=math.inf).exact.independent((0, 1), 1e-6)
    # Forced in, it does no harm.
    forced = pf.solve(X, y, 2, np.inf, fit_intercept=False, force_in=[1], constraints=[Implies(4, 1)])
    assert forced.support.tolist() == [1, 4]
    assert forced.objective < found.objective
    assert forced.check(X, y)
    assert forced.check(X, y, exact=True)


def test_prices_round_where_they_are_all_there_is() -> None:
    """Beside prices y is next to nothing: elimination adds up prices, in sums that round with their size."""
    price = np.array(
        [
            0.1924909371860774,
            0.012954832764075075,
            0.008779561414239863,
            0.02614896646402834,
            0.011047329777079076,
            0.06017757238894327,
            0.39707435362245685,
        ]
    )
    best, p = ints(1, 2, 3, 4, 5), price.size
    paid = sum(map(Fraction, price[best].tolist()))
    for seed in range(30):
        rng = np.random.default_rng([7, seed])
        X, y = rng.standard_normal((9, p)), 10 ** rng.uniform(-9.5, -8.3) * rng.standard_normal(9)
        plain = Exhaustible(X, y, p, 1e6)
        optimum = plain.exact.values(1e6)[tuple(best.tolist())] + paid
        claim = float(optimum)
        while Fraction(claim) <= optimum:
            claim = math.nextafter(claim, 1.0)
        # At least five columns: the cheapest five.
        certificate = plain.certificate(
            claim,
            support=best,
            coef=np.zeros(5),
            objective=float(paid + Fraction(float(y @ y)) / 2),
            price=price,
            row_offset=ints(0, p),
            row_column=np.arange(p),
            row_coef=-np.ones(p, dtype=np.int64),
            row_upper=ints(-5),
        )
        refuse(certificate, X, y, "exhausted record", "above the objective")


def forced_and_dependent(
    X: np.ndarray, y: np.ndarray, objective: float, coef: list[float], **asked: Any
) -> Certificate:
    """A certificate without a ridge about all supports, independent or not, with column 0 in."""
    return Exhaustible(X, y, 2, math.inf).certificate(
        objective,
        objective=objective,
        coef=np.array(coef),
        forced_in=ints(0),
        independence=0.0,
        **asked,
    )


def test_a_column_in_the_span_lends_its_sign() -> None:
    """Column 1 is the opposite of column 0: with both, any coefficient is one of the right signs."""
    X, y = np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([-1.0, 1.0])
    asked: dict[str, Any] = {"support": ints(0), "sign": ints(1, 1)}
    false = forced_and_dependent(X, y, 1.0, [0.0], **asked)
    refuse(false, X, y, "exhausted record")
    assert not pf.check(false, X, y, exact=True)
    true = replace(false, lower_bound=0.5)
    assert pf.check(true, X, y, exact=True)


def test_a_column_in_the_span_makes_a_support_allowed() -> None:
    """Two columns at least: column 1 adds nothing to column 0 but the number, and column 2 costs more."""
    X, y = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), np.array([1.0, 0.0, 1.0])
    rows: dict[str, Any] = {
        "row_offset": ints(0, 3),
        "row_column": ints(0, 1, 2),
        "row_coef": ints(-1, -1, -1),
        "row_upper": ints(-2),
    }
    false = forced_and_dependent(X, y, 1.5, [1.0, 0.0], support=ints(0, 2), price=np.array([0.0, 0.0, 1.0]), **rows)
    refuse(false, X, y, "exhausted record")
    assert not pf.check(false, X, y, exact=True)
    true = replace(false, lower_bound=0.5)
    assert pf.check(true, X, y, exact=True)
