"""`python -m stress.asked --count 2000`: signs, prices, side constraints, forced columns, weak ridges and none,
products with a hierarchy and columns to adjust for, in every combination. The search is held against all supports and,
where there is a ridge, against the cutting planes; with certificates, threads and `k_best`.

`--seconds` alone runs for so long. With a count as well, a run that time ends before the count says so and fails: the
exit code is 1 if anything disagreed, and 2 if the run was cut short.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np
import numpy.typing as npt

import parsifal as pf
from oracles.asked import Asked
from parsifal.constraints import AtMost, Constraint, Exclude, Implies, Linear
from parsifal.cuts.master import BACKENDS
from parsifal.problem.standardise import prepare

FloatArray = npt.NDArray[np.float64]

_CLOSE = 2e-6  # relative: the gap that is allowed, and a little
_FLOOR = 1e-9  # of y'y


class Case:
    """A random problem, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng([20, seed])
        self.seed = seed
        # The bits of the seed say what is asked, so that every combination comes up equally often.
        signs, prices, rows, forced, weak, ridgeless, products, adjusted = ((seed >> bit) & 1 for bit in range(8))
        n, p = int(rng.integers(4, 25)), int(rng.integers(3, 9))
        self.k = int(rng.integers(1, p + 1))
        if products:
            p = 3  # and three products
        X = rng.normal(size=(n, p))
        if rng.random() < 0.3:
            X = X @ (np.eye(p) + rng.normal(size=(p, p)))
        if rng.random() < 0.25:
            X[:, 1] = X[:, 0] * rng.choice([-1, 1])
        if rng.random() < 0.1:
            X *= 10.0 ** rng.integers(-3, 4, size=p)
        self.hierarchy: str | None = str(rng.choice(["strong", "weak"])) if products else None
        self.lift: list[Constraint] = []
        if products:
            lift = pf.NonlinearFeatures(["x"], products=True, constant="keep", hierarchy=self.hierarchy)
            X = lift.fit_transform(X)
            self.lift, p = list(lift.constraints_), X.shape[1]
            self.k = min(self.k, p)
        self.X = X
        self.y = X @ (rng.normal(size=p) * (rng.random(p) < 0.5)) + rng.normal(size=n) * rng.choice([0.1, 1, 3])
        scale = float(np.mean(np.einsum("ij,ij->j", X, X)))
        self.gamma = float(10 ** (rng.uniform(4, 7) if weak else rng.uniform(-1.5, 2))) / scale
        if weak and ridgeless:
            self.gamma = np.inf
        half = 0.5 * float(self.y @ self.y)
        self.penalty: Any = float(rng.choice([0.0, 0.03])) * rng.random() * half or None
        if prices:
            self.penalty = rng.choice([0, 0.1, 1], size=p) * rng.random(p) * 0.1 * half
        self.sign = np.zeros(p, dtype=np.int64)
        if signs:
            self.sign = np.ones(p, dtype=np.int64) if rng.random() < 0.4 else rng.integers(-1, 2, size=p)
        self.constraints = self._constraints(p) if rows else []
        self.force_in = [int(rng.integers(p))] if forced and rng.random() < 0.7 else []
        outs = [int(rng.integers(p))] if forced else []
        self.force_out = [j for j in outs if j not in self.force_in]
        self.adjust: list[int] = []
        self.fit_intercept = False
        if adjusted:
            free = [j for j in range(p) if j not in self.force_in]
            count = int(rng.integers(1, min(3, len(free))))
            self.adjust = sorted(int(j) for j in rng.choice(free, size=count, replace=False))
            self.fit_intercept = bool(rng.random() < 0.5)
            self.sign[self.adjust] = 0

    def _constraints(self, p: int) -> list[Constraint]:
        rng = self.rng
        out: list[Constraint] = []
        for _ in range(int(rng.integers(1, 4))):
            columns = [int(j) for j in rng.choice(p, size=int(rng.integers(2, min(p, 4) + 1)), replace=False)]
            kind = int(rng.integers(5))
            if kind == 0:
                out.append(AtMost(columns, int(rng.integers(0, len(columns)))))
            elif kind == 1:
                out.append(Exclude(*columns))
            elif kind in (2, 3):
                out.append(Implies(columns[0], columns[1:], any=kind == 3))
            else:
                coefs = {j: float(rng.choice([1, 2, -1, 0.3, 0.7])) for j in columns}
                lower, upper = rng.choice([-np.inf, 0, 1]), rng.choice([1, 1.5, 2])
                out.append(Linear(coefs, lower=float(lower), upper=float(upper)))
        return out

    def allowed(self, support: frozenset[int]) -> bool:
        """Whether a support is what was asked for, by the words of the constraints."""
        if not support.issuperset(self.force_in) or support & {*self.force_out, *self.adjust}:
            return False
        if self.hierarchy is not None:
            # The features are x0, x1, x2, x0*x1, x0*x2, x1*x2, in this order.
            least = 2 if self.hierarchy == "strong" else 1
            for product, factors in enumerate(combinations(range(3), 2), start=3):
                if product in support and len(support.intersection(factors)) < least:
                    return False
        return all(_holds(constraint, support) for constraint in self.constraints)

    def independent(self, support: frozenset[int]) -> bool:
        """Whether no column of the support is within 1e-5 of the span of all else that is in the fit."""
        columns = self.X / np.maximum(np.linalg.norm(self.X, axis=0), 1e-300)
        always = self.always / np.maximum(np.linalg.norm(self.always, axis=0), 1e-300)
        for j in support:
            others = np.hstack([always, columns[:, sorted(support - {j})]])
            rest = columns[:, j] - others @ np.linalg.lstsq(others, columns[:, j], rcond=None)[0]
            if np.linalg.norm(rest) < 1e-5:
                return False
        return True

    @property
    def price(self) -> FloatArray:
        """The price of every column."""
        return np.zeros(self.X.shape[1]) + (0.0 if self.penalty is None else self.penalty)

    @property
    def always(self) -> FloatArray:
        """What is in every fit: the columns that are adjusted for, and the intercept's."""
        return np.hstack([self.X[:, self.adjust], np.ones((len(self.y), int(self.fit_intercept)))])

    def answer(self, **how: Any) -> pf.Solution:
        """By `solve`, or by the estimator where columns are adjusted for."""
        if not self.adjust:
            threads = how.pop("threads", 1)
            return pf.solve(self.X, self.y, **self.arguments, fit_intercept=False, threads=threads, **how)
        model = pf.SparseRegressor(
            **self.arguments | {"sign": self.sign},
            adjust=self.adjust,
            fit_intercept=self.fit_intercept,
            standardize=False,
            n_jobs=how.pop("threads", 1),
            **how,
        )
        return model.fit(self.X, self.y).solution_

    def check(self, found: pf.Solution, *, exact: bool) -> Any:
        """The certificate against the data as the solver saw them."""
        if not self.adjust:
            return found.check(self.X, self.y, exact=exact)
        training = prepare(
            pf.as_design(self.X),
            self.y,
            weight=None,
            adjust=np.array(self.adjust),
            fit_intercept=self.fit_intercept,
            standardize=False,
        )
        return pf.check(found.certificate, training.design, training.y, exact=exact)

    @property
    def arguments(self) -> dict[str, Any]:
        """What `solve`, `k_best` and the estimator have in common."""
        return {
            "k": self.k,
            "gamma": self.gamma,
            "penalty": self.penalty,
            "sign": self.sign if self.sign.any() else 0,
            "constraints": [*self.constraints, *self.lift] or None,
            "force_in": self.force_in or None,
            "force_out": self.force_out or None,
        }


