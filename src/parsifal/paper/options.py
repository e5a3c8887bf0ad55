"""What can be chosen about a run of an experiment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsifal.errors import InputError

# The cutting planes as published, and with cuts at fractional points and safe fixing on top.
METHODS = ("search", "cutting-plane", "cutting-plane-plus")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a run; None stands for the experiment's own value, which depends on `full`.

    Parameters
    ----------
    full : bool
        The paper's sizes and repeats; otherwise a run of a few minutes.
    methods : sequence of str
        Of "search", "cutting-plane" and "cutting-plane-plus"; all are drawn in one picture.
    backend : str
        The mixed-integer solver of the cutting planes.
    gamma : float, optional
        Ridge weight; 1/sqrt(n) by default, which the authors' Julia package has.
    time_limit : float, optional
        Seconds of a solve; at the limit the best solution so far counts.
    ns : sequence of int, optional
        Numbers of rows.
    values : sequence of float, optional
        Values of the parameter that the figure is about (p, k or sqrt(SNR)), of a in `nonlinear`, or the factors of the
        part "gamma" of `figure1`, which 1/sqrt(n) is multiplied by (infinity too).
    cells : sequence of (k, p, n), optional
        Cells of Table 1.
    p, k : int, optional
        Number of columns and of true ones, where the experiment does not vary them.
    repeats : int, optional
        Data sets per point.
    parts : sequence of str, optional
        What to measure, such as "known-k" or "cv"; everything by default.
    jobs : int
        Runs at a time.
    dask : bool
        Run on the active Dask client, or on a local one.
    threads : int, optional
        Threads of a solve; one in the figures, all cores in Table 1.
    out : path
        Directory of the results.
    progress : bool
        Show a line with the runs done and the time left.
    """

    full: bool = False
    methods: tuple[str, ...] = ("search",)
    backend: str = "scip"
    gamma: float | None = None
    time_limit: float | None = None
    ns: tuple[int, ...] | None = None
    values: tuple[float, ...] | None = None
    cells: tuple[tuple[int, int, int], ...] | None = None
    p: int | None = None
    k: int | None = None
    repeats: int | None = None
    parts: tuple[str, ...] | None = None
    jobs: int = 1
    dask: bool = False
    threads: int | None = None
    out: Path = field(default_factory=lambda: Path("results") / "paper")
    progress: bool = True

    def __post_init__(self) -> None:
        wrong = [name for name in self.methods if name not in METHODS]
        if wrong or not self.methods:
            raise InputError(f"the method must be one of {', '.join(METHODS)}, not {', '.join(wrong) or 'none'}")
        if self.gamma is not None and not (math.isfinite(self.gamma) and self.gamma > 0):
            raise InputError(f"gamma must be a finite number > 0, not {self.gamma}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"the time limit must be > 0 seconds, not {self.time_limit}")
        for name in ("p", "k", "repeats", "jobs", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        for name in ("ns", "values", "cells", "parts"):
            value = getattr(self, name)
            if value is not None and len(value) == 0:
                raise InputError(f"{name} is empty; leave it out for the default")
        if self.ns is not None and min(self.ns) < 1:
            raise InputError(f"n must be at least 1, not {min(self.ns)}")

    def ridge(self, n: int, factor: float = 1.0) -> float:
        """gamma for n rows, times a factor for its sensitivity."""
        return factor * (1.0 / math.sqrt(n) if self.gamma is None else self.gamma)

    def finite_values(self, default: Sequence[float]) -> Sequence[float]:
        """The values of a parameter that cannot be infinite."""
        chosen = default if self.values is None else self.values
        if not all(map(math.isfinite, chosen)):
            raise InputError("--values: only the part gamma of figure1 takes an infinite one")
        return chosen

    def wants(self, part: str) -> bool:
        """Whether a part is to be measured."""
        return self.parts is None or part in self.parts
