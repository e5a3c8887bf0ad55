"""What `solve` writes holds, for every kind of problem and matrix, and is checked without the solver."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import parsifal as pf
import parsifal.files.untrusted
import parsifal.proof
from oracles.enumeration import Case, random_case
from parsifal.proof.certificate import Certificate
from proof.helpers import refuse, same, slack, tree_case

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
        assert verify(case, time_limit=0.0).status in ("time_limit", "optimal", "precision")
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

PROOF = Path(parsifal.proof.__file__).parent
# What errors are called, how files are written and read, and on how many threads NumPy multiplies: nothing that
# computes.
AROUND = {f"parsifal.{name}" for name in ("_public", "blas", "display", "errors", "files.atomic", "files.untrusted")}
# What a certificate is.
STATED = {f"parsifal.proof.{name}" for name in ("certificate", "certificate_file", "choice")}


@pytest.mark.parametrize(
    "path", [Path(parsifal.files.untrusted.__file__), *sorted(PROOF.glob("*.py"))], ids=lambda p: p.stem
)
def test_the_checker_imports_nothing_of_the_solver(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"}
    # The exact check shares nothing with the ordinary one, which calls it.
    alone = path.stem.startswith("exact_")
    room = {f"parsifal.proof.{file.stem}" for file in PROOF.glob("exact_*.py" if alone else "*.py")}
    ours = AROUND | STATED | room
    for node in ast.walk(ast.parse(path.read_text())):
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


def test_the_words_say_what_the_claim_is_restricted_to() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    plain = str(pf.solve(X, y, k=2, gamma=0.5).certificate)
    assert plain.startswith("no support of at most 2 of 12 columns has an objective below ")
    assert "(gamma 0.5); this one has" in plain
    forced = str(pf.solve(X, y, k=3, gamma=0.5, force_in=[4], force_out=[0, 1, 2, 3, 6, 7]).certificate)
    assert "columns, with column 4 forced in and columns 0, 1, 2, 3, 6, ... (6 in all) forced out, has" in forced
    priced = str(pf.solve(X, y, penalty=0.25, gamma=0.5).certificate)
    assert priced.startswith("no support of any number of 12 columns has an objective below ")
    assert "(gamma 0.5, penalty 0.25 a column)" in priced


@pytest.mark.parametrize("rel_gap", [0.0, 1e-12])
def test_a_claim_without_a_margin_is_proven_too(rel_gap: float) -> None:
    """With no gap allowed there is no part of it to keep for the arithmetic of a check."""
    for seed in range(20):
        rng = np.random.default_rng([8, seed])
        n, p = int(rng.integers(3, 300)), int(rng.integers(2, 6))
        X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
        for limit in ({"time_limit": 0.0}, {"node_limit": 1}, {}):
            found = pf.solve(X, y, 2, gamma=10.0 ** rng.uniform(-2, 3), rel_gap=rel_gap, threads=1, **limit)
            assert found.certificate is not None
            assert pf.check(found.certificate, X, y)
