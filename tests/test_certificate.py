"""Certificates: what `solve` writes holds, what was changed is refused, and files come back as they went."""

from __future__ import annotations

import ast
import gc
import re
import sys
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from enumeration import Case, random_case

import parsifal as pf
import parsifal.archive
import parsifal.certificate
import parsifal.check
import parsifal.columns
from parsifal.certificate import Certificate, fingerprint

ARRAYS = [f.name for f in fields(Certificate) if str(f.type) in ("IntArray", "FloatArray")]


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def slack(case: Case, optimum: float) -> float:
    """What rounding may do to an objective of this size."""
    return 1e-9 * abs(optimum) + 1e-12 * case.half


# What solve writes


def verify(case: Case, **options: Any) -> pf.Solution:
    solution = pf.solve(case.X, case.y, **case.options, **options)
    best, _ = case.optimum()
    certificate = solution.certificate
    assert certificate.complete
    assert certificate.lower_bound == solution.lower_bound, case
    assert certificate.objective == solution.objective, case
    assert certificate.support.tolist() == solution.support.tolist(), case
    result = pf.check(certificate, case.X, case.y)
    assert result, (case, options, result.reason)
    assert result.records == certificate.records
    assert certificate.lower_bound <= best + slack(case, best), case
    assert certificate.objective >= best - slack(case, best), case
    return solution


@pytest.mark.parametrize("seed", range(16))
def test_random_problems(seed: int) -> None:
    """Both forms, forced columns, copies, all shapes, gamma from 1e-3 to 1e6; one and two threads."""
    rng = np.random.default_rng([1, seed])
    for at in range(25):
        case = random_case(rng, most=9)
        solution = verify(case, threads=1 + at % 2)
        assert solution.status == "optimal", case


