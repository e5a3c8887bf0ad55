"""Certificates of groups and kernels: valid as they are written, in files too, refused once anything is changed."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from parsifal.proof.certificate import fingerprint

SEEDS = range(6)


def problem(seed: int) -> dict[str, Any]:
    """Groups of very different size, some overlapping, with prices, weights and forced groups by turns."""
    rng = np.random.default_rng((seed, 17))
    n, p = 40, 24
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-2, 3, p)
    groups = [
        list(range(9)),
        *([j] for j in range(9, 14)),
        [14, 15],
        [15, 16],
        [17, 18, 19],
        [20, 21, 22, 23],
        [3, 20],
    ]
    y = X[:, [0, 14, 17]] @ (1 / X[:, [0, 14, 17]].std(axis=0)) + 1.5 * rng.standard_normal(n)
    scale = float(y @ y)
    options: dict[str, Any] = {"k": 3, "gamma": 10.0 ** rng.integers(-3, 2)}
    if seed % 2:
        options["penalty"] = rng.uniform(0, 0.03 * scale, len(groups))
    if seed % 3 == 1:
        options["sample_weight"] = rng.uniform(0, 2, n) * (rng.random(n) > 0.1)
    if seed % 3 == 2:
        options |= {"force_in": [6], "force_out": [0, 9]}
    return {"X": X, "y": y, "groups": groups, **options}


def kernels_of(given: dict[str, Any]) -> dict[str, Any]:
    """The same choice among kernels: factors, and one matrix of full rank."""
    rest = {name: value for name, value in given.items() if name not in ("X", "groups")}
    X, groups = given["X"], given["groups"]
    kernels: list[Any] = [("factor", X[:, group]) for group in groups]
    size = X[:, [5]]
    kernels[1] = np.exp(-0.5 * ((size - size.T) / size.std()) ** 2)
    return {"kernels": kernels, **rest}


@pytest.fixture(scope="module", params=SEEDS)
def group_case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], pf.KernelSolution]:
    given = problem(request.param)
    return given, pf.solve_groups(**given)


@pytest.fixture(scope="module", params=SEEDS)
def kernel_case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], pf.KernelSolution]:
    given = kernels_of(problem(request.param))
    return given, pf.solve_kernels(**given)


def test_a_proof_of_groups_holds(group_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = group_case
    assert sol.status == "optimal"
    assert isinstance(sol.certificate, pf.GroupCertificate)
    assert sol.certificate.lower_bound == sol.lower_bound
    for exact in (False, True):
        result = pf.check(sol.certificate, given["X"], given["y"], exact=exact)
        assert result, result.reason


def test_a_proof_of_kernels_holds(kernel_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = kernel_case
    assert sol.status == "optimal"
    assert isinstance(sol.certificate, pf.KernelCertificate)
    assert sol.certificate.lower_bound == sol.lower_bound
    result = pf.check(sol.certificate, given["kernels"], given["y"])
    assert result, result.reason


@pytest.mark.parametrize("kind", ["groups", "kernels"])
def test_files(kind: str, tmp_path: Path) -> None:
    given = problem(3)
    data = given["X"] if kind == "groups" else kernels_of(given)["kernels"]
    sol = pf.solve_groups(**given) if kind == "groups" else pf.solve_kernels(**kernels_of(given))
    assert sol.certificate is not None
    sol.certificate.save(tmp_path / "proof.npz")
    again = type(sol.certificate).load(tmp_path / "proof.npz")
    for field in fields(again):
        assert np.array_equal(getattr(again, field.name), getattr(sol.certificate, field.name)), field.name
    assert pf.check(again, data, given["y"])
    other = pf.KernelCertificate if kind == "groups" else pf.GroupCertificate
    with pytest.raises(pf.InputError, match=f"{type(again).__name__}.load reads it"):
        other.load(tmp_path / "proof.npz")
    with pytest.raises(pf.InputError, match=r"GroupCertificate.load or KernelCertificate.load"):
        pf.Certificate.load(tmp_path / "proof.npz")


def changes(c: Any) -> dict[str, Any]:
    """Claims that the proof does not support; what each of them is about."""
    other = np.setdiff1d(np.arange(c.price.size), c.support)[:1]
    raised = c.objective + 1e-9 * abs(c.objective)
    return {
        "a larger bound": replace(c, lower_bound=raised),
        "a smaller objective": replace(c, objective=c.objective * (1 - 1e-6)),
        "a cheaper support": replace(c, objective=0.99 * c.objective, lower_bound=0.99 * c.lower_bound),
        "another gamma": replace(c, gamma=3 * c.gamma),
        "another price": replace(c, price=c.price + 0.01 * c.objective),
        "more places": replace(c, k=c.k + 1, lower_bound=raised),
        "another support": replace(c, support=np.sort(np.append(c.support[1:], other))),
        "a weight": replace(c, sample_weight=2 * c.sample_weight if c.sample_weight.size else np.full(c.rows, 2.0)),
        "an item forced out": replace(c, forced_out=c.support[:1]),
        "no records": replace(
            c, **{f.name: getattr(c, f.name)[:0] for f in fields(c) if f.name in ("parent", "choice", "side")}
        ),
        "not complete": replace(c, complete=False),
        "a fixing more": replace(
            c,
            fixed_offset=c.fixed_offset + np.r_[0, np.ones(c.records, dtype=np.int64)],
            fixed_choice=np.append(-1 - c.support[:1], c.fixed_choice),
        ),
        "another fingerprint": replace(c, fingerprint=c.fingerprint * 1.001 + 1),
        "gamma without end": replace(c, gamma=np.inf),
        "NaN for a bound": replace(c, lower_bound=np.nan),
    }


NAMES = list(changes(pf.solve_groups(**problem(0)).certificate))


@pytest.mark.parametrize("name", NAMES)
def test_changed_groups_are_refused(group_case: tuple[dict[str, Any], pf.KernelSolution], name: str) -> None:
    given, sol = group_case
    changed = changes(sol.certificate)[name]
    for exact in (False, True):
        assert not pf.check(changed, given["X"], given["y"], exact=exact)


@pytest.mark.parametrize("name", NAMES)
def test_changed_kernels_are_refused(kernel_case: tuple[dict[str, Any], pf.KernelSolution], name: str) -> None:
    given, sol = kernel_case
    assert not pf.check(changes(sol.certificate)[name], given["kernels"], given["y"])


def test_another_group_is_refused(group_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = group_case
    c = sol.certificate
    assert isinstance(c, pf.GroupCertificate)
    column = c.group_column.copy()
    column[c.group_offset[c.support[0]]] = (column[c.group_offset[c.support[0]]] + 1) % c.columns
    for exact in (False, True):
        assert not pf.check(replace(c, group_column=column), given["X"], given["y"], exact=exact)


def test_other_data_are_refused(group_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = group_case
    moved = given["X"].copy()
    moved[2, 14] += 0.1 * np.abs(moved[:, 14]).max()
    for exact in (False, True):
        assert not pf.check(sol.certificate, moved, given["y"], exact=exact)
        assert not pf.check(sol.certificate, given["X"], given["y"] + 0.1, exact=exact)
        assert not pf.check(sol.certificate, given["X"][:, :5], given["y"], exact=exact)


def test_a_matrix_that_is_no_kernel_is_refused(kernel_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = kernel_case
    kernels = list(given["kernels"])
    kernels[1] = kernels[1] - 0.1 * np.eye(len(given["y"]))
    result = pf.check(sol.certificate, kernels, given["y"])
    assert not result
    assert "not positive semidefinite" in result.reason


def test_a_leaf_less_is_refused() -> None:
    """Without one of its children a record of the tree covers only a part of its sets."""
    for seed in SEEDS:
        given = problem(seed)
        for sol, data in (
            (pf.solve_groups(**given), given["X"]),
            (pf.solve_kernels(**kernels_of(given)), kernels_of(given)["kernels"]),
        ):
            c: Any = sol.certificate
            decided = np.flatnonzero(c.choice >= 0)
            if decided.size == 0:
                continue
            # A decision turned round: both children are then on one side.
            side = c.side.copy()
            side[decided[-1]] *= -1
            assert not pf.check(replace(c, side=side), data, given["y"])


def test_a_diagonal_that_is_too_large_is_refused() -> None:
    seen = 0
    for seed in SEEDS:
        given = problem(seed)
        c = pf.solve_groups(**given).certificate
        assert isinstance(c, pf.GroupCertificate)
        if not c.diagonal.any():
            continue
        seen += 1
        for exact in (False, True):
            assert not pf.check(replace(c, diagonal=2 * np.abs(c.diagonal)), given["X"], given["y"], exact=exact)
    assert seen > 0


def nothing_in_the_kernel(K: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Huge coefficients that K takes to zero: what rounding is worth grows with them, and must not excuse a claim."""
    return coef + 1e10 * np.linalg.svd(K)[2][-1]


