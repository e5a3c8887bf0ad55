"""Reads files whose promises are larger than they are, in a process with little memory: one line of JSON for each.

Standard input: a list of [name, target, file]. Output: [name, error or "read", message, peak bytes].
"""

from __future__ import annotations

import json
import sys
import tempfile
import tracemalloc
from pathlib import Path

from fuzz.guard import Violation, guarded, limit_memory
from fuzz.targets import TARGETS

_MEMORY = 1 << 30


def main() -> None:
    tasks = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Good bytes first: imports and caches are not what is measured.
        for target in {target for _, target, _ in tasks}:
            TARGETS[target].read(TARGETS[target].good(folder), folder)
        limit_memory(_MEMORY)
        for name, target, path in tasks:
            content = Path(path).read_bytes()
            kind, message = "read", ""
            tracemalloc.start()
            try:
                with guarded(folder, 60.0):
                    TARGETS[target].read(content, folder)
            except (Exception, Violation) as error:
                kind, message = type(error).__name__, str(error)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            row = [name, kind, message[:300], peak]
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
