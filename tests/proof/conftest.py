"""Proofs that tests change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import parsifal as pf
from oracles import ways
from oracles.enumeration import Case
from parsifal.proof.certificate import Certificate
from proof.helpers import tree_case


@pytest.fixture(autouse=True)
def _trees() -> Iterator[None]:
    """Small problems stand for large ones here, and are proven as these are."""
    with ways.trees():
        yield


@pytest.fixture(scope="session")
def case() -> Case:
    return tree_case()


@pytest.fixture(scope="session")
def proof(case: Case) -> Certificate:
    with ways.relaxations_alone():
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
    with ways.trees():
        certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert pf.check(certificate, case.X, case.y)
    assert np.any(certificate.frame_diagonal > 0)
    return case, certificate
