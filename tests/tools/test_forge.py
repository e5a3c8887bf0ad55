"""The forger: its referee is right, it catches a weak checker and a weak solver, and the package is not deceived."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from proof.helpers import same

import forge
import parsifal as pf
from forge.draft import Draft
from forge.honest import bare, exhausted, rescaled
from forge.problems import make_problem
from forge.referee import Question, Referee, above, falsehood, nearest, question_of
from forge.tally import Finding, Tally
from oracles import rational
from parsifal.proof.certificate import INDEPENDENCE, CheckResult
from parsifal.proof.completions import Completions

ROOT = Path(__file__).parents[2]


def refuse(certificate: Any, X: Any, y: Any) -> CheckResult:
    return CheckResult(valid=False, reason="no")


def prove_nothing(certificate: Any, X: Any, y: Any) -> float:
    return -np.inf


def search(
    *,
    wanted: Callable[[Finding], bool] | None = None,
    check: Any = refuse,
    provable_bound: Any = prove_nothing,
    solve: Any = None,
    **options: Any,
) -> Tally:
    """A run against victims that are sound, or silent, where no other is given."""
    victims = {"check": check, "provable_bound": provable_bound, "solve": solve or careful_solve(Fraction(0))}
    return forge.run(seed=5, stop_at=wanted, **victims, **options)


def careful_solve(allowed: Fraction) -> Any:
    """A solver by exact enumeration that takes the first support within `allowed` y'y of the best for the best."""

    def solve(X: Any, y: Any, *, k: int, gamma: float, penalty: float | None, **options: Any) -> Any:
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        forced = [frozenset(options[name] or ()) for name in ("force_in", "force_out")]
        share = INDEPENDENCE if np.isinf(gamma) else 0.0
        question, referee = Question(gamma, k, penalty or 0.0, *forced, share), Referee(dense, y)
        allowed_ones = [support for support in sorted(referee.values(gamma)) if question.allows(support)]
        supports = [support for support in allowed_ones if referee.counts(support, question)]
        limit = referee.optimum(question) + allowed * 2 * referee.half
        best = next(support for support in supports if referee.least(support, question) <= limit)
        objective = nearest(referee.least(best, question))
        if not np.isfinite(objective):
            raise pf.InputError("too large")
        return SimpleNamespace(support=best, objective=objective, lower_bound=0.0, status="optimal")

    return solve


def blind_to_empty_frames(certificate: Any, X: Any, y: Any) -> CheckResult:
    """A checker for which a last record in a frame without columns proves 1/2 y'y, whatever is not out."""
    c = certificate
    try:
        draft = Draft.of(c)
        last = draft.records[-1]
        if last.column == -1 and last.frame >= 0 and draft.frames[last.frame] == ([], []) and len(draft.records) > 1:
            draft.records.pop()
            draft.claim["lower_bound"] = min(-1.0, -abs(c.objective))
            rest = pf.check(draft.build(), X, y)
            return CheckResult(valid=bool(rest) and c.lower_bound <= 0.5 * float(y @ y), reason=rest.reason)
    except (AttributeError, IndexError, TypeError, ValueError):
        # Not a certificate whose arrays fit together.
        return refuse(c, X, y)
    return refuse(c, X, y)


# The referee


@pytest.mark.parametrize("unit", [1.0, 1e-150, 1e150, 1e300])
def test_the_referee_agrees_with_plain_rational_arithmetic(unit: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4, 4)) * np.array([1.0, unit, 1.0, 1.0])
    X[:, 2], X[:, 3] = X[:, 0], 0.0
    y = rng.standard_normal(4)
    referee = Referee(X, y)
    for gamma in (0.3, 1e-300, 1e300):
        values = referee.values(gamma)
        for size in range(5):
            for support in combinations(range(4), size):
                assert values[support] == rational.value_of(X, y, support, gamma)
        assert referee.optimum(Question(gamma, 2, 0.25)) == rational.optimum(X, y, 2, gamma, 0.25)
        coef = np.array([nearest(w) for w in referee.coef((0, 1), gamma)])
        worth = referee.worth((0, 1), coef, Question(gamma, 2, 0.25))
        assert worth == rational.objective_of(X, y, np.array([0, 1]), coef, gamma, 0.25)
        assert referee.least((0, 1), Question(gamma, 2, 0.25)) <= worth


