"""Certificates that state signs, prices and side constraints: checked both ways, and refused once any is changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.asked import Asked
from parsifal.constraints import AtMost, Exclude, Implies
from parsifal.proof.certificate import Certificate
from proof.helpers import ints, refuse, same, tree_case

CASE = tree_case()
X, Y = CASE.X, CASE.y
P = X.shape[1]


def solved(**asked: Any) -> Certificate:
    found = pf.solve(X, Y, 4, 10.0, fit_intercept=False, threads=1, **asked)
    assert found.status == "optimal"
    assert found.certificate is not None
    assert pf.check(found.certificate, X, Y)
    assert pf.check(found.certificate, X, Y, exact=True)
    return found.certificate


def refuse_both(certificate: Certificate, *reasons: str) -> None:
    refuse(certificate, X, Y, *reasons)
    result = pf.check(certificate, X, Y, exact=True)
    assert not result
    assert any(reason in result.reason for reason in reasons), result.reason


@pytest.fixture(scope="module")
def positive() -> Certificate:
    return solved(sign=1)


@pytest.fixture(scope="module")
def priced() -> Certificate:
    return solved(penalty=np.linspace(0.0, 0.4, P))


@pytest.fixture(scope="module")
def ruled() -> Certificate:
    return solved(constraints=[AtMost([0, 1, 5, 9], 1), Implies(4, 5), Exclude(6, 8)])


BOUND = ("below the claim", "has no child", "not free", "is not out")


def test_the_claim_says_what_was_asked(positive: Certificate, priced: Certificate, ruled: Certificate) -> None:
    assert "coefficients of all >= 0" in str(positive)
    assert "penalties from 0 to 0.4 a column" in str(priced)
    assert "no allowed support" in str(ruled)
    assert "1 s4 + -1 s5 <= 0" in str(ruled)


def test_a_damaged_certificate_has_words(ruled: Certificate) -> None:
    for offset in (ruled.row_offset[:0], ruled.row_offset[:1], ruled.row_offset + 7):
        assert "this one has" in str(replace(ruled, row_offset=offset))


def test_a_sign_less_is_another_claim(positive: Certificate) -> None:
    """Without a sign supports are better: the same bound is no longer proven."""
    free = positive.sign.copy()
    free[:] = 0
    refuse_both(replace(positive, sign=free), *BOUND)
    refuse_both(replace(positive, sign=ints()), *BOUND)


def test_every_sign_counts(positive: Certificate) -> None:
    """Where dropping one sign lets a better support in, the certificate is refused."""
    refused = 0
    for j in range(P):
        sign = positive.sign.copy()
        sign[j] = 0
        asked = Asked(X=X, y=Y, k=4, gamma=10.0, price=np.zeros(P), sign=sign, allowed=lambda support: True)
        if min(asked.values().values()) < positive.lower_bound:
            refused += 1
            refuse_both(replace(positive, sign=sign), *BOUND, "twins")
    assert refused > 0


def test_a_coefficient_of_the_wrong_sign(positive: Certificate) -> None:
    refuse_both(replace(positive, coef=-positive.coef), "a coefficient has a sign that is not allowed")


def test_a_lower_price_is_another_claim(priced: Certificate) -> None:
    refuse_both(replace(priced, price=np.zeros(P)), "objective", *BOUND)
    cheaper = priced.price.copy()
    cheaper[np.setdiff1d(np.arange(P), priced.support)] = 0.0
    refuse_both(replace(priced, price=cheaper), *BOUND, "twins")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"price": np.full(P, -1.0)}, "a price is negative"),
        ({"price": np.zeros(P - 1)}, "price has not one entry a column"),
        ({"penalty": 1.0}, "there is a penalty beside the prices"),
        ({"price": np.full(P, np.nan)}, "price holds a number that is not finite"),
        ({"sign": np.full(P, 2)}, "a sign is none of"),
        ({"sign": np.ones(P - 1, dtype=np.int64)}, "sign has not one entry a column"),
        ({"row_upper": ints(1)}, "the rows of the side constraints are not in order"),
        ({"row_offset": ints(0, 1), "row_upper": ints(0)}, "the rows of the side constraints are not in order"),
        (
            {"row_offset": ints(0, 1), "row_upper": ints(0), "row_column": ints(P), "row_coef": ints(1)},
            "row_column names a column that X does not have",
        ),
    ],
)
def test_what_is_out_of_range(change: dict[str, Any], reason: str, priced: Certificate) -> None:
    refuse_both(replace(priced, **change), reason)


def test_a_constraint_less_is_another_claim(ruled: Certificate) -> None:
    none = {"row_offset": ints(0), "row_column": ints(), "row_coef": ints(), "row_upper": ints()}
    refuse_both(replace(ruled, **none), *BOUND)
    looser = ruled.row_upper.copy()
    looser[0] = 4
    refuse_both(replace(ruled, row_upper=looser), *BOUND)


def test_a_support_that_breaks_a_constraint(ruled: Certificate) -> None:
    tighter = ruled.row_upper - 5
    refuse_both(replace(ruled, row_upper=tighter), "the support breaks a side constraint", "allow no support at all")


def test_a_constraint_that_allows_nothing(positive: Certificate) -> None:
    """Nothing is allowed, so anything could be claimed: such a certificate has no support to show."""
    rows = {"row_offset": ints(0, 0), "row_column": ints(), "row_coef": ints(), "row_upper": ints(-1)}
    refuse_both(replace(positive, **rows), "the support breaks a side constraint", "allow no support at all")


def test_sums_beyond_64_bits(positive: Certificate) -> None:
    rows = {
        "row_offset": ints(0, 2),
        "row_column": ints(0, 1),
        "row_coef": ints(1 << 62, 1 << 62),
        "row_upper": ints(0),
    }
    refuse(replace(positive, **rows), X, Y, "beyond 2^60")
    least = {**rows, "row_coef": ints(-(1 << 63), 0)}
    refuse(replace(positive, **least), X, Y, "beyond 2^60")


@pytest.mark.usefixtures("relaxations_alone")
def test_twins_must_be_asked_the_same() -> None:
    plain = solved()
    assert plain.twin_later.size
    later, earlier = int(plain.twin_later[0]), int(plain.twin_earlier[0])
    sign = np.zeros(P, dtype=np.int64)
    sign[later] = 1
    refuse_both(replace(plain, sign=sign), "differ in sign")
    price = np.zeros(P)
    price[later] = 1.0
    refuse_both(replace(plain, price=price), "differ in price")
    rows = {"row_offset": ints(0, 1), "row_column": ints(earlier), "row_coef": ints(1), "row_upper": ints(1)}
    refuse_both(replace(plain, **rows), "a side constraint names one")


def test_files_keep_it(tmp_path: Path, positive: Certificate, priced: Certificate, ruled: Certificate) -> None:
    for number, certificate in enumerate((positive, priced, ruled)):
        certificate.save(tmp_path / f"{number}.npz")
        assert same(Certificate.load(tmp_path / f"{number}.npz"), certificate)


def test_prices_beyond_all_numbers_are_refused() -> None:
    """Their sum overflows: that is no error of the checker."""
    X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20.0)
    sol = pf.solve(X, y, k=3, gamma=1.0, penalty=np.full(5, 1e-3))
    assert sol.support.size > 1
    assert pf.check(sol.certificate, X, y)
    for exact in (False, True):
        assert not pf.check(replace(sol.certificate, price=np.full(5, 1.7e308)), X, y, exact=exact)
