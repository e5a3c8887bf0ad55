"""The root of groups: probes, their place in the proof, and what is computed once for all groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import parsifal as pf
from parsifal.arguments import check_support
from parsifal.errors import InputError
from parsifal.kernels import group_rounds
from parsifal.kernels.group_root import GroupProblem, GroupRoot
from parsifal.kernels.group_solve import as_groups
from parsifal.kernels.units import scaled_by


def noisy_groups(seed: int, snr: float = 1.2) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 36))
    members = np.split(np.arange(36), 12)
    fit = sum(X[:, members[g]] @ rng.choice([-1.0, 1.0], 3) for g in (2, 5, 9))
    return X, fit + rng.standard_normal(120) * np.std(fit) / snr, members


def best_of_all(X: np.ndarray, y: np.ndarray, members: list[np.ndarray], k: int, gamma: float) -> float:
    def value(chosen: tuple[int, ...]) -> float:
        Z = X[:, np.concatenate([members[g] for g in chosen])]
        return 0.5 * float(y @ np.linalg.solve(np.eye(len(y)) + gamma * Z @ Z.T, y))

    return min(value(chosen) for chosen in combinations(range(len(members)), k))


@pytest.mark.parametrize("seed", range(6))
def test_probes_leave_the_optimum_and_a_proof_that_is_checked(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, members = noisy_groups(seed)
    answers = []
    probe = group_rounds._Rounds._probe
    monkeypatch.setattr(
        group_rounds._Rounds, "_probe", lambda self, g: (answers.append(probe(self, g)), answers[-1])[1]
    )
    sol = pf.solve_groups(X, y, members, 3, threads=1)
    assert answers, "the problem is one that has something to probe"
    assert sol.status == "optimal"
    best = best_of_all(X, y, members, 3, sol.gamma)
    assert sol.objective == pytest.approx(best, rel=1e-9)
    assert sol.lower_bound <= best * (1 + 1e-12)
    assert pf.check(sol.certificate, X, y)
    assert pf.check(sol.certificate, X, y, exact=True)


def test_a_group_that_a_probe_puts_in_rests_on_its_dual_point(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, members = noisy_groups(0)
    succeeded = []
    probe = group_rounds._Rounds._probe
    monkeypatch.setattr(
        group_rounds._Rounds, "_probe", lambda self, g: probe(self, g) and (succeeded.append(g), True)[1]
    )
    c = pf.solve_groups(X, y, members, 3, threads=1).certificate
    assert succeeded
    assert pf.check(c, X, y)
    record = next(
        r for r in range(c.records) if 1 + succeeded[0] in c.fixed_choice[c.fixed_offset[r] : c.fixed_offset[r + 1]]
    )
    other = c.coef_value.copy()
    other[c.coef_offset[record] : c.coef_offset[record + 1]] *= 0.5
    refused = pf.check(replace(c, coef_value=other), X, y)
    assert not refused
    assert "fixes" in refused.reason
    weak = next(g for g in range(len(members)) if g not in (2, 5, 9))
    swapped = np.where(c.fixed_choice == 1 + succeeded[0], 1 + weak, c.fixed_choice)
    assert not pf.check(replace(c, fixed_choice=swapped), X, y)


def test_a_probe_that_cannot_succeed_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.standard_normal((60, 36)))
    y = rng.standard_normal(60)
    problem = GroupProblem(
        Z=X,
        start=np.arange(0, 37, 3),
        y=y,
        gamma=0.5,
        price=np.zeros(12),
        k=3,
        fix=np.zeros(12, dtype=np.int8),
    )
    root = GroupRoot.of(problem, 1e-6)
    rounds = group_rounds._Rounds(root)
    rounds.run()
    steps, fix, bound = len(root.steps), root.fix.copy(), root.bound
    assert not rounds.probe_best()
    assert len(root.steps) == steps
    assert np.array_equal(root.fix, fix)
    assert root.bound == bound


def test_inner_products_of_a_growing_working_set() -> None:
    rng = np.random.default_rng(2)
    X = np.asfortranarray(rng.standard_normal((50, 40)))
    problem = GroupProblem(
        Z=X,
        start=np.arange(0, 41, 4),
        y=rng.standard_normal(50),
        gamma=0.1,
        price=np.zeros(10),
        k=2,
        fix=np.zeros(10, dtype=np.int8),
    )
    rounds = group_rounds._Rounds(GroupRoot.of(problem, 1e-6))
    for groups in ([1, 6], [0, 1, 6, 7], [0, 1, 3, 6, 7, 9]):
        columns = problem.columns(np.array(groups))
        rounds._hold(columns)
        assert np.allclose(rounds.gram, X[:, columns].T @ X[:, columns], rtol=0, atol=1e-12)
        assert np.array_equal(rounds.gram, rounds.gram.T)


def test_groups_are_read_at_once_as_one_by_one() -> None:
    given = [[3, 1], np.array([0, 5], dtype=np.uint8), (4,), [1, 2, 5]]
    for fast, slow in zip(as_groups(given, 6), [check_support(item, 6) for item in given]):
        assert fast.dtype == np.int64
        assert fast.tolist() == slow.tolist()
    mask = [np.array([True, False, False]), [1, 2]]
    assert [group.tolist() for group in as_groups(mask, 3)] == [[0], [1, 2]]
    for wrong, message in (
        ([[0, 1], [2, 2]], r"groups\[1\] names a column twice"),
        ([[0], [-1]], r"groups\[1\] names column -1"),
        ([[0], [3]], r"groups\[1\] names column 3"),
        ([[0], [0.5]], r"groups\[1\] has dtype"),
        ([[0], []], "empty group"),
    ):
        with pytest.raises(InputError, match=message):
            as_groups(wrong, 3)


@pytest.mark.parametrize("exponent", [0, 1, -3, 600, -600, 1022, -1022, 1023, -1060, -1074])
def test_scaling_rounds_as_ldexp_does(exponent: int) -> None:
    values = np.array([0.0, -0.0, 1.0, -1.5, 5e-324, 3 * 5e-324, 2.3e-308, 1e-150, -np.pi * 1e150])
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(scaled_by(values, exponent), np.ldexp(values, exponent))