@pytest.mark.parametrize("seed", range(4))
def test_searches_cut_short(seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    cut = 0
    for at in range(25):
        case = random_case(rng, least=6, most=10, largest_k=5)
        solution = verify(case, node_limit=1 + at % 7, threads=1 + at % 2)
        cut += solution.status == "node_limit"
        assert verify(case, time_limit=0.0).status in ("time_limit", "optimal")
    assert cut > 0


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("n", [6, 11, 40])
def test_searches_with_a_tree(n: int, gamma: float) -> None:
    for seed in range(3):
        case = tree_case(seed, n=n, gamma=gamma)
        verify(case)
        verify(case, node_limit=3)
        verify(replace(case, k=None, penalty=0.01 * case.half))


# Seeds whose certificate once did not hold: the solver's bound at a record rounded otherwise than the checker's.
ROUNDED = [328, 5449, 6320, 7904, 8560, 9868, 11563, 11758, 11824, 12004, 12998, 13147, 13669]
ROUNDED += [14676, 16011, 16495, 18149, 18319, 19402]
ROUNDED += [12561, 12570, 12603, 14266, 16127, 18043]


@pytest.mark.parametrize("seed", ROUNDED)
def test_claims_that_rounding_broke(seed: int) -> None:
    case = random_case(np.random.default_rng([4, seed]), most=11)
    verify(case, threads=1)
    verify(case, threads=1, node_limit=5)


@pytest.mark.parametrize("seed", [2489, 7026])
def test_all_columns_fixed_out(seed: int) -> None:
    verify(random_case(np.random.default_rng([4, seed]), most=11), threads=1)


# What was changed


def tree_case(seed: int = 0, n: int = 10, p: int = 11, k: int = 4, gamma: float = 10.0, copies: bool = True) -> Case:
    """Correlated noise: a proof needs a tree. Columns 7 and 9 are copies of column 2."""
    rng = np.random.default_rng([3, seed])
    X = rng.standard_normal((n, p)) + 0.8 * rng.standard_normal((n, 1))
    if copies:
        X[:, 7], X[:, 9] = X[:, 2], -X[:, 2]
    return Case(X, rng.standard_normal(n), gamma, k)


@pytest.fixture(scope="module")
def case() -> Case:
    return tree_case()


@pytest.fixture(scope="module")
def proof(case: Case) -> Certificate:
    certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert pf.check(certificate, case.X, case.y)
    assert np.count_nonzero(certificate.column >= 0) > 10
    assert certificate.frame_column.size
    assert certificate.fixed_column.size
    assert certificate.twin_later.size
    return certificate


@pytest.fixture(scope="module")
def tall() -> tuple[Case, Certificate]:
    """More rows than columns: frames with a diagonal from the start."""
    case = tree_case(2, n=60, gamma=1e3, copies=False)
    certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert pf.check(certificate, case.X, case.y)
    assert np.any(certificate.frame_diagonal > 0)
    return case, certificate


def refuse(certificate: Certificate, X: Any, y: Any, *reasons: str) -> None:
    result = pf.check(certificate, X, y)
    assert not result, result.reason
    assert not result.valid
    assert any(reason in result.reason for reason in reasons), result.reason
    assert str(result).startswith("INVALID: ")


def changed(array: np.ndarray, at: int, value: float) -> np.ndarray:
    out = array.copy()
    out[at] = value
    return out


def leaves(certificate: Certificate) -> np.ndarray:
    return np.setdiff1d(np.arange(certificate.records), certificate.parent)


def without_record(c: Certificate, record: int) -> Certificate:
    """The certificate without a leaf."""
    assert record in leaves(c)
    keep = np.delete(np.arange(c.records), record)
    parent = c.parent[keep]

    def drop(offset: np.ndarray, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        mask = np.ones(offset[-1], dtype=bool)
        mask[offset[record] : offset[record + 1]] = False
        return np.concatenate([[0], np.cumsum(np.diff(offset)[keep])]), *(value[mask] for value in values)

    coef_offset, coef_index, coef_value = drop(c.coef_offset, c.coef_index, c.coef_value)
    fixed_offset, fixed_column = drop(c.fixed_offset, c.fixed_column)
    return replace(
        c,
        parent=parent - (parent > record),
        column=c.column[keep],
        side=c.side[keep],
        frame=c.frame[keep],
        coef_offset=coef_offset,
        coef_index=coef_index,
        coef_value=coef_value,
        fixed_offset=fixed_offset,
        fixed_column=fixed_column,
    )


def with_fixing(c: Certificate, record: int, code: int) -> Certificate:
    """The certificate with one more fixing at a record."""
    return replace(
        c,
        fixed_column=np.insert(c.fixed_column, c.fixed_offset[record], code),
        fixed_offset=c.fixed_offset + (np.arange(c.records + 1) > record),
    )


def fit(case: Case, support: np.ndarray) -> tuple[np.ndarray, float]:
    X = case.dense[:, support]
    coef = np.linalg.solve(X.T @ X + np.eye(support.size) / case.gamma, X.T @ case.y)
    return coef, case.objective(tuple(support.tolist()))


def test_another_support(case: Case, proof: Certificate) -> None:
    other = np.setdiff1d(np.arange(case.p), proof.support)[: proof.support.size]
    refuse(replace(proof, support=other), case.X, case.y, "the support's objective is")
    twice = changed(proof.support, 0, proof.support[1])
    refuse(replace(proof, support=twice), case.X, case.y, "names a column twice")
    refuse(replace(proof, support=proof.support[:-1]), case.X, case.y, "coef and support differ in length")
    refuse(replace(proof, support=changed(proof.support, 0, case.p)), case.X, case.y, "support names a column that X")
    refuse(replace(proof, support=changed(proof.support, 0, -1)), case.X, case.y, "support names a column that X")
    more = np.append(proof.support, other[:1])
    refuse(replace(proof, support=more, coef=np.append(proof.coef, 0.0)), case.X, case.y, "more than k = 4")


def test_a_worse_support_called_optimal(case: Case, proof: Certificate) -> None:
    other = np.setdiff1d(np.arange(case.p), proof.support)[: proof.support.size]
    coef, objective = fit(case, other)
    honest = replace(proof, support=other, coef=coef, objective=objective)
    assert pf.check(honest, case.X, case.y), "a worse support with the same bound is a true claim"
    refuse(replace(honest, lower_bound=objective), case.X, case.y, "below the claim")


def test_changed_coefficient(case: Case, proof: Certificate) -> None:
    for at in range(proof.coef.size):
        coef = changed(proof.coef, at, proof.coef[at] + 0.01)
        refuse(replace(proof, coef=coef), case.X, case.y, "the support's objective is")
    refuse(replace(proof, coef=changed(proof.coef, 0, np.nan)), case.X, case.y, "the support's objective is nan")


def test_raised_bound(case: Case, proof: Certificate) -> None:
    best, _ = case.optimum()
    refuse(replace(proof, lower_bound=1.5 * best), case.X, case.y, "the lower bound is above the objective")
    refuse(replace(proof, lower_bound=(1 + 1e-8) * best), case.X, case.y, "the lower bound is above the objective")
    cut = pf.solve(case.X, case.y, **case.options, threads=1, node_limit=4).certificate
    assert pf.check(cut, case.X, case.y)
    assert cut.lower_bound < 0.99 * cut.objective
    for lower_bound in (cut.lower_bound * (1 + 1e-6), cut.lower_bound + 1e-3 * best, 0.999 * cut.objective):
        refuse(replace(cut, lower_bound=lower_bound), case.X, case.y, "below the claim", "has no child")
    for lower_bound in (np.nan, np.inf):
        refuse(replace(cut, lower_bound=lower_bound), case.X, case.y, "non-finite")


def test_a_lower_claim_still_holds(case: Case, proof: Certificate) -> None:
    assert pf.check(replace(proof, lower_bound=0.5 * proof.lower_bound), case.X, case.y)


def test_changed_objective(case: Case, proof: Certificate) -> None:
    for factor in (0.5, 1 - 1e-6, 1 + 1e-6, 2.0):
        claim = replace(proof, objective=factor * proof.objective)
        refuse(claim, case.X, case.y, "the support's objective is")
    refuse(replace(proof, objective=np.nan), case.X, case.y, "non-finite")


def test_dropped_leaves(case: Case, proof: Certificate) -> None:
    refused = 0
    full = 0
    for leaf in leaves(proof):
        result = pf.check(without_record(proof, int(leaf)), case.X, case.y)
        if result:
            # Only a leaf that says nothing may go: its parent reaches the claim, or it has more than k columns in.
            full += 1
            continue
        refused += 1
        assert "has no child that puts column" in result.reason or "below the claim" in result.reason, result.reason
    assert refused > full


def test_no_records(case: Case, proof: Certificate) -> None:
    none = {name: ints() for name in ("parent", "column", "side", "frame", "coef_index", "fixed_column")}
    empty = replace(proof, **none, coef_value=np.zeros(0), coef_offset=ints(0), fixed_offset=ints(0))
    refuse(empty, case.X, case.y, "the proof has no records")


def test_changed_leaf_coefficients(case: Case, proof: Certificate) -> None:
    leaf = next(r for r in leaves(proof) if proof.coef_offset[r + 1] > proof.coef_offset[r])
    value = proof.coef_value.copy()
    value[proof.coef_offset[leaf] : proof.coef_offset[leaf + 1]] = 0.0
    refuse(replace(proof, coef_value=value), case.X, case.y, f"record {leaf} is a leaf with the bound")
    refuse(replace(proof, coef_value=changed(value, 0, np.inf)), case.X, case.y, "a coefficient is not finite")
    refuse(replace(proof, coef_value=value[:-1]), case.X, case.y, "coef_value and coef_index differ in length")


def test_root_coefficients_are_tied_to_the_fingerprint(case: Case, proof: Certificate) -> None:
    if proof.coef_offset[1] == 0:
        pytest.skip("the first record has no coefficients")
    value = changed(proof.coef_value, 0, proof.coef_value[0] + 0.5)
    refuse(replace(proof, coef_value=value), case.X, case.y, "fingerprint")


def test_added_fixing(case: Case, proof: Certificate) -> None:
    for j in proof.support:
        refuse(with_fixing(proof, 0, -1 - int(j)), case.X, case.y, f"record 0 fixes column {j}", "is not free")
    other = int(np.setdiff1d(np.arange(case.p), proof.support)[0])
    refuse(with_fixing(proof, 0, 1 + other), case.X, case.y, f"record 0 fixes column {other}", "is not free")
    refuse(with_fixing(proof, 0, 1 + case.p), case.X, case.y, "fixed_column names a column that X does not have")
    refuse(with_fixing(proof, 0, 0), case.X, case.y, "fixed_column names a column that X does not have")
    twice = with_fixing(with_fixing(proof, 0, -1 - other), 0, -1 - other)
    refuse(twice, case.X, case.y, "fixes a column that is not free")


def test_flipped_fixing(case: Case, proof: Certificate) -> None:
    refused = 0
    for at in range(proof.fixed_column.size):
        flipped = replace(proof, fixed_column=changed(proof.fixed_column, at, -proof.fixed_column[at]))
        record = int(np.searchsorted(proof.fixed_offset, at, side="right")) - 1
        result = pf.check(flipped, case.X, case.y)
        # Below a record that reaches the claim itself, anything may be fixed.
        if not result:
            refused += 1
            assert f"record {record} fixes column" in result.reason, result.reason
    assert refused > 0


def test_raised_diagonal(tall: tuple[Case, Certificate]) -> None:
    case, proof = tall
    for at in np.flatnonzero(proof.frame_diagonal > 0):
        number = int(np.searchsorted(proof.frame_offset, at, side="right")) - 1
        assert number in proof.frame
        for factor in (1.001, 1.5, 100.0):
            raised = changed(proof.frame_diagonal, at, factor * proof.frame_diagonal[at])
            result = pf.check(replace(proof, frame_diagonal=raised), case.X, case.y)
            slackness = smallest_eigenvalue(case, proof, number, raised)
            if slackness < -1e-6:
                assert not result
                assert f"frame {number}: X'X - diag(d) is not positive semidefinite" in result.reason
            assert factor < 100.0 or not result
    negative = changed(proof.frame_diagonal, 0, -1.0)
    refuse(replace(proof, frame_diagonal=negative), case.X, case.y, "frame 0: the diagonal takes away the ridge")
    infinite = changed(proof.frame_diagonal, 0, np.inf)
    refuse(replace(proof, frame_diagonal=infinite), case.X, case.y, "not finite")


def smallest_eigenvalue(case: Case, proof: Certificate, number: int, diagonal: np.ndarray) -> float:
    part = slice(proof.frame_offset[number], proof.frame_offset[number + 1])
    X = case.dense[:, proof.frame_column[part]]
    return float(np.linalg.eigvalsh(X.T @ X - np.diag(diagonal[part]))[0])


def test_removed_frame_column(tall: tuple[Case, Certificate]) -> None:
    case, proof = tall
    for at in range(proof.frame_column.size):
        number = int(np.searchsorted(proof.frame_offset, at, side="right")) - 1
        removed = replace(
            proof,
            frame_column=np.delete(proof.frame_column, at),
            frame_diagonal=np.delete(proof.frame_diagonal, at),
            frame_offset=proof.frame_offset - (np.arange(proof.frame_offset.size) > number),
        )
        refuse(removed, case.X, case.y, "outside its frame", "the fingerprint differs")
    swapped = changed(proof.frame_column, 0, proof.frame_column[1])
    refuse(replace(proof, frame_column=swapped), case.X, case.y, "frame 0: columns are not in order")
    nowhere = changed(proof.frame, -1, proof.frame_offset.size - 1)
    refuse(replace(proof, frame=nowhere), case.X, case.y, "a record names no such frame")


def test_invented_twins(case: Case, proof: Certificate) -> None:
    invented = replace(proof, twin_later=np.append(proof.twin_later, 3), twin_earlier=np.append(proof.twin_earlier, 1))
    refuse(invented, case.X, case.y, "columns 1 and 3 are called twins but differ")
    swapped = replace(proof, twin_later=proof.twin_earlier, twin_earlier=proof.twin_later)
    refuse(swapped, case.X, case.y, "out of order")
    refuse(replace(proof, twin_later=proof.twin_later[:-1]), case.X, case.y, "the twin arrays differ in length")
    forced = replace(proof, forced_out=ints(int(proof.twin_later[0])))
    refuse(forced, case.X, case.y, "one of them is forced", "a column forced out is in the support")


def test_twins_left_out(case: Case, proof: Certificate) -> None:
    """Without its twins the tree does not cover every support, unless it never used them."""
    result = pf.check(replace(proof, twin_later=ints(), twin_earlier=ints()), case.X, case.y)
    if not result:
        assert any(text in result.reason for text in ("below the claim", "has no child", "not out", "outside"))


def test_rewired_tree(case: Case, proof: Certificate) -> None:
    inner = np.flatnonzero(proof.column >= 0)
    rng = np.random.default_rng(5)
    tried = refused = 0
    for record in inner:
        parent = int(rng.integers(0, record))
        if parent == proof.parent[record]:
            continue
        tried += 1
        result = pf.check(replace(proof, parent=changed(proof.parent, record, parent)), case.X, case.y)
        refused += not result
        if not result:
            texts = ("do not split one column", "has no child", "is not free", "below the claim", "outside", "not out")
            assert any(text in result.reason for text in texts), result.reason
    assert refused == tried
    last = proof.records - 1
    refuse(replace(proof, parent=changed(proof.parent, last, last)), case.X, case.y, "a record comes before its parent")
    refuse(replace(proof, parent=changed(proof.parent, last, -1)), case.X, case.y, "a record comes before its parent")
    refuse(replace(proof, parent=changed(proof.parent, 0, 0)), case.X, case.y, "the first record is not the root")


def test_changed_branch(case: Case, proof: Certificate) -> None:
    inner = np.flatnonzero(proof.column >= 0)
    texts = ("do not split one column", "has no child", "is not free", "below the claim", "fixes column", "not out")
    for record in inner:
        column = (proof.column[record] + 1) % case.p
        refuse(replace(proof, column=changed(proof.column, record, column)), case.X, case.y, *texts)
        refuse(replace(proof, column=changed(proof.column, record, -1)), case.X, case.y, *texts)
        refuse(replace(proof, column=changed(proof.column, record, case.p)), case.X, case.y, "column names a column")
        flipped = replace(proof, side=changed(proof.side, record, -proof.side[record]))
        siblings = np.count_nonzero(proof.parent == proof.parent[record])
        assert siblings == 1 or not pf.check(flipped, case.X, case.y)
        refuse(replace(proof, side=changed(proof.side, record, 0)), case.X, case.y, "do not split one column")


def test_changed_problem(case: Case, proof: Certificate) -> None:
    refuse(replace(proof, k=proof.k - 1), case.X, case.y, "more than k = 3")
    refuse(replace(proof, k=proof.k + 1), case.X, case.y, "below the claim", "has no child")
    refuse(replace(proof, k=-1), case.X, case.y, "wrong sign")
    for factor in (0.5, 1.01, 2.0, -1.0):
        refuse(replace(proof, gamma=factor * proof.gamma), case.X, case.y, "objective is", "wrong sign")
    refuse(replace(proof, gamma=np.nan), case.X, case.y, "non-finite")
    refuse(replace(proof, penalty=0.01), case.X, case.y, "the support's objective is")
    refuse(replace(proof, penalty=-0.01), case.X, case.y, "wrong sign")
    refuse(replace(proof, shape=(case.X.shape[0] + 1, case.p)), case.X, case.y, "X has shape")
    other = int(np.setdiff1d(np.arange(case.p), proof.support)[0])
    chosen = int(proof.support[0])
    refuse(replace(proof, forced_in=ints(other)), case.X, case.y, "a column forced in is not in the support")
    refuse(replace(proof, forced_out=ints(chosen)), case.X, case.y, "a column forced out is in the support")


def test_forced_columns_dropped() -> None:
    """A proof for forced columns is no proof without them."""
    free = tree_case(1, copies=False)
    _, best = free.optimum()
    for forced in ({"force_out": best[:1]}, {"force_in": tuple(set(range(free.p)) - set(best))[:1]}):
        case = replace(free, **forced)
        certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
        assert pf.check(certificate, case.X, case.y)
        dropped = replace(certificate, forced_in=ints(), forced_out=ints())
        assert certificate.lower_bound > free.optimum()[0] * (1 + 1e-6)
        texts = ("below the claim", "has no child", "outside", "fingerprint", "not out")
        refuse(dropped, case.X, case.y, *texts)


def test_changed_data(case: Case, proof: Certificate) -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        X = case.X.copy()
        i, j = rng.integers(0, X.shape[0]), rng.integers(0, X.shape[1])
        X[i, j] += rng.choice([-1, 1]) * 10.0 ** rng.uniform(-5, 0)
        refuse(proof, X, case.y, "the support's objective is", "fingerprint", "called twins but differ")
    for i in range(case.y.size):
        y = changed(case.y, i, case.y[i] + 1e-4)
        refuse(proof, case.X, y, "the support's objective is", "fingerprint")
    order = rng.permutation(case.y.size)
    refuse(proof, case.X[order], case.y, "the support's objective is")
    refuse(proof, case.X, case.y[order], "the support's objective is")
    assert pf.check(proof, case.X[order], case.y[order]), "the same rows in another order are the same problem"
    refuse(proof, case.X[:, ::-1], case.y, "the support's objective is", "fingerprint", "twins")
    refuse(proof, case.X[:-1], case.y[:-1], "X has shape (9, 11), the certificate is for (10, 11)")
    refuse(proof, case.X, case.y[:-1], "y has shape (9,)")
    refuse(proof, case.X[:, 0], case.y, "a matrix is needed")


def test_a_column_that_nothing_uses_is_tied_too() -> None:
    case = tree_case(4, n=60, gamma=1e-2, copies=False)
    certificate = pf.solve(case.X, case.y, **case.options).certificate
    unused = np.setdiff1d(np.arange(case.p), np.concatenate([certificate.support, certificate.coef_index]))
    assert unused.size
    for j in unused:
        X = case.X.copy()
        X[0, j] += 1e-3
        refuse(certificate, X, case.y, "fingerprint")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_are_not_finite(case: Case, proof: Certificate, bad: float) -> None:
    for j in (int(proof.support[0]), int(np.setdiff1d(np.arange(case.p), proof.support)[0])):
        X = case.X.copy()
        X[0, j] = bad
        with np.errstate(all="ignore"):
            assert not pf.check(proof, X, case.y)
    refuse(proof, case.X, changed(case.y, 0, bad), "y holds a non-finite number")


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("which", range(3))
def test_no_mutation_proves_what_is_false(name: str, which: int) -> None:
    """Claim a suboptimal support as optimal and change the proof at random: no change may make it pass."""
    case = [tree_case(), tree_case(2, n=60, gamma=1e3), tree_case(3, n=8, gamma=0.3, k=3)][which]
    case = [case, case, replace(case, penalty=0.02 * case.half)][which]
    certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    supports, objective = case.all_values()
    best = float(objective.min())
    second = int(np.flatnonzero(objective > best * (1 + 1e-4))[np.argmin(objective[objective > best * (1 + 1e-4)])])
    support = ints(*supports[second])
    coef, _ = fit(case, support)
    false = replace(certificate, support=support, coef=coef, objective=float(objective[second]))
    array = getattr(certificate, name)
    rng = np.random.default_rng([8, which, ARRAYS.index(name)])
    for _ in range(60 if array.size else 0):
        at = int(rng.integers(array.size))
        if array.dtype.kind == "f":
            step = 10.0 ** rng.uniform(-9, 3) * rng.choice([-1, 1])
            value = rng.choice([array[at] + step, array[at] * (1 + step), -array[at], 0.0])
        else:
            top = max(int(array.max()), case.p)
            value = rng.choice([array[at] + 1, array[at] - 1, -array[at], rng.integers(-top, top + 1)])
        mutant = changed(array, at, value)
        honest = replace(certificate, **{name: mutant})
        with np.errstate(all="ignore"):
            # At the claim that was made, a change may leave a proof that holds; the claim is still true.
            if pf.check(honest, case.X, case.y):
                assert honest.lower_bound <= best + slack(case, best)
            for lower_bound in (best * (1 + 1e-5), float(objective[second])):
                base = false if name not in ("support", "coef") else certificate
                result = pf.check(replace(base, **{name: mutant}, lower_bound=lower_bound), case.X, case.y)
                assert not result, (name, at, array[at], value, result.reason)


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
        parent=ints(-1, 0),
        column=ints(-1, -1),
        side=ints(0, 0),
        frame=ints(-1, 0 if framed else -1),
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
    for _ in range(4000):
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


# Files


def same(a: Certificate, b: Certificate) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Certificate))


