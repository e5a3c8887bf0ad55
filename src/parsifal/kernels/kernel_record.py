"""The records of a search over kernels, and the certificate that is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.kernels.units import Units
from parsifal.proof.choice import KernelCertificate


@dataclass(frozen=True, kw_only=True)
class Decision:
    """How a node came about: a side of a kernel below a record; ``choice = -1``: the same node again."""

    parent: int = -1
    choice: int = -1
    side: int = 0


@dataclass(kw_only=True)
class Journal:
    """Records as they are made, dropped once they take more than `limit` bytes.

    A record is its decision, the number of its dual point, and what it fixes (``1 + j`` in, ``-1 - j`` out).
    """

    limit: float
    decisions: list[Decision] = field(default_factory=list)
    point: list[int] = field(default_factory=list)
    points: list[FloatArray] = field(default_factory=list)
    fixed: list[IntArray] = field(default_factory=list)
    nbytes: int = 0

    @property
    def complete(self) -> bool:
        return self.nbytes <= self.limit

    def add_point(self, alpha: FloatArray) -> int:
        """Keep a dual point; returns its number."""
        self.nbytes += alpha.nbytes
        if not self.complete:
            self.points.clear()
            return -1
        self.points.append(alpha)
        return len(self.points) - 1

    def add(self, decision: Decision, point: int, fixed: IntArray | None = None) -> int:
        """Add a record; returns its number."""
        fixed = np.empty(0, dtype=np.int64) if fixed is None else fixed
        self.nbytes += 40 + fixed.nbytes
        if not self.complete:
            return -1
        self.decisions.append(decision)
        self.point.append(point)
        self.fixed.append(fixed)
        return len(self.decisions) - 1


def make_certificate(
    journal: Journal, *, stated: dict[str, Any], claimed: dict[str, Any], units: Units, fingerprint: float
) -> KernelCertificate:
    """The journal as a certificate: `stated` is the problem, `claimed` what is claimed, both as they are reported."""
    complete = journal.complete and bool(journal.decisions)
    decisions = journal.decisions if complete else []
    fixed = journal.fixed if complete else []
    points = [units.residual(alpha) for alpha in journal.points] if complete else []
    return KernelCertificate(
        **stated,
        **claimed,
        complete=complete,
        fingerprint=fingerprint if complete else 0.0,
        parent=np.array([d.parent for d in decisions], dtype=np.int64),
        choice=np.array([d.choice for d in decisions], dtype=np.int64),
        side=np.array([d.side for d in decisions], dtype=np.int64),
        point=np.array(journal.point if complete else [], dtype=np.int64),
        points=np.concatenate([np.zeros(0), *points]),
        fixed_offset=np.concatenate([[0], np.cumsum([f.size for f in fixed])]).astype(np.int64),
        fixed_choice=np.concatenate([np.empty(0, dtype=np.int64), *fixed]).astype(np.int64),
    )
