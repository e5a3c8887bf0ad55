"""How hard a problem will be, before a long solve: the paper's thresholds, root gaps, and a guess at the time.

For independent Gaussian columns and k coefficients of size one, with noise variance sigma^2,

    n0 = 2 k log p / log(2 k / sigma^2 + 1)       below it no method finds the true support
    n1 = (2 k + sigma^2) log(p - k)               above it the Lasso finds it too

Real data have other scales: what counts is the signal-to-noise ratio, k / sigma^2, so sigma^2 is k over the estimate of
that ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.api.criteria import fit_term, log_binomial
from parsifal.api.paths import check_sizes, path
from parsifal.api.solving import solve
from parsifal.arguments import Gamma, check_number
from parsifal.arrays import FloatArray, IntArray
from parsifal.design import Design
from parsifal.errors import InputError
from parsifal.problem.gamma import resolve_gamma
from parsifal.problem.progress import History
from parsifal.problem.standardise import Training, prepare

_LARGEST = 20
_NODES = 200  # for each size of the quick path


def information_threshold(k: int, p: int, noise: float) -> float:
    """n0: rows below which even the best support is not expected to be the true one; `noise` is sigma^2."""
    return 2 * k * math.log(p) / math.log1p(2 * k / noise) if math.isfinite(noise) and noise > 0 else _limit(noise)


def lasso_threshold(k: int, p: int, noise: float) -> float:
    """n1: rows above which the Lasso is expected to find the true support; `noise` is sigma^2."""
    return (2 * k + noise) * math.log(max(p - k, 1)) if math.isfinite(noise) else math.inf


def _limit(noise: float) -> float:
    return 0.0 if noise <= 0 else math.inf


@dataclass(frozen=True, kw_only=True)
class SizeOutlook:
    """What a short solve says about one k.

    Attributes
    ----------
    k : int
    root_gap : float
        Relative gap before any branching.
    columns_left : int
        Columns that safe fixing could not exclude.
    gap : float
        When the short solve ended; `solved` if it is closed.
    solved : bool
    seconds, nodes : float and int
        Of the short solve.
    expected_seconds : float
        Measured if solved; otherwise extrapolated from how the bound rose with the number of nodes, infinite if it did
        not. An estimate, right to an order of magnitude at best.
    """

    k: int
    root_gap: float
    columns_left: int
    gap: float
    solved: bool
    seconds: float
    nodes: int
    expected_seconds: float


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What to expect of a problem.

    Attributes
    ----------
    n, p : int
    k : int
        The size that the thresholds are for: given, or what eBIC prefers on a quick path.
    gamma : float
    noise : float
        Estimated variance of the noise, in units of the response squared.
    snr : float
        Estimated variance explained over variance of the noise, zero if none is found.
    n0, n1 : float
        The thresholds for `k` and `snr`.
    sizes : tuple of SizeOutlook
    """

    n: int
    p: int
    k: int
    gamma: float
    noise: float
    snr: float
    n0: float
    n1: float
    sizes: tuple[SizeOutlook, ...]

    @property
    def verdict(self) -> str:
        """The outlook in words."""
        return f"{self._statistics()} {self._time()}"

    def _statistics(self) -> str:
        if self.snr <= 0:
            return (
                "No signal stands out from chance: by eBIC no model of these features beats the mean alone, and the "
                "chosen features would say little."
            )
        if self.n < self.n0:
            return (
                f"With n = {self.n} below n0 = {self.n0:.0f}, even the best {self.k} features need not be the true "
                "ones: more rows, fewer candidate features or a smaller k would help."
            )
        if self.n < self.n1:
            return (
                f"With n = {self.n} between n0 = {self.n0:.0f} and n1 = {self.n1:.0f}, the best {self.k} features can "
                "be expected to be the true ones, where the Lasso may miss some."
            )
        return (
            f"With n = {self.n} beyond n1 = {self.n1:.0f}, there are rows enough even for the Lasso to find the true "
            f"{self.k} features, if the columns are not strongly correlated."
        )

    def _time(self) -> str:
        asked = min(self.sizes, key=lambda size: abs(size.k - self.k))
        others = [size for size in self.sizes if size is not asked and not size.solved]
        if asked.solved:
            words = f"The proof for k = {asked.k} takes {span(asked.seconds)}: it is done already."
        elif asked.expected_seconds < 1e7:
            words = f"Expect about {span(asked.expected_seconds)} for k = {asked.k}, by how fast its bound rose."
        else:
            words = (
                f"A proof for k = {asked.k} is not in sight: set --time-limit and take the gap as it is, or make the "
                "problem easier with a smaller k or a smaller gamma."
            )
        if others:
            listed = ", ".join(f"{span(size.expected_seconds)} for k = {size.k}" for size in others)
            words += f" Other sizes: {listed} (estimates)."
        return words


