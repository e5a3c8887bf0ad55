"""Proofs made to deceive are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case
from oracles.rational import value_of
from parsifal.proof.certificate import Certificate, fingerprint
from parsifal.proof.checker import provable_bound
from proof.helpers import ARRAYS, fit, ints, refuse

# Proofs made to deceive: a single record below an empty one, and a support that is not the best


def forged(
    case: Case, support: np.ndarray, index: np.ndarray, value: np.ndarray, diagonal: np.ndarray | None = None
) -> Certificate:
    """A claim that `support` is optimal; the one record that should prove it is in a frame if `diagonal` is given."""
    coef, objective = fit(case, support)
    framed = diagonal is not None
    return Certificate(
        shape=case.X.shape,
        k=case.most,
        penalty=0.0,
        gamma=case.gamma,
        forced_in=ints(),
        forced_out=ints(),
        support=support,
        coef=coef,
        objective=objective,
        lower_bound=objective,
        complete=True,
        fingerprint=fingerprint(case.dense.T @ case.y),
        independence=0.0,
        parent=ints(-1, 0),
        column=ints(-1, -1),
        side=ints(0, 0),
        frame=ints(-1, 0 if framed else -1),
        kind=ints(0, 0),
        coef_offset=ints(0, 0, index.size),
        coef_index=index,
        coef_value=value,
        fixed_offset=ints(0, 0, 0),
        fixed_column=ints(),
        frame_offset=ints(0, case.p) if framed else ints(0),
        frame_column=np.arange(case.p) if framed else ints(),
        frame_diagonal=np.zeros(0) if diagonal is None else diagonal,
        twin_later=ints(),
        twin_earlier=ints(),
    )


def signal_case(gamma: float) -> Case:
    """Column 0 is the best single column by far."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 6))
    case = Case(X, 3 * X[:, 0] + rng.standard_normal(20), gamma, 1)
    assert case.optimum()[1] == (0,)
    return case


@pytest.mark.parametrize(
    "framed",
    [
        False,
        True,
    ],
)
def test_a_column_named_twice_in_a_record(framed: bool) -> None:
    case = signal_case(1e-3)
    diagonal = np.zeros(case.p) if framed else None
    for value in ([10.0, 0.0], [100.0, 0.0], [0.0, 100.0], [1e3, 1.0]):
        assert not pf.check(forged(case, ints(5), ints(2, 2), np.array(value), diagonal), case.X, case.y)


ROUNDINGS = 2000


def test_rounding_proves_nothing() -> None:
    rng = np.random.default_rng(0)
    case = Case(rng.standard_normal((5, 10)), rng.standard_normal(5), 1.0, 2)
    supports, objective = case.all_values()
    order = np.argsort(objective)
    wrong = next(ints(*supports[i]) for i in order[5:] if len(supports[i]) == 2)
    alpha = pf.relax(case.X, case.y, 2, 1.0).alpha
    w = np.linalg.lstsq(case.X, case.y - alpha, rcond=None)[0]
    null = np.linalg.svd(case.X)[2][5:].T
    index = np.arange(10)
    for _ in range(ROUNDINGS):
        value = w + 10 ** rng.uniform(13, 17) * (null @ rng.standard_normal(5))
        assert not pf.check(forged(case, wrong, index, value), case.X, case.y)


def test_the_tolerance_of_the_diagonal_proves_nothing() -> None:
    case = signal_case(1e3)
    norms = np.linalg.norm(case.dense, axis=0)
    unit = case.dense / norms
    value, vector = np.linalg.eigh(unit.T @ unit)
    diagonal = norms**2 * (value[0] + 5e-13)
    for size in 10.0 ** np.arange(0, 10, 0.25):
        certificate = forged(case, ints(5), np.arange(case.p), size * vector[:, 0] / norms, diagonal)
        assert not pf.check(certificate, case.X, case.y)


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "frame_offset"])
def test_emptied_arrays(case: Case, proof: Certificate, name: str) -> None:
    """An array without entries is refused in words, or (where it held nothing that mattered) changes nothing."""
    array = getattr(proof, name)
    result = pf.check(replace(proof, **{name: array[:0]}), case.X, case.y)
    assert not result or array.size == 0


