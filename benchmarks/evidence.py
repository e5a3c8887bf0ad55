"""Every figure of the documentation again, with the build that stands: `make evidence`.

Takes a night of an idle machine, or parts of several nights and machines (``--minutes``). docs/evidence keeps which
steps have ended for which build, their raw rows and what they printed, docs/figures the pictures. A step that has ended
is not run again while what it measures, the package itself, stays as it is; one that was stopped goes on with its rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "evidence"
_BUSY = 0.5  # load average beyond which figures are not those of an idle machine
_STOPPED, _INTERRUPTED = 124, 130  # the codes of a step whose time was up, and of one that Ctrl-C has ended
_SAVING = 60  # seconds that a stopped step has for its rows

_NS = ",".join(str(n) for n in range(30, 201, 10))
_FIGURE1 = f"--n {_NS} --time-limit 30 --jobs 2 --out {{out}}/paper"
_FIGURE1_ROWS = ("paper/figure1.jsonl",)
# Of benchmarks/speed: the name, the options that the documentation gives with the figures, pictures.
_SPEED: tuple[tuple[str, ...], ...] = (
    ("scan", ""),
    ("table1", ""),
    ("relaxation", ""),
    ("search", ""),
    ("best_subset", ""),
    ("crossval", ""),
    ("groups", ""),
    ("asked", ""),
    ("wide", ""),
    ("lifting", ""),
    ("exact", ""),
    ("kernels", " --time-limit 30"),
    ("cuts", " --seeds 3 --time-limit 15 --published"),
    ("scale", " --parts read memory growth sparse --gigabytes 2 --plot {out}/growth.png", "growth.png"),
)
_FAMILY = "--repeats 5 --time-limit 30 --jobs 2 --out {out}/paper"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command, without the interpreter, with ``{out}`` for the folder of the results; and what is kept of them.

    `keep` names files below that folder: rows (``.jsonl``) are packed into docs/evidence, pictures go to docs/figures.
    What is not `timed` may run on a machine that does other work.
    """

    name: str
    command: str
    keep: tuple[str, ...] = ()
    timed: bool = True
    smoke: str = ""  # what makes it a matter of seconds; empty: not run then