def _holds(constraint: Constraint, support: frozenset[int]) -> bool:
    if isinstance(constraint, Implies):
        needs = constraint.needs if isinstance(constraint.needs, list) else [constraint.needs]
        some = [need in support for need in needs]
        return constraint.column not in support or (any(some) if constraint.any else all(some))
    if isinstance(constraint, Linear):
        total = sum(coef for j, coef in constraint.coefs.items() if j in support)
        return bool(constraint.lower - 1e-9 <= total <= constraint.upper + 1e-9)
    count = constraint.count if isinstance(constraint, AtMost) else 1
    return len(support.intersection(constraint.columns)) <= count  # type: ignore[arg-type]


def faults_of(
    seed: int, *, exact: bool = False, planes: str | None = None, ranked: bool = False
) -> tuple[str, list[str]]:
    """How the problem of this seed ended, and everything that is wrong with it."""
    case = Case(seed)
    asked = Asked(
        X=case.X,
        y=case.y,
        k=case.k,
        gamma=case.gamma,
        price=case.price,
        sign=case.sign,
        allowed=case.allowed,
        always=case.always,
    )
    values = asked.values()
    threads = 1 + seed % 2
    try:
        found = case.answer(threads=threads)
    except pf.InputError as error:
        rightly = not values or len(case.force_in) > case.k
        return "refused", [] if rightly else [f"refused though there is an answer: {error}"]
    if not values:
        return found.status, ["an answer where no support is allowed"]
    faults = _answer_faults(case, values, found, "search")
    check = case.check(found, exact=exact)
    # Of a perfect fit without a ridge nothing but rounding is left, whose square no check can know.
    perfect = np.isinf(case.gamma) and min(values.values()) <= _FLOOR * float(case.y @ case.y)
    if not check and not perfect:
        faults.append(f"the certificate does not pass: {check.reason}")
    # Without a ridge there is no cut (the loss has no slope in s): `solve` refuses the cutting planes there.
    if planes is not None and np.isfinite(case.gamma):
        other = case.answer(method="cutting-plane", backend=planes)
        faults += _answer_faults(case, values, other, planes)
    if ranked and not case.adjust:  # `k_best` has no columns to adjust for
        faults += _ranking_faults(case, values)
    return found.status, faults


