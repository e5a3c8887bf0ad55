"""How to solve by a master problem; `solve` documents each option."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CutOptions:
    """What `solve` was asked, checked; `started` is a time of `time.monotonic`, and limits count from there."""

    backend: str
    rel_gap: float
    started: float
    time_limit: float
    node_limit: float
    threads: int
    root_cuts: int
    fractional_cuts: bool
    screening: bool
    big_m: float | None

    @property
    def deadline(self) -> float:
        """The time of `time.monotonic` to stop at."""
        return self.started + self.time_limit
