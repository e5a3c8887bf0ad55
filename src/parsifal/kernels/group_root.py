"""Groups at the root: the problem, what is known before the search, and what is left for it.

The problem is that of `solve` with groups in place of columns: for any alpha, with beta = Z'alpha over the columns of
all groups and a_g = gamma/2 |beta_g|^2 - price_g,

    D(alpha) = y'alpha - 1/2 |alpha|^2 - (sum of the k largest positive a_g)  <=  c(S) + prices of S  for every S,

and alpha = y - Z v for any coefficients v. Groups with a_g below the k-th largest take no part in the relaxation, so it
is solved on few groups, in inner products, compiled, and priced by one product with all columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

import parsifal._core as _core
from parsifal.arrays import BoolArray, FixArray, FloatArray, IntArray
from parsifal.bound.dual import dual_terms
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.ridge_loss import precise_residual, primal_value, ridge
from parsifal.bound.rounding import Rounding, safe_sum, sum_unit
from parsifal.bound.tightening import tighten_all
from parsifal.design.gram import product
from parsifal.errors import NumericalError
from parsifal.problem.gap import resolution
from parsifal.solver.gap_policy import GapPolicy

_MOST_TIGHTENED = 500  # columns


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupProblem:
    """Which `k` groups of columns explain y best.

    Attributes
    ----------
    Z : Fortran-ordered array of shape (n, q)
        The columns of all groups, side by side: a column of two groups is there twice.
    start : int array of shape (m + 1,)
        The columns of group g are ``start[g]`` to ``start[g + 1] - 1``.
    y : array of shape (n,)
    gamma : float
    price : array of shape (m,)
        Of every group.
    k : int
        Groups that may be chosen.
    fix : int8 array of shape (m,)
        What is forced: 1 in, -1 out.
    """

    Z: FloatArray
    start: IntArray
    y: FloatArray
    gamma: float
    price: FloatArray
    k: int
    fix: FixArray

    @property
    def size(self) -> int:
        """Number of groups."""
        return int(self.price.size)

    def columns(self, groups: IntArray) -> IntArray:
        """The columns of groups, in their order."""
        parts = [np.arange(self.start[g], self.start[g + 1]) for g in groups]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)

    def compiled(self, groups: IntArray) -> _core.Groups:
        """Some of the groups, as the compiled verbs take them."""
        width = self.start[groups + 1] - self.start[groups]
        return _core.Groups(start=np.concatenate([[0], np.cumsum(width)]).tolist(), price=self.price[groups], k=self.k)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums of a column's values over every group."""
        return np.asarray(np.add.reduceat(values, self.start[:-1])) if self.size else np.zeros(0)

    def fit(self, support: IntArray) -> GroupFit:
        """The ridge fit on the columns of some groups; its objective comes from the data."""
        columns = np.ascontiguousarray(self.Z[:, self.columns(support)])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            coef = ridge(columns, self.y, self.gamma)
            value = primal_value(precise_residual(self.y, columns, coef), coef, self.gamma)
        objective = value + float(self.price[support].sum())
        if not math.isfinite(objective):
            raise NumericalError(
                f"the objective of the {support.size} groups is no number in double precision; use a smaller penalty "
                "or gamma, or rescale X"
            )
        return GroupFit(support=support, coef=coef, objective=objective)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupFit:
    """A set of groups, the coefficients of their columns, and its objective."""

    support: IntArray
    coef: FloatArray
    objective: float


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupStep:
    """A step of the proof: a dual point alpha = y - Z v, and the groups that it puts in and out."""

    v: FloatArray
    into: IntArray
    out: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSurvivors:
    """The groups that the search has still to decide about, in inner products.

    `diagonal` is the tightening of their columns, `s` the weights to start from.
    """

    index: IntArray
    quadratic: Quadratic
    diagonal: FloatArray
    s: FloatArray