def outlook(
    design: Design,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    k: int | None = None,
    ks: Sequence[int] | None = None,
    gamma: Gamma = "auto",
    adjust: IntArray | None = None,
    fit_intercept: bool = True,
    standardize: bool = True,
    time_limit: float = 20.0,
    threads: int | None = None,
) -> Outlook:
    """Say how hard a problem will be.

    Parameters
    ----------
    design, y, weight
        The data, as `SparseRegressor.fit` takes them.
    k : int, optional
        The size in question; by default the one that eBIC prefers on a quick path.
    ks : sequence of int, optional
        Sizes for the short solves; by default some below and above `k`.
    gamma, adjust, fit_intercept, standardize
        As in `SparseRegressor`.
    time_limit : float
        Seconds in all, about: two fifths for the noise, the rest for the short solves.
    threads : int, optional
        As in `solve`.
    """
    limit = check_number(time_limit, "time_limit", minimum=0.1)
    training = prepare(design, y, weight=weight, adjust=adjust, fit_intercept=fit_intercept, standardize=standardize)
    ridge = resolve_gamma(gamma, training.auto_gamma)
    n, p = training.design.shape
    if k is not None and not 1 <= k <= p:
        raise InputError(f"k = {k}, but there are {p} features; choose k between 1 and {p}")
    k, noise, signal = _noise(training, k, ridge, fit_intercept, 0.4 * limit, threads)
    variance = float(training.y @ training.y) / training.mass
    snr = 0.0 if not signal else max(0.0, variance - noise) / noise if noise > 0 else math.inf
    unit = k / snr if snr > 0 else math.inf
    sizes = check_sizes(ks, "ks") if ks is not None else sorted({max(1, k // 2), k, min(p, 2 * k)})
    sizes = [size for size in sizes if size <= p]
    if not sizes:
        raise InputError(f"every k is larger than the number of features, {p}")
    share = 0.6 * limit / len(sizes)
    return Outlook(
        n=n,
        p=p,
        k=k,
        gamma=ridge,
        noise=noise,
        snr=snr,
        n0=information_threshold(k, p, unit),
        n1=lasso_threshold(k, p, unit),
        sizes=tuple(_try(training, size, ridge, share, threads) for size in sizes),
    )


def _noise(
    training: Training, k: int | None, gamma: float, intercept: bool, seconds: float, threads: int | None
) -> tuple[int, float, bool]:
    """The size in question, the noise's variance, and whether eBIC prefers that model to the mean alone.

    A path without proofs gives the supports; least squares on them gives the residuals, for what the ridge shrinks is
    no noise. All rows are used: near the thresholds the folds of a cross-validation would be below them.
    """
    n, p = training.design.shape
    most = max(1, min(_LARGEST, p, n // 3))
    sizes = range(1, most + 1) if k is None else [k]
    found = path(
        training.design,
        training.y,
        sizes,
        gamma,
        time_limit=seconds,
        node_limit=_NODES,
        threads=threads,
        certificate_limit=0.0,
    )
    total = float(training.y @ training.y)
    rest = [_residual(training, s.support) for s in found]
    ebic = [
        fit_term(rss, n) + math.log(n) * s.support.size + 2 * log_binomial(p, s.support.size)
        for rss, s in zip(rest, found)
    ]
    best = int(np.argmin(ebic))
    if ebic[best] >= fit_term(total, n):
        return found[best].k, total / max(training.mass - intercept, 1.0), False
    free = training.mass - found[best].support.size - training.adjusted.size - intercept
    return found[best].k, rest[best] / max(free, 1.0), True


def _residual(training: Training, support: IntArray) -> float:
    """Sum of squares that least squares on the support leaves."""
    columns = training.design.columns(support)
    residual = training.y - columns @ np.linalg.lstsq(columns, training.y, rcond=None)[0]
    return float(residual @ residual)


def _try(training: Training, k: int, gamma: float, seconds: float, threads: int | None) -> SizeOutlook:
    history = History()
    s = solve(
        training.design,
        training.y,
        k,
        gamma,
        time_limit=seconds,
        threads=threads,
        progress=history,
        certificate_limit=0.0,
    )
    spent = float(s.stats["seconds"]["total"])
    solved = s.status == "optimal"
    return SizeOutlook(
        k=k,
        root_gap=_gap(s.objective, float(s.stats["root_bound"])),
        columns_left=int(s.stats["columns_left"]),
        gap=s.gap,
        solved=solved,
        seconds=spent,
        nodes=int(s.stats["nodes"]),
        expected_seconds=spent if solved else extrapolate(history, s.objective),
    )


def extrapolate(history: Sequence[Any], objective: float) -> float:
    """Seconds until the bound meets the objective, if it keeps rising by as much for every doubling of the nodes."""
    points = [(math.log2(s.nodes), s.lower_bound) for s in history if s.nodes > 8 and math.isfinite(s.lower_bound)]
    if len(points) < 3:
        return math.inf
    # The later half: the first nodes are not typical.
    points = [point for point in points if point[0] >= points[-1][0] - 3] or points
    logs, bounds = np.array(points).T
    if np.ptp(logs) < 0.2:
        return math.inf
    slope = float(np.polyfit(logs, bounds, 1)[0])
    last = history[-1]
    if slope <= 0 or last.seconds <= 0:
        return math.inf
    doublings = (objective - last.lower_bound) / slope
    return float(last.seconds * 2.0**doublings) if doublings < 60 else math.inf


def span(seconds: float) -> str:
    """A stretch of time in words."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds > 3e7:
        return "more than a year"
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


def _gap(objective: float, bound: float) -> float:
    return max(0.0, objective - bound) / objective if objective > 0 else 0.0
