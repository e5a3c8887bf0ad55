"""`solve_groups`: the best k groups of columns. The root here, the search compiled."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.arguments import Gamma, check_number, check_response, check_support
from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.rounding import sum_unit
from parsifal.deadline import TimeUp, limited
from parsifal.design import as_design
from parsifal.design.base import LARGEST
from parsifal.errors import InputError
from parsifal.kernels.asked import Asked, check_asked, check_rows, counted_rows
from parsifal.kernels.group_record import make_certificate
from parsifal.kernels.group_root import GroupProblem, GroupRoot, gather_survivors, may_tighten
from parsifal.kernels.group_rounds import solve_root
from parsifal.kernels.solution import KernelSolution
from parsifal.kernels.units import Given, Units, scaled_by
from parsifal.problem.gamma import auto_gamma, resolve_gamma
from parsifal.problem.gap import Status, settled
from parsifal.problem.progress import Progress, ProgressOption, Reporter
from parsifal.proof.choice_checker import provable_choice
from parsifal.solver.reduce import most_columns, room

_TIGHTEN_AT_MOST = 100  # columns of a node's frame, as in `solve`
_LEAST_MEMORY = 1e6  # bytes of open nodes
_MOST_RECHECKED = 3000  # records of a certificate that is looked at once more


def solve_groups(
    X: Any,
    y: Any,
    groups: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    penalty: Any = None,
    sample_weight: Any = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    threads: int | None = None,
    warm_start: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    progress: ProgressOption = False,
    memory_limit: float = 2e9,
    certificate_limit: float = 64e6,
) -> KernelSolution:
    """Choose the best `k` groups of columns, each entering with all its columns or not at all, with proof.

    Minimises ``1/2 |y - X w|^2 + |w|^2 / (2 gamma) + (prices of the groups)`` over coefficients of at most `k` groups.

    Parameters
    ----------
    X : matrix of shape (n, p)
        As in `solve`.
    y : array of shape (n,)
        The response.
    groups : sequence of index sequences, or one label a column
        The columns of every group. With labels, groups are in sorted order of the labels. Groups may overlap: a column
        of two groups counts as two columns, with a coefficient (and a ridge) in each, whose sum is in `coef`.
    gamma : float or "auto"
        As in `solve_kernels`: with Z_g the columns of a group, its kernel is Z_g Z_g'.
    k, penalty, sample_weight, warm_start, force_in, force_out
        As in `solve_kernels`, with groups in place of kernels.
    rel_gap, time_limit, node_limit, threads, progress, memory_limit, certificate_limit
        As in `solve`.

    Returns
    -------
    KernelSolution
        With `coef`, so that ``X @ coef`` is the fit, and a `GroupCertificate`: ``check(sol.certificate, X, y)``. Ctrl-C
        ends the search with status ``"interrupted"`` and the best set so far.
    """
    started = time.monotonic()
    design = as_design(X)
    n, p = design.shape
    members = as_groups(groups, p)
    response = check_response(y, n)
    weight = check_rows(sample_weight, n)
    asked = check_asked(
        len(members),
        k=k,
        penalty=penalty,
        rel_gap=rel_gap,
        time_limit=time_limit,
        node_limit=node_limit,
        threads=threads,
        warm_start=warm_start,
        force_in=force_in,
        force_out=force_out,
        certificate_limit=certificate_limit,
    )
    memory = check_number(memory_limit, "memory_limit", minimum=0.0)
    flat = np.concatenate(members)
    columns = np.asarray(design.columns(flat), dtype=np.float64)
    _check_entries(columns, flat)
    with limited(deadline=started + asked.seconds, threads=asked.threads):
        solver = GroupSolve(
            columns=columns,
            y=response,
            members=members,
            weight=weight,
            asked=asked,
            memory_limit=memory,
            progress=progress,
            started=started,
        )
        return solver.run(gamma, p)


def as_groups(groups: Any, p: int) -> list[IntArray]:
    """Turn labels or lists of columns into arrays of columns."""
    try:
        items = list(groups)
    except TypeError:
        raise InputError(f"groups must be lists of columns or one label a column, not {groups!r}") from None
    if items and all(np.ndim(item) == 0 for item in items):
        if len(items) != p:
            raise InputError(f"groups has {len(items)} labels, but X has {p} columns")
        labels = np.asarray(items)
        return [np.flatnonzero(labels == label).astype(np.int64) for label in np.unique(labels)]
    out = _plain_groups(items, p) or [check_support(item, p, f"groups[{i}]") for i, item in enumerate(items)]
    if not out or any(len(group) == 0 for group in out):
        raise InputError("groups is empty or holds an empty group; every group needs at least one column")
    return out


def _plain_groups(items: list[Any], p: int) -> list[IntArray]:
    """`check_support` of every group at once, where all are indices that it would take; otherwise none."""
    arrays = [np.asarray(item) for item in items]
    if not arrays or not all(array.ndim == 1 and array.size and array.dtype.kind in "iu" for array in arrays):
        return []
    width = [array.size for array in arrays]
    flat = np.concatenate([array.astype(np.int64) for array in arrays])
    if flat.size == 0 or flat.min() < 0 or flat.max() >= p:
        return []
    # By group, then by column.
    key = np.sort(np.repeat(np.arange(len(arrays)), width) * p + flat)
    if np.any(key[1:] == key[:-1]):
        return []
    return np.split(key % p, np.cumsum(width)[:-1])


def _check_entries(columns: FloatArray, index: IntArray) -> None:
    # What is no number is neither.
    if columns.size == 0 or (columns.min() >= -LARGEST and columns.max() <= LARGEST):
        return
    bad = np.argwhere(~np.isfinite(columns))
    if len(bad):
        raise InputError(f"X[{bad[0][0]}, {index[bad[0][1]]}] is not finite; drop or impute missing values")
    large = np.argwhere(np.abs(columns) > LARGEST)
    if len(large):
        i, j = large[0]
        raise InputError(f"X[{i}, {index[j]}] is {columns[i, j]:.3g}, too large to square; rescale the column")


@dataclass(kw_only=True, eq=False)
class GroupSolve:
    """One solve: the data as given, checked; `rows` as in `KernelSolve`."""

    columns: FloatArray
    y: FloatArray
    members: list[IntArray]
    weight: FloatArray | None = None
    rows: float | None = None
    asked: Asked
    memory_limit: float = 2e9
    progress: ProgressOption
    started: float

    def run(self, gamma: Gamma, p: int) -> KernelSolution:
        """Root, search and answer."""
        asked, weight = self.asked, self.weight
        rows = counted_rows(self.y, weight, self.rows)
        Z, y = self.columns, self.y
        if weight is not None:
            scale = np.sqrt(weight)
            Z, y = scale[:, None] * Z, scale * y
        units = Units.of([Given(values=Z, factor=True, name="X")], y)
        Z, y = np.asfortranarray(scaled_by(Z, -units.factor)), scaled_by(y, -units.response)
        trace = float(np.einsum("ij,ij->", Z, Z)) / len(self.members)
        given = resolve_gamma(gamma, lambda: units.gamma_as_given(auto_gamma(rows, trace)), ridgeless=False)
        price_of = {price: units.penalty(price) for price in set(asked.price.tolist())}
        problem = GroupProblem(
            Z=Z,
            start=np.concatenate([[0], np.cumsum([len(member) for member in self.members])]).astype(np.int64),
            y=y,
            gamma=units.gamma(given),
            price=np.array([price_of[price] for price in asked.price.tolist()]),
            k=asked.k,
            fix=asked.fix,
        )
        root = GroupRoot.of(problem, asked.rel_gap)
        if asked.start is not None:
            root.offer(asked.start)
        reporter = Reporter(self.progress)

        def poll(objective: float, lower_bound: float, nodes: float, open_nodes: float, seconds: float) -> None:
            best = min(objective, root.best.objective)
            reporter.show(
                Progress(
                    objective=units.objective(best),
                    lower_bound=units.bound(root.policy.claim(best, max(root.lower_bound, lower_bound))),
                    nodes=int(nodes),
                    open_nodes=int(open_nodes),
                    seconds=time.monotonic() - self.started,
                    reads=1.0,
                )
            )

        with reporter:
            status, found = self._search(root, poll if reporter.active else None)
        return self._answer(root, found, status, units, given, p)

    def _search(self, root: GroupRoot, poll: Any) -> tuple[Status, dict[str, Any] | None]:
        """Why it ended, "optimal" if nothing is left to search; and what the compiled search gave, if it ran."""
        asked = self.asked
        try:
            solve_root(root)
            root.end()
            if poll is not None:
                poll(root.best.objective, root.lower_bound, 0, 1, 0.0)
            if root.exhausted:
                return "optimal", None
            if not gather_survivors(root, most_columns(self.memory_limit)):
                return "gap_open", None
        except TimeUp:
            return "time_limit", None
        except KeyboardInterrupt:
            return "interrupted", None
        survivors = root.survivors
        assert survivors is not None
        problem, index = root.problem, survivors.index
        relative, absolute = root.policy.pruning
        tighten = may_tighten(root, _TIGHTEN_AT_MOST)
        options = _core.SearchOptions(
            rel_gap=relative,
            abs_gap=absolute,
            time_limit=max(0.0, asked.seconds - (time.monotonic() - self.started)),
            node_limit=asked.nodes,
            threads=asked.threads,
            memory_limit=max(_LEAST_MEMORY, room(self.memory_limit) - survivors.quadratic.gram.nbytes),
            certificate_limit=asked.certificate_limit,
            rank=min(problem.Z.shape) if tighten else 0,
            tighten_at_most=_TIGHTEN_AT_MOST,
        )
        try:
            found = _core.search_groups(
                survivors.quadratic.compiled,
                problem.compiled(index),
                fix=root.fix[index],
                s=survivors.s,
                diagonal=survivors.diagonal,
                objective=root.best.objective,
                options=options,
                poll=poll,
            )
        except KeyboardInterrupt:
            # Before the compiled search listens, or after it.
            return "interrupted", None
        if found["improved"]:
            with suppress(KeyboardInterrupt):
                root.offer(index[np.asarray(found["support"], dtype=np.int64)])
        root.raise_bound(found["lower_bound"])
        return found["stop"], found

    def _answer(
        self,
        root: GroupRoot,
        found: dict[str, Any] | None,
        ended: Status,
        units: Units,
        gamma: float,
        p: int,
    ) -> KernelSolution:
        asked, policy, best = self.asked, root.policy, root.best
        claim = policy.claim(best.objective, root.lower_bound)
        if ended != "optimal":
            # Nothing closes here, so more may be kept for the arithmetic of a check than a tiny `rel_gap` leaves.
            y = root.problem.y
            claim = max(claim - 4 * sum_unit(len(y)) * float(y @ y), policy.floor)
        objective = units.objective(best.objective)
        lower_bound = min(units.bound(claim), objective)
        stated = self._stated(gamma, p)
        certificate = make_certificate(
            root,
            found if found is not None and found["complete"] else None,
            searched=found is not None,
            stated=stated,
            units=units,
            objective=objective,
            lower_bound=lower_bound,
            size_limit=asked.certificate_limit,
        )
        status = settled(ended, objective, lower_bound, asked.rel_gap)
        if status == "precision" and certificate.complete and certificate.records <= _MOST_RECHECKED:
            # Nothing is left to search, and what is missing was taken off for the rounding of inner products; the data
            # themselves round less. Half of the claim's margin is left for another machine's arithmetic.
            X = _first_columns(self.columns, self.members, p)
            margin = units.objective(policy.margin(best.objective))
            proven = provable_choice(certificate, X, self.y) - 0.5 * margin
            lower_bound = min(max(proven, units.bound(policy.floor)), objective)
            certificate = replace(certificate, lower_bound=lower_bound)
            status = settled(ended, objective, lower_bound, asked.rel_gap)
        coef = np.zeros(p)
        chosen = [self.members[g] for g in best.support]
        np.add.at(coef, np.concatenate([np.empty(0, dtype=np.int64), *chosen]), units.coefficients(best.coef))
        fitted = root.problem.Z[:, root.problem.columns(best.support)] @ best.coef
        seconds = time.monotonic() - self.started
        return KernelSolution(
            support=best.support,
            alpha=units.residual(root.problem.y - fitted),
            coef=coef,
            objective=objective,
            lower_bound=lower_bound,
            status=status,
            rel_gap=asked.rel_gap,
            k=asked.k,
            penalty=asked.penalty,
            gamma=gamma,
            stats={
                "nodes": 0 if found is None else found["nodes"],
                "seconds": seconds,
                "search_seconds": 0.0 if found is None else found["seconds"],
                "root_bound": units.bound(root.root_bound),
                "kernels_left": 0 if root.exhausted and found is None else int(np.count_nonzero(root.fix >= 0)),
                "newton_steps": root.solves + (0 if found is None else found["solves"]),
                "empty_objective": units.objective(policy.empty),
            },
            certificate=certificate,
        )

    def _stated(self, gamma: float, p: int) -> dict[str, Any]:
        """The problem as a certificate states it."""
        asked = self.asked
        width = [len(member) for member in self.members]
        return {
            "rows": len(self.y),
            "columns": p,
            "group_offset": np.concatenate([[0], np.cumsum(width)]).astype(np.int64),
            "group_column": np.concatenate(self.members).astype(np.int64),
            "k": asked.k,
            "price": asked.price,
            "gamma": gamma,
            "sample_weight": np.zeros(0) if self.weight is None else self.weight,
            "forced_in": np.flatnonzero(asked.fix == 1).astype(np.int64),
            "forced_out": np.flatnonzero(asked.fix == -1).astype(np.int64),
        }


def _first_columns(columns: FloatArray, members: list[IntArray], p: int) -> FloatArray:
    """X again, from the columns of the groups, those of no group being zero."""
    X = np.zeros((len(columns), p))
    X[:, np.concatenate(members)] = columns
    return X
