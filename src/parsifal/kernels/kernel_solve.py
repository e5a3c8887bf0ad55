"""`solve_kernels`: check the arguments, search, put the answer together."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from parsifal.arguments import Gamma, check_response
from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.rounding import sum_unit
from parsifal.errors import InputError, NumericalError
from parsifal.kernels.asked import Asked, check_asked, check_rows, counted_rows
from parsifal.kernels.group_root import sum_below
from parsifal.kernels.kernel_record import Journal, make_certificate
from parsifal.kernels.oracle import Block, Oracle, factor_block, matrix_block
from parsifal.kernels.relaxation import Node
from parsifal.kernels.search import Found, Limits, Search
from parsifal.kernels.solution import KernelSolution
from parsifal.kernels.units import Given, Units
from parsifal.problem.gamma import auto_gamma, resolve_gamma
from parsifal.problem.gap import resolution, settled
from parsifal.problem.progress import Progress, ProgressOption, Reporter
from parsifal.proof.certificate import fingerprint
from parsifal.proof.choice import KernelCertificate
from parsifal.proof.choice_checker import provable_choice
from parsifal.proof.kernel_objective import Part, fitted, mean_parts
from parsifal.solver.gap_policy import GapPolicy

_REFINED = 4  # steps of iterative refinement of the fit, each with twice the digits
_MOST_RECHECKED = 2000  # records of a certificate that is looked at once more
_FEW_ROWS = 100  # with which that takes no time
# Of the gap: what a check may take off for rounding before the solver looks at what it proves.
_DELICATE = 0.01


def solve_kernels(
    kernels: Sequence[Any],
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    penalty: Any = None,
    sample_weight: Any = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    warm_start: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    progress: ProgressOption = False,
    certificate_limit: float = 64e6,
) -> KernelSolution:
    """Choose the best `k` of many kernels for kernel ridge regression, and prove that no other choice is better.

    Minimises ``1/2 y' (I + gamma sum_{j in S} K_j)^-1 y + (prices of S)`` over sets S of at most `k` kernels. This is
    the paper's sparse regression with K_j in place of x_j x_j'.

    Parameters
    ----------
    kernels : sequence of arrays
        Positive semidefinite matrices K_j of shape (n, n), or factors Z_j of shape (n, r) with K_j = Z_j Z_j'. A square
        factor is given as a pair ``("factor", Z)``.
    y : array of shape (n,)
        The response.
    k : int, optional
        Largest number of kernels. May be left out if `penalty` is given.
    gamma : float or "auto"
        Ridge weight, > 0; large means a weak ridge. ``"auto"`` is ``sqrt(n) / mean trace of the kernels``.
    penalty : float or array of shape (m,), optional
        Price of a kernel, >= 0, or one for every kernel.
    sample_weight : array of shape (n,), optional
        Weights of the rows: squared residuals are multiplied by them.
    rel_gap, time_limit, node_limit, progress, certificate_limit
        As in `solve`.
    warm_start, force_in, force_out : indices or mask, optional
        Kernels to start from; kernels that must, and must not, be chosen.

    Returns
    -------
    KernelSolution
        With a `KernelCertificate`: ``check(sol.certificate, kernels, y)``. Ctrl-C ends the search with status
        ``"interrupted"`` and the best set so far.
    """
    started = time.monotonic()
    response = check_response(y, np.shape(y)[0] if np.ndim(y) else 0)
    given = as_given(kernels, len(response))
    weight = check_rows(sample_weight, len(response))
    asked = check_asked(
        len(given),
        k=k,
        penalty=penalty,
        rel_gap=rel_gap,
        time_limit=time_limit,
        node_limit=node_limit,
        threads=1,
        warm_start=warm_start,
        force_in=force_in,
        force_out=force_out,
        certificate_limit=certificate_limit,
    )
    return KernelSolve(given=given, y=response, weight=weight, asked=asked, started=started).run(gamma, progress)


def as_given(kernels: Sequence[Any], n: int) -> list[Given]:
    """Check matrices and factors."""
    try:
        items = list(kernels)
    except TypeError:
        raise InputError(f"kernels must be a sequence of matrices and factors, not {type(kernels).__name__}") from None
    if not items:
        raise InputError("kernels is empty; give at least one matrix or factor")
    given = []
    for j, item in enumerate(items):
        name = f"kernels[{j}]"
        kind = None
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
            kind, item = item
            if kind not in ("factor", "matrix"):
                raise InputError(f"{name} is a {kind!r}; a pair must say 'factor' or 'matrix'")
        array = np.asarray(item)
        if array.dtype.kind == "c":
            raise InputError(f"{name} holds complex numbers; a matrix or factor of real ones is needed")
        if array.ndim != 2 or array.dtype.kind not in "fiub" or array.shape[0] != n:
            raise InputError(f"{name} has shape {array.shape}; a matrix or factor of numbers with {n} rows is needed")
        values = np.asarray(array, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise InputError(f"{name} holds NaN or infinite values")
        square = values.shape[1] == n
        if kind == "matrix" and not square:
            raise InputError(f"{name} has shape {values.shape}; a kernel matrix must be {n} by {n}")
        if square and kind != "factor":
            eps = float(np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps)
            given.append(Given(values=values, factor=False, name=name, eps=eps))
        else:
            given.append(Given(values=values, factor=True, name=name))
    return given


def as_blocks(given: Sequence[Given]) -> list[Block]:
    """Hold each kernel in its cheaper form."""
    return [factor_block(K.values) if K.factor else matrix_block(K.values, K.name, K.eps) for K in given]


def mean_trace(blocks: Sequence[Block]) -> float:
    """The kernels' mean trace, their size."""
    traces = [
        float(np.sum(block.factor**2)) if block.factor is not None else float(np.trace(np.asarray(block.matrix)))
        for block in blocks
    ]
    return float(np.mean(traces))


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """A set of kernels, its residual, its coefficients, and their objective from the kernels themselves."""

    support: IntArray
    alpha: FloatArray
    coef: list[FloatArray]
    objective: float


