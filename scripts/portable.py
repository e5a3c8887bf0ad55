"""Build the core by other compilers and for other processors, and run tests/core/check.cpp: `make portable`.

`python scripts/portable.py [gcc clang plain aarch64]`. Warnings are errors, and generated data must be the same bits in
all of them. A compiler or emulator that is not on the machine is named, and the run then fails unless `--missing-ok` is
given.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "portable"
TOOLS = Path(sys.executable).parent


@dataclass(frozen=True)
class Build:
    """What to build with, what to configure, and what runs the result."""

    compiler: str
    options: tuple[str, ...] = ()
    run: tuple[str, ...] = ()


BUILDS = {
    "gcc": Build("g++"),
    # With its own standard library, which is Apple's as well.
    "clang": Build("clang++", ("-DCMAKE_CXX_FLAGS=-stdlib=libc++",)),
    # What MSVC compiles: no extension of the language.
    "plain": Build("g++", ("-DPARSIFAL_PLAIN=ON",)),
    "aarch64": Build(
        "aarch64-linux-gnu-g++",
        ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_EXE_LINKER_FLAGS=-static"),
        ("qemu-aarch64",),
    ),
}


def eigen() -> str:
    """Where Eigen's CMake package is."""
    import cmeel

    return str(Path(cmeel.__file__).resolve().parents[1] / "cmeel.prefix" / "share" / "eigen3" / "cmake")


def check(name: str) -> str:
    """Build and run one; returns what it printed."""
    build, place = BUILDS[name], PLACE / name
    settings = ["-DPARSIFAL_CORE_CHECK=ON", "-DPARSIFAL_STRICT=ON", "-DCMAKE_BUILD_TYPE=Release"]
    settings += [f"-DCMAKE_CXX_COMPILER={build.compiler}", f"-DEigen3_DIR={eigen()}", *build.options]
    maker = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}"]
    for command in (
        [str(TOOLS / "cmake"), "-S", str(ROOT), "-B", str(place), *maker, *settings],
        [str(TOOLS / "cmake"), "--build", str(place)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {' '.join(command)}\n{done.stdout[-8000:]}{done.stderr[-4000:]}")
    done = subprocess.run([*build.run, str(place / "core_check")], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: the check failed: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*BUILDS, []], help="all of them by default")
    parser.add_argument("--missing-ok", action="store_true", help="leave out what the machine has no compiler for")
    args = parser.parse_args()
    found: dict[str, str] = {}
    missing = []
    for name in args.names or BUILDS:
        tools = (BUILDS[name].compiler, *BUILDS[name].run[:1])
        lacking = [tool for tool in tools if shutil.which(tool) is None]
        if lacking:
            missing.append(name)
            print(f"{name}: not tried, {' and '.join(lacking)} not found", flush=True)
            continue
        found[name] = check(name)
        print(f"{name}: {found[name]}", flush=True)
    if len(set(found.values())) > 1:
        sys.exit("generated data differ")
    if missing and not args.missing_ok:
        sys.exit(1)


if __name__ == "__main__":
    main()
