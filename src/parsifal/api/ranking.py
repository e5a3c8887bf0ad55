"""`k_best`: the best supports in order, each proven, and a bound on all the others (`cells` has the method)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from parsifal._public import public
from parsifal.api.cells import BEYOND, CellSearch, reach
from parsifal.api.solving import check_options
from parsifal.arguments import Gamma, check_count, check_number
from parsifal.arrays import FloatArray
from parsifal.bound.ridge_loss import support_bound
from parsifal.bound.rounding import safe_sum
from parsifal.constraints import Constraint
from parsifal.display import html_table, text_table
from parsifal.problem.gap import Status, hold, precision_note, settled
from parsifal.problem.problem import make_problem
from parsifal.problem.progress import ProgressOption, Reporter
from parsifal.problem.solution import Incumbent
from parsifal.problem.standardise import Training, view_of, warn_of_level

_MOST_WITHIN = 1000


@public
@dataclass(frozen=True, kw_only=True)
class Ranking(Sequence[Incumbent]):
    """The best supports, best first.

    Attributes
    ----------
    entries : tuple of Incumbent
        Each has `support`, `coef` (on the support, for the columns as given) and `objective`.
    intercepts : tuple of float
        One for each; 0 where none was asked for.
    lower_bound : float
        No support that is not listed has a smaller objective; infinite if all are listed.
    status : str
        ``"optimal"`` if the list is what was asked for: no support that is not listed is better than the last one by
        more than `rel_gap`. Otherwise what ended it (``"precision"``: double precision tells no more apart): the
        objectives and the bound then hold as well, but a better support may be missing, down to the bound.
    rel_gap : float
        The relative gap that was asked for.
    k, penalty, gamma : the problem.
    frequency : dict
        For every column that is listed, the fraction of the listed supports that have it.
    stats : dict
        ``solves``, ``nodes``, ``seconds``, ``reads``.
    """

    entries: tuple[Incumbent, ...]
    intercepts: tuple[float, ...]
    lower_bound: float
    status: Status
    rel_gap: float
    k: int
    penalty: float | FloatArray
    gamma: float
    feature_names: tuple[str, ...] | None
    stats: dict[str, Any]

    def __post_init__(self) -> None:
        last = self.entries[-1].objective
        hold(self.status, last, min(self.lower_bound, last), self.rel_gap)

    @overload
    def __getitem__(self, item: int) -> Incumbent: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[Incumbent, ...]: ...
    def __getitem__(self, item: int | slice) -> Incumbent | tuple[Incumbent, ...]:
        return self.entries[item]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Incumbent]:
        return iter(self.entries)

    @property
    def margin(self) -> float:
        """How much worse, relatively, every support but the best is, at least."""
        second = self.entries[1].objective if len(self.entries) > 1 else np.inf
        return _excess(min(second, self.lower_bound), self.entries[0].objective)

    @property
    def frequency(self) -> dict[str, float]:
        count: dict[str, int] = {}
        for entry in self.entries:
            for j in entry.support:
                count[self._name(j)] = count.get(self._name(j), 0) + 1
        ordered = sorted(count.items(), key=lambda item: -item[1])
        return {name: times / len(self.entries) for name, times in ordered}

    def _name(self, j: int) -> str:
        return f"x{j}" if self.feature_names is None else self.feature_names[j]

    def _table(self) -> tuple[list[str], list[list[str]], list[int]]:
        best = self.entries[0]
        rows = []
        for rank, entry in enumerate(self.entries, 1):
            excess = _excess(entry.objective, best.objective)
            if rank == 1:
                what = ", ".join(self._name(j) for j in entry.support)
            else:
                gone = [f"-{self._name(j)}" for j in np.setdiff1d(best.support, entry.support)]
                new = [f"+{self._name(j)}" for j in np.setdiff1d(entry.support, best.support)]
                what = " ".join(gone + new)
            rows.append([str(rank), f"{entry.objective:.8g}", f"{excess:.3%}", what])
        return ["rank", "objective", "worse by", "columns"], rows, [3]

    def __str__(self) -> str:
        lines = text_table(*self._table())
        lines.append(f"every other support has an objective of at least {self.lower_bound:.8g} ({self.status})")
        if self.status == "precision":
            lines.append(precision_note(self.stats.get("empty_objective")))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<Ranking {self.status}: {len(self)} supports, objectives {self.entries[0].objective:.8g} to "
            f"{self.entries[-1].objective:.8g}, every other at least {self.lower_bound:.8g}>"
        )

    def _repr_html_(self) -> str:
        facts = [
            ("status", self.status),
            ("gamma", f"{self.gamma:.4g}"),
            ("every other support", f"at least {self.lower_bound:.8g}"),
        ]
        if self.status == "precision":
            facts.append(("note", precision_note(self.stats.get("empty_objective"))))
        return html_table("Ranking", facts, *self._table())


def k_best(
    X: Any,
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    count: int | None = None,
    *,
    fit_intercept: bool | None = None,
    standardize: bool = False,
    tolerance: float | None = None,
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
) -> Ranking:
    """List the best supports in order, with a proof that none is missing.

    Without a penalty the list is over supports of exactly `k` columns (with constraints that allow none, of as many as
    they allow); with one, over all of at most `k`.

    Parameters
    ----------
    X, y, k, gamma, fit_intercept, standardize, penalty, threads, force_in, force_out, sign, constraints, progress
        As in `solve`.
    count : int, optional
        How many; 10 by default, 1000 with a `tolerance`.
    tolerance : float, optional
        List every support whose objective is within this relative distance of the best, at most `count`.
    rel_gap : float
        Supports closer together than this may change places.
    time_limit : float, optional
        Seconds for the whole list.
    node_limit : int, optional
        Nodes for each of the problems that are solved on the way.

    Returns
    -------
    Ranking
        A sequence of `Incumbent`; at a limit or Ctrl-C the list so far.
    """
    options = check_options(rel_gap=rel_gap, time_limit=time_limit, node_limit=node_limit, threads=threads)
    most = check_count(count, "count") if count is not None else 10 if tolerance is None else _MOST_WITHIN
    within = np.inf if tolerance is None else check_number(tolerance, "tolerance", minimum=0.0)
    asked = check_number(rel_gap, "rel_gap", minimum=0.0)
    started = time.monotonic()
    training = view_of(X, y, fit_intercept=fit_intercept, standardize=standardize)
    if training is not None:
        X, y = training.design, training.y
    problem = make_problem(
        X,
        y,
        k=k,
        gamma=gamma,
        penalty=penalty,
        force_in=force_in,
        force_out=force_out,
        sign=sign,
        constraints=constraints,
    )
    if fit_intercept is None:
        warn_of_level(problem.y)
    # The bound of a cell that is out must clear the ceiling by less than `BEYOND`.
    options = replace(options, rel_gap=min(options.rel_gap, 0.5 * BEYOND), certificate_limit=0.0)
    search = CellSearch(
        problem=problem,
        options=options,
        deadline=started + options.time_limit,
        started=started,
        reads=problem.design.reads,
    )
    with Reporter(progress) as reporter:
        status = search.list_best(most, within, reporter)
    return _ranking(search, status, asked, within, training)


def _ranking(search: CellSearch, status: Status, rel_gap: float, within: float, training: Training | None) -> Ranking:
    problem, entries = search.problem, search.entries
    bound = search.heap[0][0] if search.heap else np.inf
    if not entries:
        # A limit struck before the first was proven: the best found still is a support.
        entries = [search.priced(cell, cell.found) for _, _, cell in search.heap if cell.found is not None]
    entries = sorted(entries, key=lambda entry: entry.objective)
    near = [entry for entry in entries if entry.objective <= reach(entries[0].objective, within)]
    for entry in entries[len(near) :]:
        own = support_bound(problem.design, problem.y, entry, problem.gamma, problem.rules)
        price = problem.penalty * entry.support.size if problem.rules is None else 0.0
        bound = min(bound, float(safe_sum(own, price)))
    last = near[-1].objective
    given = [(entry, 0.0) if training is None else _on_given_columns(entry, training) for entry in near]
    return Ranking(
        entries=tuple(entry for entry, _ in given),
        intercepts=tuple(intercept for _, intercept in given),
        lower_bound=bound,
        # A limit that was met on the way stays: the list closed all the same only if no solve of it was cut short.
        status=settled(status, last, min(bound, last), rel_gap) if status == "optimal" else status,
        rel_gap=rel_gap,
        k=problem.k,
        penalty=problem.prices,
        gamma=problem.gamma,
        feature_names=problem.design.feature_names,
        stats={
            "solves": search.solves,
            "nodes": search.nodes,
            "reads": problem.design.reads - search.reads,
            "seconds": time.monotonic() - search.started,
            "empty_objective": problem.empty_objective,
        },
    )


def _on_given_columns(entry: Incumbent, training: Training) -> tuple[Incumbent, float]:
    coef = np.zeros(training.scale.size)
    coef[entry.support] = entry.coef
    raw, intercept = training.unscaled(coef)
    return replace(entry, coef=raw[entry.support]), intercept


def _excess(value: float, best: float) -> float:
    return (value - best) / best if best > 0 else np.inf if value > 0 else 0.0
