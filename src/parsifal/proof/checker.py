"""`check`: verify a certificate against the data, with NumPy alone and nothing of the solver."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from parsifal.blas import quiet_blas
from parsifal.display import counted
from parsifal.errors import InputError
from parsifal.proof.certificate import Certificate, CheckResult, response_of
from parsifal.proof.choice import Choice, GroupCertificate, KernelCertificate
from parsifal.proof.columns import Columns
from parsifal.proof.preconditions import Refused, plain, require
from parsifal.proof.records import Records
from parsifal.proof.scaled import Scaled, objective_tolerance
from parsifal.proof.side_rows import SideRows

_SMALL = 1 << 21  # entries of X


def check(
    certificate: Certificate | GroupCertificate | KernelCertificate, X: Any, y: Any, *, exact: bool = False
) -> CheckResult:
    """Verify that `certificate` proves its claim for the data X and y.

    Recomputes every number from the data: the solution's objective, the dual value of every record over every column it
    concerns, every fixing, and that the records together cover all supports. What rounding can be worth is taken off
    every bound (docs/numerics.md), so a certificate that passes proves its bound in exact arithmetic.

    Parameters
    ----------
    certificate : Certificate, GroupCertificate or KernelCertificate
        From the ``certificate`` of a solution, or from `Certificate.load` and its like.
    X, y : the data
        As they were given to `solve` (an array, a frame, a sparse matrix, or anything with ``shape``, ``columns`` and
        ``scan`` like a `Design`); for a `KernelCertificate` the kernels in place of X.
    exact : bool
        Compute in exact arithmetic, where nothing rests on an analysis of rounding errors (docs/numerics.md). Slower,
        and for at most 5 million entries of X and about 3e10 entries looked at by all records, beyond which it is an
        `InputError`; 1000 records over 100,000 entries take a few seconds.

    Returns
    -------
    CheckResult
        True in a condition if the proof holds; otherwise ``reason`` names the first thing that is wrong.
    """
    if not isinstance(exact, (bool, np.bool_)):
        raise InputError(f"exact must be True or False, not {exact!r}")
    with _blas_for(X):
        if isinstance(certificate, Choice):
            from parsifal.proof.choice_checker import check_choice

            return check_choice(certificate, X, y, exact=bool(exact))
        if exact:
            from parsifal.proof.exact_checker import check_exact

            return check_exact(certificate, X, y)
        return _check_columns(certificate, X, y)


def _blas_for(X: Any) -> AbstractContextManager[None]:
    """One thread of NumPy's BLAS where products are small: there are thousands, and others' threads wait for them."""
    return quiet_blas() if math.prod(getattr(X, "shape", ())) <= _SMALL else nullcontext()


def _check_columns(certificate: Certificate, X: Any, y: Any) -> CheckResult:
    response = response_of(y, certificate)
    records = getattr(certificate.parent, "size", 0)
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            proof = plain(certificate)
            data = Scaled(proof, Columns(X), response)
            _check_objective(proof, data)
            _check_twins(proof, data)
            Records(proof, data, claim=data.value(proof.lower_bound)).verify()
    except Refused as wrong:
        return CheckResult(valid=False, reason=str(wrong), records=records)
    gap = (proof.objective - proof.lower_bound) / max(abs(proof.objective), 1e-300)
    return CheckResult(
        valid=True,
        reason=(
            f"objective {proof.objective:.10g} and lower bound {proof.lower_bound:.10g} "
            f"(gap {gap:.2e}) follow from {counted(proof.records, 'record')}"
        ),
        records=proof.records,
    )


def provable_bound(certificate: Certificate, X: Any, y: Any, *, effort: float = float("inf")) -> float:
    """The largest lower bound that the certificate's records prove, whatever it claims; -inf if they prove nothing.

    Raises `OutOfEffort` where its exhausted records take more than `effort` places to go through.
    """
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            proof = plain(replace(certificate, lower_bound=0.0))
            data = Scaled(proof, Columns(X), response_of(y, certificate))
            _check_twins(proof, data)
            tree = Records(proof, data, claim=-np.inf, effort=effort)
            tree.verify()
            return data.in_units(tree.least)
    except Refused:
        return -np.inf


def _check_objective(c: Certificate, data: Scaled) -> None:
    """Proves: the support is allowed, its coefficients have the objective that is claimed, and the lower bound is not
    above it. Both but for a relative 1e-12 and the rounding of a sum of n + k terms, which do not depend on the
    coefficients."""
    support = c.support
    require(np.unique(support).size == support.size, "the support names a column twice")
    require(support.size <= c.k, f"the support has {support.size} columns, more than k = {c.k}")
    require(c.coef.shape == support.shape, "coef and support differ in length")
    require(np.isin(c.forced_in, support).all(), "a column forced in is not in the support")
    require(not np.isin(c.forced_out, support).any(), "a column forced out is in the support")
    if c.sign.size:
        require(np.all(c.sign[support] * c.coef >= 0), "a coefficient has a sign that is not allowed")
    require(SideRows(c).allow(support), "the support breaks a side constraint")
    value, error = data.objective(support, c.coef, c)
    tolerance = objective_tolerance(value, c.shape[0] + support.size)
    known = np.isfinite(value) and error <= tolerance
    require(known, "the support's columns cancel beyond double precision: its objective cannot be known")
    claimed, found = data.value(c.objective), data.in_units(value)
    require(abs(value - claimed) <= tolerance, f"the support's objective is {found!r}, not {c.objective!r}")
    require(data.value(c.lower_bound) <= value + tolerance, "the lower bound is above the objective")


def _check_twins(c: Certificate, data: Scaled) -> None:
    """Proves: the later of two twins equals the earlier or its opposite, and neither is forced.

    The same is asked of both, price and sign (the other sign, of opposite columns), and no side constraint names them.
    Hence exchanging them changes no objective, and for every support there is one as good that has no later twin
    without its earlier one: pairs lead from a column to one before it, so the first columns of a chain will do.
    """
    forced = np.union1d(c.forced_in, c.forced_out)
    for later, earlier in zip(c.twin_later, c.twin_earlier):
        require(later > earlier, f"twins {earlier} and {later} are out of order")
        require(not np.isin([later, earlier], forced).any(), f"twins {earlier} and {later}: one of them is forced")
        named = np.isin([later, earlier], c.row_column).any()
        require(not named, f"twins {earlier} and {later}: a side constraint names one of them")
        require(data.price[later] == data.price[earlier], f"twins {earlier} and {later} differ in price")
        first, second = (data.X.unscaled(np.array([j])) for j in (earlier, later))
        equal, opposite = np.array_equal(first, second), np.array_equal(first, -second)
        require(equal or opposite, f"columns {earlier} and {later} are called twins but differ")
        signs = int(data.sign[earlier]), int(data.sign[later])
        alike = (equal and signs[0] == signs[1]) or (opposite and signs[0] == -signs[1])
        require(alike, f"twins {earlier} and {later} differ in sign")
