"""`check(exact=True)` holds for what `solve` writes, computes what fractions say, and is not to be deceived."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import parsifal as pf
from oracles.enumeration import Case, random_case
from oracles.rational import dot, exact, rows
from parsifal.proof import exact_checker as check_exact
from parsifal.proof import exact_input
from parsifal.proof.certificate import Certificate, fingerprint
from parsifal.proof.exact_problem import Problem
from proof.helpers import ARRAYS, changed, fit, ints, tree_case


def solved(case: Case, **options: Any) -> Certificate:
    certificate = pf.solve(case.X, case.y, **case.options, **options).certificate
    assert certificate is not None
    return certificate


def holds(certificate: Certificate, X: Any, y: Any) -> None:
    result = pf.check(certificate, X, y, exact=True)
    assert result, result.reason
    assert result.records == certificate.records
    assert result.reason.endswith("in exact arithmetic")
    assert pf.check(certificate, X, y)


def refuse(certificate: Certificate, X: Any, y: Any, reason: str) -> None:
    result = pf.check(certificate, X, y, exact=True)
    assert not result
    assert reason in result.reason


# What solve writes


@pytest.mark.parametrize("seed", range(8))
def test_random_problems(seed: int) -> None:
    """Both forms, forced columns, copies, zero columns, perfect fits, sparse and float32 data; cut short or not."""
    rng = np.random.default_rng([21, seed])
    for at in range(25):
        case = random_case(rng, most=9)
        holds(solved(case, threads=1, **({"node_limit": 1 + at % 7} if at % 3 == 0 else {})), case.X, case.y)


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("n", [6, 11, 40])
def test_searches_with_a_tree(n: int, gamma: float) -> None:
    case = tree_case(1, n=n, gamma=gamma)
    holds(solved(case), case.X, case.y)
    holds(solved(case, node_limit=3), case.X, case.y)
    holds(solved(replace(case, k=None, penalty=0.01 * case.half)), case.X, case.y)
    holds(solved(replace(case, force_in=(3,), force_out=(5, 8))), case.X, case.y)


def test_trees_with_twins_fixings_and_frames(case: Case, proof: Certificate, tall: tuple[Case, Certificate]) -> None:
    holds(proof, case.X, case.y)
    holds(tall[1], tall[0].X, tall[0].y)


def test_the_root_of_cutting_planes_and_an_open_gap() -> None:
    case = tree_case(3)
    holds(solved(case, method="cutting-plane", backend="highs"), case.X, case.y)
    for gamma in (1e12, 1e16):
        tough = replace(case, gamma=gamma)
        certificate = solved(tough)
        holds(certificate, tough.X, tough.y)


def test_forced_columns_whose_price_rounds() -> None:
    """Three times 0.1 is above 0.3 in doubles, and was claimed."""
    X = np.eye(4)
    certificate = pf.solve(X, np.zeros(4), penalty=0.1, gamma=1.0, force_in=[0, 1, 2]).certificate
    assert Fraction(0.1) * 3 < 3 * 0.1
    assert Fraction(certificate.lower_bound) <= 3 * Fraction(0.1)
    holds(certificate, X, np.zeros(4))
    refuse(replace(certificate, lower_bound=3 * 0.1), X, np.zeros(4), "the lower bound is above the objective")


# Inputs

KINDS: dict[str, Any] = {
    "float32": lambda dense: dense.astype(np.float32),
    "fortran": np.asfortranarray,
    "integer": lambda dense: dense.astype(np.int16),
    "list": lambda dense: dense.tolist(),
    "pandas": pd.DataFrame,
    "truth values": lambda dense: pd.DataFrame({"b": dense[:, 0] > 0, **{f"c{j}": dense[:, j] for j in range(1, 10)}}),
    "polars": pl.DataFrame,
    "csr": sp.csr_matrix,
    "csc array": sp.csc_array,
    "design": pf.as_design,
    "sparse design": lambda dense: pf.as_design(sp.csc_matrix(dense)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_matrix(kind: str) -> None:
    rng = np.random.default_rng(11)
    dense = np.round(4 * rng.standard_normal((15, 10))) * (rng.random((15, 10)) < 0.6)
    dense[:, 0] = dense[:, 0] > 0
    y = dense[:, :3].sum(axis=1) + rng.standard_normal(15)
    certificate = pf.solve(dense, y, k=3, gamma=1.0).certificate
    holds(certificate, KINDS[kind](dense), pd.Series(y))
    wrong = dense.copy()
    wrong[3, 4] += 1
    assert not pf.check(certificate, KINDS[kind](wrong), y, exact=True)


def test_standardised_columns() -> None:
    rng = np.random.default_rng(12)
    X = 3 + rng.standard_normal((30, 8))
    y = X[:, 0] - X[:, 5] + rng.standard_normal(30)
    model = pf.SparseRegressor(k=2).fit(X, y)
    training = model._training(X, y, None)
    holds(model.certificate_, training.design, training.y)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda X: X.astype(complex), "X has dtype complex128; real numbers are needed"),
        (lambda X: X.astype(object), "X has dtype object; real numbers are needed"),
        (lambda X: X.astype(str), "real numbers are needed"),
        (lambda X: np.ma.masked_array(X, X > 1), "X is a masked array; fill it first"),
        (lambda X: changed(X, 3, np.nan), "X holds a non-finite number"),
        (lambda X: changed(X, 3, -np.inf), "X holds a non-finite number"),
        (lambda X: [[1.0], [1.0, 2.0]], "X does not make a matrix"),
        (lambda X: X[0], "X has shape (11,), a matrix is needed"),
        (lambda X: X[:, 1:], "X has shape (10, 10), the certificate is for (10, 11)"),
    ],
)
def test_matrices_that_are_none(case: Case, proof: Certificate, change: Any, reason: str) -> None:
    refuse(proof, change(case.X), case.y, reason)


def test_responses_that_are_none(case: Case, proof: Certificate) -> None:
    refuse(proof, case.X, case.y[:-1], "y has shape (9,)")
    refuse(proof, case.X, changed(case.y, 2, np.inf), "y holds a non-finite number")


def test_sizes_beyond_the_limits(case: Case, proof: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(exact_input, "MOST_ENTRIES", 109)
        with pytest.raises(pf.InputError, match=r"X has 110 entries, more than the 109 .*; check without exact"):
            pf.check(proof, case.X, case.y, exact=True)
    monkeypatch.setattr(check_exact, "MOST_STEPS", 70 * 71 * proof.records // 2)
    with pytest.raises(pf.InputError, match=rf"these {proof.records} records would take .*; check without exact"):
        pf.check(proof, case.X, case.y, exact=True)


# Dual values and objectives against fractions


def problem_of(case: Case, **changes: Any) -> Problem:
    return Problem(replace(solved(case), **changes), case.dense, case.y)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("framed", [False, True])
def test_dual_values(seed: int, framed: bool) -> None:
    """With a w and a y of few digits nothing has to be shortened: what is left is the grid."""
    rng = np.random.default_rng([22, seed])
    X = rng.standard_normal((9, 6)) * 10.0 ** rng.integers(-3, 3, 6)
    X[:, 4] = 0.0
    case = Case(X, rng.integers(-9, 9, 9).astype(float), 10.0 ** rng.uniform(-2, 4), 3, penalty=0.1)
    problem = problem_of(case)
    columns, index = ints(0, 1, 2, 4, 5), ints(1, 2, 5)
    w = np.ldexp(rng.integers(-7, 8, 3), -np.frexp(np.linalg.norm(X[:, index], axis=0))[1] - 2)
    d = 0.3 * np.linalg.eigvalsh(X[:, columns[columns != 4]].T @ X[:, columns[columns != 4]])[0] * np.ones(5)
    d[3] = -0.5 / case.gamma
    if not framed:
        d[:], w[:] = 0.0, 0.0
    frame = problem.frame(columns, problem.safe_diagonal(columns, d) if framed else None)
    base, a = problem.dual_point(frame, index, w)

    y, ridge, coef = exact(case.y), 1 / Fraction(case.gamma), dict(zip(index.tolist(), exact(w)))
    alpha = [value - dot([row[j] for j in coef], list(coef.values())) for value, row in zip(y, rows(X))]
    diagonal = dict(zip(columns.tolist(), exact(d)))
    true = dot(y, alpha) - dot(alpha, alpha) / 2 + sum(diagonal[j] * v**2 for j, v in coef.items()) / 2
    step = Fraction(1, 2**problem.grid)
    # The diagonal is rounded down to a grid of its own.
    tiny = Fraction(1, 2**100) * (1 + abs(true))
    assert true - step - tiny <= base * step <= true
    for j, value in zip(columns.tolist(), a.tolist()):
        product = dot(exact(X[:, j]), alpha) + diagonal[j] * coef.get(j, Fraction(0))
        term = product**2 / (2 * (ridge + diagonal[j])) - Fraction(0.1)
        assert term <= value * step <= term + step + tiny * (1 + abs(term))


@pytest.mark.parametrize("seed", range(6))
def test_objectives(seed: int) -> None:
    rng = np.random.default_rng([23, seed])
    X = rng.standard_normal((7, 5)) * 10.0 ** rng.integers(-30, 30, (7, 5))
    case = Case(X, rng.standard_normal(7), 0.7, 2, penalty=0.3)
    problem = Problem(replace(solved(tree_case(n=7, p=5, k=2, copies=False)), gamma=0.7, penalty=0.3), X, case.y)
    for support in (ints(), ints(1), ints(0, 3, 4)):
        coef = rng.standard_normal(support.size) * 10.0 ** rng.integers(-20, 20, support.size)
        w = exact(coef)
        alpha = [value - dot(row, w) for value, row in zip(exact(case.y), rows(X[:, support]))]
        true = dot(alpha, alpha) / 2 + dot(w, w) / (2 * Fraction(0.7)) + Fraction(0.3) * support.size
        assert problem.objective(support, coef) == true


def test_a_diagonal_that_takes_the_ridge_away_proves_nothing_about_its_column() -> None:
    case = Case(np.eye(3), np.array([3.0, 2.0, 1.0]), 1.0, 1)
    problem = problem_of(case, lower_bound=1.0)
    for d in (-1.0, -2.0):
        frame = problem.frame(np.arange(3), problem.safe_diagonal(np.arange(3), np.array([d, 0.0, 0.0])))
        base, a = problem.dual_point(frame, ints(), np.zeros(0))
        assert base - a[0] < problem.claim <= base - a[1]


# Forgeries


def test_raised_diagonals(tall: tuple[Case, Certificate]) -> None:
    case, proof = tall
    refused = 0
    for at in np.flatnonzero(proof.frame_diagonal > 0).tolist():
        number = int(np.searchsorted(proof.frame_offset, at, side="right")) - 1
        part = slice(proof.frame_offset[number], proof.frame_offset[number + 1])
        X = case.dense[:, proof.frame_column[part]]
        for factor in (1 + 1e-6, 1.001, 1.5, 100.0):
            raised = changed(proof.frame_diagonal, at, factor * proof.frame_diagonal[at])
            if np.linalg.eigvalsh(X.T @ X - np.diag(raised[part]))[0] < -1e-6:
                refused += 1
                reason = f"frame {number}: X'X - diag(d) is not positive semidefinite"
                refuse(replace(proof, frame_diagonal=raised), case.X, case.y, reason)
    assert refused > np.count_nonzero(proof.frame_diagonal > 0)


def with_child(c: Certificate, columns: np.ndarray, **changes: Any) -> Certificate:
    """The certificate of a single record with a child in a frame of these columns."""
    return replace(
        c,
        parent=ints(-1, 0),
        column=ints(-1, -1),
        side=ints(0, 0),
        frame=ints(-1, 0),
        kind=ints(0, 0),
        coef_offset=ints(0, 0, 0),
        coef_index=ints(),
        coef_value=np.zeros(0),
        fixed_offset=ints(0, 0, 0),
        fixed_column=ints(),
        frame_offset=ints(0, columns.size),
        frame_column=columns,
        frame_diagonal=np.zeros(columns.size),
        **changes,
    )


def test_a_child_in_an_empty_frame() -> None:
    """Without columns the dual value is 1/2 y'y, but the columns are not out."""
    case = tree_case(copies=False)
    empty = with_child(
        solved(case),
        ints(),
        support=ints(),
        coef=np.zeros(0),
        objective=case.half,
        lower_bound=case.half * (1 - 1e-12),
        fingerprint=fingerprint(case.X.T @ case.y),
        twin_later=ints(),
        twin_earlier=ints(),
    )
    refuse(empty, case.X, case.y, "record 1: a column outside its frame is not out")
    part = replace(empty, frame_offset=ints(0, 2), frame_column=ints(2, 3), frame_diagonal=np.zeros(2))
    refuse(part, case.X, case.y, "record 1: a column outside its frame is not out")


