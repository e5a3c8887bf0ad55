"""A certificate that was changed is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case
from parsifal.proof.certificate import Certificate
from parsifal.proof.checker import provable_bound
from proof.helpers import changed, fit, ints, refuse, tree_case


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
        kind=c.kind[keep],
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
    refuse(
        replace(proof, coef=changed(proof.coef, 0, np.nan)), case.X, case.y, "coef holds a number that is not finite"
    )


@pytest.mark.usefixtures("relaxations_alone")
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
        refuse(replace(cut, lower_bound=lower_bound), case.X, case.y, "is not a finite number")


def test_a_lower_claim_still_holds(case: Case, proof: Certificate) -> None:
    assert pf.check(replace(proof, lower_bound=0.5 * proof.lower_bound), case.X, case.y)


def test_changed_objective(case: Case, proof: Certificate) -> None:
    for factor in (0.5, 1 - 1e-6, 1 + 1e-6, 2.0):
        claim = replace(proof, objective=factor * proof.objective)
        refuse(claim, case.X, case.y, "the support's objective is")
    refuse(replace(proof, objective=np.nan), case.X, case.y, "is not a finite number")


def test_dropped_leaves(case: Case, proof: Certificate) -> None:
    alone = 0
    for leaf in leaves(proof):
        siblings = np.count_nonzero(proof.parent == proof.parent[leaf]) - 1
        # A record whose only child goes is a leaf itself, and its own bound is too low.
        reason = "has no child that puts column" if siblings else "below the claim"
        refuse(without_record(proof, int(leaf)), case.X, case.y, reason)
        alone += siblings == 0
    assert 0 < alone < leaves(proof).size


def test_no_records(case: Case, proof: Certificate) -> None:
    none = {name: ints() for name in ("parent", "column", "side", "frame", "kind", "coef_index", "fixed_column")}
    empty = replace(proof, **none, coef_value=np.zeros(0), coef_offset=ints(0), fixed_offset=ints(0))
    refuse(empty, case.X, case.y, "the proof has no records")


def test_changed_leaf_coefficients(case: Case, proof: Certificate) -> None:
    leaf = next(r for r in leaves(proof) if proof.coef_offset[r + 1] > proof.coef_offset[r])
    value = proof.coef_value.copy()
    value[proof.coef_offset[leaf] : proof.coef_offset[leaf + 1]] = 0.0
    refuse(replace(proof, coef_value=value), case.X, case.y, f"record {leaf} is a leaf with the bound")
    refuse(
        replace(proof, coef_value=changed(value, 0, np.inf)),
        case.X,
        case.y,
        "coef_value holds a number that is not finite",
    )
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
    # Where the diagonal takes away the ridge, a record says nothing of supports that have the column.
    assert provable_bound(replace(proof, frame_diagonal=negative), case.X, case.y) <= case.optimum()[0]
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
    refuse(replace(proof, frame_column=swapped), case.X, case.y, "the columns of a frame are not in order")
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
    refuse(replace(proof, gamma=np.nan), case.X, case.y, "is not a finite number")
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


@pytest.mark.parametrize("exact", [False, True])
def test_kinds_and_independence(case: Case, proof: Certificate, exact: bool) -> None:
    """What an exhausted record may not have, kinds that are none, and an independence that was not asked for."""

    def reason(**changes: Any) -> str:
        result = pf.check(replace(proof, **changes), case.X, case.y, exact=exact)
        assert not result
        return result.reason

    full = np.flatnonzero(np.diff(proof.coef_offset))
    for record in (0, int(full[-1])):
        words = reason(kind=changed(proof.kind, record, 1))
        assert words == "an exhausted record has coefficients, fixings or children"
    for kind in (-1, 2):
        assert reason(kind=changed(proof.kind, 0, kind)) == "a record is of a kind that is not known"
    assert reason(kind=proof.kind[1:]) == "kind has not one entry a record"
    for independence in (1e-6, -1e-6, 1e-300):
        assert reason(independence=independence) == "independence is for gamma = inf, and at most 1e-6"
    assert reason(gamma=np.inf, independence=1.1e-6) == "independence is for gamma = inf, and at most 1e-6"
    for gamma in (-np.inf, np.nan):
        assert "gamma" in reason(gamma=gamma)
    for name in ("penalty", "independence", "objective", "lower_bound"):
        assert reason(**{name: np.inf}) == f"{name} is not a finite number"
