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
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stress.problems import LARGEST_P
from stress.tally import Tally
from stress.worker import save, solve_and_save, solve_one, solve_saved

# A problem takes seconds at most: its solves have limits.
_HANG = 120.0
_EVERY = 10.0


def main() -> int:
    """Run; the exit code is 1 if anything disagreed."""
    args = _parser().parse_args()
    args.jobs = max(1, args.jobs)
    seed = int.from_bytes(os.urandom(4), "little") if args.seed is None else args.seed
    folder = args.out / f"seed-{seed}"
    if args.replay is not None or args.replay_file is not None:
        record = _replay(args, seed)
        print(json.dumps(record, indent=2))
        return 1 if record["faults"] else 0
    print(f"seed {seed}, from problem {args.start}; disagreements and the summary go to {folder}", flush=True)
    run = Run(args, Tally(seed), folder)
    jobs = [threading.Thread(target=run.keep, args=(job,), daemon=True) for job in range(args.jobs)]
    try:
        for job in jobs:
            job.start()
        while any(job.is_alive() for job in jobs):
            run.ended.wait(_EVERY)
            run.ended.clear()
            run.show()
    except KeyboardInterrupt:
        run.stopped.set()
    for job in jobs:
        job.join()
    run.tally.save(folder, run.elapsed, run.next)
    print(run.tally.markdown(run.elapsed, run.next))
    print(f"to go on: python -m stress --seed {seed} --start {run.next}")
    return 1 if run.tally.faults else 0


def _replay(args: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Solve one problem again."""
    if args.replay_file is not None:
        return solve_saved(args.replay_file)
    if args.save is not None:
        return solve_and_save(seed, args.replay, args.save, most=args.most_columns)
    return solve_one(seed, args.replay, most=args.most_columns)


@dataclass
class Run:
    """A run under way. Job number i of m solves every m-th problem from the i-th on, in a process of its own."""

    args: argparse.Namespace
    tally: Tally
    folder: Path
    started: float = field(default_factory=time.monotonic)
    stopped: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        args = self.args
        self.numbers = [args.start + job for job in range(args.jobs)]
        self.stop = sys.maxsize if args.problems is None else args.start + args.problems
        self.deadline = self.started + 60.0 * args.minutes if args.problems is None else float("inf")

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def next(self) -> int:
        """The first problem that is not solved."""
        return min(*self.numbers, self.stop)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.stopped.is_set() or time.monotonic() >= self.deadline

    def show(self) -> None:
        """A line of progress, and the summary so far."""
        with self.lock:
            print(self.tally.line(self.elapsed), flush=True)
            self.tally.save(self.folder, self.elapsed, self.next)

    def keep(self, job: int) -> None:
        """One worker after another, until all is done or the time is up."""
        try:
            while self.numbers[job] < self.stop and not self.over:
                self.work(job)
        finally:
            self.ended.set()

    def work(self, job: int) -> None:
        """One worker, until all is done, the time is up, or it dies."""
        read, write = os.pipe()
        command = [sys.executable, "-m", "stress.worker", "--seed", str(self.tally.seed), "--stop", str(self.stop)]
        command += ["--start", str(self.numbers[job]), "--step", str(self.args.jobs), "--pipe", str(write)]
        command += ["--saved", str(self.folder), "--most", str(self.args.most_columns)]
        # One core: BLAS threads would take the other one, and spin there.
        quiet = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = subprocess.Popen(
            command, pass_fds=[write], env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        os.close(write)
        waiting, heard, used = b"", time.monotonic(), 0.0
        try:
            while not self.over:
                ready, _, _ = select.select([read], [], [], 1.0)
                now = time.monotonic()
                if ready:
                    data = os.read(read, 1 << 16)
                    if not data:
                        code = process.wait()
                        if code != 0:
                            self.lose(job, f"the process ended with code {code}")
                        return
                    heard, used = now, _cpu_seconds(process.pid)
                    *lines, waiting = (waiting + data).split(b"\n")
                    for line in lines:
                        self.hear(job, json.loads(line))
                # A busy machine is no hang: what counts is the time that the process has had, and a very long wait.
                hang = self.args.hang
                if _cpu_seconds(process.pid) - used > hang or now - heard > 30 * hang:
                    self.lose(job, f"no answer within {hang:g} s")
                    return
        finally:
            os.close(read)
            process.kill()
            process.wait()

    def hear(self, job: int, record: dict[str, Any]) -> None:
        """What a worker says: which problem it begins, or what came of it."""
        if "begin" in record:
            self.numbers[job] = record["begin"]
            return
        with self.lock:
            self.tally.add(record)
            for fault in record["faults"]:
                said = " / ".join(fault.strip().splitlines()[-4:])
                print(f"problem {record['number']} DISAGREES: {said}", flush=True)
        self.numbers[job] += self.args.jobs

    def lose(self, job: int, what: str) -> None:
        """Count a crash or a hang."""
        record = {"number": self.numbers[job], "seconds": 0.0, "faults": [what], "refused": [], "ran": [], "proven": []}
        record |= {"certificates": 0, "excess": -1.0}
        save(self.folder, record, None)
        self.hear(job, record)


def _cpu_seconds(pid: int) -> float:
    """Time that a process has had; 0 where it is gone, or the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--problems", type=int, help="how many, instead of how long")
    parser.add_argument("--seed", type=int, help="of the problems; a new one by default, which is printed")
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time (default: 1)")
    parser.add_argument("--start", type=int, default=0, help="number of the first problem: to go on with a seed")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="solve this one problem of the seed and tell all")
    parser.add_argument("--save", type=Path, metavar="FILE", help="with --replay: save the problem as data, an .npz")
    parser.add_argument("--replay-file", type=Path, metavar="FILE", help="solve a problem that was saved, and tell all")
    parser.add_argument("--most-columns", type=int, default=LARGEST_P, help=f"of a problem (default: {LARGEST_P})")
    parser.add_argument("--hang", type=float, default=_HANG, help="seconds of work without an answer that are a hang")
    parser.add_argument("--out", type=Path, default=Path("build/stress"), help="folder for what is found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
