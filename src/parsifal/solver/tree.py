"""The search: branch and bound on the reduced problem, compiled; here only what goes in and what comes out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import parsifal._core as _core
from parsifal.arrays import BoolArray, FloatArray, IntArray
from parsifal.bound.held import DistantColumns, HeldColumns, search_bytes
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import sum_unit
from parsifal.deadline import TimeUp, check_time, limited
from parsifal.problem.gap import Status
from parsifal.solver.checkpoint import Checkpoint
from parsifal.solver.reduce import Reduced, room, search_threads
from parsifal.solver.root import Root, in_a_moment

_TIGHTEN_AT_MOST = 100  # columns of a node's frame
_EXHAUST_WORK = 4e8  # multiplications that a node without a relaxation is worth before it is split: a third of a second
# Columns that the search gets besides their products: without a ridge, and with one, where they are asked seldom.
_HELD_BYTES, _HELD_BESIDE = 1 << 28, 1 << 26
# gamma |x|^2 above which nodes are also closed by going through their completions. At any: it pays with a strong ridge
# too (docs/decisions.md). The tests raise it where they need a tree of relaxations.
_COMPLETIONS_ABOVE = 0.0
# What the rounding of inner products can be worth, of the gap that is allowed, above which sets are asked of the data:
# nearly equal columns leave nothing of them else, nor does a reference point with large coefficients.
_BLURRED = 0.1
_DIVE = 0.1  # part of the gap
_AT_ONCE = 1024  # columns
_PRODUCTS_SHARE = 0.25  # of the memory limit, for the products of columns that are held
_LEAST_MEMORY = 1e6  # bytes of open nodes, whatever the columns have left of the limit
_NODES_SHARE = 0.75  # of what they have left: between nodes of many sizes some is always free
BRANCHING = {rule.name: rule for rule in _core.Branching}


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """How the search ended."""

    status: Status
    lower_bound: float
    nodes: int
    solves: int
    depth: int
    seconds: float
    tree: dict[str, Any] | None
    twins: IntArray  # (later, earlier) pairs of equal columns


def run_search(
    root: Root,
    *,
    time_limit: float = np.inf,
    node_limit: float = np.inf,
    threads: int = 1,
    branching: str = "pseudo",
    memory_limit: float = 2e9,
    certificate_limit: float = 0,
    poll: Callable[[float, float, float, float, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> SearchResult:
    """Search the tree below the root; a better support, if there is one, is fitted on the data and put into `root`."""
    reduced = root.reduced
    if reduced is None or root.v is None:
        raise ValueError("the root has not reduced the problem")
    q = reduced.survivors
    diagonal = np.zeros(q.size) if root.tightened is None else root.tightened.diagonal
    started = time.monotonic()
    if isinstance(q, DistantColumns):
        threads = search_threads(q.size, threads, memory_limit)
    twin = np.full(q.size, -1, dtype=np.int64)
    # Twins only save work: where finding them takes too long, the search does without.
    with suppress(TimeUp), limited(deadline=started + time_limit, threads=threads):
        twin = twins(reduced)
    problem = q.compiled
    options = _core.SearchOptions(
        rel_gap=root.prune_gap,
        abs_gap=root.prune_abs_gap,
        time_limit=max(0.0, time_limit - (time.monotonic() - started)),
        node_limit=node_limit,
        threads=threads,
        at_once=root.at_once(q.size),
        here=checkpoint is None and in_a_moment(root.problem, q.size),
        branching=BRANCHING[branching],
        certificate_limit=certificate_limit,
        save_every=np.inf if checkpoint is None else checkpoint.every,
        rank=min(root.problem.n, root.problem.p) if root.may_tighten(_TIGHTEN_AT_MOST) else 0,
        tighten_at_most=_TIGHTEN_AT_MOST,
        # A wide tree is seldom finished: its bound is that of its best node, and a dive looks at others first.
        exhaust_work=_EXHAUST_WORK,
        dive=_DIVE if isinstance(q, Quadratic) else 0.0,
        **_memory_options(root, reduced, threads, memory_limit),
    )
    try:
        r = _core.search(
            problem,
            fix=reduced.fix,
            w=root.v,
            diagonal=diagonal,
            twin=twin.tolist(),
            objective=root.target,
            options=options,
            poll=poll,
            state=None if checkpoint is None else checkpoint.tree,
            save=None if checkpoint is None else lambda tree: checkpoint.save_search(root, tree),
            columns=_data(root, reduced),
            y=root.problem.y,
        )
    except ValueError as error:
        # The compiled side's word about a state that was read from a file.
        if checkpoint is None or checkpoint.tree is None:
            raise
        raise checkpoint.damaged(error) from error
    if r["improved"]:
        root.offer(reduced.fit(np.asarray(r["support"], dtype=np.int64)))
    root.raise_bound(r["lower_bound"])
    return SearchResult(
        # A limit may strike in the moment of the proof; and the search may run out of nodes without the bound to show
        # for it (data beyond double precision).
        status=root.settled(r["stop"]),
        lower_bound=root.lower_bound,
        nodes=r["nodes"],
        solves=r["solves"],
        depth=r["depth"],
        seconds=r["seconds"],
        tree=r if r["complete"] else None,
        twins=np.stack([reduced.index[twin >= 0], reduced.index[twin[twin >= 0]]]),
    )


def _memory_options(root: Root, reduced: Reduced, threads: int, memory_limit: float) -> dict[str, Any]:
    """What the memory leaves for open nodes, and whether it has room for completions."""
    q, p = reduced.survivors, root.problem
    taken = float(q.nbytes)
    products = 0.0
    if not isinstance(q, Quadratic):
        taken += search_bytes(q.size, threads=threads, k=p.k)
        # Completions need the products of all columns, and a copy on the way, at hand or not.
        products = 16.0 * q.size**2
    completions = (
        p.gamma * root.largest_square > _COMPLETIONS_ABOVE
        and products <= min(_PRODUCTS_SHARE * memory_limit, max(0.0, room(memory_limit) - taken))
        and not isinstance(q, DistantColumns)
    )
    taken += products if completions else 0.0
    return {"memory_limit": max(_LEAST_MEMORY, _NODES_SHARE * (room(memory_limit) - taken)), "completions": completions}


def _data(root: Root, reduced: Reduced) -> FloatArray | None:
    """The columns themselves, where sets of them are all there is: inner products do not tell which depend on which,
    and round more."""
    p, m = reduced.problem, reduced.index.size
    alone = np.isinf(p.gamma) or root.at_once(m)
    if 8 * p.n * m > (_HELD_BYTES if alone else _HELD_BESIDE) or not (alone or _blurred(root, reduced)):
        return None
    return p.design.columns(reduced.index) if reduced.columns is None else np.asfortranarray(reduced.columns)


def _blurred(root: Root, reduced: Reduced) -> bool:
    """Whether inner products tell single sets less well than the gap asks for."""
    p, q = reduced.problem, reduced.survivors
    if sum_unit(p.n) * p.gamma * root.largest_square > _BLURRED * root.rel_gap:
        return True
    if not isinstance(q, Quadratic):
        return False
    # About what `Completions` takes off the best set's value, y'y having come from the reference point.
    reach = q.rounding.reach + float(np.abs(q.v0) @ q.rounding.norm)
    unit = 4 * (q.rounding.unit + sum_unit(q.size)) * reach**2 / max(2 * p.empty_objective, 1e-300)
    size = np.sqrt(2 * p.empty_objective) + np.abs(root.incumbent.coef).sum() * np.sqrt(root.largest_square)
    return bool(2 * unit * size**2 > _BLURRED * root.rel_gap * root.target)


def twins(reduced: Reduced) -> IntArray:
    """For each column the nearest earlier one that it repeats exactly (up to sign), or -1.

    Of two equal columns the earlier goes first: every support with only the later one has an equal with the earlier, if
    the same is asked of both.
    """
    if isinstance(reduced.survivors, HeldColumns):
        return _equal_columns(reduced, reduced.survivors.columns)
    if isinstance(reduced.survivors, DistantColumns):
        return np.full(reduced.index.size, -1, dtype=np.int64)
    gram = reduced.quadratic.gram
    diagonal = np.diag(gram)
    twin = np.full(diagonal.size, -1, dtype=np.int64)
    # What the user forces breaks the symmetry.
    usable = (diagonal > 0) & _exchangeable(reduced)
    order = np.argsort(diagonal, kind="stable")
    order = order[usable[order]]
    left, right = order[:-1], order[1:]
    near = np.abs(gram[left, right]) >= diagonal[left] * (1 - 1e-12)
    near &= diagonal[right] <= diagonal[left] * (1 + 1e-12)
    for a, b in zip(left[near], right[near]):
        first, later = min(a, b), max(a, b)
        x, z = reduced.problem.design.columns(reduced.index[[first, later]]).T
        if (np.array_equal(x, z) and _same_rules(reduced, first, later, 1)) or (
            np.array_equal(x, -z) and _same_rules(reduced, first, later, -1)
        ):
            twin[later] = first
    return twin


def _exchangeable(reduced: Reduced) -> BoolArray:
    """Columns that are neither forced nor named by a side constraint."""
    free = np.asarray(reduced.problem.fix[reduced.index] == 0)
    rules = reduced.problem.rules
    return free if rules is None else free & ~np.isin(reduced.index, rules.rows.column)


def _same_rules(reduced: Reduced, first: int, later: int, side: int) -> bool:
    """Whether price and sign are the same for two columns, the later one `side` times the first."""
    rules = reduced.problem.rules
    if rules is None:
        return True
    i, j = reduced.index[first], reduced.index[later]
    return bool(rules.price[i] == rules.price[j] and rules.sign[i] == side * rules.sign[j])


def _alike(columns: npt.NDArray[Any]) -> BoolArray:
    """Columns that may equal another up to sign: those that a random direction does not tell apart."""
    n, m = columns.shape
    direction = np.random.default_rng(0).standard_normal(n)
    sizes, norms = np.empty(m), np.empty(m)
    for start in range(0, m, _AT_ONCE):
        check_time()
        part = columns[:, start : start + _AT_ONCE].astype(np.float64)
        sizes[start : start + _AT_ONCE] = np.abs(direction @ part)
        norms[start : start + _AT_ONCE] = np.abs(part).max(axis=0, initial=0.0)
    order = np.argsort(sizes)
    near = np.diff(sizes[order]) <= 1e-12 * n * np.maximum(norms[order[1:]], norms[order[:-1]])
    alike = np.zeros(m, dtype=bool)
    alike[order[1:]] = near
    alike[order[:-1]] |= near
    return alike


def _equal_columns(reduced: Reduced, columns: npt.NDArray[Any]) -> IntArray:
    """`twins` of columns that are at hand."""
    twin = np.full(columns.shape[1], -1, dtype=np.int64)
    free = _exchangeable(reduced) & _alike(columns)
    last: dict[bytes, int] = {}
    for j in np.flatnonzero(free):
        column = columns[:, j]
        first = column[np.flatnonzero(column)[:1]]
        if first.size == 0:
            continue
        # Signed so that the first entry is positive; adding 0.0 makes -0.0 zero.
        key = hashlib.blake2b((column * np.sign(first[0]) + 0.0).tobytes()).digest()
        earlier = last.get(key)
        if earlier is not None and np.array_equal(np.abs(columns[:, earlier]), np.abs(column)):
            side = 1 if np.array_equal(columns[:, earlier], column) else -1
            if not _same_rules(reduced, earlier, int(j), side):
                continue
            twin[j] = earlier
        last[key] = int(j)
    return twin
