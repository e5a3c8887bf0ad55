"""The state of the root stage: an incumbent, a bound, the columns fixed for good, and the record that proves it.

A *cutoff* (`gap.cutoff`) is the value below which a solution counts as better than the incumbent. Fixing and pruning
keep every support below the cutoff, so once none is left the cutoff itself is a lower bound.

Only this module changes a `Root`; the rounds, the search and the checkpoint call its methods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import DualPoint
from parsifal.bound.fixing import fix_columns
from parsifal.bound.ridge_loss import fit_support
from parsifal.bound.rounding import sum_unit
from parsifal.bound.tightening import MOST_IN_DETAIL, Tightened
from parsifal.problem.gap import Status
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent
from parsifal.solver.gap_policy import GapPolicy
from parsifal.solver.reduce import Reduced, room

_BEYOND_DOUBLE = 1e11
# Supports that are gone through in about a second if no bound spares any: without a ridge tightening, and with it a
# relaxation, does not pay; and those that take a moment.
_ALL_SUPPORTS, _MOMENT = 1e7, 1e6
# Of so few columns bounds over all of them spare most supports: without a ridge these places are few, too.
_FEW_COLUMNS, _FEW_PLACES = 32, 10
# A diagonal of more columns takes longer than it may save, and one of many is looked for where it is likely to be worth
# as many ridges as this; matrices that are made on the way to one.
_MOST_TIGHTENED, _RIDGES = 3000, 2.0
_COPIES = 5
# So much more than the ridge, less where it takes but a moment, a diagonal that is there after so many multiplications
# comes first; judged by some columns.
_MANY_RIDGES, _MOMENT_COLUMNS, _MOMENT_RIDGES = 100.0, 100, 5.0
_SOON, _SOME = 4e10, 16


@dataclass(frozen=True, kw_only=True)
class ProofStep:
    """One round of the root, for the certificate: a dual point as sparse coefficients and what it fixes.

    ``alpha = y - X[:, index] @ coef``; `columns` and `diagonal` are the surviving columns and the tightening in force,
    None in the rounds over all columns.
    """

    index: IntArray
    coef: FloatArray
    out: IntArray
    into: IntArray
    columns: IntArray | None = None
    diagonal: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class Remainder:
    """What is left for the search: the surviving columns, the tightening in force, and where to begin."""

    reduced: Reduced
    tightened: Tightened | None
    v: FloatArray


@dataclass(kw_only=True)
class Root:
    """The state of the root stage.

    Attributes
    ----------
    problem, policy : what is asked, and how the gap is measured.
    incumbent : Incumbent
        The best support so far.
    fix : int8 array of shape (p,)
        What is forced, and what safe fixing has decided.
    lower_bound : float
        On every support; the search below the root raises it too.
    root_bound : float
        What it was when the root stage ended.
    steps, first_beta : the record for the certificate, and beta of its first step, which identifies X.
    remainder : Remainder or None
        What is handed on to the search; None while the columns have not been gathered.
    memory_limit, node_limit : float
        Bytes that the survivors and the search below the root may take, and nodes of that.
    solves : int
        Linear systems.
    largest_square : float
        Of the norms of the columns that were gathered.
    strain : float
        What the rounding of alpha can be worth in a tightened bound.
    late : bool
        Whether the deadline has cut the stage short.
    """

    problem: Problem
    policy: GapPolicy
    incumbent: Incumbent
    fix: FixArray
    lower_bound: float = -np.inf
    root_bound: float = -np.inf
    steps: list[ProofStep] = field(default_factory=list)
    first_beta: FloatArray = field(default_factory=lambda: np.empty(0))
    remainder: Remainder | None = None
    memory_limit: float = 0.0
    node_limit: float = np.inf
    solves: int = 0
    largest_square: float = 0.0
    strain: float = 0.0
    late: bool = False

    # ---- Where it stands

    @property
    def rel_gap(self) -> float:
        return self.policy.rel_gap

    @property
    def target(self) -> float:
        """What the bound has to reach, up to the gap."""
        return self.policy.target(self.incumbent.objective)

    @property
    def cutoff(self) -> float:
        """The value below which a support counts as better."""
        return self.policy.cutoff(self.incumbent.objective)

    @property
    def prune_gap(self) -> float:
        """The relative part of `cutoff`, as the compiled search takes it."""
        return self.policy.pruning[0]

    @property
    def prune_abs_gap(self) -> float:
        """The absolute part."""
        return self.policy.pruning[1]

    @property
    def exhausted(self) -> bool:
        """Whether no support below the cutoff is left."""
        return self.policy.exhausted(self.incumbent.objective, self.lower_bound)

    @property
    def done(self) -> bool:
        """Whether the gap is closed or nothing is left to look at."""
        return self.policy.closed(self.incumbent.objective, self.lower_bound) or self.exhausted

    @property
    def margin(self) -> float:
        """What the claim keeps below what was computed."""
        return self.policy.margin(self.incumbent.objective)

    def settled(self, ended: Status) -> Status:
        """The status below the target, of a search that ended so."""
        return self.policy.settled(ended, self.incumbent.objective, self.lower_bound)

    def claim(self, lower_bound: float) -> float:
        """A bound as it is reported."""
        return self.policy.claim(self.incumbent.objective, lower_bound)

    @property
    def beyond_double(self) -> bool:
        """Whether the last digits of alpha = y - X w show in the dual value: where gamma |x_j|^2 is large, or what they
        can be worth in a tightened one is not small beside the claim's margin."""
        large = np.isfinite(self.problem.gamma) and self.problem.gamma * self.largest_square > _BEYOND_DOUBLE
        return bool(large) or self.strain > 0.3 * self.margin

    @property
    def blur(self) -> float:
        """About what the rounding of y - X w, and of w, can be worth in a dual value: gamma/2 (x_j'd)^2 for each of k
        columns, d some roundings of y."""
        p = self.problem
        if np.isinf(p.gamma):
            return 0.0
        return 4 * min(p.k, p.p) * p.gamma * self.largest_square * np.finfo(float).eps ** 2 * p.empty_objective

    @property
    def unrelaxed(self) -> bool:
        """Whether there has been no relaxation yet."""
        return not any(step.index.size for step in self.steps)

    def may_tighten(self, columns: int) -> bool:
        """Whether what rounding costs a tightened bound (see `check`) is small beside the gap that is allowed.

        It is not where the fit is nearly perfect; but then the relaxation hardly needs tightening. Without a ridge
        tightening is what makes a relaxation possible, which does not pay where all supports can be gone through.
        """
        if np.isinf(self.problem.gamma) and (
            self.at_once(columns) or _supports(self.problem, columns) <= _ALL_SUPPORTS
        ):
            return False
        size = 2 * self.problem.empty_objective
        allowed = self.policy.allowance(self.incumbent.objective)
        return 30 * sum_unit(self.problem.n + columns) * size <= 0.25 * allowed

    def tightens(self, reduced: Reduced) -> bool:
        """Whether the root looks for a diagonal for these columns: there is none to be had for as many as rows."""
        m = reduced.index.size
        if m >= self.problem.n or m > _MOST_TIGHTENED or not self.may_tighten(m):
            return False
        if m <= MOST_IN_DETAIL:
            return True
        fits = _COPIES * 8 * m**2 <= room(self.memory_limit)
        return fits and self._ridges(m, float(np.diag(reduced.quadratic.gram).max())) >= _RIDGES

    def overshadowed(self, columns: int) -> bool:
        """Whether a diagonal for so many columns is likely to be far more than the ridge, and soon there: before it, a
        relaxation would say little, and take long."""
        p = self.problem
        soon = p.n * columns**2 <= _SOON and columns < p.n and columns <= _MOST_TIGHTENED and p.design.cheap_columns
        if not soon or not self.may_tighten(columns):
            return False
        some = p.design.columns(np.linspace(0, p.p - 1, min(p.p, _SOME), dtype=np.int64))
        enough = _MOMENT_RIDGES if columns <= _MOMENT_COLUMNS else _MANY_RIDGES
        return self._ridges(columns, float(np.median(np.einsum("ij,ij->j", some, some)))) >= enough

    def _ridges(self, columns: int, square: float) -> float:
        """About how many times the ridge the diagonal is: the least eigenvalue of a random matrix of such columns."""
        return self.problem.gamma * square * (1 - math.sqrt(columns / self.problem.n)) ** 2

    def at_once(self, columns: int) -> bool:
        """Whether the sets of so few columns are gone through by the search: it needs no relaxation, and no walks."""
        few = np.isinf(self.problem.gamma) and columns <= _FEW_COLUMNS and self.problem.k <= _FEW_PLACES
        return bool(few) or in_a_moment(self.problem, columns)

    @property
    def reduced(self) -> Reduced | None:
        return None if self.remainder is None else self.remainder.reduced

    @property
    def tightened(self) -> Tightened | None:
        return None if self.remainder is None else self.remainder.tightened

    @property
    def v(self) -> FloatArray | None:
        return None if self.remainder is None else self.remainder.v

    def holds(self, support: IntArray) -> bool:
        """Whether the incumbent has these columns: fitting them once more would give it again."""
        return support.size == self.incumbent.support.size and np.array_equal(np.sort(support), self.incumbent.support)

    # ---- What changes it

    def offer(self, candidate: Incumbent) -> None:
        """Take over a better solution, if it respects what is forced."""
        p, support = self.problem, candidate.support
        allowed = support.size <= p.k and not np.any(p.fix[support] < 0) and p.allows(support)
        complete = np.count_nonzero(p.fix[support] == 1) == np.count_nonzero(p.fix == 1)
        if candidate.objective < self.incumbent.objective and allowed and complete:
            self.incumbent = without_idle(p, candidate)

    def raise_bound(self, bound: float) -> None:
        """Take over a bound on the supports that fixing has left; those it has not are bounded by the cutoff."""
        self.lower_bound = max(self.lower_bound, min(bound, self.cutoff) if self._fixed else bound)

    @property
    def _fixed(self) -> bool:
        return any(step.out.size + step.into.size for step in self.steps)

    def fix_with(
        self,
        dual: DualPoint,
        old: FixArray,
        index: IntArray | None,
        diagonal: FloatArray | None,
        gamma: float | None = None,
    ) -> tuple[FixArray, int]:
        """Note the round for the certificate, take over its bound, and fix what `dual` allows.

        `index` are the columns that `old` and the dual point's beta are for; None: all. `gamma` is that of the
        tightened problem, where it is another one. Returns the new fixes and how many there are; -1 if nothing below
        the cutoff is left.
        """
        p, fixed_before = self.problem, self._fixed
        rules = p.rules_on(index)
        new, count = fix_columns(
            dual.safe_beta(rules),
            old,
            bound=dual.bound,
            cutoff=self.cutoff,
            gamma=gamma or p.gamma,
            penalty=p.penalty,
            k=p.k,
            rules=rules,
        )
        changed = np.flatnonzero(new != old)
        columns = changed if index is None else index[changed]
        active = np.flatnonzero(dual.coef)
        active = active[np.argsort(dual.index[active])]
        if not self.steps:
            self.first_beta = dual.beta
        self.steps.append(
            ProofStep(
                index=dual.index[active],
                coef=dual.coef[active],
                out=columns[new[changed] < 0],
                into=columns[new[changed] > 0],
                columns=index,
                diagonal=None if index is None else np.zeros(index.size) if diagonal is None else diagonal,
            )
        )
        # In this order, since Ctrl-C may come between any two lines: no bound without the record that proves it.
        self.lower_bound = max(self.lower_bound, min(dual.bound, self.cutoff) if fixed_before else dual.bound)
        if rules is not None and count > 0:
            # What side constraints imply has no place in the record: whoever checks it finds out again.
            new, possible = rules.propagate(new)
            count = int(np.count_nonzero(new != old)) if possible else -1
            changed = np.flatnonzero(new != old)
            columns = changed if index is None else index[changed]
        self.fix[columns] = new[changed]
        if count < 0:
            self.raise_bound(self.cutoff)
        return new, count

    def begin_with_response(self, beta: FloatArray) -> None:
        """Note the first record where there is no relaxation: alpha = y, which says which X this is, and no more."""
        none = np.empty(0, dtype=np.int64)
        self.first_beta = beta
        self.steps.append(ProofStep(index=none, coef=np.empty(0), out=none, into=none))

    def leave(self, remainder: Remainder) -> None:
        """Note what the search would begin with."""
        self.remainder = remainder

    def count(self, solves: int, strain: float = 0.0) -> None:
        """Note the linear systems of a round, and what rounding can be worth in its bound."""
        self.solves += solves
        self.strain = max(self.strain, strain)

    def cut_short(self) -> None:
        """Note that the deadline has passed."""
        self.late = True

    def end(self, *, solves: int, largest_square: float) -> None:
        """End the stage: what its reads have cost, the largest square of a column's norm, and the bound so far."""
        self.solves += solves
        self.largest_square = largest_square
        self.root_bound = self.lower_bound

    def withdraw(self) -> None:
        """Go back to the bound of the root stage, where what the search has raised it to is in doubt."""
        self.lower_bound = min(self.lower_bound, self.root_bound)

    def restore(
        self,
        *,
        remainder: Remainder,
        fix: FixArray,
        steps: list[ProofStep],
        first_beta: FloatArray,
        lower_bound: float,
        root_bound: float,
        largest_square: float,
        solves: int,
    ) -> None:
        """Take up a root stage that was saved when it had ended."""
        self.remainder, self.fix, self.steps, self.first_beta = remainder, fix, steps, first_beta
        self.lower_bound, self.root_bound = lower_bound, root_bound
        self.largest_square, self.solves = largest_square, solves


def in_a_moment(problem: Problem, columns: int) -> bool:
    """Whether the sets of so many columns are gone through before a thread has been started for it."""
    return columns <= _FEW_COLUMNS and _supports(problem, columns) <= _MOMENT


def _supports(problem: Problem, columns: int) -> int:
    """How many supports there are of the commonest size, if so many columns are left."""
    forced = int(np.count_nonzero(problem.fix == 1))
    free = max(0, columns - forced)
    return math.comb(free, min(free // 2, problem.k - forced))


def without_idle(problem: Problem, fit: Incumbent) -> Incumbent:
    """The fit without the columns that their sign holds at zero, as far as what is asked allows."""
    p = problem
    if p.rules is None or not p.rules.signed:
        return fit
    support = fit.support
    for j in fit.support[(fit.coef == 0) & (p.fix[fit.support] == 0)]:
        fewer = support[support != j]
        if p.allows(fewer):
            support = fewer
    if support.size == fit.support.size:
        return fit
    smaller = fit_support(p.design, p.y, support, p.gamma, p.penalty, rules=p.rules)
    # Without columns of zero coefficient nothing but rounding can make it larger.
    return smaller if smaller.objective <= fit.objective else fit
