"""Random changes of a proof do not make it prove what is false."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case
from parsifal.proof.certificate import Certificate
from proof.helpers import ARRAYS, changed, fit, ints, slack, tree_case

# Random changes of each array of each proof; `make forge` makes them by the million.
MUTANTS = 30


@cache
def false_claim(which: int) -> tuple[Case, Certificate, Certificate, float]:
    """A problem, its proof, the proof with a support that is not the best, and the best objective."""
    case = [tree_case(), tree_case(2, n=60, gamma=1e3), tree_case(3, n=8, gamma=0.3, k=3)][which]
    case = [case, case, replace(case, penalty=0.02 * case.half)][which]
    certificate = pf.solve(case.X, case.y, **case.options, threads=1).certificate
    assert certificate is not None
    supports, objective = case.all_values()
    best = float(objective.min())
    second = int(np.flatnonzero(objective > best * (1 + 1e-4))[np.argmin(objective[objective > best * (1 + 1e-4)])])
    support = ints(*supports[second])
    coef, _ = fit(case, support)
    false = replace(certificate, support=support, coef=coef, objective=float(objective[second]))
    return case, certificate, false, best


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("which", range(3))
def test_no_mutation_proves_what_is_false(name: str, which: int) -> None:
    """Claim a suboptimal support as optimal and change the proof at random: no change may make it pass."""
    case, certificate, false, best = false_claim(which)
    array = getattr(certificate, name)
    rng = np.random.default_rng([8, which, ARRAYS.index(name)])
    for _ in range(MUTANTS if array.size else 0):
        at = int(rng.integers(array.size))
        if array.dtype.kind == "f":
            step = 10.0 ** rng.uniform(-9, 3) * rng.choice([-1, 1])
            value = rng.choice([array[at] + step, array[at] * (1 + step), -array[at], 0.0])
        else:
            top = max(int(array.max()), case.p)
            value = rng.choice([array[at] + 1, array[at] - 1, -array[at], rng.integers(-top, top + 1)])
        mutant = changed(array, at, value)
        honest = replace(certificate, **{name: mutant})
        with np.errstate(all="ignore"):
            # At the claim that was made, a change may leave a proof that holds; the claim is still true.
            if pf.check(honest, case.X, case.y):
                assert honest.lower_bound <= best + slack(case, best)
            for lower_bound in (best * (1 + 1e-5), false.objective):
                base = false if name not in ("support", "coef") else certificate
                result = pf.check(replace(base, **{name: mutant}, lower_bound=lower_bound), case.X, case.y)
                assert not result, (name, at, array[at], value, result.reason)
