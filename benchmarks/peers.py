"""Other exact solvers of the penalised problem, on our scale.

All three minimise 1/2 |y - X w|^2 + |w|^2 / (2 gamma) + penalty |S|:

    l0bnb    1/2 |y - X w|^2 + l0 |S| + l2 |w|^2 with |w_j| <= m     l0 = penalty, l2 = 1 / (2 gamma)
    el0ps    Leastsquares + lmbd |S| + L2norm(beta) = beta |w|^2     lmbd = penalty, beta = 1 / (2 gamma)

Both compile themselves at the first call, which is timed apart. l0bnb needs a bound m on the coefficients: it is given
3/2 of the largest one of the optimal solution, which it could not know.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata

import numpy as np

from benchmarks.timing import timed
from parsifal.datasets import make_sparse_regression


@dataclass(frozen=True)
class Answer:
    """What a peer returned: coefficients (judged by us), whether it claims to be done, and its nodes."""

    coef: np.ndarray
    done: bool
    nodes: int


@dataclass(frozen=True)
class Settings:
    """What the peers are asked for."""

    gap: float
    time_limit: float


Peer = Callable[[np.ndarray, np.ndarray, float, float, float, Settings], Answer]


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, gamma: float, penalty: float) -> float:
    """The referee: the value of a coefficient vector, whoever found it."""
    residual = y - X @ w
    return 0.5 * float(residual @ residual) + float(w @ w) / (2 * gamma) + penalty * int(np.count_nonzero(w))


def l0bnb(X: np.ndarray, y: np.ndarray, gamma: float, penalty: float, largest: float, settings: Settings) -> Answer:
    """Solve with l0bnb."""
    tree = import_module("l0bnb").BNBTree(X, y, int_tol=1e-6, rel_tol=min(1e-4, settings.gap))
    with contextlib.redirect_stdout(io.StringIO()):
        sol = tree.solve(penalty, 1 / (2 * gamma), 1.5 * largest, gap_tol=settings.gap, time_limit=settings.time_limit)
    # It stops when no node is left to branch on, too, and then does not update its gap.
    done = sol.gap <= settings.gap or sol.sol_time < settings.time_limit
    return Answer(coef=np.asarray(sol.beta), done=done, nodes=int(tree.number_of_nodes))


def el0ps(X: np.ndarray, y: np.ndarray, gamma: float, penalty: float, largest: float, settings: Settings) -> Answer:
    """Solve with el0ps; `largest` is not needed."""
    solver = import_module("el0ps.solver").BnbSolver(
        relative_gap=settings.gap, time_limit=settings.time_limit, relative_tol=min(1e-4, settings.gap)
    )
    result = solver.solve(
        import_module("el0ps.datafit").Leastsquares(y),
        import_module("el0ps.penalty").L2norm(1 / (2 * gamma)),
        X,
        penalty,
    )
    return Answer(coef=np.asarray(result.x), done=str(result.status) == "optimal", nodes=int(result.iter_count))


def _prepare_l0bnb() -> None:
    # Version 1.0.0 asks for a name that NumPy 2 has dropped.
    if not hasattr(np, "Inf"):
        vars(np)["Inf"] = np.inf
    import_module("l0bnb")


def _prepare_el0ps() -> None:
    # Its tree search, pybnb, starts MPI unless it is told not to; one process needs none.
    try:
        import_module("mpi4py.MPI")
    except (ImportError, RuntimeError):
        sys.modules["mpi4py"] = None  # type: ignore[assignment]
    pybnb = import_module("pybnb")
    if not isinstance(pybnb.Solver, functools.partial):
        pybnb.Solver = functools.partial(pybnb.Solver, comm=None)
    import_module("el0ps.solver")


_PEERS: dict[str, tuple[Callable[[], None], Peer]] = {
    "l0bnb": (_prepare_l0bnb, l0bnb),
    "el0ps": (_prepare_el0ps, el0ps),
}


def available() -> tuple[dict[str, Peer], list[str]]:
    """Return the peers that are installed, compiled, and a line about each."""
    if "numba" not in sys.modules and "NUMBA_CACHE_DIR" not in os.environ:
        # l0bnb keeps what it has compiled; the time that a first user waits is the time without.
        os.environ["NUMBA_CACHE_DIR"] = cache = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, cache, ignore_errors=True)
    peers, notes = {}, []
    X, y, _ = make_sparse_regression(40, 50, 3, random_state=0, order="F")
    for name, (prepare, peer) in _PEERS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                prepare()
                first, _ = timed(lambda peer=peer: peer(X, y, 0.2, 2.0, 1.0, Settings(1e-4, 60.0)))
                second, _ = timed(lambda peer=peer: peer(X, y, 0.2, 2.0, 1.0, Settings(1e-4, 60.0)))
        except ImportError as error:
            notes.append(f"{name}: not installed ({error})")
            continue
        peers[name] = peer
        notes.append(
            f"{name} {metadata.version(name)}: the first call compiles for {first - second:.1f} s (not counted below)"
        )
    return peers, notes