def test_emptied_frame_offset(case: Case, proof: Certificate) -> None:
    refuse(replace(proof, frame_offset=ints()), case.X, case.y, "an offset array has the wrong length")


def test_an_empty_frame_proves_nothing_of_columns_that_are_not_out() -> None:
    """A child without columns, below an honest root, has the dual value 1/2 y'y."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 5))
    y = 3 * X[:, 0] - 2 * X[:, 3] + 0.2 * rng.standard_normal(20)
    honest = pf.solve(X, y, k=2, gamma=10.0).certificate
    assert honest is not None
    forgery = replace(
        honest,
        lower_bound=honest.objective,
        objective=honest.objective,
        parent=ints(*honest.parent, honest.records - 1),
        column=ints(*honest.column, -1),
        side=ints(*honest.side, 0),
        frame=ints(*honest.frame, honest.frame_offset.size - 1),
        kind=ints(*honest.kind, 0),
        frame_offset=ints(*honest.frame_offset, honest.frame_offset[-1]),
        coef_offset=ints(*honest.coef_offset, honest.coef_offset[-1]),
        fixed_offset=ints(*honest.fixed_offset, honest.fixed_offset[-1]),
    )
    refuse(forgery, X, y, "a column outside its frame is not out")


def one_record(X: np.ndarray, y: np.ndarray, gamma: float, w: np.ndarray, support: np.ndarray, **changes: Any) -> Any:
    """A certificate of one record with these coefficients, and the empty support unless another is given."""
    index = np.flatnonzero(w)
    values = {
        "shape": X.shape,
        "k": 1,
        "penalty": 0.0,
        "gamma": gamma,
        "forced_in": ints(),
        "forced_out": ints(),
        "support": support,
        "coef": np.zeros(support.size),
        "objective": 0.5 * float(y @ y),
        "lower_bound": 0.5 * float(y @ y),
        "complete": True,
        "fingerprint": fingerprint(X.T @ (y - X @ w)),
        "independence": 0.0,
        "parent": ints(-1),
        "column": ints(-1),
        "side": ints(0),
        "frame": ints(-1),
        "kind": ints(0),
        "coef_offset": ints(0, index.size),
        "coef_index": index,
        "coef_value": w[index],
        "fixed_offset": ints(0, 0),
        "fixed_column": ints(),
        "frame_offset": ints(0),
        "frame_column": ints(),
        "frame_diagonal": np.zeros(0),
        "twin_later": ints(),
        "twin_earlier": ints(),
    }
    return Certificate(**{**values, **changes})


@pytest.mark.parametrize(
    ("size", "gamma"),
    [(1e150, 1e10), (1e6, 1e300), (1e-82, 1e164), (1e-150, 1e300), (1e200, 1.0), (1e-200, 1e300), (1e-300, 1e300)],
)
def test_numbers_beyond_the_range_of_doubles_prove_nothing(size: float, gamma: float) -> None:
    """A good column, in units in which its square or gamma times it over- or underflows: no bound above its value."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, 1))
    X, y = size * x, (size if size < 1 else 1.0) * x[:, 0]
    for w in (0.0, 0.5, 1.0):
        with np.errstate(over="ignore", invalid="ignore"):
            certificate = one_record(X, y, gamma, np.array([w]), ints())
        exact = value_of(X, y, [0], gamma)
        for claim in (0.5 * float(y @ y), 1e-3 * float(y @ y), 5e-324):
            result = pf.check(replace(certificate, lower_bound=claim), X, y)
            assert not result or Fraction(claim) <= exact
        assert Fraction(max(provable_bound(certificate, X, y), 0.0)) <= exact


