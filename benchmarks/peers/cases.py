"""The problems of the suite, in groups; each is drawn for several seeds and has a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from benchmarks.peers.realdata import loader
from benchmarks.peers.widedata import LOADERS
from benchmarks.speed import instances
from benchmarks.speed.instances import Data, Instance, synthetic
from benchmarks.speed.wide import ROWS, blocks


@dataclass(frozen=True, kw_only=True)
class Case:
    """An instance, and what is asked of the solvers on it."""

    group: str
    key: str  # names it in files and on the command line
    instance: Instance
    forms: tuple[str, ...] = ("k",)
    traced: bool = False  # the gap over time is drawn for it
    seeds: int | None = None  # at most so many; real data have one


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run consists of."""

    name: str
    cases: tuple[Case, ...]
    seeds: int
    time_limit: float
    solvers: tuple[str, ...] | None = None  # None: all


def drawn(
    group: str,
    *,
    n: int,
    p: int,
    k: int = 10,
    rho: float = 0.0,
    sqrt_snr: float = 20.0,
    gamma: float | None = None,
    penalised: bool = False,
    traced: bool = False,
    seeds: int | None = None,
) -> Case:
    """A problem with the paper's synthetic data; gamma = 1/sqrt(n) unless given."""
    name = "rn" if gamma is None else f"{gamma:g}"
    return Case(
        group=group,
        key=f"{group}-n{n}-p{p}-k{k}-rho{rho:g}-snr{sqrt_snr:g}-gamma{name}",
        instance=synthetic(group, n=n, p=p, k=k, rho=rho, sqrt_snr=sqrt_snr, gamma=gamma),
        forms=("k", "penalty") if penalised else ("k",),
        traced=traced,
        seeds=seeds,
    )


def real(
    name: str,
    load: Callable[[], Data],
    k: int,
    gamma: float | None,
    penalised: bool = False,
    group: str = "real",
) -> Case:
    """A problem with real data."""
    try:
        instance = instances.real(group, name, load, k, gamma)
    except FileNotFoundError as error:
        instance = Instance(group=group, label=f"{name}: {error}", k=k, gamma=0.0, draw=_absent, n=0, p=0, fixed=True)
    key = f"{group}-{name.replace(' ', '-')}-k{k}-gamma{'rn' if gamma is None else f'{gamma:g}'}"
    return Case(group=group, key=key, instance=instance, forms=("k", "penalty") if penalised else ("k",), seeds=1)


def blocked(n: int, p: int, k: int, sqrt_snr: float) -> Case:
    """Blocks of correlated columns (`benchmarks.speed.wide`), gamma = 1/sqrt(n)."""
    instance = Instance(
        group="wide",
        label=f"blocks n={n} p={p} k={k} sqrt_snr={sqrt_snr:g}",
        k=k,
        gamma=1 / np.sqrt(n),
        draw=lambda seed: blocks(n, p, k, sqrt_snr, seed),
        n=n,
        p=p,
    )
    return Case(group="wide", key=f"wide-blocks-n{n}-p{p}-k{k}-snr{sqrt_snr:g}", instance=instance)


def _absent(seed: int) -> Data:
    raise FileNotFoundError("the data are not here: run make peers")


def smoke() -> Plan:
    """Seconds; no peers needed."""
    cases = (
        drawn("figure1", n=60, p=100, k=4, traced=True),
        drawn("correlated", n=80, p=40, k=4, rho=0.7, sqrt_snr=2.0, penalised=True),
    )
    return Plan(name="smoke", cases=cases, seeds=1, time_limit=5.0, solvers=("parsifal", "cutting-highs", "lasso"))


def quick() -> Plan:
    """Less than ten minutes with every peer."""
    cases = (
        drawn("figure1", n=60, p=2000, penalised=True, seeds=1),
        drawn("figure1", n=80, p=2000, seeds=1),
        drawn("figure1", n=100, p=2000, traced=True, penalised=True, seeds=1),
        drawn("figure1", n=140, p=2000, seeds=1),
        drawn("figure1", n=200, p=2000, penalised=True),
        # Two columns fewer than Gurobi's free licence allows: the master problem has one more.
        drawn("figure1", n=100, p=1998, gamma=1.0, seeds=1),
        drawn("figure1", n=160, p=1998, gamma=1.0, seeds=1),
        drawn("table1", n=2000, p=5000, rho=0.1, seeds=1),
        drawn("correlated", n=500, p=1000, rho=0.5, sqrt_snr=3.0, penalised=True, seeds=1),
        drawn("correlated", n=500, p=1000, rho=0.7, sqrt_snr=2.0, penalised=True, seeds=1),
        drawn("correlated", n=300, p=200, k=5, rho=0.9, sqrt_snr=1.0, penalised=True, traced=True, seeds=1),
        drawn("tabular", n=1000, p=50, k=8, rho=0.5, sqrt_snr=1.0, penalised=True),
        drawn("weak-ridge", n=500, p=60, k=8, rho=0.5, sqrt_snr=1.0, gamma=1e6, penalised=True, seeds=1),
        drawn("weak-ridge", n=100, p=500, k=5, sqrt_snr=6.0, gamma=1e6, seeds=1),
        real("diabetes", instances.diabetes, 8, None, penalised=True),
        real("diabetes", instances.diabetes, 8, 1e6),
        real("hitters", loader("hitters", interactions=False), 8, 1e6, penalised=True),
        real("hitters interactions", loader("hitters", interactions=True), 6, None),
        real("boston interactions", loader("boston", interactions=True), 8, None),
        real("star98", loader("star98", interactions=False), 8, 1e3),
        real("breast cancer", instances.breast_cancer, 6, None),
    )
    return Plan(name="quick", cases=cases, seeds=2, time_limit=2.5)