STEPS = (
    Step(
        name="figure1",
        command=f"-m parsifal.paper figure1 --repeats 10 --parts known-k,lasso,cv,lasso-cv {_FIGURE1}",
        keep=_FIGURE1_ROWS,
        smoke="--n 40,60 --repeats 1 --time-limit 1 --p 60 --k 3 --parts known-k --jobs 1",
    ),
    Step(
        name="figure1-cuts",
        command=f"-m parsifal.paper figure1 --repeats 3 --parts known-k --method search,cutting-plane {_FIGURE1}",
        keep=_FIGURE1_ROWS,
    ),
    Step(
        name="figure1-gamma",
        command=f"-m parsifal.paper figure1 --repeats 10 --parts gamma --values 1,10 {_FIGURE1}",
        keep=_FIGURE1_ROWS,
    ),
    Step(
        name="figure1-inf",
        command=f"-m parsifal.paper figure1 --repeats 3 --parts gamma --values inf {_FIGURE1}",
        keep=_FIGURE1_ROWS,
    ),
    Step(
        name="figure1-picture",
        command=f"-m parsifal.paper figure1 --repeats 10 --method search,cutting-plane --values 1,10,inf --draw-only "
        f"{_FIGURE1}",
        keep=(*_FIGURE1_ROWS, "paper/figure1.png", "paper/figure1-gamma.png"),
    ),
    Step(
        name="figure-p",
        command=f"-m parsifal.paper figure-p {_FAMILY}",
        keep=("paper/figure-p.jsonl", "paper/figure-p.png"),
    ),
    Step(
        name="figure-k",
        command=f"-m parsifal.paper figure-k {_FAMILY}",
        keep=("paper/figure-k.jsonl", "paper/figure-k.png"),
    ),
    Step(
        name="figure-snr",
        command=f"-m parsifal.paper figure-snr {_FAMILY}",
        keep=("paper/figure-snr.jsonl", "paper/figure-snr.png"),
    ),
    Step(
        name="nonlinear",
        command="-m parsifal.paper nonlinear --repeats 20 --jobs 2 --out {out}/paper",
        keep=("paper/nonlinear.jsonl", "paper/nonlinear.png"),
        smoke="--repeats 1 --n 60 --values 0",
    ),
    Step(
        name="table1",
        command="-m parsifal.paper table1 --full --out {out}/paper",
        keep=("paper/table1.jsonl", "paper/table1.png"),
    ),
    Step(name="picture", command="-m benchmarks.picture {out}/gap.png", keep=("gap.png",)),
    *(
        Step(
            name=f"speed-{name}".replace("_", "-"),
            command=f"-m benchmarks.speed.{name}{options} --json {{out}}/speed-{name}.jsonl",
            keep=(f"speed-{name}.jsonl", *pictures),
        )
        for name, options, *pictures in _SPEED
    ),
    Step(
        name="peers",
        command="-m benchmarks.peers --plan night --out {out}/peers",
        keep=("peers/rows.jsonl", "peers/profiles.png", "peers/gaps.png"),
    ),
    Step(
        name="peers-wide",
        command="-m benchmarks.peers --plan wide --threads 2 --out {out}/peers-wide",
        keep=("peers-wide/rows.jsonl",),
    ),
    Step(name="leaps", command="-m benchmarks.peers.leaps_tables --json {out}/leaps.jsonl", keep=("leaps.jsonl",)),
    *(
        Step(
            name=f"gamma-{tables}",
            command=f"-m benchmarks.defaults.gamma{option} --file {{out}}/gamma-{tables}.jsonl",
            keep=(f"gamma-{tables}.jsonl",),
        )
        for tables, option in (("default", ""), ("held-out", " --held-out"))
    ),
    Step(name="many-rows", command="-m benchmarks.defaults.many_rows"),
    Step(name="limits", command="-m benchmarks.guards.limits"),
    Step(name="stress", command="-m stress --problems 20000 --jobs 2", smoke="--problems 3 --jobs 1", timed=False),
    Step(name="asked", command="-m stress.asked --count 20000", timed=False),
    Step(name="forge", command="-m forge --minutes 60", smoke="--problems 4", timed=False),
    Step(name="fuzz", command="-m fuzz --minutes 60", timed=False),
    Step(name="crash", command="-m stress.crash", timed=False),
    Step(name="sanitize", command="scripts/sanitize.py both", timed=False),
    Step(name="sanitize-thread", command="scripts/sanitize.py thread", timed=False),
)


