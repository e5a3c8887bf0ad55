"""`python -m stress`: solve random problems until the time or the number is up, and tell what disagreed.

The problems are solved in a process of their own, so that a crash or a hang is counted like any other disagreement, and
the run goes on with the next problem.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from stress.problems import LARGEST_P
from stress.tally import Tally
from stress.worker import save, solve_one

# A problem takes seconds at most: its solves have limits.
_HANG = 120.0
_EVERY = 10.0


def main() -> int:
    """Run; the exit code is 1 if anything disagreed."""
    args = _parser().parse_args()
    seed = int.from_bytes(os.urandom(4), "little") if args.seed is None else args.seed
    folder = args.out / f"seed-{seed}"
    if args.replay is not None:
        record = solve_one(seed, args.replay, most=args.most_columns)
        print(json.dumps(record, indent=2))
        return 1 if record["faults"] else 0
    print(f"seed {seed}, from problem {args.start}; disagreements and the summary go to {folder}", flush=True)
    tally = Tally(seed)
    started = time.monotonic()
    deadline = started + 60.0 * args.minutes if args.problems is None else float("inf")
    stop = args.start + args.problems if args.problems is not None else sys.maxsize
    number = args.start
    try:
        while number < stop and time.monotonic() < deadline:
            number = _run(tally, folder, number, stop, started, deadline, args)
    except KeyboardInterrupt:
        pass
    elapsed = time.monotonic() - started
    tally.save(folder, elapsed, number)
    print(tally.markdown(elapsed, number))
    print(f"to go on: python -m stress --seed {seed} --start {number}")
    return 1 if tally.faults else 0


def _run(
    tally: Tally, folder: Path, number: int, stop: int, started: float, deadline: float, args: argparse.Namespace
) -> int:
    """One worker, until all is done, the time is up, or it dies; returns the number of the next problem."""
    read, write = os.pipe()
    command = [sys.executable, "-m", "stress.worker", "--seed", str(tally.seed), "--start", str(number)]
    command += ["--stop", str(stop), "--pipe", str(write), "--saved", str(folder)]
    command += ["--most", str(args.most_columns)]
    # One core: BLAS threads would take the other one, and spin there.
    quiet = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    process = subprocess.Popen(
        command, pass_fds=[write], env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    os.close(write)
    waiting, shown, heard, used = b"", time.monotonic(), time.monotonic(), 0.0
    try:
        while True:
            ready, _, _ = select.select([read], [], [], 1.0)
            now = time.monotonic()
            if ready:
                data = os.read(read, 1 << 16)
                if not data:
                    break
                heard, used = now, _cpu_seconds(process.pid)
                *lines, waiting = (waiting + data).split(b"\n")
                for line in lines:
                    record = json.loads(line)
                    if "begin" in record:
                        number = record["begin"]
                        continue
                    tally.add(record)
                    for fault in record["faults"]:
                        print(f"problem {number} DISAGREES: {' / '.join(fault.strip().splitlines()[-4:])}", flush=True)
                    number += 1
            if now - shown >= _EVERY:
                print(tally.line(now - started), flush=True)
                tally.save(folder, now - started, number)
                shown = now
            if now >= deadline:
                return number
            # A busy machine is no hang: what counts is the time that the process has had, and a very long wait.
            if _cpu_seconds(process.pid) - used > args.hang or now - heard > 30 * args.hang:
                _lost(tally, folder, number, f"no answer within {args.hang:g} s")
                return number + 1
        code = process.wait()
        if code != 0:
            _lost(tally, folder, number, f"the process ended with code {code}")
            return number + 1
        return number
    finally:
        os.close(read)
        process.kill()
        process.wait()


def _cpu_seconds(pid: int) -> float:
    """Time that a process has had; 0 where it is gone, or the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _lost(tally: Tally, folder: Path, number: int, what: str) -> None:
    """Count a crash or a hang."""
    record = {"number": number, "seconds": 0.0, "faults": [what], "refused": [], "ran": [], "proven": []}
    record |= {"certificates": 0, "excess": -1.0}
    tally.add(record)
    save(folder, record, None)
    print(f"problem {number} DISAGREES: {what}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--problems", type=int, help="how many, instead of how long")
    parser.add_argument("--seed", type=int, help="of the problems; a new one by default, which is printed")
    parser.add_argument("--start", type=int, default=0, help="number of the first problem: to go on with a seed")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="solve this one problem of the seed and tell all")
    parser.add_argument("--most-columns", type=int, default=LARGEST_P, help=f"of a problem (default: {LARGEST_P})")
    parser.add_argument("--hang", type=float, default=_HANG, help="seconds of work without an answer that are a hang")
    parser.add_argument("--out", type=Path, default=Path("build/stress"), help="folder for what is found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