def test_the_referee_respects_what_is_forced() -> None:
    problem = make_problem(5, 0)
    referee, p = problem.referee, problem.p
    values = referee.values(1.0)
    inside = Question(1.0, p, 0.0, forced_in=frozenset(range(p)))
    assert referee.optimum(inside) == values[tuple(range(p))]
    assert referee.optimum(Question(1.0, p, 0.0, forced_out=frozenset(range(p)))) == values[()] == referee.half
    assert referee.optimum(Question(1.0, p - 1, 0.0, forced_in=frozenset(range(p)))) == np.inf


def test_the_referee_tells_true_claims_from_false_ones() -> None:
    for number in (0, 1, 2, 4):
        problem = make_problem(6, number)
        if problem.units != (1.0, 1.0) or np.isinf(problem.question.gamma):
            continue
        certificate = pf.solve(problem.X, problem.y, **problem.options, threads=1).certificate
        assert certificate is not None
        assert falsehood(problem.referee, certificate) is None
        draft = Draft.of(certificate)
        question = question_of(certificate)
        assert question is not None
        draft.claim["lower_bound"] = above(problem.referee.optimum(question))
        assert "is above the optimum" in str(falsehood(problem.referee, draft.build()))
        draft.claim |= {"lower_bound": 0.0, "objective": certificate.objective * (1 - 1e-6)}
        assert "is below the least" in str(falsehood(problem.referee, draft.build()))


# What forgeries are made from


def test_a_certificate_taken_apart_and_put_together_is_the_same() -> None:
    records = 0
    for number in range(60):
        problem = make_problem(7, number)
        if problem.units != (1.0, 1.0) or "badly scaled" in problem.traits or problem.question.gamma > 1e9:
            continue
        certificate = pf.solve(problem.X, problem.y, **problem.options, threads=1).certificate
        assert certificate is not None
        assert same(Draft.of(certificate).copy().build(), certificate)
        records = max(records, certificate.records)
    assert records > 3


def test_a_certificate_in_other_units_is_still_true() -> None:
    problem = next(q for q in (make_problem(8, i) for i in range(500)) if "units 1, 1e+150" in q.traits)
    (draft,) = rescaled(problem)
    assert falsehood(problem.referee, draft.build()) is None
    assert pf.check(draft.build(), problem.X, problem.y)


def test_the_bare_draft_claims_nothing_false() -> None:
    for number in range(20):
        problem = make_problem(9, number)
        assert falsehood(problem.referee, bare(problem).build()) is None


def test_a_seed_and_a_number_give_the_same_problem() -> None:
    for number in range(40):
        first, second = (make_problem(3, number) for _ in range(2))
        assert first.describe() == second.describe()
        assert np.array_equal(first.dense, second.dense)
        assert np.array_equal(first.y, second.y)


# What it has to catch


def test_a_checker_that_is_blind_to_empty_frames_is_caught(tmp_path: Path) -> None:
    def wanted(finding: Finding) -> bool:
        return finding.kind == "accepted" and "frame without columns" in finding.where

    tally = search(wanted=wanted, check=blind_to_empty_frames, problems=60, out=tmp_path)
    number, finding = tally.examples[-1]
    assert wanted(finding)
    problem, certificate = make_problem(5, number), finding.certificate
    assert certificate is not None
    if not certificate.forced_in.size and not certificate.forced_out.size and np.isfinite(certificate.gamma):
        optimum = rational.optimum(
            problem.dense, problem.y, certificate.k, certificate.gamma, penalty=certificate.penalty
        )
        assert Fraction(float(certificate.lower_bound)) > optimum
    saved = tmp_path / f"problem-{number}-accepted-{finding.attempt}"
    assert json.loads(saved.with_suffix(".json").read_text())["problem"] == problem.describe()
    with np.load(saved.with_suffix(".npz")) as arrays:
        assert np.array_equal(arrays["X"], problem.dense)
        assert float(arrays["certificate_lower_bound"]) == certificate.lower_bound
    again = search(wanted=wanted, check=blind_to_empty_frames, start=number, problems=1).examples[-1][1]
    assert (again.key, again.text, again.attempt, again.steps) == (
        finding.key,
        finding.text,
        finding.attempt,
        finding.steps,
    )


