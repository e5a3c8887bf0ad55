"""The forger of groups and kernels: its referee is right, it catches broken checkers, the package is not deceived."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import forge
import parsifal as pf
from forge.choice_honest import bare, rescaled
from forge.choice_problems import ChoiceProblem, make_groups, make_kernels
from forge.choices import apart
from forge.referee import above, falsehood
from oracles import rational
from parsifal.proof import choice_tree, exact_groups, group_checker, kernel_checker
from parsifal.proof.certificate import CheckResult

KINDS = ("groups", "kernels")
MAKE: dict[str, Callable[[int, int], ChoiceProblem]] = {"groups": make_groups, "kernels": make_kernels}


def is_ordinary(problem: ChoiceProblem) -> bool:
    return problem.units == (1.0, 1.0) and "badly scaled" not in problem.traits and "level" not in problem.traits


def caught(kind: str, *wanted: str, problems: int = 60, **options: Any) -> forge.tally.Finding:
    """The first finding of one of these kinds, in a run against a checker that a test has broken."""
    tally = forge.run(seed=5, kind=kind, problems=problems, stop_at=lambda finding: finding.kind in wanted, **options)
    finding = tally.examples[-1][1]
    assert finding.kind in wanted
    return finding


# The referee


@pytest.mark.parametrize("number", range(6))
def test_the_referee_of_groups_agrees_with_plain_rational_arithmetic(number: int) -> None:
    problem = make_groups(5, number)
    q, referee = problem.question, problem.referee
    members, response = referee.members(q), referee.response(q)
    values = {}
    for size in range(len(q.groups) + 1):
        for chosen in combinations(range(len(q.groups)), size):
            values[chosen] = rational.value_of(members, response, referee.positions(chosen, q), q.gamma)
            assert referee.loss(chosen, q) == (values[chosen], values[chosen])
    prices = {chosen: sum((Fraction(q.price[j]) for j in chosen), Fraction(0)) for chosen in values}
    assert referee.optimum(q) == min(values[chosen] + prices[chosen] for chosen in values if q.allows(chosen))


def test_factors_and_groups_are_the_same_choice_to_the_referees() -> None:
    seen = 0
    for number in range(40):
        problem = make_kernels(5, number)
        q, referee = problem.question, problem.referee
        if any(kind != "factor" for kind, _ in problem.X) or q.weight:
            continue
        seen += 1
        chosen = tuple(range(len(problem.X)))
        columns = np.hstack([Z for _, Z in problem.X])
        value = rational.value_of(columns, problem.y, range(columns.shape[1]), q.gamma)
        assert referee.loss(chosen, q) == (value, value)
        coef = np.array([float(w) for w in referee.fit(chosen, q)])
        assert referee.worth(chosen, coef, q) >= value
    assert seen > 2


def test_the_positive_part_of_an_indefinite_kernel_is_known() -> None:
    seen = 0
    for number in range(120):
        problem = make_kernels(6, number)
        for j, part in problem.positive.items() if not problem.question.weight else ():
            K = problem.referee.exact(j, problem.question)[0]
            rest = [[a - b for a, b in zip(row, other)] for row, other in zip(part, K)]
            assert rational.is_positive_semidefinite(part)
            assert rational.is_positive_semidefinite(rest)
            # They have nothing in common: the one is what K has above zero, the other what it has below.
            assert all(rational.dot(row, column) == 0 for row in part for column in rest)
            seen += any(map(any, rest))
    assert seen > 3


@pytest.mark.parametrize("kind", ["groups", "kernels"])
def test_weights_that_make_infinite_numbers_are_beyond_the_referee(kind: str) -> None:
    seen = 0
    for number in range(30):
        problem = MAKE[kind](6, number)
        question, referee = problem.question, problem.referee
        if not (0 < referee.optimum(question) < math.inf and np.any(problem.y)):
            continue
        seen += 1
        referee.y = 1e300 * (referee.y / np.abs(referee.y).max())
        assert referee.optimum(replace(question, weight=(1e200,) * referee.y.size)) == math.inf
        assert referee.optimum(replace(question, weight=(1e200,) * (referee.y.size + 1))) == -math.inf
        assert referee.optimum(replace(question, price=())) == -math.inf
    assert seen > 3


@pytest.mark.parametrize("kind", KINDS)
def test_the_referee_tells_true_claims_from_false_ones(kind: str) -> None:
    seen = 0
    for number in range(25):
        problem = MAKE[kind](6, number)
        if not is_ordinary(problem) or "indefinite" in problem.traits or not np.any(problem.y):
            continue
        seen += 1
        assert falsehood(problem.referee, bare(problem).build()) is None
        certificate = problem.solve().certificate
        assert falsehood(problem.referee, certificate) is None
        draft = apart(certificate)
        for field in fields(certificate):
            assert np.array_equal(getattr(draft.copy().build(), field.name), getattr(certificate, field.name)) or (
                field.name in ("point", "points")
            )
        draft.claim["lower_bound"] = above(problem.referee.optimum(problem.question))
        assert "is above the optimum" in str(falsehood(problem.referee, draft.build()))
        draft.claim |= {"lower_bound": 0.0, "objective": certificate.objective * (1 - 1e-6)}
        assert "is below the least" in str(falsehood(problem.referee, draft.build()))
    assert seen > 5


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_in_other_units_are_still_true(kind: str) -> None:
    seen = 0
    for number in range(150):
        problem = MAKE[kind](8, number)
        if "units 1, 1e+150" not in problem.traits or problem.ordinary is None:
            continue
        for draft in rescaled(problem):
            seen += 1
            assert falsehood(problem.referee, draft.build()) is None
            assert pf.check(draft.build(), problem.X, problem.y)
    assert seen > 0


# What it has to catch


@pytest.mark.parametrize("kind", KINDS)
def test_a_checker_that_believes_fixings_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def believing(self: Any, r: int, fixed: Any, fix: Any, terms: Any, **rest: Any) -> Any:
        after = fix.copy()
        after[np.abs(fixed) - 1] = np.sign(fixed)
        return after

    monkeypatch.setattr(choice_tree.ChoiceTree, "fix_items", believing)
    assert caught(kind, "accepted", "provable").certificate.fixed_choice.size


@pytest.mark.parametrize("kind", KINDS)
def test_a_checker_that_misses_a_missing_side_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = choice_tree.ChoiceTree.close

    def careless(self: Any, fix: Any, bound: float, reason: str) -> None:
        if "has no child" not in reason:
            honest(self, fix, bound, reason)

    monkeypatch.setattr(choice_tree.ChoiceTree, "close", careless)
    assert caught(kind, "accepted", "provable", start=12).certificate.records > 1


def test_a_checker_that_believes_diagonals_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_checker, "safe_diagonal", lambda number, diagonal, block: diagonal)
    assert "diagonal" in caught("groups", "accepted", "provable", start=140).where


def test_an_exact_checker_that_believes_fixings_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_groups, "gain", lambda *args: 1 << 4000)
    tally = forge.run(
        seed=5, kind="groups", start=64, problems=60, stop_at=lambda finding: finding.where == "by the exact check"
    )
    assert tally.examples[-1][1].where == "by the exact check"


def test_a_checker_that_takes_every_matrix_for_a_kernel_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_checker, "_indefinite", lambda *args: 0.0)
    assert caught("kernels", "accepted", "provable", start=64).certificate is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_false_bound_and_a_foreign_error_are_caught(kind: str) -> None:
    def half(certificate: Any, data: Any, y: Any) -> float:
        return 0.5 * float(y @ y) + 1.0

    def broken(certificate: Any, data: Any, y: Any) -> CheckResult:
        raise KeyError("gone")

    def gullible(certificate: Any, data: Any, y: Any) -> CheckResult:
        return CheckResult(valid=True, reason="why not")

    assert caught(kind, "provable", problems=1, provable_bound=half)
    assert caught(kind, "raised", problems=1, check=broken)
    assert caught(kind, "accepted", problems=1, check=gullible)


# The package itself


@pytest.mark.parametrize("kind", KINDS)
def test_the_package_is_not_deceived(kind: str) -> None:
    tally = forge.run(seed=11, kind=kind, problems=20, tries=60)
    assert tally.forgeries == 300
    assert not [f"problem {number}: {f.key}: {f.text} ({f.steps})" for number, f in tally.examples]
