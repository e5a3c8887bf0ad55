"""Instructions of small solves, beside a committed baseline: `python -m benchmarks.guards.instructions [--update]`.

A clock cannot tell a slowdown of five percent from a busy machine; a count of instructions can. The solves of
`benchmarks.guards.instruction_cases` run under ``valgrind --tool=callgrind``, and what is counted are the instructions
of the compiled core alone, so that neither Python nor a BLAS nor the machine matters: the core is built for any x86-64
(``PARSIFAL_NATIVE=OFF``, in a directory of its own) and runs on one thread.

The exit status is 1 if a case takes more instructions than the baseline and the tolerance allow. Then make it faster,
or, if it is worth it, take the new counts over with ``make bench-instructions-update`` and say why in the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASELINE = Path(__file__).parent / "baselines" / "instructions.json"
BUILD = ROOT / "build" / "instructions"
TOLERANCE = 0.02
SHIM = r"""
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; }
void finish(const char* name) { CALLGRIND_STOP_INSTRUMENTATION; CALLGRIND_DUMP_STATS_AT(name); }
"""
# Kernels of NumPy's BLAS that every machine has, and one thread of everything: rounding must not depend on the machine.
ENVIRONMENT = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def build() -> Path:
    """Build the core for any x86-64, and a package that uses it; returns where that is."""
    tools = Path(sys.executable).parent
    settings = ["-DPARSIFAL_NATIVE=OFF", "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}"]
    maker = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"]
    _run([str(tools / "cmake"), "-S", str(ROOT), "-B", str(BUILD), *maker, *settings])
    _run([str(tools / "cmake"), "--build", str(BUILD), "--target", "_core"])
    package = BUILD / "site" / "parsifal"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for file in (ROOT / "src" / "parsifal").iterdir():
        (package / file.name).symlink_to(file)
    for file in BUILD.glob("_core*.so"):
        (package / file.name).symlink_to(file)
    source = BUILD / "shim.c"
    source.write_text(SHIM, encoding="ascii")
    _run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", str(BUILD / "shim.so"), str(source)])
    return BUILD / "site"


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def count(site: Path) -> dict[str, int]:
    """Instructions of the core in every case."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--compress-strings=no",
            "--compress-pos=no",
            f"--callgrind-out-file={folder}/out",
            sys.executable,
            # No site module: its hooks would bring back the package that is installed.
            "-S",
            "-m",
            "benchmarks.guards.instruction_cases",
            str(BUILD / "shim.so"),
        ]
        path = os.pathsep.join([str(site), str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": path}
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"the cases failed under valgrind:\n{done.stdout}{done.stderr[-4000:]}")
        found = {}
        for file in sorted(Path(folder).iterdir(), key=lambda file: int(file.suffix[1:] or 0) if file.suffix else 0):
            name, costs = read_profile(file.read_text(encoding="utf-8", errors="replace").splitlines())
            if name is not None:
                found[name] = sum(cost for owner, cost in costs.items() if "/_core" in owner)
    return found


def read_profile(lines: Sequence[str]) -> tuple[str | None, Mapping[str, int]]:
    """The name that a dump was made under, and the instructions of every object file itself."""
    name: str | None = None
    owner, called = "", False
    costs: defaultdict[str, int] = defaultdict(int)
    for line in lines:
        if line.startswith("desc: Trigger: Client Request: "):
            name = line.removeprefix("desc: Trigger: Client Request: ")
        elif line.startswith("ob="):
            owner = line[3:]
        elif line.startswith("calls="):
            called = True  # the next line is what the callee cost, which is counted there
        elif line[:1].isdigit() or line[:1] in "+-*":
            words = line.split()
            if not called and len(words) == 2:
                costs[owner] += int(words[1])
            called = False
    return name, costs


def compiler() -> str:
    """The compiler that the core was built with; another one gives other counts."""
    for line in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            words = [line.partition("=")[2], "-dumpfullversion", "-dumpversion"]
            version = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
            return f"{Path(words[0]).name} {version[0] if version else 'unknown'}"
    return "unknown"


def compare(found: Mapping[str, int], baseline: Mapping[str, int]) -> list[str]:
    """Print the table; returns what is wrong."""
    wrong = []
    print(f"{'case':<20} {'instructions':>14} {'baseline':>14} {'change':>8}")
    for name, value in found.items():
        before = baseline.get(name)
        change = None if not before else value / before - 1
        shown = "new" if change is None else f"{change:+.2%}"
        print(f"{name:<20} {value:>14,} {before or 0:>14,} {shown:>8}")
        if change is None:
            wrong.append(f"{name!r} is not in the baseline")
        elif change > TOLERANCE:
            wrong.append(f"{name!r} takes {change:.1%} more instructions than the baseline")
        elif change < -TOLERANCE:
            print(f"  {name!r} has become faster: `make bench-instructions-update` keeps it that way")
    wrong += [f"{name!r} is in the baseline but was not run" for name in baseline if name not in found]
    return wrong


def main(argv: Sequence[str]) -> None:
    """Count, and compare or write the baseline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--update", action="store_true", help="write the counts to the baseline")
    args = arguments.parse_args(argv)
    missing = [tool for tool in ("valgrind",) if shutil.which(tool) is None]
    if missing or platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        what = "valgrind is not installed" if missing else "this is not x86-64 Linux"
        print(f"*** INSTRUCTIONS NOT COUNTED: {what}. A slowdown would go unnoticed. ***", file=sys.stderr)
        return
    site = build()
    found = count(site)
    made_with = {"compiler": compiler(), "tolerance": TOLERANCE}
    if args.update:
        BASELINE.write_text(json.dumps({**made_with, "instructions": found}, indent=2) + "\n", encoding="utf-8")
        print(f"{len(found)} counts written to {BASELINE.relative_to(ROOT)}")
        return
    if not BASELINE.exists():
        sys.exit(f"{BASELINE.relative_to(ROOT)} is missing; make it with `make bench-instructions-update`")
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    wrong = compare(found, baseline["instructions"])
    if wrong and baseline["compiler"] != made_with["compiler"]:
        theirs, ours = baseline["compiler"], made_with["compiler"]
        print(f"*** NOT COMPARED: the baseline is of {theirs}, this core is of {ours}. ***", file=sys.stderr)
        return
    if wrong:
        print("\n" + "\n".join(wrong), file=sys.stderr)
        print(
            f"More than {TOLERANCE:.0%} is a slowdown. Find it (callgrind_annotate tells where instructions go), or "
            "take the counts over with `make bench-instructions-update` and say in the commit why they are worth it.",
            file=sys.stderr,
        )
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