def test_a_frame_whose_ridge_overflows_proves_nothing() -> None:
    rng = np.random.default_rng(2)
    for size, gamma in ((1e150, 1e10), (1e6, 1e300), (1.0, 1e300)):
        X, y = size * rng.standard_normal((8, 2)), rng.standard_normal(8)
        for share in (0.01, 0.5, 1.0):
            with np.errstate(over="ignore", invalid="ignore"):
                d = share * np.linalg.eigvalsh(X.T @ X / size**2)[0] * size**2 * np.ones(2)
                certificate = one_record(
                    X,
                    y,
                    gamma,
                    np.zeros(2),
                    ints(),
                    parent=ints(-1, 0),
                    column=ints(-1, -1),
                    side=ints(0, 0),
                    frame=ints(-1, 0),
                    kind=ints(0, 0),
                    coef_offset=ints(0, 0, 0),
                    fixed_offset=ints(0, 0, 0),
                    frame_offset=ints(0, 2),
                    frame_column=ints(0, 1),
                    frame_diagonal=d,
                )
            exact = min(value_of(X, y, [j], gamma) for j in range(2))
            assert not pf.check(certificate, X, y)
            assert Fraction(max(provable_bound(certificate, X, y), 0.0)) <= exact


def test_coefficients_that_cancel_buy_no_tolerance() -> None:
    """Two nearly equal columns with huge opposite coefficients: the objective that is claimed is not theirs."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(8)
    X = np.column_stack([x, x * (1 + 2.0**-40)])
    y = rng.standard_normal(8)
    for size in (1e10, 1e15, 1e20, 1e100, 1e300):
        certificate = one_record(
            X, y, 1e305, np.zeros(2), ints(0, 1), k=2, coef=np.array([size, -size]), objective=1e-3, lower_bound=0.0
        )
        refuse(certificate, X, y, "the support's objective is", "cancel beyond double precision")


def test_a_fit_to_the_last_digit_has_the_objective_it_has() -> None:
    """The terms of y - X w cancel to 1e-17 of their size and less, where twice the digits are not enough."""
    rng = np.random.default_rng(4)
    beyond = 0
    for _ in range(40):
        X, w = rng.standard_normal((2, 2)), np.exp(rng.uniform(-30, 30, 2))
        y = X @ w
        exact = [Fraction(b) - sum(Fraction(a) * Fraction(c) for a, c in zip(row, w)) for row, b in zip(X, y)]
        value = sum(r * r for r in exact) / 2 + sum(Fraction(c) ** 2 for c in w) / 2 / Fraction(1e200)
        beyond += value < Fraction(1e-33) * sum(Fraction(b) ** 2 for b in y)
        claim = partial(one_record, X, y, 1e200, np.zeros(2), ints(0, 1), k=2, coef=w, lower_bound=0.0)
        assert pf.check(claim(objective=float(value)), X, y)
        for factor in (1 - 1e-11, 1 + 1e-11, 2.0):
            refuse(claim(objective=float(value) * factor), X, y, "the support's objective is")
    assert beyond >= 10


def test_types_that_wrap_or_lie(case: Case, proof: Certificate) -> None:
    class Agreeable(np.ndarray):
        def __ge__(self, other: Any) -> Any:
            return np.ones(self.shape, dtype=bool)

        def __lt__(self, other: Any) -> Any:
            return np.ones(self.shape, dtype=bool)

    wrong = replace(proof, column=np.where(proof.column >= 0, proof.column + case.p, -1).view(Agreeable))
    refuse(wrong, case.X, case.y, "column names a column that X does not have")
    unsigned = replace(proof, frame_column=proof.frame_column[::-1].astype(np.uint64))
    refuse(unsigned, case.X, case.y, "the columns of a frame are not in order")
    beyond = replace(proof, parent=np.full(proof.records, 2**64 - 1, dtype=np.uint64))
    refuse(beyond, case.X, case.y, "parent holds a number beyond int64")
    refuse(replace(proof, coef=proof.coef.astype(object)), case.X, case.y, "coef is not a vector of floats")
    refuse(replace(proof, coef=proof.coef.astype(complex)), case.X, case.y, "coef is not a vector of floats")
    refuse(replace(proof, side=proof.side.astype(bool)), case.X, case.y, "side is not a vector of whole numbers")
    refuse(replace(proof, k=True), case.X, case.y, "k is not a whole number within range")
    refuse(replace(proof, parent=proof.parent.tolist()), case.X, case.y, "parent is not an array")  # type: ignore[arg-type]


def test_a_first_record_in_a_frame_is_refused_in_words(case: Case, proof: Certificate) -> None:
    for columns in (ints(), ints(0, 1), np.arange(case.p)):
        certificate = replace(
            proof,
            frame=np.where(np.arange(proof.records) == 0, proof.frame_offset.size - 1, proof.frame),
            frame_offset=ints(*proof.frame_offset, proof.frame_offset[-1] + columns.size),
            frame_column=ints(*proof.frame_column, *columns),
            frame_diagonal=np.append(proof.frame_diagonal, np.zeros(columns.size)),
        )
        refuse(certificate, case.X, case.y, "the first record is in a frame")


def test_offsets_that_wrap_are_out_of_order() -> None:
    """Offsets whose differences wrap could let a frame hold a column twice, and so leave another one out unseen."""
    X, y, far = np.eye(4)[:, :2], np.array([0.0, 10.0, 0.0, 0.1]), 2**63 - 1
    certificate = one_record(
        X,
        y,
        1e6,
        np.zeros(2),
        ints(),
        lower_bound=49.9,
        parent=ints(-1, 0),
        column=ints(-1, -1),
        side=ints(0, 0),
        frame=ints(-1, 0),
        kind=ints(0, 0),
        coef_offset=ints(0, 0, 0),
        fixed_offset=ints(0, 0, 0),
        frame_offset=ints(0, far, -2, 1, 2),
        frame_column=ints(0, 0),
        frame_diagonal=np.zeros(2),
    )
    refuse(certificate, X, y, "an offset array is not in order")


def test_a_subnormal_gamma_is_no_ridge_without_end() -> None:
    X, y = np.array([[2.0**537]]), np.array([1.0])
    certificate = one_record(X, y, 5e-324, np.zeros(1), ints(), lower_bound=0.5 * (1 - 1e-12))
    refuse(certificate, X, y, "below the claim")


def test_claims_that_are_no_doubles() -> None:
    """Rounded to doubles they would be proven, but they are not what is claimed."""
    X, y = np.zeros((1, 1)), np.zeros(1)
    forced = {"forced_in": ints(0), "coef": np.zeros(1), "objective": 2.0**60}
    for change in (
        {"penalty": 2.0**60, "lower_bound": 2**60 + 64},
        {"penalty": 2**60 - 1, "lower_bound": 2.0**60},
        {"penalty": 2.0**60, "lower_bound": np.longdouble(2.0**60) * (1 + np.finfo(np.longdouble).eps)},
    ):
        certificate = one_record(X, y, 1.0, np.zeros(1), ints(0), **forced, **change)
        refuse(certificate, X, y, "is beyond double precision", "is not a finite number")


def test_data_of_other_kinds_are_refused_in_words(case: Case, proof: Certificate) -> None:
    refuse(proof, [[1.0, 2.0], [3.0]], case.y, "rows of different length")
    huge = case.dense.astype(object)
    huge[0, 0] = 10**400
    refuse(proof, huge, case.y, "not a number")
    refuse(proof, np.ma.masked_array(case.dense, case.dense > 1), case.y, "masked array")
    with pytest.raises(pf.InputError, match="y must be a vector of numbers"):
        pf.check(proof, case.X, [10**400])


def test_twins_that_differ_in_an_entry_that_scaling_loses() -> None:
    X = np.array([[2.0**1000, 2.0**1000], [2.0**-200, 0.0]])
    certificate = one_record(
        X, np.array([0.0, 1.0]), 1.0, np.zeros(2), ints(), twin_later=ints(1), twin_earlier=ints(0), lower_bound=0.0,
        fingerprint=0.0,
    )  # fmt: skip
    refuse(certificate, X, np.array([0.0, 1.0]), "are called twins but differ")
