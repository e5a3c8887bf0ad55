"""Build the wheels and the source distribution into dist/, and try each in a fresh environment: `make wheels`.

`python scripts/build_wheels.py [--only 3.10,3.12] [--no-sdist]`. One wheel each for CPython 3.10 and 3.11, and one in
the stable interface for 3.12 and every later one. Interpreters are sought on PATH (`python3.12`) and in pyenv; one that
is not there is said to be missing, and the run then ends with status 1 unless `--missing-ok` is given. Build tools come
from requirements/build.lock, by their hashes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PLACE = ROOT / "build" / "wheels"
# The version that builds, and those that install what it has built.
BUILDS = {"3.10": ("3.10",), "3.11": ("3.11",), "3.12": ("3.12", "3.13", "3.14")}


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> None:
    """Run a command, and stop if it fails."""
    subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **env}, check=True)


def interpreter(version: str) -> Path | None:
    """A Python of that version, if the machine has one that starts."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    found = shutil.which(f"python{version}")
    for candidate in [*candidates, *([Path(found)] if found else [])]:
        says = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([candidate, "-c", says], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return candidate
    return None


def environment(python: Path, place: Path) -> Path:
    """A fresh virtual environment; returns its Python."""
    shutil.rmtree(place, ignore_errors=True)
    run(python, "-m", "venv", place)
    return place / "bin" / "python"


def build_tools(python: Path, version: str) -> Path:
    """The environment that builds, made once."""
    place = PLACE / f"tools-{version}"
    done = place / ".locked"
    lock = ROOT / "requirements" / "build.lock"
    if not done.exists() or done.stat().st_mtime < lock.stat().st_mtime:
        tools = environment(python, place)
        run(tools, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock)
        done.touch()
    return place / "bin" / "python"


def eigen(tools: Path) -> str:
    """Where Eigen's CMake package is."""
    code = "import cmeel, pathlib; print(pathlib.Path(cmeel.__file__).parents[1] / 'cmeel.prefix/share/eigen3/cmake')"
    return subprocess.run([tools, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def build_wheel(tools: Path, headers: str) -> Path:
    """Compile for all processors, and put in what other Linux systems may lack; returns the wheel in dist/."""
    with tempfile.TemporaryDirectory() as raw:
        # One build directory and one Eigen for all interpreters: the core knows nothing of Python, so only the bindings
        # are compiled anew for each.
        options = ["-C", "cmake.define.PARSIFAL_NATIVE=OFF", "-C", f"build-dir={PLACE / 'cmake'}"]
        options += ["-C", f"cmake.define.Eigen3_DIR={headers}"]
        path = f"{tools.parent}{os.pathsep}{os.environ['PATH']}"
        run(tools, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", *options, "-w", raw, ".", PATH=path)
        (built,) = Path(raw).glob("*.whl")
        with tempfile.TemporaryDirectory() as repaired:
            run(tools, "-m", "auditwheel", "repair", "-w", repaired, built, PATH=path)
            (wheel,) = Path(repaired).glob("*.whl")
            DIST.mkdir(exist_ok=True)
            for old in DIST.glob(f"{wheel.name.rpartition('-')[0]}-*.whl"):
                old.unlink()
            return Path(shutil.copy(wheel, DIST / wheel.name))


def build_sdist(tools: Path) -> Path:
    """The sources, as they are under version control."""
    for old in DIST.glob("*.tar.gz"):
        old.unlink()
    run(tools, "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, ".")
    (made,) = DIST.glob("*.tar.gz")
    return made


def try_out(python: Path, version: str, artefact: Path) -> None:
    """Install into a fresh environment and run the smoke test there, away from the sources."""
    fresh = environment(python, PLACE / f"smoke-{version}")
    run(fresh, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", artefact)
    with tempfile.TemporaryDirectory() as elsewhere:
        run(fresh, ROOT / "scripts" / "smoke.py", cwd=Path(elsewhere))


def main() -> int:
    """Build, install, try; then a table of what was done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(BUILDS), help="build with these versions only")
    parser.add_argument("--no-sdist", action="store_true", help="leave the source distribution out")
    parser.add_argument("--missing-ok", action="store_true", help="an interpreter that is not there is no failure")
    args = parser.parse_args()
    rows: list[tuple[str, str]] = []
    missing = False
    tools, headers = None, ""
    for version in args.only.split(","):
        users = {user: interpreter(user) for user in BUILDS[version]}
        builder = users[version]
        if builder is None:
            rows.append((version, "not built: no such interpreter here"))
            missing = True
            continue
        start = time.monotonic()
        tools = build_tools(builder, version)
        headers = headers or eigen(tools)
        wheel = build_wheel(tools, headers)
        rows.append((version, f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s"))
        for user, python in users.items():
            if python is None:
                rows.append((user, "not tried: no such interpreter here"))
                missing = True
            else:
                try_out(python, user, wheel)
                rows.append((user, "installed in a fresh environment, smoke test passed"))
    if tools is not None and not args.no_sdist:
        sdist = build_sdist(tools)
        try_out(Path(sys.executable), "sdist", sdist)
        rows.append(("sdist", f"{sdist.name}, {sdist.stat().st_size / 1e6:.1f} MB; compiled, smoke test passed"))
    for name, text in rows:
        print(f"{name:6} {text}")
    return 1 if missing and not args.missing_ok else 0


if __name__ == "__main__":
    sys.exit(main())
