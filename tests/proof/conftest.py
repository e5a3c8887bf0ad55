"""Proofs that tests change."""

from __future__ import annotations

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case
from parsifal.proof.certificate import Certificate
from parsifal.solver import tree
from proof.helpers import tree_case


@pytest.fixture(scope="session")
def case() -> Case:
    return tree_case()


@pytest.fixture(scope="session")
def proof(case: Case) -> Certificate:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_COMPLETIONS_ABOVE", np.inf)  # they would close it at once
        certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert pf.check(certificate, case.X, case.y)
    assert np.count_nonzero(certificate.column >= 0) > 10
    assert certificate.frame_column.size
    assert certificate.fixed_column.size
    assert certificate.twin_later.size
    return certificate


@pytest.fixture(scope="session")
def tall() -> tuple[Case, Certificate]:
    """More rows than columns: frames with a diagonal from the start."""
    case = tree_case(2, n=60, gamma=1e3, copies=False)
    certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert pf.check(certificate, case.X, case.y)
    assert np.any(certificate.frame_diagonal > 0)
    return case, certificate