def test_a_checker_that_believes_exhausted_records_is_caught() -> None:
    def believing(certificate: Any, X: Any, y: Any) -> CheckResult:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Completions, "go_through", lambda *args: None)
            return pf.check(certificate, X, y)

    tally = search(wanted=lambda finding: finding.kind == "accepted", check=believing, problems=60)
    certificate = tally.examples[-1][1].certificate
    assert certificate is not None
    assert np.any(certificate.kind == 1)


def test_an_exhausted_record_without_a_ridge_is_forged_for() -> None:
    """A checker that takes every column for independent is caught by the claims that are about fewer supports."""
    problems = [make_problem(5, number) for number in range(0, 200, 4)]
    without = [q for q in problems if "no ridge" in q.traits and q.units == (1.0, 1.0)]
    assert len(without) > 2
    for problem in without:
        draft = exhausted(problem)
        draft.claim["lower_bound"] = nearest(problem.referee.optimum(problem.question) * (1 - Fraction(1, 10**6)))
        false = draft.copy()
        false.claim["lower_bound"] = above(problem.referee.optimum(problem.question))
        assert falsehood(problem.referee, draft.build()) is None
        assert not pf.check(false.build(), problem.X, problem.y)


def test_a_solver_that_takes_rounding_of_y_for_a_gap_is_caught() -> None:
    def wanted(finding: Finding) -> bool:
        return finding.kind == "solver" and finding.where == "solve: optimal"

    tally = search(wanted=wanted, solve=careful_solve(Fraction(1, 10**14)), problems=100, tries=0)
    assert wanted(tally.examples[-1][1])
    assert "level" in make_problem(5, tally.examples[-1][0]).traits


def test_a_false_bound_and_a_foreign_error_are_caught() -> None:
    def half(certificate: Any, X: Any, y: Any) -> float:
        return 0.5 * float(y @ y)

    def broken(certificate: Any, X: Any, y: Any) -> CheckResult:
        raise KeyError("gone")

    def gullible(certificate: Any, X: Any, y: Any) -> CheckResult:
        return CheckResult(valid=True, reason="why not")

    def kinds(**victims: Any) -> set[str]:
        return {finding.kind for _, finding in search(problems=1, tries=20, **victims).examples}

    assert kinds(provable_bound=half) == {"provable"}
    assert kinds(check=broken) == {"raised"}
    assert kinds(check=gullible) == {"accepted"}
    assert kinds(solve=lambda *args, **options: 1 / 0) == {"raised"}


def test_victims_that_are_sound_are_left_alone() -> None:
    tally = search(problems=9, tries=30)
    assert not [
        finding.text for _, finding in tally.examples if not finding.where.startswith(("path", "k_", "solve_g"))
    ]
    assert tally.forgeries == 90
    assert tally.answers >= 9


# The package itself


def test_the_package_is_not_deceived() -> None:
    tally = forge.run(seed=11, problems=24, tries=50)
    assert tally.forgeries == 300
    assert not [f"problem {number}: {f.key}: {f.text} ({f.steps})" for number, f in tally.examples]


def test_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forge", "--seed", "3", "--problems", "0", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "| findings | 0 of 0 kinds |" in done.stdout
    for kind in ("columns", "groups", "kernels"):
        assert f"python -m forge --kind {kind} --seed 3 --start 0" in done.stdout
        assert (tmp_path / "seed-3" / kind / "summary.md").exists()
