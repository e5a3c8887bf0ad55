"""Build the compiled core under a sanitizer and run the tests on it: `make sanitize`.

`python scripts/sanitize.py address|undefined|both|thread [--quick] [pytest arguments]`. Build and everything else of a
run lies in build/sanitize/<kind>; the development environment lends its libraries and is left as it is. A run is clean
when the hammer (scripts/hammer.py) and the tests pass and no report names our code:

- address: any error is ours to explain; of leaks, those that the core's own code allocated (an interpreter and its
  libraries never free all they have);
- undefined: any report, for nothing else is built with it;
- both: the two above in one build;
- thread: any report that `tsan.supp` does not give to another library.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = {"address": "libasan.so", "undefined": "libubsan.so", "both": "libasan.so", "thread": "libtsan.so"}
FLAG = {"both": "address,undefined"}
# Tests that start threads in the core; the others do under `thread` what they do under `address`, only slower.
THREADED = [
    "tests/api/test_limits.py",
    "tests/api/test_solve.py",
    "tests/solver/test_limits.py",
    "tests/solver/test_checkpoint.py",
    "tests/api/test_path.py",
]
THREADED += ["tests/solver/test_symmetry.py", "tests/design/test_generated.py", "tests/solver/test_tree_state.py"]
# Scans of every data type and layout are the hammer's.
THREADED += ["tests/design/test_reads.py"]
# Nothing here reaches the core, or it times and measures what a sanitizer changes.
LEFT_OUT = ["tests/reporting", "tests/paper", "tests/test_plots.py", "tests/test_import.py", "tests/tools/test_lock.py"]
LEFT_OUT += [
    "tests/tools/test_benchmarks.py",
    "tests/tools/test_peers.py",
    "tests/tools/test_peers_installed.py",
    "tests/test_dispatch.py",
]
LEFT_OUT += ["tests/tools/test_examples.py", "tests/tools/test_readme.py", "tests/files/test_memory.py"]
# The core is reached by what other files do with it as well, and most of the time goes into other programs: solvers,
# schedulers, processes that are started to fit one small problem each.
LEFT_OUT += [
    "tests/cli",
    "tests/cuts/test_cuts.py",
    "tests/cuts/test_limits.py",
    "tests/cuts/test_parts.py",
    "tests/design/test_dask.py",
    "tests/estimators/test_regressor_cv.py",
    "tests/estimators/test_regressor_cv_runs.py",
    "tests/tools/test_stress.py",
]
# The sanitizers' allocator ends a process that a test leaves without memory; and processes within processes, each of
# which loads the instrumented core, take longer than the test waits.
DESELECT = ["tests/tools/test_fuzz.py::test_a_promise_is_refused_without_keeping_it"]
DESELECT += ["tests/api/test_limits.py::test_more_threads_than_the_system_gives"]
DESELECT += ["tests/test_processes.py::test_joblib_within_joblib"]
# They measure memory, of which a sanitizer takes some itself.
DESELECT += [
    f"tests/solver/test_wide.py::{name}"
    for name in (
        "test_the_memory_limit_holds_where_a_gram_matrix_would_not_fit",
        "test_a_file_whose_survivors_do_not_fit_is_searched",
    )
]


def build(kind: str, place: Path) -> Path:
    """Compile, and make an environment that has the result; return its Python."""
    build_dir, site = place / "cmake", place / "site"
    shutil.rmtree(site, ignore_errors=True)
    tools = Path(sys.executable).parent
    options = [
        "-DPARSIFAL_STRICT=ON",
        f"-DPARSIFAL_SANITIZE={FLAG.get(kind, kind)}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"]
    subprocess.run([tools / "cmake", "-S", ROOT, "-B", build_dir, *generator, *options], check=True)
    subprocess.run([tools / "cmake", "--build", build_dir], check=True)
    shutil.copytree(ROOT / "src", site)
    subprocess.run([tools / "cmake", "--install", build_dir, "--prefix", site], check=True)

    # A directory named in a .pth file is searched, but its own .pth files are not read: the libraries are there, the
    # editable installation of the package is not.
    venv.create(place / "venv", symlinks=True)
    libraries = sysconfig.get_path("purelib")
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(place / "venv")}))
    (purelib / "paths.pth").write_text(f"{site}\n{libraries}\n", encoding="utf-8")
    return place / "venv" / "bin" / "python"


def library(name: str) -> str:
    """The compiler's file of that name."""
    compiler = os.environ.get("CXX", "g++")
    return subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def environment(kind: str, place: Path) -> dict[str, str]:
    """What the interpreter must be started with."""
    log = place / "log"
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    common = f"log_path={log / 'report'}:handle_abort=0"
    # libstdc++ comes second, so that the runtime finds the functions that it stands in front of.
    env = {**os.environ, "LD_PRELOAD": f"{library(RUNTIME[kind])} {library('libstdc++.so.6')}"}
    # OpenBLAS is not instrumented: what its pool does would be reported as ours.
    env["OPENBLAS_NUM_THREADS"] = "1"
    if kind in ("address", "both"):
        # Leaks are read from the reports: exit status 0, or every process of a test would fail for the interpreter's.
        env["ASAN_OPTIONS"] = f"{common}:abort_on_error=1:exitcode=0:detect_leaks=1"
        # Python's own pools would hide an overflow between two of their blocks.
        env["PYTHONMALLOC"] = "malloc"
    if kind in ("undefined", "both"):
        env["UBSAN_OPTIONS"] = f"{common}:print_stacktrace=1:abort_on_error=1"
    if kind == "thread":
        env["TSAN_OPTIONS"] = f"{common}:suppressions={ROOT / 'scripts' / 'tsan.supp'}:second_deadlock_stack=1"
    return env