def main(argv: Sequence[str]) -> int:
    """Run the steps that have not been run for this commit."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", metavar="step", help=f"of {', '.join(step.name for step in STEPS)}")
    arguments.add_argument("--out", type=Path, help="folder of all that is made (build/evidence/BUILD, and docs)")
    arguments.add_argument("--minutes", type=float, help="stop then; rows of the step that runs are kept")
    arguments.add_argument("--smoke", action="store_true", help="seconds: the steps that can, at their smallest")
    arguments.add_argument("--busy", action="store_true", help="go on although the machine is not idle")
    arguments.add_argument("--list", action="store_true", help="print the commands and leave")
    args = arguments.parse_args(argv)
    known = {step.name: step for step in STEPS}
    for name in args.names:
        if name not in known:
            arguments.error(f"no step {name!r}; there are {', '.join(known)}")
    steps = [known[name] for name in args.names] or list(STEPS)
    if args.smoke:
        steps = [step for step in steps if step.smoke]
    if args.list:
        for step in steps:
            print(f"{step.name:16s} python {_command(step, Path('OUT'), smoke=args.smoke)}")
        return 0
    if args.smoke and args.out is None:
        arguments.error("--smoke needs --out: it is no evidence")
    load = os.getloadavg()[0]
    if load > _BUSY and any(step.timed for step in steps) and not (args.smoke or args.busy):
        arguments.error(f"the load is {load:.1f}: nothing else may run; --busy goes on all the same")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has it ignored, and so the steps
    build = _build()
    out = args.out or ROOT / "build" / "evidence" / build
    run = Run(
        build=build, out=out, kept=args.out or KEPT, figures=args.out or ROOT / "docs" / "figures", smoke=args.smoke
    )
    return run.all(steps, perf_counter() + 60 * args.minutes if args.minutes else None)


@dataclass(frozen=True, kw_only=True)
class Run:
    """The steps of a build: `out` has what they make, `kept` and `figures` what stays of it."""

    build: str
    out: Path
    kept: Path
    figures: Path
    smoke: bool

    def all(self, steps: Sequence[Step], end: float | None) -> int:
        """Run the steps that have not ended for this build, until the time is up; 1 if one of them failed."""
        self.out.mkdir(parents=True, exist_ok=True)
        self.kept.mkdir(parents=True, exist_ok=True)
        ended = [row for row in self._journal() if row["build"] == self.build and row["code"] == 0]
        done = {(row["step"], row["command"]) for row in ended}
        failed = []
        for step in steps:
            if (step.name, step.command) in done:
                print(f"{step.name}: done before", flush=True)
                continue
            if end is not None and perf_counter() >= end:
                print(f"{step.name}: no time left", flush=True)
                continue
            code = self._one(step, end)
            if code == _INTERRUPTED:
                print("interrupted: no further steps", flush=True)
                return _INTERRUPTED
            if code not in (0, _STOPPED):
                failed.append(step.name)
        if failed:
            print(f"failed: {', '.join(failed)}; their logs are in {self.out}", flush=True)
        return 1 if failed else 0

    def _one(self, step: Step, end: float | None) -> int:
        self._restore(step)
        command = _command(step, self.out, smoke=self.smoke)
        print(f"{step.name}: python {command}", flush=True)
        started, load = perf_counter(), os.getloadavg()[0]
        with (self.out / f"{step.name}.log").open("w") as log:
            code = _ended([sys.executable, *command.split()], log, end)
        seconds = round(perf_counter() - started, 1)
        row = {"step": step.name, "build": self.build, "code": code, "seconds": seconds, "load": round(load, 2)}
        with (self.kept / "steps.jsonl").open("a") as file:
            file.write(json.dumps({**row, "command": step.command}) + "\n")
        print(f"{step.name}: code {code} after {seconds} s", flush=True)
        if not self.smoke:
            self._keep(step, pictures=code == 0)
        return code

    def _journal(self) -> list[dict[str, Any]]:
        path = self.kept / "steps.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def _restore(self, step: Step) -> None:
        """The rows that this build has made elsewhere, where there are none."""
        builds = {name: row["build"] for row in self._journal() for name in _rows(row["step"])}
        for name in _rows(step.name):
            place, packed = self.out / name, self.kept / _packed(name)
            if builds.get(name) == self.build and packed.exists() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(gzip.decompress(packed.read_bytes()))

    def _keep(self, step: Step, *, pictures: bool) -> None:
        """Put rows, pictures and what was printed where the documentation has them."""
        log = (self.out / f"{step.name}.log").read_text(errors="replace").replace(f"{ROOT}{os.sep}", "")
        (self.kept / f"{step.name}.log.gz").write_bytes(gzip.compress(log.encode(), mtime=0))
        for name in step.keep:
            source = self.out / name
            if not source.exists():
                continue
            if source.suffix == ".jsonl":
                (self.kept / _packed(name)).write_bytes(gzip.compress(source.read_bytes(), mtime=0))
            elif pictures:
                figure = name.removeprefix("paper/").replace("/", "-")
                (self.figures / figure).write_bytes(source.read_bytes())


def _ended(command: Sequence[str], log: IO[str], end: float | None) -> int:
    """The code of a command, or why it was stopped."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    stopped = _STOPPED
    try:
        return process.wait(None if end is None else max(0.0, end - perf_counter()))
    except subprocess.TimeoutExpired:
        pass
    except KeyboardInterrupt:
        stopped = _INTERRUPTED
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_SAVING)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return stopped


def _command(step: Step, out: Path, *, smoke: bool) -> str:
    command = step.command.format(out=out)
    return f"{command} {step.smoke}" if smoke else command


def _rows(name: str) -> list[str]:
    """The files of rows that a step adds to."""
    return [kept for step in STEPS if step.name == name for kept in step.keep if kept.endswith(".jsonl")]


def _packed(name: str) -> str:
    """Under which name rows are kept."""
    return f"{name.replace('/', '-')}.gz"


def _build() -> str:
    """The last commit that changed the package: results of before and after it are not of one build."""
    package = ["src", "cpp", "CMakeLists.txt", "pyproject.toml", "requirements"]
    done = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", *package], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unversioned"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
