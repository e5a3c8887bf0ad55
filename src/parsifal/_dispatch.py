"""Which compiled core to load: a portable wheel has one for each of three generations of processors.

A core built for the machine itself, as every build from source is, is a single `_core` and needs no choice: then there
is no `_cpu` beside it. `PARSIFAL_CPU` (1, 3 or 4) takes an older one than the processor could run, for comparisons.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path


def load_core() -> int | None:
    """Load the best core for this processor as `parsifal._core`; return its generation, None if there is but one."""
    try:
        from parsifal._cpu import level
    except ImportError:
        return None
    able: int = level()
    wanted = os.environ.get("PARSIFAL_CPU", "")
    if wanted not in ("", "1", "3", "4"):
        raise ImportError(f"PARSIFAL_CPU={wanted!r}: it must be 1, 3 or 4, the generation of x86-64 to use, or unset")
    chosen = min(able, int(wanted or able))
    if chosen == 1 or "parsifal._core" in sys.modules:
        return chosen
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        file = Path(__file__).with_name(f"_core_v{chosen}{suffix}")
        if file.exists():
            # The file is named after its generation, the module inside it is `_core` in all of them.
            loader = importlib.machinery.ExtensionFileLoader("parsifal._core", str(file))
            spec = importlib.util.spec_from_file_location("parsifal._core", file, loader=loader)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            sys.modules["parsifal._core"] = module
            return chosen
    return 1


# At import, and `parsifal/__init__.py` imports this module first: whoever imports `_core` later gets the chosen one.
LEVEL = load_core()
