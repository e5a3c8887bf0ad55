"""Kill commands at random moments, take them up again, and compare with a run that nobody disturbed.

    python -m stress.crash                        # 50 moments each, kill -9 and SIGTERM in turns
    python -m stress.crash --only cv --kills 200

A command is started, killed at a random moment, and started again, until it ends by itself. A third of the moments are
drawn from its whole life, the start of the interpreter and the writing of the last file included; the others from the
time after it has noted something. After every kill the files must be readable and nothing
that was noted as done may be gone; at the end nothing may have been done twice, and the answer must be the one of the
undisturbed run: the same support, objective, bound, table of results, up to times.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from stress.victims import VICTIMS, Victim

ROOT = Path(__file__).resolve().parent.parent
_LONGEST = 600.0  # seconds of one run, under any load
_MOST_IN_A_ROW = 8  # kills, before a run may end in peace


@dataclass
class Tally:
    """What happened to one command."""

    kills: int = 0
    rounds: int = 0
    midway: int = 0  # kills that found part of the work done, and not all
    faults: list[str] = field(default_factory=list)


class Fault(AssertionError):
    """Something was lost, done twice or answered otherwise."""


def start(victim: Victim, folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with open(folder / "log.txt", "ab") as log:
        # In a group of its own, so that what it leaves behind can be told from everything else.
        return subprocess.Popen(
            victim.command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )


def undisturbed(victim: Victim, folder: Path) -> tuple[float, float]:
    """Run to the end; the seconds it took, and those of them after it had first noted something."""
    started = time.monotonic()
    process = start(victim, folder)
    noted = _wait_for_change(process, folder / victim.state)
    code = process.wait(_LONGEST)
    if code != 0:
        raise Fault(f"exit code {code}: {_last_words(folder)}")
    ended = time.monotonic()
    return ended - started, ended - noted


def _wait_for_change(process: subprocess.Popen[bytes], file: Path) -> float:
    """The moment at which a file is there, or another one, or the process has ended."""
    before = _stamp(file)
    deadline = time.monotonic() + _LONGEST
    while process.poll() is None and _stamp(file) == before and time.monotonic() < deadline:
        time.sleep(0.002)
    return time.monotonic()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def killed(victim: Victim, folder: Path, delay: float, number: signal.Signals, *, noted: bool) -> bool:
    """Run for `delay` seconds, from its start or from its first note, and send a signal; False if it had ended."""
    process = start(victim, folder)
    try:
        if noted:
            _wait_for_change(process, folder / victim.state)
        code = process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        code = process.wait(_LONGEST)
    finally:
        # Workers that a killed parent has left: its own session, nobody else's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if code in (0, 3):
        # 3: SIGTERM came as the last limit did.
        return False
    if code not in (-signal.SIGKILL, -signal.SIGTERM, 130, 143):
        raise Fault(f"exit code {code}: {_last_words(folder)}")
    return True


def torment(victim: Victim, kills: int, rng: random.Random, signals: list[signal.Signals], base: Path) -> Tally:
    """Kill a command `kills` times, over as many runs to the end as it takes."""
    tally = Tally()
    calm = base / "calm"
    calm.mkdir(parents=True)
    victim.prepare(calm)
    life, work = undisturbed(victim, calm)
    expected, whole = victim.answer(calm), victim.done(calm)
    while tally.kills < kills:
        folder = base / f"round{tally.rounds}"
        folder.mkdir()
        victim.prepare(folder)
        done = in_a_row = 0
        try:
            while in_a_row < _MOST_IN_A_ROW and tally.kills < kills:
                number = rng.choice(signals)
                noted = rng.random() < 2 / 3
                delay = rng.uniform(0.0, work if noted else 1.1 * life)
                if not killed(victim, folder, delay, number, noted=noted):
                    break
                tally.kills += 1
                in_a_row += 1
                before, done = done, victim.done(folder)
                if done < before:
                    raise Fault(f"{before} pieces of work were noted, and {done} are left after {number.name}")
                tally.midway += 0 < done < whole
            undisturbed(victim, folder)
            if victim.done(folder) < done:
                raise Fault("the last run has lost work")
            if victim.most is not None and victim.done(folder) != victim.most:
                raise Fault(f"{victim.done(folder)} pieces of work are noted, not {victim.most}")
            answer = victim.answer(folder)
            if answer != expected:
                differing = [name for name in expected if answer.get(name) != expected[name]]
                raise Fault(f"another answer: {differing} differ; see {folder} and {calm}")
            left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
            if left:
                raise Fault(f"left behind: {left}")
        except AssertionError as fault:
            tally.faults.append(f"{victim.name}, round {tally.rounds}: {fault}")
            if in_a_row == 0:
                tally.kills += 1
        tally.rounds += 1
    return tally


def _last_words(folder: Path) -> str:
    lines = (folder / "log.txt").read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no output"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stress.crash", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="moments for each command")
    parser.add_argument("--only", help=f"with commas, of {', '.join(victim.name for victim in VICTIMS)}")
    parser.add_argument("--seed", type=int, help="of the moments; printed")
    parser.add_argument("--signals", default="KILL,KILL,TERM", help="drawn from these")
    parser.add_argument("--folder", type=Path, help="where to work; kept")
    args = parser.parse_args(argv)
    seed = random.SystemRandom().randrange(10**6) if args.seed is None else args.seed
    chosen = [victim for victim in VICTIMS if args.only is None or victim.name in args.only.split(",")]
    signals = [signal.Signals[f"SIG{name}"] for name in args.signals.split(",")]
    print(f"seed {seed}", flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        base = args.folder or Path(temporary)
        for victim in chosen:
            started = time.monotonic()
            tally = torment(victim, args.kills, random.Random(f"{seed} {victim.name}"), signals, base / victim.name)
            faults += tally.faults
            print(
                f"{victim.name}: {tally.kills} kills in {tally.rounds} runs to the end, {tally.midway} of them with "
                f"work half done; {len(tally.faults)} faults ({time.monotonic() - started:.0f} s)",
                flush=True,
            )
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