def _answer_faults(case: Case, values: dict[frozenset[int], float], found: pf.Solution, who: str) -> list[str]:
    claimed = values
    if np.isinf(case.gamma):
        # Without a ridge the claim is about independent columns (docs/numerics.md). Others are of use to side
        # constraints alone, which may ask for a column that the others, or those adjusted for, make superfluous; an
        # answer may have them all the same.
        claimed = {s: value for s, value in values.items() if case.independent(s)} or values
    best, support = min(claimed.values()), frozenset(found.support.tolist())
    tolerance = _CLOSE * best + _FLOOR * float(case.y @ case.y)
    faults = []
    if found.status not in ("optimal", "precision"):
        faults.append(f"{who}: ended with {found.status}")
    if found.objective > best + tolerance:
        faults.append(f"{who}: objective {found.objective!r}, but the best is {best!r}")
    if abs(found.objective - values.get(support, found.objective)) > tolerance:
        faults.append(f"{who}: objective {found.objective!r}, but that of its support is {values[support]!r}")
    if found.lower_bound > best + 1e-11 * float(case.y @ case.y):
        faults.append(f"{who}: lower bound {found.lower_bound!r} above the best, {best!r}")
    if support not in values:
        faults.append(f"{who}: support {found.support} is not allowed")
    if np.any(case.sign * found.coef < 0):
        faults.append(f"{who}: a coefficient has the wrong sign")
    return faults


def _ranking_faults(case: Case, values: dict[frozenset[int], float]) -> list[str]:
    """`k_best` against the list of all supports of the sizes that it lists."""
    ranking = pf.k_best(case.X, case.y, **case.arguments, count=5, threads=1)
    sizes = {len(s) for s in values}
    priced = bool(np.any(case.price))
    size = max(sizes)
    meant = sorted(value for s, value in values.items() if priced or len(s) == size)[:5]
    got = [entry.objective for entry in ranking]
    tolerance = 1e-5 * meant[-1] + 10 * _FLOOR * float(case.y @ case.y)
    if np.isinf(case.gamma):
        # Columns that depend on others do not count there, and their lists may end short of what was asked for.
        listed = {frozenset(entry.support.tolist()) for entry in ranking}
        missed = [s for s in values if s not in listed and (priced or len(s) == size) and case.independent(s)]
        least = min((values[s] for s in missed), default=np.inf)
        if ranking.lower_bound > least + tolerance:
            return [f"k_best: {ranking.lower_bound!r} is above what is not listed, {least!r}"]
        return []
    if len(got) != len(meant) or np.any(np.abs(np.array(got) - np.array(meant)) > tolerance):
        return [f"k_best lists {got}, but the best are {meant}"]
    return []


def installed() -> list[str]:
    """The backends of the cutting planes that are here."""
    return [name for name, module in BACKENDS.items() if importlib.util.find_spec(module) is not None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run; the exit code is 1 if anything disagreed, 2 if the run was cut short."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--count", type=int, help="problems; 2000, or what --seconds allow")
    parser.add_argument("--start", type=int, default=0, help="seed of the first")
    parser.add_argument("--planes", default="all", help="backend of the cutting planes; all (in turn); none")
    parser.add_argument("--every", type=int, default=1, help="cutting planes on every so many problems")
    parser.add_argument("--seconds", type=float, default=np.inf, help="end after so long")
    args = parser.parse_args(argv)
    count = args.count or (2000 if np.isinf(args.seconds) else sys.maxsize)
    backends = {"all": installed(), "none": []}.get(args.planes, [args.planes])
    ended: Counter[str] = Counter()
    by: Counter[str] = Counter()
    started, bad = time.monotonic(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in islice(itertools.count(args.start), count):
            if time.monotonic() - started > args.seconds:
                break
            turn, rest = divmod(seed, args.every)
            planes = backends[turn % len(backends)] if backends and rest == 0 else None
            try:
                status, faults = faults_of(seed, exact=seed % 7 == 0, planes=planes, ranked=seed % 5 == 0)
            except Exception as error:
                status, faults = "failed", [f"{type(error).__name__}: {error}"]
            ended[status] += 1
            by[planes or "none"] += 1
            for fault in faults:
                bad += 1
                print(f"problem {seed} ({planes}): {fault}", flush=True)
    took, done = time.monotonic() - started, sum(ended.values())
    print(f"{done} problems in {took:.0f} s: {dict(ended)}; cutting planes: {dict(by)}; {bad} disagreements")
    short = args.count is not None and done < args.count
    if short:
        print(f"CUT SHORT after {done} of {args.count} problems; go on with --start {args.start + done}")
    return 1 if bad else 2 if short else 0


if __name__ == "__main__":
    sys.exit(main())
