"""How the peers are called, in their own environments: `make test-peers`. Every mapping against enumeration."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import referee, scalings
from benchmarks.peers.environments import missing
from benchmarks.peers.runner import Crew
from benchmarks.peers.solvers import SOLVERS, Job

pytestmark = pytest.mark.skipif("PARSIFAL_PEERS" not in os.environ, reason="make test-peers")
P, K = 12, 3


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Crew:
    with Crew(threads=1, memory=None, log=tmp_path_factory.mktemp("log") / "log") as found:
        yield found


def problem(folder: Path, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = np.asfortranarray(rng.standard_normal((n, P)) * rng.uniform(0.6, 1.5, P))
    y = X[:, 1] - 2 * X[:, 4] + 0.7 * X[:, 7] + 0.4 * rng.standard_normal(n)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return X, y


@pytest.mark.parametrize(("n", "gamma"), [(40, 0.1), (40, 1e4), (10, 0.1)])
@pytest.mark.parametrize("name", SOLVERS)
def test_peer_solves_the_papers_problem(name: str, n: int, gamma: float, crew: Crew, tmp_path: Path) -> None:
    solver = SOLVERS[name]
    reason = missing(solver.environment)
    if reason:
        pytest.skip(reason)
    X, y = problem(tmp_path, n)
    values = {s: referee.ridge_value(X, y, s, gamma) for size in range(K + 2) for s in combinations(range(P), size)}
    best = [min(v for s, v in values.items() if len(s) == size) for size in range(K + 2)]
    penalty = scalings.price(best[K - 1], best[K], best[K + 1]) if "penalty" in solver.forms else None
    # More columns than K + 1 were not enumerated; `price` makes K the answer here.
    optimum = best[K] if penalty is None else min(v + penalty * len(s) for s, v in values.items())
    job = Job(
        solver=name,
        data=str(tmp_path),
        k=K if penalty is None else None,
        gamma=gamma,
        penalty=penalty,
        rel_gap=1e-6,
        time_limit=30.0,
        threads=1,
        objective_hint=optimum,
        largest_hint=10.0,
        repeats=1,
    )
    told = crew.ask(job)
    assert told.get("error") is None
    value, support = referee.best_support(X, y, told["supports"], k=job.k, gamma=gamma, penalty=penalty or 0.0)
    assert value is not None
    assert len(support) <= P
    if solver.exact:
        assert told["claim"]
        assert value == pytest.approx(optimum, rel=2e-6)
        if told["lower_bound"] is not None:
            # The bound is on our scale: below the optimum, and within the gap that was asked for.
            assert told["lower_bound"] <= optimum * (1 + 1e-6)
            assert told["lower_bound"] >= optimum * (1 - 1e-4)
    else:
        # No proof, but on easy data nobody misses; with more columns than rows anything may happen.
        assert value >= optimum * (1 - 1e-9)
        assert n < P or value == pytest.approx(optimum, rel=1e-6)
