"""`check` for a choice among groups or kernels: verify its certificate against the data, with NumPy alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from parsifal.display import counted
from parsifal.errors import InputError
from parsifal.proof.certificate import CheckResult, FloatArray
from parsifal.proof.choice import Choice, GroupCertificate, KernelCertificate
from parsifal.proof.group_checker import GroupProof, plain_groups
from parsifal.proof.kernel_checker import KernelProof, plain_kernels
from parsifal.proof.preconditions import Refused


def check_choice(certificate: GroupCertificate | KernelCertificate, data: Any, y: Any, *, exact: bool) -> CheckResult:
    """Verify a certificate for X, or for the kernels, and y."""
    response = _response(y)
    if exact:
        if not isinstance(certificate, GroupCertificate):
            raise InputError("exact checks a proof about columns or groups; check one about kernels without it")
        from parsifal.proof.exact_groups import check_groups_exact

        return check_groups_exact(certificate, data, response)
    records = getattr(certificate.parent, "size", 0)
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            proof, value = _proof(certificate, data, response)
            proof.check_objective()
            proof.tree(value).verify()
    except Refused as wrong:
        return CheckResult(valid=False, reason=str(wrong), records=records)
    c = proof.c
    gap = (c.objective - c.lower_bound) / max(abs(c.objective), 1e-300)
    reason = (
        f"objective {c.objective:.10g} and lower bound {c.lower_bound:.10g} (gap {gap:.2e}) "
        f"follow from {counted(c.records, 'record')}"
    )
    return CheckResult(valid=True, reason=reason, records=c.records)


def provable_choice(certificate: GroupCertificate | KernelCertificate, data: Any, y: FloatArray) -> float:
    """The largest lower bound that the certificate's records prove, whatever it claims; -inf if they prove nothing."""
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            proof, _ = _proof(replace(certificate, lower_bound=0.0), data, y)
            tree = proof.tree(-np.inf)
            tree.verify()
            return proof.in_units(tree.least) if isinstance(proof, KernelProof) else proof.data.in_units(tree.least)
    except Refused:
        return -np.inf


def _proof(certificate: Choice, data: Any, y: FloatArray) -> tuple[GroupProof | KernelProof, float]:
    """The proof on its data, and the claim in its units."""
    if isinstance(certificate, GroupCertificate):
        groups = GroupProof(plain_groups(certificate), data, y)
        return groups, groups.data.value(groups.c.lower_bound)
    if isinstance(certificate, KernelCertificate):
        kernels = KernelProof(plain_kernels(certificate), data, y)
        return kernels, kernels.value(kernels.c.lower_bound)
    raise InputError(f"certificate must be a GroupCertificate or a KernelCertificate, not {certificate!r}")


def _response(y: Any) -> FloatArray:
    try:
        numbers = np.asarray(y)
        if numbers.dtype.kind == "c":
            raise ValueError
        return np.array(numbers, dtype=np.float64, subok=False)
    except (TypeError, ValueError, OverflowError):
        raise InputError("y must be a vector of numbers, one for every row") from None