def test_types_that_lie_or_wrap(case: Case, proof: Certificate) -> None:
    class Agreeable(np.ndarray):
        def __ge__(self, other: Any) -> Any:
            return np.ones(self.shape, dtype=bool)

        def __le__(self, other: Any) -> Any:
            return np.ones(self.shape, dtype=bool)

    beyond = replace(proof, column=np.where(proof.column >= 0, proof.column + case.p, -1).view(Agreeable))
    refuse(beyond, case.X, case.y, "column names a column that X does not have")
    for changes, reason in (
        ({"parent": np.full(proof.records, 2**64 - 1, dtype=np.uint64)}, "parent holds a number beyond int64"),
        ({"fixed_column": np.full(proof.fixed_column.size, np.iinfo(np.int64).min)}, "fixed_column names a column"),
        ({"fixed_offset": changed(proof.fixed_offset, 1, np.iinfo(np.int64).min)}, "an offset array is not in order"),
        ({"frame_column": proof.frame_column[::-1].astype(np.uint64)}, "the columns of a frame are not in order"),
        ({"coef": proof.coef.astype(object)}, "coef is not a vector of floats"),
        ({"coef": proof.coef.astype(np.longdouble)}, "coef holds numbers beyond double precision"),
        ({"side": proof.side.astype(bool)}, "side is not a vector of whole numbers"),
        ({"parent": proof.parent.tolist()}, "parent is not an array"),
        ({"parent": proof.parent[:, None]}, "parent is not a vector of whole numbers"),
        ({"k": True}, "k is not a whole number within range"),
        ({"k": 4.0}, "k is not a whole number within range"),
        ({"shape": (10.0, 11)}, "shape is not a whole number within range"),
        ({"shape": [10, 11]}, "shape is not two whole numbers"),
        ({"complete": 1}, "complete is not True or False"),
        ({"penalty": None}, "penalty is not a finite number"),
        ({"lower_bound": np.longdouble(proof.lower_bound) * (1 + np.longdouble(2) ** -60)}, "beyond double precision"),
        ({"lower_bound": 2**70 + 1}, "lower_bound is a number beyond double precision"),
        ({"objective": 10**400}, "objective is not a finite number"),
        ({"fingerprint": np.nan}, "fingerprint is not a finite number"),
    ):
        refuse(replace(proof, **changes), case.X, case.y, reason)
    same = replace(proof, column=proof.column.astype(np.int32), coef=proof.coef.view(Agreeable))
    holds(same, case.X, case.y)


