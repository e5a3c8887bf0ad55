"""The command line: ``parsifal fit data.csv --target y --k 5``. Needs the extra ``parsifal[cli]``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without its libraries, say how to get them."""
    try:
        from parsifal.cli.app import app
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        sys.stderr.write(f"The command line needs {error.name}: pip install 'parsifal[cli]'\n")
        raise SystemExit(1) from None
    app()
