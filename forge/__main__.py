"""`python -m forge`: forge certificates until the time or the number is up, and tell which deceived the checker.

The same problems are put to the solver, whose answers have to be true as well.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from forge.craft import CRAFTS
from forge.session import TRIES, run
from fuzz.guard import limit_memory

# A forged size must not take the machine down.
_MEMORY = 4 << 30


def main() -> int:
    """Run; the exit code is 1 if anything was found."""
    args = _parser().parse_args()
    seed = int.from_bytes(os.urandom(4), "little") if args.seed is None else args.seed
    limit_memory(_MEMORY)
    kinds = [args.kind] if args.kind else list(CRAFTS)
    return max([_forge(kind, seed, args.minutes / len(kinds), args) for kind in kinds])


def _forge(kind: str, seed: int, minutes: float, args: argparse.Namespace) -> int:
    """One kind of certificate; 1 if anything was found."""
    folder = args.out / f"seed-{seed}" / kind
    print(f"{kind}: seed {seed}, from problem {args.start}; what is found goes to {folder}", flush=True)
    began = time.monotonic()
    start, problems = (args.start, args.problems) if args.replay is None else (args.replay, 1)
    tally = run(
        seed=seed,
        kind=kind,
        start=start,
        problems=problems,
        minutes=minutes if problems is None else float("inf"),
        tries=args.tries,
        out=folder,
        tell=lambda line: print(line, flush=True),
    )
    elapsed, stop = time.monotonic() - began, start + tally.problems
    summary = tally.markdown(elapsed, stop)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.md").write_text(summary + "\n", encoding="utf-8")
    print(summary)
    print(f"to go on: python -m forge --kind {kind} --seed {seed} --start {stop}")
    return 1 if tally.found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m forge", description=__doc__)
    parser.add_argument("--kind", choices=list(CRAFTS), help="of certificates (default: all, one after the other)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, for all kinds (default: 10)")
    parser.add_argument("--problems", type=int, help="how many, instead of how long")
    parser.add_argument("--seed", type=int, help="of the problems; a new one by default, which is printed")
    parser.add_argument("--start", type=int, default=0, help="number of the first problem: to go on with a seed")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="this one problem of the seed again")
    parser.add_argument(
        "--tries", type=int, default=TRIES, help=f"forgeries for every fourth problem (default: {TRIES})"
    )
    parser.add_argument("--out", type=Path, default=Path("build/forge"), help="folder for what is found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
