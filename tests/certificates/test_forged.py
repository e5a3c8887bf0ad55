"""Proofs made to deceive are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumeration import Case

import parsifal as pf
from certificates.helpers import ARRAYS, fit, ints, refuse
from parsifal.certificate import Certificate, fingerprint

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