def free_of_charge(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The part of K that is not symmetric fits anything, and u'Ku does not see it."""
    return np.asarray(np.linalg.lstsq(K, y, rcond=1e-14)[0])


@pytest.mark.parametrize("way", ["rounding", "not symmetric", "indefinite"])
def test_an_objective_that_no_kernel_has_is_refused(way: str) -> None:
    rng = np.random.default_rng(0)
    n = 8
    v, other, y = rng.standard_normal((3, n))
    K = np.outer(v, v)
    if way == "not symmetric":
        skew = np.triu(rng.standard_normal((n, n)), 1)
        K = K + 3e-9 * (skew - skew.T) / np.abs(skew).max()
    if way == "indefinite":
        K = K - 2e-9 * (np.eye(n) - np.outer(v, v) / (v @ v))
    kernels = [("matrix", K), ("matrix", np.outer(other, other))]
    sol = pf.solve_kernels(kernels, y, k=1, gamma=1.0, force_in=[0])
    c = sol.certificate
    assert c is not None
    assert pf.check(c, kernels, y)
    if way == "rounding":
        coef, objective = nothing_in_the_kernel(K, c.coef), 0.0
    elif way == "not symmetric":
        coef, objective = free_of_charge(K, y), 0.0
    else:
        low = np.linalg.eigh(K)[1][:, 0]
        coef = c.coef + 1.5e4 * np.sign(low @ y) * low
        objective = float(0.5 * (y - K @ coef) @ (y - K @ coef) + 0.5 * coef @ K @ coef)
        assert 0 < objective < sol.objective * (1 - 1e-3)
    forged = replace(c, coef=coef, objective=objective, lower_bound=min(objective, c.lower_bound))
    result = pf.check(forged, kernels, y)
    assert not result
    assert "cannot be known" in result.reason


def test_rows_without_weight_have_no_say_in_the_units() -> None:
    """Beside the largest entry of column 0, whose row counts for nothing, the others are subnormal numbers."""
    a, b, low, high, gamma = 1.23456789012345, 1.98765432109876, 2.0**-290, 2.0**765, 2.0**637
    X, y = np.array([[a * low, 0.0], [b * low, 0.0], [high, 1.0]]), np.array([a, b, 0.0])
    # As a subnormal number the column does not fit y.
    column = np.ldexp(np.ldexp(X[:2, 0], -765), 765 + 290)
    w = float(column @ y[:2] / (column @ column + 2.0**-57))
    alpha = y[:2] - column * w
    half = 0.5 * float(y @ y)
    none = np.zeros(0, dtype=np.int64)
    one = np.zeros(1, dtype=np.int64)
    certificate = pf.GroupCertificate(
        rows=3,
        columns=2,
        group_offset=np.arange(3),
        group_column=np.arange(2),
        k=1,
        price=np.zeros(2),
        gamma=gamma,
        sample_weight=np.array([1.0, 1.0, 0.0]),
        forced_in=none,
        forced_out=none,
        support=one + 1,
        coef=np.zeros(1),
        objective=half,
        lower_bound=0.45 * float(alpha @ alpha),
        complete=True,
        fingerprint=float(fingerprint(np.array([low * float(column @ alpha), 0.0]))),
        parent=one - 1,
        choice=one - 1,
        side=one,
        frame=one - 1,
        coef_offset=np.arange(2),
        coef_index=one,
        coef_value=np.array([w / low]),
        fixed_offset=np.zeros(2, dtype=np.int64),
        fixed_choice=none,
        frame_offset=one,
        frame_group=none,
        diagonal_offset=one,
        diagonal=np.zeros(0),
    )
    optimum = 0.5 / (low * low * gamma)
    assert certificate.lower_bound > 100 * optimum
    assert not pf.check(certificate, X, y)
    assert not pf.check(certificate, X, y, exact=True)


def test_what_was_asked_is_said(group_case: tuple[dict[str, Any], pf.KernelSolution]) -> None:
    given, sol = group_case
    text = str(sol.certificate)
    assert ("groups 0, 9 forced out" in text) == ("force_out" in given)
    assert ("group 6 forced in" in text) == ("force_in" in given)
    assert ("penalties from" in text) == ("penalty" in given)
    assert ("rows weighted from" in text) == ("sample_weight" in given)
