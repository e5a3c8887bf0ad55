"""The version is written in three files, and a release's tag names it: `python scripts/check_version.py [v1.2.3]`.

It fails where they differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def versions(root: Path = ROOT) -> dict[str, str]:
    """The version that each file states."""
    found = {}
    for name, pattern in {
        "pyproject.toml": r"^version = \"([^\"]+)\"",
        "CITATION.cff": r"^version: *\"?([^\"\s]+)",
        "conda/meta.yaml": r"set version = \"([^\"]+)\"",
    }.items():
        match = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        found[name] = match.group(1) if match else "none"
    return found


def main(arguments: list[str]) -> str | None:
    """What is wrong, if anything."""
    stated = versions()
    if arguments:
        stated["the tag"] = arguments[0].removeprefix("v")
    print(", ".join(f"{name}: {version}" for name, version in stated.items()))
    return None if len(set(stated.values())) == 1 else "the versions differ"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
