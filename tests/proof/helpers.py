"""What tests of certificates share: problems whose proof needs a tree, and what a refusal looks like."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

import parsifal as pf
from oracles.enumeration import Case
from parsifal.proof.certificate import Certificate

ARRAYS = [f.name for f in fields(Certificate) if str(f.type) in ("IntArray", "FloatArray")]


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def slack(case: Case, optimum: float) -> float:
    """What rounding may do to an objective of this size."""
    return 1e-9 * abs(optimum) + 1e-12 * case.half


def tree_case(seed: int = 0, n: int = 10, p: int = 11, k: int = 4, gamma: float = 10.0, copies: bool = True) -> Case:
    """Correlated noise: a proof needs a tree. Columns 7 and 9 are copies of column 2."""
    rng = np.random.default_rng([3, seed])
    X = rng.standard_normal((n, p)) + 0.8 * rng.standard_normal((n, 1))
    if copies:
        X[:, 7], X[:, 9] = X[:, 2], -X[:, 2]
    return Case(X, rng.standard_normal(n), gamma, k)


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


def fit(case: Case, support: np.ndarray) -> tuple[np.ndarray, float]:
    X = case.dense[:, support]
    coef = np.linalg.solve(X.T @ X + np.eye(support.size) / case.gamma, X.T @ case.y)
    return coef, case.objective(tuple(support.tolist()))


def same(a: Certificate, b: Certificate) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Certificate))
