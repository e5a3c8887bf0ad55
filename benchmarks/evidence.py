"""Every figure of the documentation again, with the build that stands: `make evidence`.

Takes a night of an idle machine, or parts of several. Each step is a command that goes on where it was stopped; a step
that has ended is not run again while what it measures, the package itself, stays as it is. What people may want to
look at again, raw rows and pictures, goes to `docs/`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
_BUSY = 0.5  # load average beyond which figures are not those of an idle machine

_NS = ",".join(str(n) for n in range(30, 201, 10))
_FIGURE1 = f"--n {_NS} --time-limit 30 --jobs 2 --out {{out}}/paper"
_FAMILY = "--repeats 5 --time-limit 30 --jobs 2 --out {out}/paper"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command, without the interpreter, with ``{out}`` for the folder of the results; and what is kept of them.

    `keep` names files below that folder: rows (``.jsonl``) are packed into docs/evidence, pictures go to docs/figures.
    """

    name: str
    command: str
    keep: tuple[str, ...] = ()
    smoke: str = ""  # what makes it a matter of seconds; empty: not run then


STEPS = (
    Step(
        name="figure1",
        command=f"-m parsifal.paper figure1 --repeats 10 --parts known-k,lasso,cv,lasso-cv {_FIGURE1}",
        smoke="--n 40,60 --repeats 1 --time-limit 1 --p 60 --k 3 --parts known-k --jobs 1",
    ),
    Step(
        name="figure1-cuts",
        command=f"-m parsifal.paper figure1 --repeats 3 --parts known-k --method search,cutting-plane {_FIGURE1}",
    ),
    Step(
        name="figure1-gamma", command=f"-m parsifal.paper figure1 --repeats 10 --parts gamma --values 1,10 {_FIGURE1}"
    ),
    Step(name="figure1-inf", command=f"-m parsifal.paper figure1 --repeats 3 --parts gamma --values inf {_FIGURE1}"),
    Step(
        name="figure1-picture",
        command=f"-m parsifal.paper figure1 --repeats 10 --method search,cutting-plane --draw-only {_FIGURE1}",
        keep=("paper/figure1.jsonl", "paper/figure1.png", "paper/figure1-gamma.png"),
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
    Step(name="speed", command="-m benchmarks.run --json {out}/speed.jsonl", keep=("speed.jsonl",)),
    Step(
        name="peers",
        command="-m benchmarks.peers --plan full --time-limit 20 --out {out}/peers",
        keep=("peers/rows.jsonl", "peers/profiles.png", "peers/gaps.png"),
    ),
    Step(name="limits", command="-m benchmarks.guards.limits"),
    Step(name="stress", command="-m stress --problems 20000 --jobs 2", smoke="--problems 3 --jobs 1"),
    Step(name="forge", command="-m forge --minutes 60", smoke="--problems 4"),
    Step(name="fuzz", command="-m fuzz --minutes 60"),
    Step(name="crash", command="-m stress.crash"),
    Step(name="sanitize", command="scripts/sanitize.py both"),
    Step(name="sanitize-thread", command="scripts/sanitize.py thread"),
)


def main(argv: Sequence[str]) -> int:
    """Run the steps that have not been run for this commit."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", metavar="step", help=f"of {', '.join(step.name for step in STEPS)}")
    arguments.add_argument("--out", type=Path, help="folder of the results (build/evidence/COMMIT)")
    arguments.add_argument("--smoke", action="store_true", help="seconds: the steps that can, at their smallest")
    arguments.add_argument("--busy", action="store_true", help="go on although the machine is not idle")
    arguments.add_argument("--list", action="store_true", help="print the commands and leave")
    args = arguments.parse_args(argv)
    known = {step.name: step for step in STEPS}
    for name in args.names:
        if name not in known:
            arguments.error(f"no step {name!r}; there are {', '.join(known)}")
    out = args.out or ROOT / "build" / "evidence" / _commit()
    steps = [known[name] for name in args.names] or list(STEPS)
    if args.smoke:
        steps = [step for step in steps if step.smoke]
    if args.list:
        for step in steps:
            print(f"{step.name:16s} python {_command(step, Path('OUT'), smoke=args.smoke)}")
        return 0
    if not (args.smoke or args.busy) and os.getloadavg()[0] > _BUSY:
        arguments.error(f"the load is {os.getloadavg()[0]:.1f}: nothing else may run; --busy goes on all the same")
    return _run(steps, out, smoke=args.smoke)


def _run(steps: Sequence[Step], out: Path, *, smoke: bool) -> int:
    out.mkdir(parents=True, exist_ok=True)
    journal = out / "steps.jsonl"
    done = set()
    if journal.exists():
        done = {row["step"] for row in map(json.loads, journal.read_text().splitlines()) if row["code"] == 0}
    failed = []
    for step in steps:
        if step.name in done:
            print(f"{step.name}: done before", flush=True)
            continue
        command = _command(step, out, smoke=smoke)
        print(f"{step.name}: python {command}", flush=True)
        started, load = perf_counter(), os.getloadavg()[0]
        with (out / f"{step.name}.log").open("w") as log:
            code = subprocess.run(
                [sys.executable, *command.split()], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False
            ).returncode
        row = {"step": step.name, "code": code, "seconds": round(perf_counter() - started, 1), "load": load}
        with journal.open("a") as file:
            file.write(json.dumps({**row, "command": step.command}) + "\n")
        print(f"{step.name}: code {code} after {row['seconds']} s", flush=True)
        if code:
            failed.append(step.name)
        elif not smoke:
            _keep(step, out)
    if failed:
        print(f"failed: {', '.join(failed)}; their logs are in {out}", flush=True)
    return 1 if failed else 0


def _command(step: Step, out: Path, *, smoke: bool) -> str:
    command = step.command.format(out=out)
    return f"{command} {step.smoke}" if smoke else command


def _keep(step: Step, out: Path) -> None:
    """Put rows and pictures where the documentation has them."""
    for name in step.keep:
        source = out / name
        target = source.stem if source.parent == out else f"{source.parent.name}-{source.stem}"
        if source.suffix == ".jsonl":
            place = ROOT / "docs" / "evidence" / f"{target}.jsonl.gz"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(gzip.compress(source.read_bytes(), mtime=0))
        else:
            figure = source.name if source.parent.name == "paper" else f"{target}.png"
            (ROOT / "docs" / "figures" / figure).write_bytes(source.read_bytes())


def _commit() -> str:
    """The last commit that changed the package: results of before and after it are not of one build."""
    package = ["src", "cpp", "CMakeLists.txt", "pyproject.toml", "requirements"]
    done = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", *package], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unversioned"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