def findings(log: Path) -> tuple[list[str], int]:
    """Reports that are not an interpreter's leak; and in how many processes the search for leaks broke down.

    The second is a fault of the sanitizer's runtime (docs/releasing.md), and no more than one is let pass.
    """
    found, broken = [], 0
    for file in sorted(log.iterdir()):
        text = file.read_text(encoding="utf-8", errors="replace")
        if text.startswith("Tracer caught signal") and "ERROR" not in text and "runtime error" not in text:
            broken += 1
            continue
        if "LeakSanitizer: detected memory leaks" not in text or "ERROR: AddressSanitizer" in text:
            found.append(text)
            continue
        for leak in re.split(r"\n\s*\n", text):
            frames = [line for line in leak.splitlines() if re.match(r"\s*#[1-9]", line)]
            # Who asked for the memory: the frames between the allocator and the interpreter.
            asked = list(itertools.takewhile(lambda line: not re.search(r" in _?Py|nanobind", line), frames))
            if any(re.search(r"parsifal/_core|/cpp/\w+/\w+\.[chi]pp|/bindings/\w+\.[ch]pp", line) for line in asked):
                found.append(leak)
    return found, broken


def run(name: str, command: list[str | Path], env: dict[str, str], wrapper: list[str]) -> bool:
    """Run a part; return whether it passed."""
    print(f"== {name}", flush=True)
    return subprocess.run([*wrapper, *command], cwd=ROOT, env=env, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Build, run, read the reports."""
    if not arguments or arguments[0] not in RUNTIME:
        print(__doc__, file=sys.stderr)
        return 2
    kind, rest = arguments[0], arguments[1:]
    quick = "--quick" in rest
    rest = [argument for argument in rest if argument != "--quick"]
    place = ROOT / "build" / "sanitize" / kind
    place.mkdir(parents=True, exist_ok=True)
    python = build(kind, place)
    env = environment(kind, place)
    # ThreadSanitizer needs its memory where the kernel's randomisation may have put something else.
    wrapper = ["setarch", "-R"] if kind == "thread" else []
    passed = run("hammer", [python, "scripts/hammer.py", "--rounds", "1" if quick else "3"], env, wrapper)
    if not quick:
        deselect = [f"--deselect={name}" for name in DESELECT]
        tests = THREADED if kind == "thread" else ["tests", *(f"--ignore={name}" for name in LEFT_OUT)]
        # Under ThreadSanitizer the worker processes of pytest-xdist die; the tests' own threads keep the cores busy.
        # Polars brings an allocator that does not start under it.
        workers = ["-p", "no:xdist", "-k", "not polars"] if kind == "thread" else ["-n", "2"]
        command = [python, "-m", "pytest", "-q", *workers, "-p", "no:cacheprovider", *(rest or [*tests, *deselect])]
        passed = run("tests", command, env, wrapper) and passed
    reports, broken = findings(place / "log")
    for report in reports:
        print(report)
    if broken:
        print(f"LeakSanitizer itself broke down at the end of {broken} process(es); leaks there were not looked for")
    print(f"{kind}: {'passed' if passed else 'FAILED'}, {len(reports)} report(s) on our code")
    return 0 if passed and not reports and broken <= 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
