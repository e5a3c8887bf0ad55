"""Where forgeries of groups and kernels start from, and what the solver says on the same data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import parsifal as pf
from forge.choice_problems import ChoiceProblem
from forge.choices import ChoiceDraft, GroupDraft, KernelDraft, apart
from forge.draft import Record
from forge.numbers import times
from forge.referee import nearest
from forge.solvers import Call, told
from forge.structure import Rng

# What docs/kernels.md says that a check refuses though it may be true.
_LIMIT = "gamma makes too much of kernel matrices"


def drafts(problem: Any, rng: Rng, solve: Any) -> list[Any]:
    """All that can be had for a problem; the bare one always can."""
    out: list[Any] = [bare(problem)]
    out += _honest(problem, "honest")
    if problem.ordinary is not None:
        out += rescaled(problem)
    elif rng.random() < 0.5:
        gamma = problem.question.gamma * float(10 ** rng.uniform(-3, 3))
        out += _honest(problem, "honest at another gamma", gamma=gamma)
    return out


def bare(problem: ChoiceProblem) -> ChoiceDraft:
    """Two records, and nothing in them."""
    q, referee = problem.question, problem.referee
    support = tuple(sorted(q.forced_in))
    claim = {"rows": problem.y.size, "k": q.k, "gamma": q.gamma, "complete": True, "fingerprint": 0.0}
    claim |= {"objective": nearest(referee.least(support, q)), "lower_bound": 0.0}
    if not problem.kernels:
        claim["columns"] = problem.X.shape[1]
    return (KernelDraft if problem.kernels else GroupDraft)(
        claim=claim,
        forced_in=sorted(q.forced_in),
        forced_out=sorted(q.forced_out),
        support=list(support),
        coef=[nearest(w) for w in referee.fit(support, q)],
        records=[Record(parent=-1), Record(parent=0)],
        frames=[],
        twins=[],
        steps=["bare"],
        price=list(q.price),
        weight=list(q.weight),
        groups=[list(group) for group in q.groups],
    )


def rescaled(problem: ChoiceProblem) -> list[Any]:
    """The certificate of the same problem in ordinary units, in the units of the problem."""
    x_unit, y_unit = problem.units
    out = []
    for draft in _honest(problem.ordinary, "rescaled"):
        # Of kernels the dual point is in the units of y, and so is what a factor's coefficients multiply.
        unit = y_unit if problem.kernels else y_unit / x_unit
        for record in draft.records:
            record.value = [times(v, unit) for v in record.value]
        draft.coef = _coefficients(problem, draft)
        draft.frames = [
            (items, [[times(times(d, x_unit), x_unit) for d in entry] for entry in diagonal])
            for items, diagonal in draft.frames
        ]
        for name in ("objective", "lower_bound"):
            draft.claim[name] = times(times(draft.claim[name], y_unit), y_unit)
        draft.claim["gamma"], draft.price = problem.question.gamma, list(problem.question.price)
        mark = x_unit * x_unit * y_unit * y_unit if problem.kernels else x_unit * y_unit
        draft.claim["fingerprint"] = times(draft.claim["fingerprint"], mark)
        if not problem.kernels:
            draft.claim["columns"] = problem.X.shape[1]
        out.append(draft)
    return out


def _coefficients(problem: ChoiceProblem, draft: Any) -> list[float]:
    x_unit, y_unit = problem.units
    if not problem.kernels:
        return [times(w, y_unit / x_unit) for w in draft.coef]
    out: list[float] = []
    for j in draft.support:
        kind, values = problem.X[j]
        unit = y_unit / x_unit if kind == "factor" else y_unit / x_unit / x_unit
        part = draft.coef[len(out) : len(out) + values.shape[1]]
        out += [times(w, unit) for w in part]
    return out


def _honest(problem: ChoiceProblem, name: str, **other: Any) -> list[Any]:
    with contextlib.suppress(pf.ParsifalError):
        certificate = problem.solve(**other).certificate
        if certificate is not None and certificate.complete:
            draft = apart(certificate)
            draft.steps = [name]
            return [draft]
    return []


def calls(problem: Any, rng: Rng, solve: Any) -> Iterator[tuple[str, Call]]:
    """The question that is put for a problem."""
    name = "solve_kernels" if problem.kernels else "solve_groups"
    yield name, lambda: _faults(problem)


def _faults(problem: ChoiceProblem) -> list[tuple[str, str]]:
    solution, q, referee = problem.solve(), problem.question, problem.referee
    support = tuple(sorted(int(j) for j in np.asarray(solution.support)))
    if not q.allows(support):
        return [("support", f"chose {list(support)}, which is not allowed")]
    out = told(solution, referee.optimum(q))
    least = referee.least(support, q)
    # Where the fit is all but perfect, only the digits of y'y are known.
    if (
        np.isfinite(solution.objective)
        and solution.objective < least - referee.blur(support, q) - referee.half / 10**12
    ):
        out.append(("objective", f"told {solution.objective!r} for a set whose least is {nearest(least)!r}"))
    # In other units the coefficients may be no doubles, and no certificate can hold them.
    ordinary = problem.units == (1.0, 1.0) and "badly scaled" not in problem.traits
    if ordinary and solution.status == "optimal" and solution.certificate.complete:
        result = pf.check(solution.certificate, problem.X, problem.y)
        if not result and not result.reason.startswith(_LIMIT):
            out.append(("refused", f"an honest certificate is refused: {result.reason}"))
    return out
