"""Work the compiled core hard for `make sanitize`: every verb, odd shapes, many threads, interruptions.

`python scripts/hammer.py [--rounds N] [--seed S]`. Answers are compared between numbers of threads and their
certificates checked; what a sanitizer finds, it says itself. No test library is loaded, so that nothing but Python,
NumPy and SciPy runs beside the core.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse

import parsifal as pf
from parsifal.bound.working_set import product
from parsifal.deadline import TimeUp, limited

DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
SHAPES = ((1, 1), (1, 9), (2, 1), (7, 3), (17, 33), (64, 64), (65, 129), (513, 31), (4099, 5), (3, 2000))


def near(a: object, b: object, tolerance: float = 1e-8) -> None:
    """Refuse answers that differ by more than rounding."""
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=tolerance, atol=tolerance)


def scans(rng: np.random.Generator) -> None:
    """Every dtype, layout and shape through scan and gather, against NumPy."""
    for n, p in SHAPES:
        v = rng.normal(size=n)
        for dtype in DTYPES:
            X = rng.integers(0, 2 if dtype == "?" else 5, size=(n, p)).astype(dtype)
            wide = np.zeros((2 * n, 3 * p), dtype)
            wide[::2, ::3] = X
            for layout in (X, np.asfortranarray(X), wide[::2, ::3], X[::-1, ::-1][::-1, ::-1]):
                read = pf.as_design(layout).scan(v, stats=True)
                near(read.xv, X.astype(float).T @ v)
                near(read.sums, X.astype(float).sum(axis=0))
                picked = np.arange(0, p, 2)
                near(pf.as_design(layout).columns(picked), X[:, picked])
        dense = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3)
        for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array):
            for dtype in ("f8", "f4"):
                read = pf.as_design(kind(dense.astype(dtype))).scan(v, stats=True)
                near(read.xv, dense.T @ v, 1e-5)
    # Large enough to be worth threads, and what is made while it is read.
    big = rng.normal(size=(3000, 1500))
    v = rng.normal(size=3000)
    near(pf.as_design(big).scan(v).xv, big.T @ v)
    near(pf.as_design(scipy.sparse.csr_array(big)).scan(v).xv, big.T @ v)
    made = pf.datasets.make_sparse_regression(600, 5000, 5, random_state=1, dtype=np.float32)
    assert made is not None


def problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, object]]:
    """A random problem, often an awkward one."""
    n, p = int(rng.choice([1, 2, 5, 20, 60])), int(rng.choice([1, 2, 7, 25, 60]))
    X = rng.normal(size=(n, p))
    if p > 3 and rng.random() < 0.5:
        X[:, 1] = X[:, 0]
        X[:, 2] = -X[:, 0] + X[:, 3]
        X[:, rng.integers(p)] = 0
    y = X[:, : min(4, p)].sum(axis=1) + rng.normal(size=n)
    if rng.random() < 0.1:
        y[:] = 0
    options: dict[str, object] = {"gamma": float(10.0 ** rng.integers(-3, 4)), "time_limit": 20.0, "node_limit": 3000}
    if rng.random() < 0.6 or p == 1:
        options["k"] = int(rng.choice([1, min(5, p), p]))
    else:
        options["penalty"] = float(10.0 ** rng.integers(-2, 1))
    if p > 6 and rng.random() < 0.3:
        options["force_in"], options["force_out"] = [p - 1], [p - 2]
    options["branching"] = str(rng.choice(["pseudo", "strong", "fractional"]))
    return X, y, options


def searches(rng: np.random.Generator, directory: Path, count: int) -> None:
    """The same answer from 1 to 8 threads, a valid certificate, and a search that is saved and resumed."""
    for number in range(count):
        X, y, options = problem(rng)
        answers = [pf.solve(X, y, threads=threads, **options) for threads in (1, 2, 8)]
        if all(answer.status == "optimal" for answer in answers):
            for answer in answers:
                near(answer.objective, answers[0].objective, 3e-6)
        for answer in answers:
            verdict = pf.check(answer.certificate, X, y)
            assert verdict, verdict
        file = directory / f"{number}.ckpt"
        for limit in (1, 5, 20, 3000):
            again = pf.solve(X, y, threads=2, checkpoint=file, **{**options, "node_limit": limit})
        if again.status == answers[0].status == "optimal":
            near(again.objective, answers[0].objective, 3e-6)
        pf.relax(X, y, int(options.get("k", 1)), float(options["gamma"]))


def hard(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A problem with a tree too large to finish."""
    X = rng.normal(size=(60, 300))
    return X, X[:, :10].sum(axis=1) + 3 * rng.normal(size=60)


