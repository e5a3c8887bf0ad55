"""How hard a problem will be, before a long solve: the paper's thresholds, root gaps, and a guess at the time.

For independent Gaussian columns and k coefficients of size one, with noise variance sigma^2,

    n0 = 2 k log p / log(2 k / sigma^2 + 1)       below it no method finds the true support
    n1 = (2 k + sigma^2) log(p - k)               above it the Lasso finds it too

Real data have other scales: what counts is the signal-to-noise ratio, k / sigma^2, so sigma^2 is k over the estimate of
that ratio.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.crossval import SparseRegressorCV
from parsifal.design import Design
from parsifal.errors import InputError
from parsifal.estimators import resolve_gamma
from parsifal.path import check_sizes
from parsifal.problem import FloatArray, Gamma, check_number
from parsifal.progress import History
from parsifal.solve import solve
from parsifal.training import Training, prepare

_MOST_FOLD_SIZES = 12
_LARGEST = 20
_FOLDS = 5


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
        The size that the thresholds are for: given, or chosen by a quick cross-validation.
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
                "Cross-validation finds no signal: models of these features predict no better than the mean, and "
                "the chosen features would say little."
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
        solved = [size for size in self.sizes if size.solved]
        if len(solved) == len(self.sizes):
            slowest = max(self.sizes, key=lambda size: size.seconds)
            return f"All sizes tried are proven already, the slowest (k = {slowest.k}) in {span(slowest.seconds)}."
        hardest = max(self.sizes, key=lambda size: size.expected_seconds)
        if hardest.expected_seconds < 1e7:
            return (
                f"Expect about {span(hardest.expected_seconds)} for k = {hardest.k}; this is estimated from how fast "
                "its bound rose."
            )
        return (
            f"A proof for k = {hardest.k} is not in sight: set --time-limit and take the gap as it is, or make the "
            "problem easier with a smaller k or a smaller gamma."
        )


def outlook(
    design: Design,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    k: int | None = None,
    ks: Sequence[int] | None = None,
    gamma: Gamma = "auto",
    fit_intercept: bool = True,
    standardize: bool = True,
    time_limit: float = 20.0,
    threads: int | None = None,
    seed: int = 0,
) -> Outlook:
    """Say how hard a problem will be.

    Parameters
    ----------
    design, y, weight
        The data, as `SparseRegressor.fit` takes them.
    k : int, optional
        The size in question; by default the one that a quick cross-validation prefers.
    ks : sequence of int, optional
        Sizes for the short solves; by default some below and above `k`.
    gamma, fit_intercept, standardize
        As in `SparseRegressor`.
    time_limit : float
        Seconds in all, about: two fifths for the noise, the rest for the short solves.
    threads : int, optional
        As in `solve`.
    seed : int
        Shuffles the folds.
    """
    limit = check_number(time_limit, "time_limit", minimum=0.1)
    training = prepare(design, y, weight=weight, fit_intercept=fit_intercept, standardize=standardize)
    ridge = resolve_gamma(gamma, training)
    n, p = training.design.shape
    if k is not None and not 1 <= k <= p:
        raise InputError(f"k = {k}, but there are {p} features; choose k between 1 and {p}")
    k, noise = _noise(design, y, weight, k, ridge, fit_intercept, standardize, 0.4 * limit, seed)
    variance = float(training.y @ training.y) / training.mass
    snr = max(0.0, variance - noise) / noise if noise > 0 else math.inf
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
    design: Design,
    y: FloatArray,
    weight: FloatArray | None,
    k: int | None,
    gamma: float,
    fit_intercept: bool,
    standardize: bool,
    seconds: float,
    seed: int,
) -> tuple[int, float]:
    """The size in question and the squared error on rows left out, by a cross-validation without proofs."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold

    n, p = design.shape
    folds = min(_FOLDS, n)
    most = max(1, min(_LARGEST, p, (n - n // folds) // 3))
    sizes = [k] if k is not None else np.unique(np.geomspace(1, most, _MOST_FOLD_SIZES).round().astype(int)).tolist()
    model = SparseRegressorCV(
        ks=sizes,
        gammas=[gamma],
        cv=KFold(folds, shuffle=True, random_state=seed),
        one_se=True,
        fit_intercept=fit_intercept,
        standardize=standardize,
        fold_node_limit=1,
        fold_time_limit=seconds / (folds * len(sizes)),
        node_limit=1,
        time_limit=seconds / folds,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(design, y, weight)
    g, i = model.best_index_
    return int(model.k_), float(model.mse_path_[g, i].mean())


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
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


def _gap(objective: float, bound: float) -> float:
    return max(0.0, objective - bound) / objective if objective > 0 else 0.0