def test_round_trip(case: Case, proof: Certificate, tmp_path: Path) -> None:
    for path in (tmp_path / "proof.npz", tmp_path / "no ending", str(tmp_path / "text.npz")):
        proof.save(path)
        with np.load(path, allow_pickle=False) as archive:
            assert set(archive.files) == {f.name for f in fields(Certificate)} | {"format"}
            assert all(archive[name].dtype.kind in "iufb" for name in archive.files)
        back = Certificate.load(path)
        assert same(back, proof)
        assert {f.name: type(getattr(back, f.name)) for f in fields(back)} == {
            f.name: type(getattr(proof, f.name)) for f in fields(proof)
        }
        assert str(back) == str(proof)
        assert pf.check(back, case.X, case.y)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["no ending", "proof.npz", "text.npz"]


def test_round_trip_of_odd_certificates(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    for at in range(20):
        case = random_case(rng, most=7)
        certificate = pf.solve(case.X, case.y, **case.options, certificate_limit=0 if at % 5 == 4 else 64e6).certificate
        certificate.save(tmp_path / "proof.npz")
        assert same(Certificate.load(tmp_path / "proof.npz"), certificate)


def test_damaged_files(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "proof.npz"
    proof.save(path)
    data = path.read_bytes()

    def load(content: bytes) -> Certificate | str:
        path.write_bytes(content)
        try:
            return Certificate.load(path)
        except ValueError as error:
            return str(error)

    for keep in (0, 1, 10, 100, len(data) // 2, len(data) - 1):
        got = load(data[:keep])
        assert isinstance(got, str), keep
        assert re.search(r"proof\.npz is not a (readable )?Parsifal certificate: .", got)
    rng = np.random.default_rng(10)
    for at in rng.integers(len(data), size=100):
        got = load(data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :])
        if isinstance(got, str):
            assert "Parsifal certificate" in got
        else:
            assert same(got, proof), "a byte that is not part of the arrays"


def test_a_damaged_file_is_closed(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "proof.npz"
    proof.save(path)
    path.write_bytes(path.read_bytes()[:-30])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            Certificate.load(path)
        except ValueError:
            gc.collect()
        gc.collect()
    assert not seen


def test_foreign_files(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "file"
    arrays = {f.name: np.asarray(getattr(proof, f.name)) for f in fields(proof)}

    def refused(match: str, **values: Any) -> None:
        with open(path, "wb") as file:
            np.savez(file, **values)
        with pytest.raises(ValueError, match=match):
            Certificate.load(path)

    refused("no certificate of format 1", a=np.ones(3))
    refused("no certificate of format 1", **arrays)
    refused("no certificate of format 1", format=np.array(2), **arrays)
    for name in arrays:
        refused(f"{name} is missing", format=np.array(1), **{n: v for n, v in arrays.items() if n != name})
    refused("coef must be a vector of floats", **{**arrays, "format": np.array(1), "coef": np.array(["a"])})
    refused("coef must be a vector of floats", **{**arrays, "format": np.array(1), "coef": np.ones((2, 2))})
    refused("parent must be a vector of whole numbers", **{**arrays, "format": np.array(1), "parent": np.ones(3)})
    refused("gamma must be a single value", **{**arrays, "format": np.array(1), "gamma": np.ones(2)})
    refused("shape must hold two whole numbers", **{**arrays, "format": np.array(1), "shape": np.arange(3)})
    refused("Parsifal certificate", **{**arrays, "format": np.array(1), "coef": np.array([None])})
    path.write_text("not an archive")
    with pytest.raises(ValueError, match="Parsifal certificate"):
        Certificate.load(path)
    with open(path, "wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(ValueError, match="Parsifal certificate"):
        Certificate.load(path)


@pytest.mark.parametrize(("name", "value"), [("k", 2.5), ("complete", "no"), ("gamma", "1"), ("complete", 0.3)])
def test_single_values_of_another_kind(proof: Certificate, tmp_path: Path, name: str, value: Any) -> None:
    arrays = {f.name: np.asarray(getattr(proof, f.name)) for f in fields(proof)}
    with open(tmp_path / "file", "wb") as file:
        np.savez(file, **{**arrays, "format": np.array(1), name: np.array(value)})
    with pytest.raises(ValueError, match=name):
        Certificate.load(tmp_path / "file")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Certificate.load(tmp_path / "nothing.npz")


# Inputs


@pytest.mark.parametrize(
    "kind", ["float32", "fortran", "pandas", "csr", "csc", "csr array", "design", "integer", "list"]
)
def test_kinds_of_matrix(kind: str) -> None:
    rng = np.random.default_rng(11)
    dense = np.round(4 * rng.standard_normal((15, 10))) * (rng.random((15, 10)) < 0.6)
    y = dense[:, :3].sum(axis=1) + rng.standard_normal(15)
    X: Any = {
        "float32": lambda: dense.astype(np.float32),
        "fortran": lambda: np.asfortranarray(dense),
        "pandas": lambda: pd.DataFrame(dense, columns=[f"c{j}" for j in range(10)]),
        "csr": lambda: sp.csr_matrix(dense),
        "csc": lambda: sp.csc_matrix(dense),
        "csr array": lambda: sp.csr_array(dense),
        "design": lambda: pf.as_design(dense),
        "integer": lambda: dense.astype(np.int32),
        "list": lambda: dense,
    }[kind]()
    certificate = pf.solve(X, y, k=3, gamma=1.0).certificate
    checked = dense.tolist() if kind == "list" else X
    result = pf.check(certificate, checked, pd.Series(y) if kind == "pandas" else y)
    assert result, result.reason
    assert pf.check(certificate, dense, y), "the values are the same in every kind"
    wrong = dense.copy()
    wrong[3, 4] += 1
    refuse(certificate, wrong, y, "the support's objective is", "fingerprint")
    if kind in ("csr", "csc", "csr array"):
        refuse(certificate, type(X)(wrong), y, "the support's objective is", "fingerprint")
    if kind == "design":
        refuse(certificate, pf.as_design(wrong), y, "the support's objective is", "fingerprint")


def test_float32_that_is_not_exact() -> None:
    rng = np.random.default_rng(12)
    X = rng.standard_normal((40, 12)).astype(np.float32)
    y = rng.standard_normal(40).astype(np.float32)
    certificate = pf.solve(X, y, k=4, gamma=10.0).certificate
    for same_values in (X, X.astype(float), np.asfortranarray(X), pf.as_design(X)):
        result = pf.check(certificate, same_values, y)
        assert result, result.reason


# The size limit


def test_certificate_limit(case: Case, proof: Certificate, tmp_path: Path) -> None:
    for limit in (0, 1, 100):
        solution = pf.solve(case.X, case.y, **case.options, threads=1, certificate_limit=limit)
        certificate = solution.certificate
        assert solution.status == "optimal"
        assert not certificate.complete
        assert certificate.records == 0
        assert certificate.nbytes < 1000
        assert certificate.support.tolist() == proof.support.tolist()
        assert certificate.objective == proof.objective
        assert certificate.lower_bound == proof.lower_bound
        assert "the proof was larger than its limit and was dropped" in str(certificate)
        refuse(certificate, case.X, case.y, "the certificate holds the claim only")
        refuse(replace(certificate, complete=True), case.X, case.y, "the proof has no records", "offset")
        certificate.save(tmp_path / "claim.npz")
        assert same(Certificate.load(tmp_path / "claim.npz"), certificate)
    assert "records" in str(proof)
    assert "dropped" not in str(proof)
    enough = pf.solve(case.X, case.y, **case.options, threads=1, certificate_limit=10 * proof.nbytes).certificate
    assert enough.complete


# Independence


@pytest.mark.parametrize(
    "module", [parsifal.certificate, parsifal.archive, sys.modules["parsifal.check"], parsifal.columns]
)
def test_the_checker_imports_nothing_of_the_solver(module: Any) -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"}
    # What a certificate is, what errors are called, and how files are written: nothing that computes.
    ours = tuple(f"parsifal.{name}" for name in ("archive", "certificate", "columns", "errors", "storage"))
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in allowed or name in ours, name
        if isinstance(node, ast.Name):
            assert node.id not in ("__import__", "eval", "exec")