def interruptions(rng: np.random.Generator) -> None:
    """Deadlines, callbacks that stop or raise, little memory, records dropped: all in the middle of a search."""
    X, y = hard(rng)
    for threads in (1, 2, 4, 8):
        for limit in (0.0, 0.02, 0.3):
            pf.solve(X, y, k=10, gamma=1.0, threads=threads, time_limit=limit)
        pf.solve(X, y, k=10, gamma=1.0, threads=threads, node_limit=150, memory_limit=2e5, certificate_limit=1e4)

        def stop(_: object) -> bool:
            return True

        def fail(_: object) -> bool:
            raise KeyError("on purpose")

        pf.solve(X, y, k=10, gamma=1.0, threads=threads, time_limit=5, progress=stop)
        try:
            pf.solve(X, y, k=10, gamma=1.0, threads=threads, time_limit=5, progress=fail)
        except KeyError:
            pass
        else:
            raise AssertionError("the callback's exception got lost")


def calls(rng: np.random.Generator) -> list[Callable[[], object]]:
    """What takes long enough to be stopped half done, with threads: reads, copies, products, the search."""
    big = rng.normal(size=(2500, 1500))
    v = rng.normal(size=2500)
    stored = [pf.as_design(kind(big)) for kind in (np.asfortranarray, np.ascontiguousarray, scipy.sparse.csr_array)]
    X, y = hard(rng)
    long = rng.normal(size=(100, 1500))
    return [
        *(lambda design=design: design.scan(v, stats=True) for design in stored),
        *(lambda design=design: design.columns(np.arange(0, 1500, 2)) for design in stored),
        lambda: product(big, big[:, :500]),
        lambda: pf.solve(X, y, k=10, gamma=1.0, threads=4, time_limit=0.5),
        lambda: pf.solve(long, long[:, :9].sum(axis=1), k=9, gamma=1.0, threads=2, time_limit=0.5),
    ]


def stopped_half_done(rng: np.random.Generator) -> None:
    """A deadline, and Ctrl-C, at any moment of any call; a solve gives an answer even then."""
    armed = False

    def press(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        for call in calls(rng):
            for share in rng.random(4):
                start = time.monotonic()
                try:
                    with limited(deadline=start + 0.1 * share**2, threads=4):
                        call()
                except TimeUp:
                    pass
                timer = threading.Timer(0.3 * share**2, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                try:
                    armed = True
                    with limited(threads=4):
                        call()
                    armed = False
                except KeyboardInterrupt:
                    pass
                timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def side_by_side(rng: np.random.Generator) -> None:
    """Several solves at once from Python's threads, on the same X, each with threads of its own."""
    X, y = hard(rng)
    X.setflags(write=False)
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            for _ in range(3):
                found = pf.solve(X[:, :40], y, k=k, gamma=0.05, threads=2, time_limit=20)
                assert pf.check(found.certificate, X[:, :40], y)
                pf.as_design(X).scan(y)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in (2, 3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def damaged(rng: np.random.Generator) -> None:
    """What the bindings must refuse instead of reading past an end."""
    import parsifal._core as core

    for bad in (lambda: core.StridedMatrix(0, 0, 0, 1, 8, 8), lambda: core.StridedMatrix(0, 99, 1, 1, 8, 8)):
        try:
            bad()
        except ValueError:
            continue
        raise AssertionError("accepted")


def main() -> None:
    """Run all of it a number of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for turn in range(args.rounds):
        rng = np.random.default_rng([args.seed, turn])
        with tempfile.TemporaryDirectory() as directory:
            for part in (scans, interruptions, stopped_half_done, side_by_side, damaged):
                part(rng)
                print(f"round {turn}: {part.__name__} done", flush=True)
            searches(rng, Path(directory), 12)
            print(f"round {turn}: searches done", flush=True)


if __name__ == "__main__":
    main()
