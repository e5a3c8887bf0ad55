"""A certificate taken apart, so that its tree can be changed as a tree; and put together again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsifal.proof.certificate import Certificate

_CLAIM = (
    *("shape", "k", "penalty", "gamma", "objective", "lower_bound", "complete", "fingerprint", "independence"),
    *("price", "sign", "row_offset", "row_column", "row_coef", "row_upper"),
)


@dataclass
class Record:
    """One record: where it hangs, its sparse w, and what it fixes."""

    parent: int
    column: int = -1
    side: int = 0
    frame: int = -1
    kind: int = 0
    index: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    fixed: list[int] = field(default_factory=list)

    def copy(self) -> Record:
        return replace(self, index=self.index[:], value=self.value[:], fixed=self.fixed[:])


@dataclass
class Draft:
    """A certificate that is being forged, and what has been done to it."""

    claim: dict[str, Any]
    forced_in: list[int]
    forced_out: list[int]
    support: list[int]
    coef: list[float]
    records: list[Record]
    # A diagonal has an entry for every item: a number, or for a group the numbers of its columns.
    frames: list[tuple[list[int], list[Any]]]
    twins: list[tuple[int, int]]
    steps: list[str] = field(default_factory=list)

    def copy(self) -> Draft:
        return replace(
            self,
            claim=dict(self.claim),
            forced_in=self.forced_in[:],
            forced_out=self.forced_out[:],
            support=self.support[:],
            coef=self.coef[:],
            records=[record.copy() for record in self.records],
            frames=[(columns[:], diagonal[:]) for columns, diagonal in self.frames],
            twins=self.twins[:],
            steps=self.steps[:],
        )

    @classmethod
    def of(cls, c: Certificate, *steps: str) -> Draft:
        """Take a well-formed certificate apart."""
        records = [
            Record(
                parent=int(c.parent[r]),
                column=int(c.column[r]),
                side=int(c.side[r]),
                frame=int(c.frame[r]),
                kind=int(c.kind[r]),
                index=c.coef_index[c.coef_offset[r] : c.coef_offset[r + 1]].tolist(),
                value=c.coef_value[c.coef_offset[r] : c.coef_offset[r + 1]].tolist(),
                fixed=c.fixed_column[c.fixed_offset[r] : c.fixed_offset[r + 1]].tolist(),
            )
            for r in range(c.records)
        ]
        bounds = list(zip(c.frame_offset[:-1], c.frame_offset[1:]))
        return cls(
            claim={name: getattr(c, name) for name in _CLAIM},
            forced_in=c.forced_in.tolist(),
            forced_out=c.forced_out.tolist(),
            support=c.support.tolist(),
            coef=c.coef.tolist(),
            records=records,
            frames=[(c.frame_column[a:b].tolist(), c.frame_diagonal[a:b].tolist()) for a, b in bounds],
            twins=list(zip(c.twin_later.tolist(), c.twin_earlier.tolist())),
            steps=list(steps),
        )

    def build(self) -> Certificate:
        """Put it together."""
        records, frames = self.records, self.frames
        return Certificate(
            **self.claim,
            forced_in=ints(self.forced_in),
            forced_out=ints(self.forced_out),
            support=ints(self.support),
            coef=floats(self.coef),
            parent=ints([r.parent for r in records]),
            column=ints([r.column for r in records]),
            side=ints([r.side for r in records]),
            frame=ints([r.frame for r in records]),
            kind=ints([r.kind for r in records]),
            coef_offset=offsets([r.index for r in records]),
            coef_index=ints([j for r in records for j in r.index]),
            coef_value=floats([v for r in records for v in r.value]),
            fixed_offset=offsets([r.fixed for r in records]),
            fixed_column=ints([j for r in records for j in r.fixed]),
            frame_offset=offsets([columns for columns, _ in frames]),
            frame_column=ints([j for columns, _ in frames for j in columns]),
            frame_diagonal=floats([d for _, diagonal in frames for d in diagonal]),
            twin_later=ints([later for later, _ in self.twins]),
            twin_earlier=ints([earlier for _, earlier in self.twins]),
        )

    def leaves(self) -> list[int]:
        """Records without children."""
        parents = {record.parent for record in self.records}
        return [r for r in range(len(self.records)) if r not in parents]


def each(entry: Any, change: Callable[[float], float]) -> Any:
    """A diagonal's entry with its number, or all its numbers, changed."""
    return [change(value) for value in entry] if isinstance(entry, list) else change(entry)


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def floats(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def offsets(parts: list[Any]) -> np.ndarray:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
