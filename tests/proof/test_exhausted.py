"""Exhausted records against the value of every support in exact arithmetic, without a tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case
from parsifal.proof import completions
from parsifal.proof.certificate import Certificate, fingerprint
from parsifal.proof.checker import provable_bound
from parsifal.proof.columns import Columns
from parsifal.proof.completions import Completions
from parsifal.proof.exact_completions import ExactCompletions
from parsifal.proof.exact_input import Wrong
from parsifal.proof.exact_problem import Problem
from parsifal.proof.exact_rows import ExactRows
from parsifal.proof.scaled import Scaled
from proof.exhausted import SHAPES, Exhaustible, exhaustible
from proof.helpers import fit, ints, refuse

GAMMAS = (math.inf, 1e12, 1.0)


def below(problem: Exhaustible, certificate: Certificate) -> bool:
    """Whether what the records prove is true; how close it comes is another question."""
    proven = provable_bound(certificate, problem.X, problem.y)
    return proven == -math.inf or Fraction(proven) <= problem.optimum


def try_near_columns_first(monkeypatch: pytest.MonkeyPatch, cut: float = 0.3) -> None:
    """Pairs with a cosine above `cut` by themselves, wherever a bound leaves columns: any choice has to be right."""
    monkeypatch.setattr(completions, "_FEW_COLUMNS", 0)
    monkeypatch.setattr(completions, "_MUCH", 0.0)
    monkeypatch.setattr(Completions, "choose_cut", lambda *_: cut)


@pytest.mark.parametrize("cut", [None, 0.1, 0.5])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_exact_values(shape: str, gamma: float, cut: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if cut is not None:
        try_near_columns_first(monkeypatch, cut)
    for seed in range(6 if cut is None else 3):
        problem = exhaustible(shape, seed, gamma, priced=seed % 3 == 1, forced=seed % 3 == 2)
        honest = problem.certificate()
        assert below(problem, honest)
        lowest = float(np.nextafter(float(problem.optimum), np.inf))
        for false in (lowest, float(problem.optimum) * (1 + 1e-7), 2 * float(problem.optimum)):
            if Fraction(false) > problem.optimum:
                # Held to its records alone, and as it would be written; the exact check knows no cut.
                written = replace(honest, lower_bound=false, objective=max(false, honest.objective))
                assert not pf.check(written, problem.X, problem.y)
                if cut is None:
                    alone = replace(honest, lower_bound=false)
                    assert not pf.check(alone, problem.X, problem.y)
                    assert not pf.check(alone, problem.X, problem.y, exact=True)
                    assert not pf.check(written, problem.X, problem.y, exact=True)


def gone_through(problem: Exhaustible, certificate: Certificate) -> None:
    """The exact enumeration by itself: raises where a support is below the claim."""
    whole = Problem(certificate, problem.X, problem.y)
    fix = np.zeros(problem.X.shape[1], dtype=np.int8)
    fix[list(problem.forced_in)] = 1
    ExactCompletions(whole, ExactRows(certificate)).go_through(fix)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_exact_to_the_last_digit(shape: str, gamma: float) -> None:
    """The largest double that is not above the optimum is reached, and the next one is not."""
    for seed in range(6):
        problem = exhaustible(shape, seed, gamma, priced=seed % 3 == 1, forced=seed % 3 == 2)
        claim = float(problem.optimum)
        if Fraction(claim) > problem.optimum:
            claim = math.nextafter(claim, -math.inf)
        honest = problem.certificate()
        gone_through(problem, replace(honest, lower_bound=claim))
        with pytest.raises(Wrong, match="an exhausted record has the support"):
            gone_through(problem, replace(honest, lower_bound=math.nextafter(claim, math.inf)))


# Columns near the one before them: rows, columns, and places.
NEIGHBOURS = {"three places": (60, 30, 3), "four places": (60, 18, 4), "five places": (60, 14, 5)}


def larger_data(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng([9, seed])
    n, p, k = int(rng.integers(15, 50)), int(rng.integers(12, 22)), int(rng.integers(3, 5))
    if kind in NEIGHBOURS:
        n, p, k = NEIGHBOURS[kind]
    X = rng.standard_normal((n, p))
    if kind in NEIGHBOURS:
        for j in range(1, p):
            X[:, j] += 2 * X[:, j - 1] / np.linalg.norm(X[:, j - 1]) * np.sqrt(n)
    if kind == "factor":
        X += rng.standard_normal((n, 1))
    if kind == "twins":
        X[:, 3] = X[:, 4]
    noise = 8.0 if kind in NEIGHBOURS else 1.0
    return X, X[:, :k] @ rng.standard_normal(k) + noise * rng.standard_normal(n), k


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["plain", "factor", "twins", *NEIGHBOURS])
@pytest.mark.parametrize("levels", [False, True])
def test_larger_problems(levels: bool, kind: str, seed: int, gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bounds close most sets, both checks accept what enumeration has found and nothing above it."""
    X, y, k = larger_data(kind, seed)
    tried = set()
    close_near = Completions.close_near
    monkeypatch.setattr(Completions, "close_near", lambda *args: (tried.add(args[6]), close_near(*args)))
    if not levels:
        try_near_columns_first(monkeypatch)
    case = Case(X, y, 1e15 if math.isinf(gamma) else gamma, k)
    supports, objective = case.all_values()
    best, worse = np.argsort(objective)[[0, -1]]
    some = Exhaustible(X[:, :3], y, 1, gamma).certificate()

    def certificate(at: int, claim: float) -> Certificate:
        support = ints(*supports[at])
        coef = np.linalg.lstsq(X[:, support], y, rcond=None)[0] if math.isinf(gamma) else fit(case, support)[0]
        residual = y - X[:, support] @ coef
        value = 0.5 * float(residual @ residual) + (0.0 if math.isinf(gamma) else float(coef @ coef) / (2 * gamma))
        about = {"shape": X.shape, "k": k, "fingerprint": fingerprint(X.T @ y), "lower_bound": claim}
        return replace(some, support=support, coef=coef, objective=value, **about)

    for exact in (False,) if levels else (False, True):
        honest = certificate(int(best), float(objective[best]) * (1 - 9e-8))
        result = pf.check(honest, X, y, exact=exact)
        assert result, result.reason
        result = pf.check(certificate(int(worse), float(objective[best]) * (1 + 1e-7)), X, y, exact=exact)
        assert not result
        assert "an exhausted record has the support" in result.reason
    assert k in tried or kind not in NEIGHBOURS or levels


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", ["plain", "twins", "sum", "whole numbers", "units"])
def test_honest_claims_are_accepted(shape: str, gamma: float) -> None:
    """Where an objective is not at the level of rounding, the claim is reached."""
    accepted = 0
    for seed in range(8):
        problem = exhaustible(shape, seed, gamma, priced=seed % 3 == 1, forced=seed % 3 == 2)
        if problem.optimum < Fraction(problem.y @ problem.y) / 10**6:
            continue
        certificate = problem.certificate()
        result = pf.check(certificate, problem.X, problem.y)
        assert result, result.reason
        proven = provable_bound(certificate, problem.X, problem.y)
        assert float(problem.optimum) - proven <= 1e-8 * float(problem.optimum)
        accepted += 1
    assert accepted > 3