@dataclass(kw_only=True, eq=False)
class KernelSolve:
    """One solve on kernels that have been checked.

    Attributes
    ----------
    given, y, weight : the data.
    rows : float, optional
        How many rows ``gamma="auto"`` counts, where the data come with their weights.
    asked : Asked
        The question.
    started : float
        Moment of the monotonic clock.
    """

    given: Sequence[Given]
    y: FloatArray
    weight: FloatArray | None = None
    rows: float | None = None
    asked: Asked
    started: float

    def run(self, gamma: Gamma, progress: ProgressOption) -> KernelSolution:
        """Search, and put the answer together."""
        with threadpool_limits(1, "blas"):
            self._gamma = resolve_gamma(gamma, self._auto_gamma, ridgeless=False)
            self._inner_gamma = self._units.gamma(self._gamma)
            self._prices = np.array([self._units.penalty(price) for price in self.asked.price.tolist()])
            journal, searching = Journal(limit=self.asked.certificate_limit), time.monotonic()
            found = self._search(progress, journal)
            return self._answer(found, self._fit(found), journal, time.monotonic() - searching)

    @cached_property
    def _weighted(self) -> tuple[list[Given], FloatArray]:
        """Kernels and response with the weights of the rows."""
        if self.weight is None:
            return list(self.given), self.y
        root = np.sqrt(self.weight)
        kernels = [
            replace(K, values=root[:, None] * K.values if K.factor else np.outer(root, root) * K.values)
            for K in self.given
        ]
        return kernels, root * self.y

    @cached_property
    def _units(self) -> Units:
        return Units.of(*self._weighted)

    @cached_property
    def _blocks(self) -> list[Block]:
        return as_blocks(self._units.scaled(self._weighted[0]))

    @cached_property
    def _response(self) -> FloatArray:
        return np.asarray(np.ldexp(self._weighted[1], -self._units.response))

    def _auto_gamma(self) -> float:
        rows = counted_rows(self.y, self.weight, self.rows)
        return self._units.gamma_as_given(auto_gamma(rows, mean_trace(self._blocks)))

    @cached_property
    def _policy(self) -> GapPolicy:
        y, inside = self._response, self._prices[self.asked.fix == 1]
        return GapPolicy(
            rel_gap=self.asked.rel_gap,
            resolution=resolution(y),
            floor=sum_below(inside),
            empty=0.5 * float(y @ y),
        )

    def _search(self, progress: ProgressOption, journal: Journal) -> Found:
        asked, units, policy = self.asked, self._units, self._policy
        reporter = Reporter(progress)

        def report(objective: float, lower_bound: float, nodes: int, open_nodes: int) -> None:
            reporter.show(
                Progress(
                    objective=units.objective(objective),
                    lower_bound=units.bound(policy.claim(objective, lower_bound)),
                    nodes=nodes,
                    open_nodes=open_nodes,
                    seconds=time.monotonic() - self.started,
                    reads=1.0,
                )
            )

        oracle = Oracle(self._blocks, self._response, self._inner_gamma, self._prices)
        root = Node(fixed_in=asked.fix == 1, free=asked.fix == 0, room=asked.room)
        limits = Limits(rel_gap=asked.rel_gap, deadline=self.started + asked.seconds, nodes=asked.nodes)
        start = None if asked.start is None else tuple(int(j) for j in asked.start)
        with reporter:
            return Search(oracle, root, limits, report, journal).run(start)

    def _fit(self, found: Found) -> Fit:
        """The best set on the kernels themselves, not on compressed ones."""
        support = np.array(found.support, dtype=np.int64)
        blocks, y = [self._blocks[j] for j in support], self._response
        chosen = Oracle(blocks, y, self._inner_gamma, self._prices[support], compress=False)
        system = chosen.system(np.ones(len(support)))
        alpha = system.solve(y)
        coef, residual, objective = self._valued(support, alpha)
        for _ in range(_REFINED):
            # alpha is the residual of its own coefficients, up to the rounding of a solve that a weak ridge magnifies.
            better = alpha + system.solve(residual - alpha)
            other, left, value = self._valued(support, better)
            if not value < objective:
                break
            alpha, coef, residual, objective = better, other, left, value
        if not math.isfinite(self._units.objective(objective)):
            raise NumericalError(
                f"the objective of the {len(support)} kernels is no number in double precision; use a smaller penalty "
                "or gamma, or rescale the kernels"
            )
        return Fit(support=support, alpha=alpha, coef=coef, objective=objective)

    def _valued(self, support: IntArray, alpha: FloatArray) -> tuple[list[FloatArray], FloatArray, float]:
        """The coefficients that alpha stands for, w_j = gamma Z_j'alpha of a factor and u = gamma alpha of a matrix,
        their residual, and their objective 1/2 |y - sum Z_j w_j - sum K_j u|^2 + (sum |w_j|^2 + sum u'K_j u) / (2
        gamma) + prices, with twice the digits: large terms cancel in it where the ridge is weak.
        """
        gamma, kernels = self._inner_gamma, self._units.scaled(self._weighted[0])
        chosen = [kernels[j] for j in support]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            coef = [gamma * (K.values.T @ alpha if K.factor else alpha) for K in chosen]
            parts = [Part(K.values, None, True) if K.factor else Part(*mean_parts(K.values), False) for K in chosen]
            fit = fitted(self._response, parts, coef)
            ridge = sum(square for square, _ in fit.squares)
            value = 0.5 * float(fit.residual @ fit.residual) + 0.5 * ridge / gamma + float(self._prices[support].sum())
        return coef, fit.residual, value

    def _answer(self, found: Found, fit: Fit, journal: Journal, searched: float) -> KernelSolution:
        asked, units, policy = self.asked, self._units, self._policy
        claim = policy.claim(fit.objective, found.lower_bound)
        if found.status not in ("optimal", "precision"):
            # Nothing closes here, so more may be kept for the arithmetic of a check than a tiny `rel_gap` leaves.
            claim = max(claim - 8 * sum_unit(len(self.y)) * policy.empty, policy.floor)
        objective = units.objective(fit.objective)
        lower_bound = min(units.bound(claim), objective)
        certificate = self._certificate(journal, fit, objective, lower_bound)
        short = settled(found.status, objective, lower_bound, asked.rel_gap) == "precision"
        # Where the ridge is weak, and more so where the fit is good, a check takes more off for rounding than the claim
        # keeps as its margin: the rounding of y moves the dual points. Matrices that are no kernels by a little cost it
        # more still, and where that is quickly found out it is.
        least = max(fit.objective, policy.resolution)
        strain = math.sqrt(max(policy.empty / least, 1.0)) if least > 0 else 1.0
        delicate = self._inner_gamma * len(self.y) * sum_unit(len(self.y)) * strain > _DELICATE * asked.rel_gap
        looked_at = short or delicate or len(self.y) <= _FEW_ROWS
        if looked_at and certificate.complete and certificate.records <= _MOST_RECHECKED:
            kernels = [("factor" if K.factor else "matrix", K.values) for K in self.given]
            proven = provable_choice(certificate, kernels, self.y) - 0.5 * units.objective(policy.margin(fit.objective))
            best = min(max(proven, units.bound(policy.floor)), objective)
            lower_bound = best if short else min(best, lower_bound)
            certificate = replace(certificate, lower_bound=lower_bound)
        return KernelSolution(
            support=fit.support,
            alpha=units.residual(fit.alpha),
            objective=objective,
            lower_bound=lower_bound,
            status=settled(found.status, objective, lower_bound, asked.rel_gap),
            rel_gap=asked.rel_gap,
            k=asked.k,
            penalty=asked.penalty,
            gamma=self._gamma,
            stats={
                "nodes": found.nodes,
                "seconds": time.monotonic() - self.started,
                "search_seconds": searched,
                "root_bound": units.bound(found.root_bound),
                "kernels_left": found.kernels_left,
                "newton_steps": found.newton_steps,
                "empty_objective": units.objective(policy.empty),
            },
            certificate=certificate,
        )

    def _certificate(self, journal: Journal, fit: Fit, objective: float, lower_bound: float) -> KernelCertificate:
        asked = self.asked
        stated = {
            "rows": len(self.y),
            "k": asked.k,
            "price": asked.price,
            "gamma": self._gamma,
            "sample_weight": np.zeros(0) if self.weight is None else self.weight,
            "forced_in": np.flatnonzero(asked.fix == 1).astype(np.int64),
            "forced_out": np.flatnonzero(asked.fix == -1).astype(np.int64),
        }
        claimed = {
            "support": fit.support,
            "coef": self._coefficients(fit),
            "objective": objective,
            "lower_bound": lower_bound,
        }
        return make_certificate(
            journal, stated=stated, claimed=claimed, units=self._units, fingerprint=self._fingerprint(journal)
        )

    def _coefficients(self, fit: Fit) -> FloatArray:
        """As the user's kernels have them."""
        units = self._units
        powers = [units.response - (1 if self.given[j].factor else 2) * units.factor for j in fit.support]
        parts = [np.ldexp(w, power) for w, power in zip(fit.coef, powers)]
        return np.concatenate([np.zeros(0), *parts])

    def _fingerprint(self, journal: Journal) -> float:
        """alpha'K_j alpha at the first record, over the kernels that are not forced out."""
        if not journal.complete or not journal.point:
            return 0.0
        alpha, units = journal.points[journal.point[0]], self._units
        squares = np.zeros(len(self.given))
        for j, K in enumerate(units.scaled(self._weighted[0])):
            if self.asked.fix[j] >= 0:
                product = K.values.T @ alpha
                squares[j] = float(product @ product) if K.factor else float(product @ alpha)
        with np.errstate(over="ignore"):
            return fingerprint(np.ldexp(squares, 2 * (units.response + units.factor)))
