"""Rules that stand in Python and in C++ say the same: rounding, moves of the reference point, tightening, the dual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import parsifal._core as _core
from parsifal.bound.dual import dual_terms, lengthened, safe_dual_value, threshold
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.bound.tightening import Tightened, tighten
from parsifal.bound.working_set import WorkingSet
from parsifal.problem.problem import Problem, make_problem
from parsifal.solver.reduce import Reduced
from parsifal.solver.root import Remainder
from parsifal.solver.start import start_root
from parsifal.solver.tree import run_search

M = 5
NOTHING = Rounding(norm=np.zeros(M), unit=0.0, error=0.0, base=0.0, drift=0.0, reach=0.0)
# Far larger than real ones, each so that its part of the bound is seen beside the others.
ERRORS = {
    "all": {"unit": 2e-4, "error": 3e-3, "base": 2e-1, "drift": 1e-2, "reach": 2.0},
    "drift": {"unit": 0.0, "error": 0.0, "base": 0.0, "drift": 0.02, "reach": 2.0},
    "columns": {"unit": 0.0, "error": 0.0, "base": 0.0, "drift": 0.0, "reach": 1e7},
}


def gathered(seed: int) -> tuple[Problem, Quadratic, np.random.Generator]:
    """A problem in which every column may enter: its relaxation is exact, and there is one solution."""
    rng = np.random.default_rng((seed, 17))
    X = rng.standard_normal((30, M))
    problem = make_problem(X, X @ rng.standard_normal(M) + rng.standard_normal(30), k=M, gamma=1.0)
    work = WorkingSet(problem)
    work.add(np.arange(M))
    return problem, work.quadratic(), rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("errors", ERRORS)
def test_the_search_moves_and_tightens_as_python_does(
    errors: str, tight: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The bound in question is the relaxation's.
    monkeypatch.setattr("parsifal.solver.tree._COMPLETIONS_ABOVE", np.inf)
    problem, q, rng = gathered(seed)
    q = replace(q, rounding=replace(q.rounding, **ERRORS[errors]))
    w, fix = rng.standard_normal(M), np.zeros(M, dtype=np.int8)
    change = w - q.v0
    here = replace(
        q,
        v0=w,
        beta0=q.beta0 - q.gram @ change,
        ls0=q.ls0 - float(change @ q.beta0) + 0.5 * float(change @ q.gram @ change),
        rounding=q.rounding.moved(change),
    )
    tightened: Tightened | None = None
    if tight:
        tightened = tighten(here, np.full(M, 0.3 * np.linalg.eigvalsh(q.gram)[0]))
        here = tightened.quadratic
    ours = here.relax(fix, here.v0, tolerance=1e-12).bound
    # Without errors the bound is another, and it is not so low that the trivial one is kept: the comparison sees them.
    assert 0 < ours < replace(here, rounding=NOTHING).relax(fix, here.v0, tolerance=1e-12).bound - 1e-3

    root = start_root(problem, rel_gap=1e-9, starts=[np.arange(M)])
    reduced = Reduced(problem=problem, index=np.arange(M), fix=fix, survivors=q)
    root.leave(Remainder(reduced=reduced, tightened=tightened, v=w))
    found = run_search(root, node_limit=1, branching="largest")
    assert found.lower_bound == pytest.approx(ours, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_node_bound_allows_for_rounding_as_documented(seed: int) -> None:
    """`Rounding`'s docstring, term by term, at the point that the relaxation ends with."""
    _, q, _ = gathered(seed)
    errors = replace(q.rounding, **ERRORS["all"])
    node = replace(q, rounding=errors).relax(np.zeros(M, dtype=np.int8), q.v0, tolerance=1e-12)
    v = node.best_v
    steps = np.abs(v - q.v0)
    reach = errors.reach + float(steps @ errors.norm)
    relative = errors.error + (errors.unit + sum_unit(int(np.count_nonzero(steps)))) * reach
    beta = q.beta0 - q.gram @ (v - q.v0)
    safe = lengthened(beta, relative * errors.norm)
    assert node.best_beta == pytest.approx(safe, rel=1e-12)
    squares = q.ls0 - float((v - q.v0) @ (q.beta0 + beta)) / 2
    blur = errors.base + errors.drift * reach + 2 * relative * (reach + float(np.abs(v) @ errors.norm))
    expected = squares + float(v @ beta) - float(dual_terms(safe**2, q.gamma).sum()) - blur
    assert node.bound == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("penalty", [0.0, 0.4])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_the_dual_takes_the_terms_above_the_threshold(k: int, penalty: float) -> None:
    rng = np.random.default_rng(k)
    beta, gamma = rng.standard_normal(12), 0.7
    fix = np.zeros(12, dtype=np.int8)
    fix[2], fix[5] = 1, -1
    tau = threshold(beta, fix, gamma=gamma, penalty=penalty, k=k)
    terms = dual_terms(beta**2, gamma, penalty)
    taken = terms[2] + np.maximum(terms, 0.0)[(fix == 0) & (np.abs(beta) >= tau)].sum()
    assert _core.choose(beta, fix, gamma=gamma, penalty=penalty, k=k)[0] == pytest.approx(taken, rel=1e-13)
    y = rng.standard_normal(6)
    bound, _ = safe_dual_value(y, y, beta, 0.0, fix, gamma=gamma, penalty=penalty, k=k)
    assert bound == pytest.approx(0.5 * float(y @ y) - taken, rel=1e-12)


def test_few_columns_round_as_a_working_set_does() -> None:
    problem, q, _ = gathered(3)
    names = ("norm", "unit", "error", "base", "drift", "reach")
    few = _core.FewColumns(problem.design.whole(), problem.y)
    for name, value in zip(names, few.rounding):
        assert value == pytest.approx(getattr(q.rounding, name), rel=1e-14), name
    assert few.gram == pytest.approx(q.gram, rel=1e-14, abs=1e-13)
    assert few.product == pytest.approx(q.beta0, rel=1e-13)
