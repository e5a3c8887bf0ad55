"""What is claimed, and on whose word: the certificate proves the relaxation's bound, the rest is the solver's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from parsifal.bound.dual import DualPoint
from parsifal.cuts.loop import CutResult
from parsifal.cuts.start import Start
from parsifal.problem.gap import Status
from parsifal.problem.solution import Solution, reconcile
from parsifal.proof.certificate import Certificate, fingerprint
from parsifal.proof.checker import provable_bound


def make_solution(
    start: Start,
    result: CutResult | None,
    *,
    status: Status,
    lower_bound: float,
    root_bound: float,
    reads: float,
    seconds: dict[str, float],
) -> Solution:
    """Put the answer together."""
    if status == "precision":
        start.polish()
    problem, best = start.problem, start.incumbent
    lower_bound = reconcile(best.objective, lower_bound, problem.empty_objective)
    coef = np.zeros(problem.p)
    coef[best.support] = best.coef
    certificate = root_certificate(start)
    rests_on = None
    if result is None and certificate is not None and (status != "optimal" or start.closes(certificate.lower_bound)):
        lower_bound = min(lower_bound, certificate.lower_bound)
    if certificate is None or lower_bound > certificate.lower_bound:
        proven = "no bound" if certificate is None else f"{certificate.lower_bound:.10g}"
        if result is None:
            rests_on = f"the certificate proves {proven}; the rest is safe fixing, which it does not record"
        else:
            rests_on = (
                f"the certificate proves {proven}; from there to {lower_bound:.10g} the bound rests on the word of "
                f"{result.backend} ({result.nodes} nodes), less {result.tolerance:.1e} for its tolerances"
            )
    return Solution(
        support=best.support,
        coef=coef,
        objective=best.objective,
        lower_bound=lower_bound,
        status=start.settled(status, lower_bound),
        rel_gap=start.rel_gap,
        k=problem.k,
        penalty=problem.prices,
        gamma=problem.gamma,
        stats={
            "nodes": 0 if result is None else result.nodes,
            "reads": reads,
            "seconds": seconds,
            "columns_left": int(np.count_nonzero(start.fix >= 0)),
            "root_bound": root_bound,
            "cuts": 0 if result is None else result.cuts,
            "root_cuts": 0 if result is None else result.root_cuts,
            "solves": 0 if result is None else result.solves,
            "tolerance": 0.0 if result is None else result.tolerance,
            "backend": None if result is None else result.backend,
            "empty_objective": problem.empty_objective,
        },
        feature_names=problem.design.feature_names,
        certificate=certificate,
        rests_on=rests_on,
    )


def root_certificate(start: Start) -> Certificate | None:
    """The relaxation's dual point as a proof of one record, which claims what a check of it finds."""
    problem, best, point = start.problem, start.incumbent, start.point
    if point is None:
        return None
    one, none = np.array([-1], dtype=np.int64), np.empty(0, dtype=np.int64)
    certificate = Certificate(
        shape=(problem.n, problem.p),
        k=problem.k,
        **problem.stated,
        gamma=problem.gamma,
        forced_in=np.flatnonzero(problem.fix == 1).astype(np.int64),
        forced_out=np.flatnonzero(problem.fix == -1).astype(np.int64),
        support=best.support,
        coef=best.coef,
        objective=best.objective,
        lower_bound=-np.inf,
        complete=True,
        fingerprint=fingerprint(np.where(problem.fix >= 0, point.beta, 0.0)),
        independence=0.0,
        parent=one,
        column=one,
        side=np.zeros(1, dtype=np.int64),
        frame=one,
        kind=np.zeros(1, dtype=np.int64),
        coef_offset=np.array([0, point.index.size]),
        coef_index=point.index,
        coef_value=point.coef,
        fixed_offset=np.zeros(2, dtype=np.int64),
        fixed_column=none,
        frame_offset=np.zeros(1, dtype=np.int64),
        frame_column=none,
        frame_diagonal=np.empty(0),
        twin_later=none,
        twin_earlier=none,
    )
    bound = provable_bound(certificate, problem.design, problem.y)
    # A check in other arithmetic must reach the claim too.
    claim = min(bound, best.objective) - 1e-13 * (float(problem.y @ problem.y) + abs(bound)) - _blur(start, point)
    return replace(certificate, lower_bound=claim) if np.isfinite(claim) else None


def _blur(start: Start, point: DualPoint) -> float:
    """What the rounding of beta = X'alpha can be worth in gamma/2 beta_j^2 over k columns, where these are large."""
    problem = start.problem
    rounding = 2 * np.finfo(np.float64).eps * (8.0 + np.sqrt(problem.n)) * start.norms * np.linalg.norm(point.vector)
    worth = problem.gamma * rounding * (np.abs(point.beta) + rounding)
    return float(np.sort(worth[problem.fix >= 0])[::-1][: problem.k].sum())
