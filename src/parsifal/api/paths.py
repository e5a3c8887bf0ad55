"""`path`: one proven solution for every k, each starting from what the one before has left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

import parsifal._core as _core
from parsifal._public import public
from parsifal.api.criteria import degrees_of_freedom, far_from_dependent, fit_term, log_binomial
from parsifal.api.solving import check_options
from parsifal.arguments import Gamma, check_count
from parsifal.arrays import FloatArray, IntArray
from parsifal.blas import quiet_blas
from parsifal.constraints import Constraint
from parsifal.display import html_table, text_table
from parsifal.errors import InputError
from parsifal.problem.problem import Problem, make_problem, with_implied
from parsifal.problem.progress import Progress, ProgressOption, Reporter
from parsifal.problem.solution import Incumbent, Solution, on_given_columns
from parsifal.problem.standardise import view_of, warn_of_level
from parsifal.solver.funnel import run
from parsifal.solver.options import Options
from parsifal.solver.reuse import Handover

Criterion = Literal["aic", "bic", "ebic"]


@public
@dataclass(frozen=True, kw_only=True)
class Path(Sequence[Solution]):
    """Solutions for growing k: a sequence of `Solution`, with what one wants to see of all of them.

    Attributes
    ----------
    solutions : tuple of Solution
        In the order of `ks`; shorter than what was asked for if the path was interrupted.
    ks : int array
        The k of each.
    coefs : array of shape (len(ks), p)
        The coefficients.
    objectives, lower_bounds, gaps : arrays
        Of each solution.
    rss, df : arrays
        Sum of squared residuals, and degrees of freedom (the trace of the ridge's hat matrix).
    aic, bic, ebic : arrays
        Information criteria (see `parsifal.api.criteria`); smaller is better.
    r2 : array
        Share of the sum of squares of y (about its mean, with an intercept) that each fit explains.
    n, total : int and float
        Rows of X, and that sum of squares.
    scale : array of shape (p,) or None
        With ``standardize=True`` one over the columns' standard deviations: ``coefs / scale`` can be compared.
    """

    solutions: tuple[Solution, ...]
    n: int
    total: float
    rss: FloatArray
    df: FloatArray
    scale: FloatArray | None = None

    @overload
    def __getitem__(self, item: int) -> Solution: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, item: int | slice) -> Solution | tuple[Solution, ...]:
        return self.solutions[item]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @property
    def ks(self) -> IntArray:
        return np.array([s.k for s in self.solutions], dtype=np.int64)

    @property
    def coefs(self) -> FloatArray:
        return np.array([s.coef for s in self.solutions])

    @property
    def objectives(self) -> FloatArray:
        return np.array([s.objective for s in self.solutions])

    @property
    def lower_bounds(self) -> FloatArray:
        return np.array([s.lower_bound for s in self.solutions])

    @property
    def gaps(self) -> FloatArray:
        return np.array([s.gap for s in self.solutions])

    @property
    def r2(self) -> FloatArray:
        return 1.0 - self.rss / self.total if self.total > 0 else np.full(len(self), np.nan)

    @property
    def aic(self) -> FloatArray:
        return self._fit_terms + 2.0 * self.df

    @property
    def bic(self) -> FloatArray:
        return self._fit_terms + math.log(self.n) * self.df

    @property
    def ebic(self) -> FloatArray:
        choices = [log_binomial(s.coef.size, s.support.size) for s in self.solutions]
        return self.bic + 2.0 * np.array(choices)

    @property
    def _fit_terms(self) -> FloatArray:
        return np.array([fit_term(rss, self.n) for rss in self.rss])

    def best(self, criterion: Criterion = "ebic") -> Solution:
        """The solution that an information criterion prefers."""
        if criterion not in ("aic", "bic", "ebic"):
            raise InputError(f'criterion must be "aic", "bic" or "ebic", not {criterion!r}')
        return self.solutions[int(np.argmin(getattr(self, criterion)))]

    def to_frame(self) -> Any:
        """The table that is printed as a pandas DataFrame, one row a size, with every criterion."""
        import pandas as pd

        return pd.DataFrame(
            {
                "k": self.ks,
                "r2": self.r2,
                "objective": self.objectives,
                "gap": self.gaps,
                "aic": self.aic,
                "bic": self.bic,
                "ebic": self.ebic,
                "status": [s.status for s in self.solutions],
                "columns": [s.selected for s in self.solutions],
            }
        )

    def _table(self) -> tuple[list[str], list[list[str]], list[int]]:
        head = ["k", "R2", "objective", "gap", "bic", "ebic", "status", "columns"]
        rows = [
            [
                str(s.k),
                f"{r2:.4f}",
                f"{s.objective:.6g}",
                f"{s.gap:.1e}",
                f"{bic:.5g}",
                f"{ebic:.5g}",
                s.status,
                ", ".join(s.selected),
            ]
            for s, r2, bic, ebic in zip(self.solutions, self.r2, self.bic, self.ebic)
        ]
        return head, rows, [6, 7]

    def __str__(self) -> str:
        return "\n".join(text_table(*self._table()))

    def __repr__(self) -> str:
        if not self.solutions:
            return "<Path without a solution>"
        proven = sum(s.status == "optimal" for s in self.solutions)
        return f"<Path: k = {self.ks[0]} to {self.ks[-1]}, {proven} of {len(self)} proven>"

    def _repr_html_(self) -> str:
        facts = [("rows", str(self.n))]
        if self.solutions:
            facts += [("gamma", f"{self.solutions[0].gamma:.4g}"), ("eBIC prefers", f"k = {self.best().k}")]
        return html_table("Path", facts, *self._table())


def path(
    X: Any,
    y: Any,
    ks: Iterable[int] = range(1, 21),
    gamma: Gamma = "auto",
    *,
    fit_intercept: bool | None = None,
    standardize: bool = False,
    penalty: Any = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    threads: int | None = None,
    force_in: Any = None,
    force_out: Any = None,
    sign: Any = 0,
    constraints: Constraint | Iterable[Constraint] | None = None,
    progress: ProgressOption = False,
    certificate_limit: float = 64e6,
) -> Path:
    """Find and prove the best fit for every k.

    Supports, the working set with its Gram matrix, and dual points (which bound and fix columns for every k) are handed
    on from one k to the next.

    Parameters
    ----------
    X, y, gamma, fit_intercept, standardize, penalty, rel_gap, threads, force_in, force_out, sign, constraints
        As in `solve`. With ``fit_intercept=True, standardize=True`` it is what ``parsifal path`` computes with the same
        gamma (its ``auto`` is that of the estimators).
    progress, certificate_limit
        As in `solve`.
    ks : iterable of int
        The sizes, solved in growing order; those beyond the number of columns are left out.
    time_limit : float, optional
        Seconds for the whole path. Each k gets an equal share of what is left.
    node_limit : int, optional
        Nodes for each k.

    Returns
    -------
    Path
        A sequence of `Solution`. Ctrl-C ends it with the k at hand, which has status ``"interrupted"``.
    """
    options = check_options(
        rel_gap=rel_gap,
        time_limit=time_limit,
        node_limit=node_limit,
        threads=threads,
        certificate_limit=certificate_limit,
    )
    sizes = check_sizes(ks, "ks")
    started = time.monotonic()
    training = view_of(X, y, fit_intercept=fit_intercept, standardize=standardize)
    if training is not None:
        X, y = training.design, training.y
    problem = make_problem(
        X,
        y,
        k=sizes[-1],
        gamma=gamma,
        penalty=penalty,
        force_in=force_in,
        force_out=force_out,
        sign=sign,
        constraints=constraints,
    )
    if fit_intercept is None:
        warn_of_level(problem.y)
    forced = int(np.count_nonzero(problem.fix == 1))
    sizes = [k for k in sizes if k <= problem.p]
    if not sizes:
        raise InputError(f"every k in ks is larger than the number of columns, {problem.p}")
    if sizes[0] < forced:
        raise InputError(f"force_in names {forced} columns, but ks begins with {sizes[0]}")
    left = options.time_limit - (time.monotonic() - started)
    found = solve_path(problem, sizes, replace(options, time_limit=left), progress=progress)
    if training is None:
        return found
    return replace(
        found,
        solutions=tuple(on_given_columns(solution, training) for solution in found),
        scale=training.scale if training.standardize else None,
    )


def solve_path(
    problem: Problem,
    sizes: Sequence[int],
    options: Options,
    *,
    most: float = math.inf,
    handover: Handover | None = None,
    starts: dict[int, list[IntArray]] | None = None,
    progress: ProgressOption = False,
    each: Callable[[Solution], object] | None = None,
) -> Path:
    """Solve for growing sizes, none for longer than `most` seconds.

    `starts` are further supports to begin with, by size; `each` is called after each.
    """
    handover = Handover() if handover is None else handover
    deadline = time.monotonic() + options.time_limit
    solutions: list[Solution] = []
    with quiet_blas(), Reporter(progress) as reporter:
        for i, k in enumerate(sizes):
            share = min(most, max(0.0, deadline - time.monotonic()) / (len(sizes) - i))
            here = with_implied(replace(problem, k=k))
            begin: list[IntArray | Incumbent] = [*(starts or {}).get(k, ())]
            if solutions:
                begin.append(_as_start(solutions[-1]))
            listener = _labelled(reporter, f"k = {k}")
            solution = run(here, replace(options, time_limit=share), starts=begin, reporter=listener, handover=handover)
            solutions.append(solution)
            if each is not None:
                each(solution)
            if solution.status == "interrupted":
                break
        rss, df = _fit_facts(problem, solutions, handover.few_at_hand(problem))
        return Path(
            solutions=tuple(solutions),
            n=problem.n,
            total=float(problem.y @ problem.y),
            rss=np.array(rss),
            df=np.array(df),
        )


def _fit_facts(
    problem: Problem, solutions: Sequence[Solution], few: _core.FewColumns | None
) -> tuple[list[float], list[float]]:
    """Sums of squared residuals and degrees of freedom, the cheap way where all products are at hand."""
    if few is None:
        columns = [problem.design.columns(s.support) for s in solutions]
        residuals = [problem.y - c @ s.coef[s.support] for c, s in zip(columns, solutions)]
        return [float(r @ r) for r in residuals], [degrees_of_freedom(c, problem.gamma) for c in columns]
    supports = [s.support for s in solutions]
    rss = [few.residual_square(s.support.tolist(), s.coef[s.support]) for s in solutions]
    full = far_from_dependent(few.gram, supports) if math.isinf(problem.gamma) else [False] * len(supports)
    return rss, [
        float(support.size) if known else degrees_of_freedom(problem.design.columns(support), problem.gamma)
        for known, support in zip(full, supports)
    ]


def _as_start(solution: Solution) -> Incumbent:
    """The fit of one size, to begin the next with."""
    support = solution.support
    return Incumbent(support=support, coef=solution.coef[support], objective=solution.objective)


def check_sizes(ks: Iterable[int], name: str) -> list[int]:
    """Sort the sizes; each a whole number >= 1, at least one."""
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Iterable):
        raise InputError(f"{name} must be a sequence of whole numbers >= 1, not {ks!r}")
    sizes = sorted({check_count(k, f"an entry of {name}") for k in ks})
    if not sizes:
        raise InputError(f"{name} is empty; give at least one size")
    return sizes


def _labelled(reporter: Reporter, label: str) -> Reporter:
    """A reporter for one solve, whose line begins with `label`."""
    if not reporter.active:
        return reporter

    def show(progress: Progress) -> None:
        reporter.show(replace(progress, label=label))

    return Reporter(show)
