"""The command line: ``parsifal fit data.csv --target y --k 5``. Needs the extra ``parsifal[cli]``."""

from __future__ import annotations

import os
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; without its libraries, say how to get them."""
    try:
        from parsifal.cli.app import app
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        sys.stderr.write(f"The command line needs {error.name}: pip install 'parsifal[cli]'\n")
        raise SystemExit(1) from None
    try:
        app()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            # Threads of a cross-validation may still be in compiled code, which must not outlive the interpreter.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(_INTERRUPTED)
        raise
