"""Where forgeries start from: honest certificates, honest ones in other units, and bare ones made by hand."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import Any

import numpy as np

import parsifal as pf
from forge.draft import Draft, Record
from forge.problems import ForgeProblem
from forge.referee import nearest
from parsifal.constraints import AtMost, Exclude, Implies

LIMITS = {"threads": 1, "node_limit": 500, "time_limit": 20.0}


def drafts(problem: ForgeProblem, rng: np.random.Generator, solve: Any) -> list[Draft]:
    """All that can be had for a problem; the bare one always can."""
    out = [bare(problem), exhausted(problem)]
    try:
        solution = solve(problem.X, problem.y, fit_intercept=False, **problem.options, **LIMITS)
    except pf.ParsifalError:
        pass
    else:
        out += _of(solution, "honest")
    if problem.units != (1.0, 1.0):
        out += rescaled(problem)
    elif rng.random() < 0.5:
        # Another gamma needs another tree, and its claim is as wrong as any.
        options = {**problem.options, "gamma": problem.question.gamma * float(10 ** rng.uniform(-3, 3)), **LIMITS}
        with contextlib.suppress(pf.ParsifalError):
            out += _of(pf.solve(problem.X, problem.y, **options), "honest at another gamma")
    if rng.random() < 0.6:
        with contextlib.suppress(pf.ParsifalError):
            found = pf.solve(problem.X, problem.y, fit_intercept=False, **_asked(problem, rng), **LIMITS)
            out += _of(found, "honest, asked")
    return out


def _asked(problem: ForgeProblem, rng: np.random.Generator) -> dict[str, Any]:
    """The problem with signs, prices of single columns and side constraints besides."""
    p, options = problem.p, dict(problem.options)
    if rng.random() < 0.6:
        options["sign"] = rng.integers(-1, 2, p) if rng.random() < 0.6 else 1
    if rng.random() < 0.5:
        options["penalty"] = nearest(problem.referee.half) * rng.choice([0.0, 0.01, 0.1], p) * rng.random(p)
    if p > 2 and rng.random() < 0.7:
        order = [int(j) for j in rng.permutation(p)]
        a, b, c = order[:3]
        kinds = [[AtMost([a, b, c], 1)], [Exclude(a, b)], [Implies(a, [b, c])], [Implies(a, [b, c], any=True)]]
        kinds += 2 * [_caps(order, rng)]
        options["constraints"] = kinds[int(rng.integers(len(kinds)))]
    return options


def _caps(order: list[int], rng: np.random.Generator) -> list[Any]:
    """At most one or two of each group: disjoint ones, which the bound counts, and perhaps one across them."""
    size = int(rng.integers(2, 5))
    parts = [order[at : at + size] for at in range(0, len(order), size)]
    across = [order[1::size]] if rng.random() < 0.3 else []
    return [AtMost(part, int(rng.integers(1, 3))) for part in parts + across if len(part) > 1]


def bare(problem: ForgeProblem) -> Draft:
    """Two records, and nothing in them."""
    q, referee = problem.question, problem.referee
    support = tuple(sorted(q.forced_in))
    coef = [nearest(w) for w in referee.coef(support, q.gamma)]
    claim = {
        "shape": (problem.n, problem.p),
        "k": q.k,
        "penalty": q.penalty,
        "gamma": q.gamma,
        "objective": nearest(referee.least(support, q)),
        "lower_bound": 0.0,
        "complete": True,
        "fingerprint": 0.0,
        "independence": q.independence,
    }
    return Draft(
        claim=claim,
        forced_in=sorted(q.forced_in),
        forced_out=sorted(q.forced_out),
        support=list(support),
        coef=coef,
        records=[Record(parent=-1), Record(parent=0)],
        frames=[],
        twins=[],
        steps=["bare"],
    )


def exhausted(problem: ForgeProblem) -> Draft:
    """The same with the second record exhausted: it stands for all supports, and proves the optimum."""
    draft = bare(problem)
    draft.records[1].kind = 1
    draft.steps = ["exhausted"]
    return draft


def rescaled(problem: ForgeProblem) -> list[Draft]:
    """The certificate of the same problem in ordinary units, in the units of the problem."""
    (X, y), (x_unit, y_unit), q = problem.plain, problem.units, problem.question
    # The objective scales with y^2, the coefficients with y / x, gamma with 1 / x^2.
    gamma, penalty = q.gamma * x_unit * x_unit, q.penalty / y_unit / y_unit
    if not (math.isfinite(penalty) and 1e-300 <= gamma <= 1e300):
        return []
    options = {**problem.options, "gamma": gamma, "penalty": penalty or None}
    try:
        solution = pf.solve(X, y, **options, **LIMITS)
    except pf.ParsifalError:
        return []
    with np.errstate(all="ignore"):
        certificates = [
            replace(
                c,
                gamma=q.gamma,
                penalty=q.penalty,
                coef=c.coef / x_unit * y_unit,
                coef_value=c.coef_value / x_unit * y_unit,
                frame_diagonal=c.frame_diagonal * x_unit * x_unit,
                objective=c.objective * y_unit * y_unit,
                lower_bound=c.lower_bound * y_unit * y_unit,
                fingerprint=c.fingerprint * x_unit * y_unit,
            )
            for c in [solution.certificate]
            if c is not None and c.complete
        ]
    return [Draft.of(c, "rescaled") for c in certificates]


def _of(solution: Any, name: str) -> list[Draft]:
    certificate = getattr(solution, "certificate", None)
    return [] if certificate is None or not certificate.complete else [Draft.of(certificate, name)]
