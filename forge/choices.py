"""Certificates of groups and kernels taken apart: drafts that the steps for columns change as well.

What a column is to `Draft`, a group or a kernel is here. The coefficients of a record of kernels are its dual point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from forge.draft import Draft, Record, floats, ints, offsets
from parsifal.proof.certificate import Certificate
from parsifal.proof.choice import Choice, GroupCertificate, KernelCertificate

_MOST_ROWS = 64
_CLAIM = ("rows", "k", "gamma", "objective", "lower_bound", "complete", "fingerprint")


@dataclass
class ChoiceDraft(Draft):
    """What drafts of groups and of kernels have in common."""

    price: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)

    def copy(self) -> ChoiceDraft:
        other: Any = super().copy()
        other.price, other.weight = self.price[:], self.weight[:]
        other.groups = [group[:] for group in self.groups]
        return other  # type: ignore[no-any-return]

    @classmethod
    def common(cls, c: Choice) -> dict[str, Any]:
        """Arguments that both kinds have."""
        return {
            "claim": {name: getattr(c, name) for name in _CLAIM},
            "forced_in": c.forced_in.tolist(),
            "forced_out": c.forced_out.tolist(),
            "support": c.support.tolist(),
            "twins": [],
            "price": c.price.tolist(),
            "weight": c.sample_weight.tolist(),
        }

    @classmethod
    def record(cls, c: Choice, r: int, index: Any, value: Any) -> Record:
        return Record(
            parent=int(c.parent[r]),
            column=int(c.choice[r]),
            side=int(c.side[r]),
            index=list(index),
            value=list(value),
            fixed=c.fixed_choice[c.fixed_offset[r] : c.fixed_offset[r + 1]].tolist(),
        )

    def built(self) -> dict[str, Any]:
        """The fields that both kinds have."""
        records = self.records
        return {
            **self.claim,
            "price": floats(self.price),
            "sample_weight": floats(self.weight),
            "forced_in": ints(self.forced_in),
            "forced_out": ints(self.forced_out),
            "support": ints(self.support),
            "coef": floats(self.coef),
            "parent": ints([r.parent for r in records]),
            "choice": ints([r.column for r in records]),
            "side": ints([r.side for r in records]),
            "fixed_offset": offsets([r.fixed for r in records]),
            "fixed_choice": ints([j for r in records for j in r.fixed]),
        }


@dataclass
class GroupDraft(ChoiceDraft):
    """A certificate of groups; a frame has the groups, and a list of numbers for each."""

    @classmethod
    def of(cls, c: Any, *steps: str) -> GroupDraft:
        stretches = list(pairwise(c.coef_offset.tolist()))
        records = [
            cls.record(c, r, c.coef_index[a:b].tolist(), c.coef_value[a:b].tolist())
            for r, (a, b) in enumerate(stretches)
        ]
        for record, frame in zip(records, c.frame.tolist()):
            record.frame = frame
        groups = [c.group_column[a:b].tolist() for a, b in pairwise(c.group_offset.tolist())]
        frames: list[tuple[list[int], list[Any]]] = []
        for (a, b), start in zip(pairwise(c.frame_offset.tolist()), c.diagonal_offset.tolist()):
            inside = c.frame_group[a:b].tolist()
            ends = start + np.cumsum([0, *(len(groups[g]) for g in inside)])
            frames.append((inside, [c.diagonal[s:e].tolist() for s, e in pairwise(ends.tolist())]))
        common = cls.common(c)
        common["claim"]["columns"] = c.columns
        return cls(**common, coef=c.coef.tolist(), records=records, frames=frames, groups=groups, steps=list(steps))

    def build(self) -> Any:
        records, frames = self.records, self.frames
        flat = [[d for entry in diagonal for d in entry] for _, diagonal in frames]
        return GroupCertificate(
            **self.built(),
            group_offset=offsets(self.groups),
            group_column=ints([j for group in self.groups for j in group]),
            frame=ints([r.frame for r in records]),
            coef_offset=offsets([r.index for r in records]),
            coef_index=ints([j for r in records for j in r.index]),
            coef_value=floats([v for r in records for v in r.value]),
            frame_offset=offsets([groups for groups, _ in frames]),
            frame_group=ints([g for groups, _ in frames for g in groups]),
            diagonal_offset=offsets(flat),
            diagonal=floats([d for part in flat for d in part]),
        )


@dataclass
class KernelDraft(ChoiceDraft):
    """A certificate of kernels; every record has a dual point of its own."""

    @classmethod
    def of(cls, c: Any, *steps: str) -> KernelDraft:
        n = c.rows
        points = c.points.reshape(-1, n)
        records = [cls.record(c, r, range(n), points[c.point[r]].tolist()) for r in range(c.records)]
        return cls(**cls.common(c), coef=c.coef.tolist(), records=records, frames=[], steps=list(steps))

    def build(self) -> Any:
        points: dict[tuple[float, ...], int] = {}
        numbers = []
        for record in self.records:
            alpha = [0.0] * min(max(self.claim["rows"], 0), _MOST_ROWS)
            for j, value in zip(record.index, record.value):
                if 0 <= j < len(alpha):
                    alpha[j] = value
            numbers.append(points.setdefault(tuple(alpha), len(points)))
        stacked = floats([value for alpha in points for value in alpha])
        return KernelCertificate(**self.built(), point=ints(numbers), points=stacked)


def apart(c: Any) -> Draft:
    """A certificate of any kind, taken apart."""
    kinds: dict[type, type[Draft]] = {Certificate: Draft, GroupCertificate: GroupDraft, KernelCertificate: KernelDraft}
    return kinds[type(c)].of(c)
