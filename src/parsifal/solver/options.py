"""How to solve."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to solve, checked; `solve` documents each."""

    rel_gap: float = 1e-6
    time_limit: float = math.inf
    node_limit: float = math.inf
    threads: int = 1
    branching: str = "pseudo"
    memory_limit: float = 2e9
    certificate_limit: float = 64e6
