"""The search: branch and bound on the reduced problem, compiled; here only what goes in and what comes out."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.checkpoint import Checkpoint
from parsifal.limits import TimeUp, limited
from parsifal.problem import IntArray
from parsifal.reduce import Reduced, room
from parsifal.root import Root
from parsifal.solution import Status

_TIGHTEN_AT_MOST = 100  # columns of a node's frame, as in cpp/search.hpp
_LEAST_MEMORY = 1e6  # bytes of open nodes, whatever the columns have left of the limit
BRANCHING = {"largest": 0, "fractional": 1, "strong": 2, "pseudo": 3}


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
    q = reduced.quadratic
    diagonal = np.zeros(q.size) if root.tightened is None else root.tightened.diagonal
    started = time.monotonic()
    twin = np.full(q.size, -1, dtype=np.int64)
    # Twins only save work: where finding them takes too long, the search does without.
    with suppress(TimeUp), limited(deadline=started + time_limit, threads=threads):
        twin = twins(reduced)
    try:
        r = _core.search(
            *q.arguments,
            reduced.fix,
            root.v,
            diagonal,
            twin.tolist(),
            root.target,
            root.prune_gap,
            root.prune_abs_gap,
            max(0.0, time_limit - (time.monotonic() - started)),
            node_limit,
            threads,
            BRANCHING[branching],
            max(_LEAST_MEMORY, room(memory_limit) - q.gram.nbytes),
            certificate_limit,
            min(root.problem.n, root.problem.p) if root.may_tighten(_TIGHTEN_AT_MOST) else 0,
            poll,
            None if checkpoint is None else checkpoint.tree,
            None if checkpoint is None else lambda tree: checkpoint.save_search(root, tree),
            np.inf if checkpoint is None else checkpoint.every,
            *q.rounding.arguments,
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
        status="optimal" if root.closed else "gap_open" if r["stop"] == "optimal" else r["stop"],
        lower_bound=root.lower_bound,
        nodes=r["nodes"],
        solves=r["solves"],
        depth=r["depth"],
        seconds=r["seconds"],
        tree=r if r["complete"] else None,
        twins=np.stack([reduced.index[twin >= 0], reduced.index[twin[twin >= 0]]]),
    )


def twins(reduced: Reduced) -> IntArray:
    """For each column the nearest earlier one that it repeats exactly (up to sign), or -1.

    Of two equal columns the earlier goes first: every support with only the later one has an equal with the earlier.
    """
    gram = reduced.quadratic.gram
    diagonal = np.diag(gram)
    twin = np.full(diagonal.size, -1, dtype=np.int64)
    # What the user forces breaks the symmetry.
    usable = (diagonal > 0) & (reduced.problem.fix[reduced.index] == 0)
    order = np.argsort(diagonal, kind="stable")
    for a, b in itertools.pairwise(order[usable[order]]):
        first, later = min(a, b), max(a, b)
        if abs(gram[a, b]) < diagonal[a] * (1 - 1e-12) or diagonal[b] > diagonal[a] * (1 + 1e-12):
            continue
        x, z = reduced.problem.design.columns(reduced.index[[first, later]]).T
        if np.array_equal(x, z) or np.array_equal(x, -z):
            twin[later] = first
    return twin