def full() -> Plan:
    """Everything: hours."""
    cases = [
        drawn("figure1", n=n, p=2000, gamma=gamma, penalised=gamma is None, traced=gamma is None and n in (80, 100))
        for n in range(40, 201, 20)
        for gamma in (None, 1.0, 100.0)
    ]
    cases += [
        drawn("table1", n=n, p=p, k=k, rho=0.1, seeds=1)
        for n, p in ((2000, 5000), (5000, 10_000), (10_000, 25_000))
        for k in (10, 20, 30)
    ]
    cases += [
        drawn(
            "correlated", n=n, p=p, k=k, rho=rho, sqrt_snr=snr, penalised=True, traced=(rho, snr, p) == (0.9, 2.0, 1000)
        )
        for n, p, k in ((500, 1000, 10), (300, 200, 5))
        for rho in (0.5, 0.7, 0.9)
        for snr in (1.0, 2.0, 3.0)
    ]
    cases += [
        drawn("tabular", n=n, p=p, k=8, rho=rho, sqrt_snr=snr, penalised=True)
        for n, p in ((1000, 50), (10_000, 100))
        for rho in (0.5, 0.9)
        for snr in (1.0, 3.0)
    ]
    cases += [
        drawn("weak-ridge", n=500, p=60, k=8, rho=0.5, sqrt_snr=1.0, gamma=gamma, penalised=True)
        for gamma in (1.0, 1e2, 1e4, 1e6)
    ]
    cases += [drawn("weak-ridge", n=100, p=500, k=5, sqrt_snr=6.0, gamma=gamma) for gamma in (1.0, 1e2, 1e4, 1e6)]
    cases += [*_tables(), *_best_subset(), *_wide()]
    return Plan(name="full", cases=tuple(cases), seeds=3, time_limit=60.0)


# Every group of the full plan and every table, fewer sizes between.
NIGHT = (
    *(f"figure1-n{n}-*" for n in (60, 100, 140, 200)),
    "table1-*-k10-*",
    "correlated-*-snr2-*",
    "tabular-*-snr1-*",
    "weak-ridge-*-gamma100",
    "weak-ridge-*-gamma1e+06",
    "real-*-gammarn",
    "real-*-gamma1e+06",
    "best-subset-*",
    "wide-*",
)


def night() -> Plan:
    """The part of the full plan that fits in a night: one data set of each, 20 s a solve."""
    cases = tuple(case for case in full().cases if any(fnmatchcase(case.key, pattern) for pattern in NIGHT))
    return Plan(name="night", cases=cases, seeds=1, time_limit=20.0)


def wide() -> Plan:
    """Many columns, and what is found in ten seconds."""
    return Plan(
        name="wide", cases=tuple(_wide()), seeds=1, time_limit=10.0, solvers=("parsifal", "abess", "l0learn", "el0ps")
    )


def _wide() -> Iterator[Case]:
    """Gene expression, spectra, and blocks of correlated columns."""
    for name, load in LOADERS.items():
        yield real(name, load, 8, None, penalised=True, group="wide")
    for n, p, k, sqrt_snr, _ in ROWS:
        yield blocked(n, p, k, sqrt_snr)


def _best_subset() -> Iterator[Case]:
    """Without a ridge: drawn problems, and tables."""
    for n, p, k, rho, sqrt_snr in (
        (60, 200, 3, 0.0, 3.0),
        (100, 200, 5, 0.0, 6.0),
        (100, 500, 5, 0.0, 6.0),
        (200, 300, 5, 0.5, 3.0),
        (200, 1000, 4, 0.5, 3.0),
    ):
        yield drawn("best-subset", n=n, p=p, k=k, rho=rho, sqrt_snr=sqrt_snr, gamma=np.inf, penalised=True)
    for name in ("hitters", "college", "boston", "star98", "fair"):
        yield real(name, loader(name, interactions=False), 8, np.inf, penalised=True, group="best-subset")


def _tables() -> Iterator[Case]:
    for gamma in (None, 1.0, 1e6):
        yield real("diabetes", instances.diabetes, 10, gamma, penalised=True)
        for name in ("hitters", "college", "boston", "star98", "fair"):
            yield real(name, loader(name, interactions=False), 8, gamma, penalised=True)
    for gamma in (None, 1.0):
        yield real("breast cancer", instances.breast_cancer, 8, gamma)
        for name in ("hitters", "college", "boston", "star98", "fair"):
            yield real(f"{name} interactions", loader(name, interactions=True), 8, gamma)


PLANS: dict[str, Callable[[], Plan]] = {
    "smoke": smoke,
    "quick": quick,
    "night": night,
    "full": full,
    "wide": wide,
}


def seeds_of(plan: Plan, case: Case, chosen: Sequence[int] | None = None) -> Sequence[int]:
    """The seeds of a case: those chosen, or as many as the plan has; real data have one, whatever is chosen."""
    if case.instance.fixed:
        return range(1)
    if chosen is not None:
        return chosen
    return range(plan.seeds if case.seeds is None else min(case.seeds, plan.seeds))


def fortran(data: Data) -> Data:
    """float64 in Fortran order: what most peers would convert to first."""
    return np.asfortranarray(data[0], dtype=float), np.ascontiguousarray(data[1], dtype=float)