def branch(problem: Exhaustible) -> Certificate:
    """Column 0 in on one side and out on the other, both exhausted, the second in a frame without it."""
    p = problem.X.shape[1]
    return problem.certificate(
        parent=ints(-1, 0, 0),
        column=ints(-1, 0, 0),
        side=ints(0, 1, -1),
        frame=ints(-1, -1, 0),
        kind=ints(0, 1, 1),
        coef_offset=ints(0, 0, 0, 0),
        fixed_offset=ints(0, 0, 0, 0),
        frame_offset=ints(0, p - 1),
        frame_column=np.arange(1, p),
        frame_diagonal=np.zeros(p - 1),
    )


@pytest.fixture(scope="module")
def problem() -> Exhaustible:
    """The best support has columns 0, 1 and 3; without any one of these it is worse by far."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((15, 7))
    y = X[:, [0, 1, 3]] @ [2.0, -1.5, 1.0] + 0.1 * rng.standard_normal(15)
    out = Exhaustible(X, y, 3, math.inf, forced_in=(1,))
    assert out.support == (0, 1, 3)
    return out


@pytest.fixture(scope="module")
def branched(problem: Exhaustible) -> Certificate:
    certificate = branch(problem)
    assert pf.check(certificate, problem.X, problem.y)
    return certificate


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "moved up in the tree": ({"parent": ints(-1, 0, 1)}, "an exhausted record has coefficients, fixings or children"),
    "both on the side that is better closed": ({"side": ints(0, -1, -1)}, "do not split one column"),
    "sides exchanged": ({"side": ints(0, -1, 1)}, "a column outside its frame is not out"),
    "the other side's frame": ({"frame": ints(-1, 0, -1)}, "a column outside its frame is not out"),
    "a frame in place of a decision": (
        {"column": ints(-1, -1), "parent": ints(-1, 0), "side": ints(0, 0), "frame": ints(-1, 0), "kind": ints(0, 1)}
        | {"coef_offset": ints(0, 0, 0), "fixed_offset": ints(0, 0, 0)},
        "a column outside its frame is not out",
    ),
    "a narrower frame": (
        {"frame_offset": ints(0, 5), "frame_column": ints(1, 2, 3, 4, 5), "frame_diagonal": np.zeros(5)},
        "a column outside its frame is not out",
    ),
    "an empty frame": (
        {"frame_offset": ints(0, 0), "frame_column": ints(), "frame_diagonal": np.zeros(0)},
        "a column outside its frame is not out",
    ),
    "a larger k": ({"k": 4}, "an exhausted record has the support"),
    "a smaller k": ({"k": 2}, "the support has 3 columns"),
    "another column forced in": ({"forced_in": ints(2)}, "a column forced in is not in the support"),
    "a column of the best forced out": ({"forced_out": ints(0)}, "a column forced out is in the support"),
    "a larger claim": ({}, "the lower bound is above the objective"),
    "no independence": ({"independence": 1e-5}, "independence is for gamma = inf"),
    "a fixing": ({"fixed_offset": ints(0, 0, 1, 1), "fixed_column": ints(-3)}, "an exhausted record has"),
    "coefficients": (
        {"coef_offset": ints(0, 0, 1, 1), "coef_index": ints(2), "coef_value": np.ones(1)},
        "an exhausted record has",
    ),
    "a dual value": ({"kind": ints(0, 0, 1)}, "below the claim"),
    "one side missing": (
        {"parent": ints(-1, 0), "column": ints(-1, 0), "side": ints(0, -1), "frame": ints(-1, 0), "kind": ints(0, 1)}
        | {"coef_offset": ints(0, 0, 0), "fixed_offset": ints(0, 0, 0)},
        "has no child that puts column 0 in",
    ),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_changed(problem: Exhaustible, branched: Certificate, name: str, exact: bool) -> None:
    changes, reason = CHANGES[name]
    certificate = replace(branched, **changes)
    if name == "a larger claim":
        certificate = replace(certificate, lower_bound=branched.objective * (1 + 1e-7))
    result = pf.check(certificate, problem.X, problem.y, exact=exact)
    assert not result
    assert reason in result.reason, result.reason


def test_a_claim_above_the_optimum(problem: Exhaustible, branched: Certificate) -> None:
    """With a worse support, so that the claim is not above the objective that is told."""
    support = (1, 3)
    coef = np.array([float(w) for w in problem.exact.coef(support, math.inf)])
    worse = replace(branched, support=ints(*support), coef=coef, objective=float(problem.values[support]))
    assert pf.check(worse, problem.X, problem.y)
    for step in (1e-14, 1e-10, 1e-7, 1e-3):
        claim = float(problem.optimum) * (1 + step)
        refuse(replace(worse, lower_bound=claim), problem.X, problem.y, "the support [0, 1, 3], of whose objective")
        result = pf.check(replace(worse, lower_bound=claim), problem.X, problem.y, exact=True)
        assert "the support [0, 1, 3], whose objective is" in result.reason


@pytest.mark.parametrize("gamma", [1e3, 1e12])
def test_another_gamma_is_another_claim(gamma: float) -> None:
    problem = exhaustible("plain", 3, math.inf)
    finite = replace(problem, gamma=gamma)
    # The ridge lifts every objective, so what holds without it holds with it, and not the other way.
    certificate = finite.certificate(gamma=math.inf, independence=1e-6)
    assert finite.optimum > problem.optimum
    coef = np.array([float(w) for w in problem.exact.coef(problem.support, math.inf)])
    told = replace(certificate, coef=coef, support=ints(*problem.support), objective=float(problem.optimum))
    claim = float(finite.optimum) * (1 - 1e-12)
    if Fraction(claim) > problem.optimum * (1 + Fraction(1, 10**11)):
        refuse(replace(told, lower_bound=claim), problem.X, problem.y, "the lower bound is above the objective")


def test_independence_decides_what_counts() -> None:
    """Two columns whose difference, 1e-8 of them, explains y: a support that counts with a ridge, and not without."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 4))
    direction = rng.standard_normal(12)
    X[:, 1] = X[:, 0] + 1e-8 * direction
    y = direction + 0.1 * rng.standard_normal(12)
    problem = Exhaustible(X, y, 2, math.inf)
    assert problem.support != (0, 1)
    honest = problem.certificate()
    assert pf.check(honest, X, y)
    assert "independent (to 1e-06 of their norms)" in str(honest)
    refuse(replace(honest, independence=1e-9), X, y, "the support [0, 1], of whose objective no more is known")
    refuse(replace(honest, independence=0.0), X, y, "the support [0, 1], of whose objective no more is known")
    assert pf.check(honest, X, y, exact=True)
    assert not pf.check(replace(honest, independence=1e-9), X, y, exact=True)