@dataclass(kw_only=True, eq=False)
class GroupRoot:
    """What is known before the search, and kept up to date at every moment: a deadline may strike anywhere."""

    problem: GroupProblem
    policy: GapPolicy
    best: GroupFit
    fix: FixArray
    bound: float
    steps: list[GroupStep] = field(default_factory=list)
    first_beta: FloatArray = field(default_factory=lambda: np.zeros(0))
    v: FloatArray = field(default_factory=lambda: np.zeros(0))
    s: FloatArray = field(default_factory=lambda: np.zeros(0))
    solves: int = 0
    survivors: GroupSurvivors | None = None
    root_bound: float = 0.0

    @classmethod
    def of(cls, problem: GroupProblem, rel_gap: float) -> GroupRoot:
        """Nothing but the groups that are forced in."""
        inside = np.flatnonzero(problem.fix == 1).astype(np.int64)
        # The prices of what is forced in: every other part of the objective is nonnegative.
        floor = sum_below(problem.price[inside])
        policy = GapPolicy(
            rel_gap=rel_gap, resolution=resolution(problem.y), floor=floor, empty=0.5 * float(problem.y @ problem.y)
        )
        return cls(
            problem=problem,
            policy=policy,
            best=problem.fit(inside),
            fix=problem.fix.copy(),
            bound=floor,
            v=np.zeros(problem.Z.shape[1]),
            s=np.zeros(problem.size),
        )

    @property
    def cutoff(self) -> float:
        return self.policy.cutoff(self.best.objective)

    @property
    def lower_bound(self) -> float:
        """What is proven of the whole problem: what fixing has excluded is bounded by the cutoff."""
        return min(self.bound, self.cutoff) if np.any(self.fix != self.problem.fix) else self.bound

    @property
    def exhausted(self) -> bool:
        """Whether no set below the cutoff is left."""
        return self.bound >= self.cutoff

    def offer(self, support: IntArray) -> None:
        """A set that may be the best."""
        fit = self.problem.fit(support)
        if fit.objective < self.best.objective:
            self.best = fit

    def keep(self, v: FloatArray, s: FloatArray) -> None:
        """The coefficients and weights of the last relaxation: what the next one and the search start from."""
        self.v, self.s = v, s

    def count(self, solves: int) -> None:
        """Inner problems that a relaxation has solved."""
        self.solves += solves

    def take(self, v: FloatArray, beta: FloatArray, bound: float, gains: FloatArray) -> None:
        """A dual point over all groups: its bound, what it fixes, and the step of the proof."""
        free = self.fix == 0
        room = self.problem.k - int(np.count_nonzero(self.fix == 1))
        if_in, if_out = halves(bound, gains, free, room)
        out = free & (if_in >= self.cutoff)
        into = free & ~out & (if_out >= self.cutoff)
        if self.steps and bound <= self.bound and not (out.any() or into.any()):
            return
        # Together: the record is what the fixing rests on.
        if not self.steps:
            self.first_beta = beta
        self.steps.append(GroupStep(v=v, into=np.flatnonzero(into), out=np.flatnonzero(out)))
        self.fix = np.where(out, -1, np.where(into, 1, self.fix)).astype(np.int8)
        self.raise_bound(bound)
        if np.count_nonzero(self.fix == 1) > self.problem.k:
            # More groups must be in than there is room for: no set is below the cutoff.
            self.raise_bound(self.cutoff)

    def raise_bound(self, bound: float) -> None:
        """A bound on the whole problem, or on what fixing has left of it."""
        self.bound = max(self.bound, bound)

    def end(self) -> None:
        """The root is done: what follows is the search."""
        self.root_bound = self.lower_bound


def sum_below(prices: FloatArray) -> float:
    """A sum of prices, lowered by more than it rounds."""
    return float(prices.sum()) * (1.0 - sum_unit(prices.size))


