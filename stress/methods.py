"""One problem through every method: what each answered, and everything that is wrong with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import parsifal as pf
from parsifal import constraints as pc
from stress.choices import faults_of_choices
from stress.problems import StressProblem, generator
from stress.referee import (
    Answer,
    answer_of,
    disagreements,
    enumerate_supports,
    enumerated,
    excess,
    faults_of,
    value_of,
)

BACKENDS = ("scip", "highs", "gurobi")
SEARCH: dict[str, Any] = {"time_limit": 1.0, "node_limit": 400}
CUTS: dict[str, Any] = {"method": "cutting-plane", "time_limit": 0.5, "threads": 1}


@dataclass
class Outcome:
    """What became of a problem."""

    answers: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    certificates: int = 0
    excess: float = -1.0


class Runner:
    """Runs the methods on one problem and collects what they say."""

    def __init__(self, problem: StressProblem, folder: Path) -> None:
        self.problem, self.folder = problem, folder
        self.rng = generator(problem.seed + 1, problem.number)
        self.outcome = Outcome()

    def attempt(self, name: str, call: Callable[[], Any]) -> Any:
        """Call; an error that is not one of ours is a fault, and so is a refusal of good input."""
        self.outcome.ran.append(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", pf.BigMWarning)
                warnings.filterwarnings("ignore", message=".*(gap|limit).*")  # ConvergenceWarning of an estimator
                return call()
        except (pf.NumericalError, pf.BackendError) as error:
            self.outcome.refused.append(f"{name}: {type(error).__name__}: {error}")
        except Exception as error:
            self.outcome.faults.append(f"{name}: {type(error).__name__}: {error}")
        return None

    def solve(self, name: str, *, constrained: bool = False, **options: Any) -> pf.Solution | None:
        """Solve, judge the answer, and check its certificate."""
        problem = self.problem
        solution = self.attempt(
            name, lambda: pf.solve(problem.X, problem.y, fit_intercept=False, **problem.options, **options)
        )
        if solution is not None:
            self.take(name, solution, constrained=constrained)
        return solution

    def take(self, name: str, solution: pf.Solution, *, constrained: bool = False) -> None:
        answer = answer_of(self.problem, name, solution, constrained=constrained)
        self.outcome.answers.append(answer)
        self.outcome.faults += faults_of(self.problem, answer)
        self.certificate(name, solution)

    def certificate(self, name: str, solution: pf.Solution) -> None:
        """The proof holds, on the data as given and on the plain matrix, and after a trip through a file."""
        certificate, problem, faults = solution.certificate, self.problem, self.outcome.faults
        if certificate is None:
            return
        if solution.rests_on is None and certificate.lower_bound < solution.lower_bound:
            faults.append(f"{name}: claims {solution.lower_bound!r}, its certificate {certificate.lower_bound!r}")
        if certificate.objective != solution.objective or not np.array_equal(certificate.support, solution.support):
            faults.append(f"{name}: the certificate is for another solution")
        if not certificate.complete:
            return
        self.outcome.certificates += 1
        if name == "search" or self.rng.random() < 0.1:
            path = self.folder / "certificate.npz"
            certificate.save(path)
            again = pf.Certificate.load(path)
            for part in fields(certificate):
                if not np.array_equal(getattr(certificate, part.name), getattr(again, part.name), equal_nan=True):
                    faults.append(f"{name}: {part.name} of the certificate changed in its file")
            certificate = again
        result = self.attempt(f"{name}, check", lambda: pf.check(certificate, problem.X, problem.y))
        if result is not None and not result:
            faults.append(f"{name}: certificate: {result}")
        if problem.exact and result:
            plain = self.attempt(f"{name}, check", lambda: pf.check(certificate, problem.dense, problem.y))
            if plain is not None and not plain:
                faults.append(f"{name}: certificate on the plain matrix: {plain}")

    # What every problem goes through.

    def run(self, also: Iterable[str] = ()) -> Outcome:
        """Every problem goes through these; of the extras, through those that are drawn and those in `also`."""
        problem, outcome = self.problem, self.outcome
        one = self.solve("search", threads=1, **SEARCH)
        two = self.solve("search, 2 threads", threads=2, **SEARCH)
        if one is not None and two is not None and one.status == two.status == "optimal":
            near = 1.01e-6 * abs(one.objective) + 3e-14 * problem.half
            if abs(one.objective - two.objective) > near:
                outcome.faults.append(f"1 thread found {one.objective!r}, 2 threads {two.objective!r}, both optimal")
        backend = BACKENDS[problem.number % 3]
        # Gurobi's free licence ends at 2000 variables; the largest problem has 401.
        published = self.rng.random() < 0.15
        cuts = {"root_cuts": 0, "fractional_cuts": False, "screen": False} if published else {}
        self.solve(f"cuts, {backend}", backend=backend, **CUTS, **cuts)
        supports = enumerate_supports(problem)
        if supports is not None:
            outcome.answers.append(enumerated(problem, supports))
        extras: dict[str, Callable[[], None]] = {
            "ranking": self.ranking,
            "path": self.path,
            "estimator": self.estimator,
            "warm_start": self.warm_start,
            "checkpoint": self.checkpoint,
            "big_m": self.big_m,
            "branching": self.branching,
            "choices": self.choices,
        }
        if self.rng.random() < 0.25:
            self.extra(list(extras)[int(self.rng.integers(len(extras)))], extras)
        extras["constraints"] = lambda: self.constraints(backend, supports)
        if self.rng.random() < 0.08 and problem.p >= 4:
            self.extra("constraints", extras)
        for name in also:
            if name not in outcome.extras:
                self.extra(name, extras)
        outcome.faults += disagreements(problem, outcome.answers)
        outcome.excess = excess(problem, outcome.answers)
        return outcome

    def extra(self, name: str, extras: dict[str, Callable[[], None]]) -> None:
        """One of what some go through."""
        self.outcome.extras.append(name)
        extras[name]()

    def ranking(self) -> None:
        """The best of the list is the optimum; with a limit on k alone the list is of exactly k columns."""
        p = self.problem
        options = {**p.options, "fit_intercept": False, "threads": 1, **SEARCH}
        ranking = self.attempt("k_best", lambda: pf.k_best(p.X, p.y, **options, count=3))
        if ranking is None or not len(ranking):
            return
        values = [entry.objective for entry in ranking]
        if any(b < a - 2e-6 * abs(a) - 1e-12 * p.half for a, b in pairwise(values)):
            self.outcome.faults.append(f"k_best: not in order: {values}")
        if len({tuple(entry.support.tolist()) for entry in ranking}) < len(ranking):
            self.outcome.faults.append("k_best: a support is listed twice")
        entry, coef = ranking[0], np.zeros(p.p)
        coef[entry.support] = entry.coef
        listed = ranking.status == "optimal"
        # Supports closer together than the gap may change places.
        bound = (1 - 1e-6) * min(values) if listed else min(ranking.lower_bound, values[0])
        answer = Answer(
            method="k_best",
            support=entry.support,
            coef=coef,
            objective=entry.objective,
            lower_bound=bound,
            status="listed" if listed else "limit",
            value=value_of(p, coef, entry.support.size),
        )
        self.outcome.answers.append(answer)
        self.outcome.faults += faults_of(p, answer)

    def path(self) -> None:
        """The path's last entry is the problem itself; the objectives do not rise."""
        p = self.problem
        top = min(p.most, 6)
        options = {name: value for name, value in p.options.items() if name != "k"}
        sizes = range(max(1, len(p.force_in)), top + 1)
        if len(sizes) == 0:
            return
        path = self.attempt(
            "path", lambda: pf.path(p.X, p.y, sizes, fit_intercept=False, threads=1, **options, **SEARCH)
        )
        if path is None:
            return
        for a, b in pairwise(path):
            if not b.lower_bound <= a.objective * (1 + 1e-9) + 1e-13 * p.half:
                self.outcome.faults.append(f"path: k = {b.k} has a bound above what k = {a.k} reached")
        if path[-1].k == p.most:
            self.take("path", path[-1])

    def estimator(self) -> None:
        """Without intercept and standardisation the estimator solves the same problem; with them, its check holds."""
        p, rng = self.problem, self.rng
        if rng.random() < 0.5 and not (p.k is not None and p.k > p.p):
            options = {**p.options, "fit_intercept": False, "standardize": False}
            model = self.attempt("estimator", lambda: pf.SparseRegressor(**options, **SEARCH).fit(p.X, p.y))
            if model is not None:
                self.take("estimator", model.solution_)
            return
        weight = rng.integers(0, 3, p.n).astype(np.float64) if rng.random() < 0.5 and p.n > 1 else None
        if weight is not None:
            weight[:2] = 1.0
        options = {**p.options, "k": p.most, "gamma": "auto" if rng.random() < 0.5 else p.gamma}
        model = self.attempt("estimator", lambda: pf.SparseRegressor(**options, **SEARCH).fit(p.X, p.y, weight))
        if model is not None and model.certificate_.complete:
            result = self.attempt("estimator, check", lambda: model.check(p.X, p.y, weight))
            if result is not None and not result:
                self.outcome.faults.append(f"estimator: certificate: {result}")

    def warm_start(self) -> None:
        p = self.problem
        free = [j for j in range(p.p) if j not in p.force_in and j not in p.force_out]
        room = min(p.most - len(p.force_in), len(free))
        chosen = self.rng.permutation(free)[: int(self.rng.integers(0, room + 1))] if free else []
        start = sorted([*p.force_in, *(int(j) for j in chosen)])
        self.solve("warm start", threads=1, warm_start=start, **SEARCH)

    def checkpoint(self) -> None:
        """A solve that is cut short and taken up again."""
        path = self.folder / "checkpoint.npz"
        path.unlink(missing_ok=True)
        self.solve("cut short", threads=1, checkpoint=path, node_limit=1 + int(self.rng.integers(20)), time_limit=1.0)
        self.solve("taken up", threads=1, checkpoint=path, **SEARCH)
        path.unlink(missing_ok=True)

    def choices(self) -> None:
        """Groups of the columns, and the same as kernels."""
        self.outcome.faults += faults_of_choices(self)

    def big_m(self) -> None:
        if self.problem.p <= 12:
            self.solve("big-m", method="big-m", backend=BACKENDS[self.problem.number % 3], time_limit=0.5, threads=1)

    def branching(self) -> None:
        rule = str(self.rng.choice(["largest", "fractional", "strong"]))
        self.solve(f"branching {rule}", threads=1, branching=rule, **SEARCH)

    def constraints(self, backend: str, supports: list[tuple[int, ...]] | None) -> None:
        """Side constraints: two backends against each other and, where they are few, all supports."""
        p, rng = self.problem, self.rng
        if p.force_in:
            return
        a, b, c, d = (int(j) for j in rng.permutation(p.p)[:4])
        every = [pc.AtMost([a, b, c], 1), pc.Implies(a, b), pc.Exclude(c, d), pc.Linear({a: 2.0, d: -1.0}, upper=1.0)]
        tests: list[Callable[[set[int]], bool]] = [
            lambda s: len(s & {a, b, c}) <= 1,
            lambda s: a not in s or b in s,
            lambda s: not {c, d} <= s,
            lambda s: 2.0 * (a in s) - 1.0 * (d in s) <= 1.0,
        ]
        used = [i for i in range(4) if rng.random() < 0.5] or [0]
        rows = [every[i] for i in used]
        other = BACKENDS[(self.problem.number + 1) % 3]
        for name in (backend, other):
            solution = self.solve(f"constrained, {name}", constrained=True, backend=name, constraints=rows, **CUTS)
            if solution is not None and not all(tests[i](set(solution.support.tolist())) for i in used):
                self.outcome.faults.append(
                    f"{name}: support {solution.support.tolist()} violates the constraints {rows}"
                )
        if supports is not None:
            allowed = [s for s in supports if all(tests[i](set(s)) for i in used)]
            answer = enumerated(p, allowed, constrained=True)
            self.outcome.answers.append(answer)
