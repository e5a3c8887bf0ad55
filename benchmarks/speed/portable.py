"""The cores of a portable wheel beside this machine's own: `make wheels`, then `python -m benchmarks.speed.portable`.

The wheel is the one in an environment that `make wheels` has made (`--python` names another). Milliseconds of processor
time on one thread, the shortest of several runs, each core in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.report import Column, Table, environment, parser

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"1": "wheel, any x86-64", "3": "wheel, AVX2", "4": "wheel, AVX-512"}
COLUMNS = (
    Column("core", "core", 20, "s"),
    Column("read", "read, float64", 13, ".2f"),
    Column("read32", "read, float32", 13, ".2f"),
    Column("gram", "Gram matrix", 11, ".1f"),
    Column("search", "search", 8, ".0f"),
)


def measure(repeats: int) -> dict[str, float]:
    """The times of the core that this process has loaded."""
    import parsifal as pf
    from parsifal import _core
    from parsifal._dispatch import LEVEL
    from parsifal.deadline import limited

    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4000))
    v = rng.standard_normal(500)
    wide, narrow = pf.as_design(X), pf.as_design(X.astype(np.float32))
    block = np.asfortranarray(X[:400, :600])
    Z, y, _ = pf.datasets.make_sparse_regression(100, 400, 10, sqrt_snr=1.0, random_state=0)

    def shortest(call: Callable[[], object], times: int) -> float:
        spent = []
        for _ in range(times):
            start = process_time()
            call()
            spent.append(process_time() - start)
        return 1e3 * min(spent)

    with limited(threads=1):
        return {
            "level": LEVEL or 0,
            "read": shortest(lambda: wide.scan(v, stats=True), 20 * repeats),
            "read32": shortest(lambda: narrow.scan(v, stats=True), 20 * repeats),
            "gram": shortest(lambda: _core.gram(block, block, 1), 5 * repeats),
            "search": shortest(lambda: pf.solve(Z, y, 10, 1.0, threads=1, node_limit=250), repeats),
        }


def main(argv: Sequence[str]) -> int:
    """One line per core."""
    arguments = parser(__doc__)
    arguments.add_argument("--python", type=Path, help="the interpreter of an environment with the wheel")
    arguments.add_argument("--measure", type=int, metavar="REPEATS", help="print this process's times as JSON")
    args = arguments.parse_args(argv)
    if args.measure:
        print(json.dumps(measure(args.measure)))
        return 0
    python = args.python or next(iter(sorted(ROOT.glob("build/wheels/smoke-3.*/bin/python"), reverse=True)), None)
    if python is None:
        print("no environment with a wheel: run `make wheels`, or name one with --python", file=sys.stderr)
        return 2
    table = Table("portable", "Milliseconds of processor time, one thread", COLUMNS, args.json)
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for level, name in (*NAMES.items(), ("", "built on the machine")):
        command = [str(python if level else sys.executable), "-m", "benchmarks.speed.portable"]
        command += ["--measure", "1" if args.quick else "7"]
        env = {**os.environ, **one, "PARSIFAL_CPU": level}
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(done.stdout)
        if level and row["level"] != int(level):
            print(f"{name}: this processor, or this environment's package, has no such core")
            continue
        table.row(core=name, **row)
    return 0


if __name__ == "__main__":
    if "--measure" not in sys.argv:
        print(environment())
    sys.exit(main(sys.argv[1:]))