def test_forced_columns_that_depend_on_each_other() -> None:
    """They count by their span, which whole numbers know; doubles do not, and say so."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 5))
    X[:, 1] = 2 * X[:, 0]
    problem = Exhaustible(X, rng.standard_normal(12), 3, math.inf)
    problem.forced_in = (0, 1)
    problem.values = {S: v for S, v in problem.exact.values(math.inf).items() if {0, 1} <= set(S) and len(S) <= 3}
    problem.optimum = min(problem.values.values())
    claim = float(problem.optimum) * (1 - 1e-9)
    honest = replace(problem.certificate(), forced_in=ints(0, 1), lower_bound=claim)
    gone_through(problem, honest)
    assert below(problem, honest)


def test_what_an_exact_check_does_not_take(problem: Exhaustible, branched: Certificate, monkeypatch: Any) -> None:
    monkeypatch.setattr("parsifal.proof.exact_completions.MOST_COLUMNS", 5)
    with pytest.raises(pf.InputError, match="at most 5 columns at an exhausted record, not 6; check without exact"):
        pf.check(branched, problem.X, problem.y, exact=True)


def test_every_set_is_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bounds that close anything, every support of up to k columns is computed by itself."""
    seen = []
    settle = Completions.settle

    def noted(self: Completions, place: Any) -> bool:
        seen.append(tuple(sorted(place.index.tolist())))
        return settle(self, place)

    monkeypatch.setattr(Completions, "settle", noted)
    problem = exhaustible("plain", 1, 1.0)
    problem = replace(problem, k=4)
    # A target that every support is below, and which is not lowered.
    monkeypatch.setattr(Completions, "independent", lambda self, index: True)
    certificate = problem.certificate()

    class Fixed(Completions):
        target = property(lambda self: 1e6, lambda self, value: None)  # type: ignore[assignment]

    data = Scaled(certificate, Columns(problem.X), problem.y)
    Fixed(certificate, data, target=1e6, strict=False).bound(np.zeros(problem.X.shape[1], dtype=np.int8))
    assert set(seen) == set(problem.values)