def gather_survivors(root: GroupRoot, most_columns: int) -> bool:
    """Put the groups that are left into inner products, for the search; False if they are too many."""
    p = root.problem
    index = np.flatnonzero(root.fix >= 0).astype(np.int64)
    columns = p.columns(index)
    if columns.size > most_columns:
        return False
    block = p.Z if columns.size == p.Z.shape[1] else np.asfortranarray(p.Z[:, columns])
    norms = np.sqrt(np.einsum("ij,ij->j", block, block))
    v = root.v[columns]
    alpha = p.y - block @ v
    quadratic = around(p, product(block, block), norms, v, block.T @ alpha, alpha)
    diagonal = np.zeros(columns.size)
    if columns.size < len(p.y) and columns.size <= _MOST_TIGHTENED and may_tighten(root, columns.size):
        tightened = tighten_all(quadratic)
        diagonal = diagonal if tightened is None else tightened.diagonal
    root.survivors = GroupSurvivors(index=index, quadratic=quadratic, diagonal=diagonal, s=root.s[index])
    return True


def may_tighten(root: GroupRoot, columns: int) -> bool:
    """Whether what rounding costs a tightened bound is small beside the gap that is allowed, as in `solve`."""
    p = root.problem
    allowed = root.policy.allowance(root.best.objective)
    return 30 * sum_unit(len(p.y) + columns) * float(p.y @ p.y) <= 0.05 * allowed


def priced(
    p: GroupProblem, alpha: FloatArray, beta: FloatArray, norms: FloatArray, fix: FixArray
) -> tuple[float, FloatArray]:
    """D(alpha) over all groups, less all that rounding can be worth, and a_g, none below its exact value."""
    n, length = len(alpha), float(np.linalg.norm(alpha))
    squares = p.sums((np.abs(beta) + sum_unit(n) * length * norms) ** 2)
    width = int(np.max(np.diff(p.start), initial=0))
    squares *= 1.0 + sum_unit(width)
    gains = dual_terms(squares, p.gamma, p.price)
    gains += sum_unit(0) * (np.abs(gains) + p.price)
    inside, free = gains[fix == 1], gains[fix == 0]
    chosen = np.sort(free[free > 0.0])[::-1][: max(p.k - inside.size, 0)]
    first, half = float(p.y @ alpha), 0.5 * float(alpha @ alpha)
    taken = float(inside.sum()) + float(chosen.sum())
    blur = sum_unit(n) * (float(np.linalg.norm(p.y)) * length + half)
    sizes = abs(first) + half + float(np.abs(inside).sum()) + float(chosen.sum())
    return first - half - taken - blur - sum_unit(inside.size + chosen.size) * sizes, gains


def halves(bound: float, a: FloatArray, free: BoolArray, room: int) -> tuple[FloatArray, FloatArray]:
    """The dual value once item j is in, and once it is out, for every free item, from the node's and its terms."""
    if room <= 0:
        return np.full(len(a), np.inf), np.full(len(a), bound)
    ranked = np.append(np.sort(a[free])[::-1], [0.0] * (room + 1))
    last_in, first_out = max(0.0, ranked[room - 1]), max(0.0, ranked[room])
    chosen = (a >= last_in) & (a > 0.0)
    # Of equal terms at the threshold some are in the sum and some are not; either way these are bounds.
    if_in = np.where(chosen, bound, safe_sum(bound, last_in - a))
    if_out = np.where(chosen, safe_sum(bound, a - first_out), bound)
    return if_in, if_out


def around(
    p: GroupProblem, gram: FloatArray, norms: FloatArray, v: FloatArray, beta: FloatArray, alpha: FloatArray
) -> Quadratic:
    """The problem on some columns around the point v, whose residual is alpha and whose products are beta."""
    unit, reach = sum_unit(len(p.y)), float(np.linalg.norm(alpha))
    size = float(np.linalg.norm(p.y)) + float(np.abs(v) @ norms)
    rounding = Rounding(
        norm=norms,
        unit=unit,
        error=unit * reach,
        base=unit * reach**2,
        drift=sum_unit(int(np.count_nonzero(v))) * size,
        reach=reach,
    )
    return Quadratic(
        gram=np.asfortranarray(gram),
        v0=v,
        beta0=beta,
        ls0=0.5 * float(alpha @ alpha),
        gamma=p.gamma,
        penalty=0.0,
        k=p.k,
        rounding=rounding,
    )