def test_rounding_buys_no_claim() -> None:
    """Exactly what an orthogonal design proves is accepted, and the next double is not."""
    case = Case(np.eye(4), np.array([4.0, 3.0, 1.0, 0.5]), 1.0, 2)
    # Two of the four count half with their squares: 26.25 / 2 - 25 / 4.
    coef, _ = fit(case, ints(0, 1))
    index = np.arange(2)
    record = replace(
        solved(case),
        support=ints(0, 1),
        coef=coef,
        objective=6.875,
        lower_bound=6.875,
        fingerprint=fingerprint(case.y - np.append(coef, [0.0, 0.0])),
        parent=ints(-1),
        column=ints(-1),
        side=ints(0),
        frame=ints(-1),
        kind=ints(0),
        coef_offset=ints(0, 2),
        coef_index=index,
        coef_value=coef,
        fixed_offset=ints(0, 0),
        fixed_column=ints(),
    )
    problem = Problem(record, case.dense, case.y)
    base, a = problem.dual_point(problem.whole, index, coef)
    proven = Fraction(base - sum(sorted(a.tolist())[-2:]), 2**problem.grid)
    assert proven == Fraction(6.875)
    assert pf.check(record, case.X, case.y, exact=True)
    above = replace(record, objective=np.nextafter(6.875, 7), lower_bound=np.nextafter(6.875, 7))
    refuse(above, case.X, case.y, "the lower bound is above the objective")
    worse = replace(above, coef=coef + 1e-3, objective=6.875 + 2e-6)
    refuse(worse, case.X, case.y, "record 0 is a leaf with the bound 6.875, below the claim 6.875000000000001")


