"""What is installed: the version, the compiled core that was loaded, and which extras are there."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as version_of

import parsifal
from parsifal import _core, _dispatch
from parsifal.deadline import usable_cores

# Extras for people who work on Parsifal, or that only name others.
_NOT_SHOWN = {"bench", "dev", "docs", "lint", "mio", "test"}
_GENERATIONS = {1: "any x86-64", 3: "x86-64 with AVX2", 4: "x86-64 with AVX-512"}


def version_lines(verbose: bool) -> list[str]:
    """The lines of ``--version``."""
    lines = [f"parsifal {parsifal.__version__}"]
    if not verbose:
        return lines
    level = _dispatch.LEVEL
    chosen = "the only one of this build" if level is None else f"for {_GENERATIONS[level]}, one of three in this build"
    lines += [
        f"core: {chosen}; compiled by {_core.compiler}, vectors of {_core.vector_bits} bits",
        f"python: {platform.python_implementation()} {platform.python_version()} on {sys.platform}, "
        f"{platform.machine()}, {usable_cores()} usable cores",
        "requires: " + ", ".join(_installed(name) for name in _requirements().pop("")),
    ]
    for extra, names in sorted(_requirements().items()):
        if extra and extra not in _NOT_SHOWN:
            lines.append(f"extra {extra}: " + ", ".join(_installed(name) for name in names))
    return lines


def _requirements() -> dict[str, list[str]]:
    """The names of what each extra asks for; "" is what is always needed."""
    found: dict[str, list[str]] = {"": []}
    for line in requires("parsifal") or []:
        name = re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", line)
        found.setdefault(extra[1] if extra else "", []).append(name)
    return found


def _installed(name: str) -> str:
    try:
        return f"{name} {version_of(name)}"
    except PackageNotFoundError:
        return f"{name} missing"