@pytest.mark.parametrize("name", ARRAYS)
def test_the_two_checks_agree(name: str, case: Case, proof: Certificate) -> None:
    array, rng = getattr(proof, name), np.random.default_rng([24, ARRAYS.index(name)])
    for _ in range(20 if array.size else 0):
        at = int(rng.integers(array.size))
        if array.dtype.kind == "f":
            value = array[at] * (1 + 10.0 ** rng.uniform(-1, 3)) + rng.choice([-0.1, 0.1])
        else:
            value = rng.choice([array[at] + 1, array[at] - 1, -array[at], rng.integers(-case.p, case.p + 1)])
        if name == "frame_diagonal":
            value = abs(value)  # a ridge that is taken away may be refused at once, or say nothing of its column
        mutant = replace(proof, **{name: changed(array, at, value)})
        ordinary, precise = (pf.check(mutant, case.X, case.y, exact=exact) for exact in (False, True))
        assert ordinary.valid == precise.valid, (at, value, ordinary.reason, precise.reason)


@pytest.mark.parametrize("kind", ["coo_matrix", "csc_matrix"])
def test_entries_that_are_stored_twice_are_added_as_doubles(kind: str) -> None:
    """100 + 100 is not -56, as it is in int8."""
    rows, columns = np.array([0, 0, 3, 1, 2]), np.array([0, 0, 0, 1, 1])
    values = np.array([100, 100, 5, 3, 4], dtype=np.int8)
    start = np.array([0, 3, 5])
    given = (values, (rows, columns)) if kind == "coo_matrix" else (values, rows, start)
    X = getattr(sp, kind)(given, shape=(4, 2))
    y, dense = np.array([1.0, 2.0, -1.0, 0.5]), np.array([[200.0, 0.0], [0.0, 3.0], [0.0, 4.0], [5.0, 0.0]])
    proof = pf.solve(dense, y, k=1, gamma=1.0).certificate
    wrapped = pf.solve(np.where(dense == 200.0, -56.0, dense), y, k=1, gamma=1.0).certificate
    for exactly in (False, True):
        assert pf.check(proof, X, y, exact=exactly)
        assert not pf.check(wrapped, X, y, exact=exactly)
