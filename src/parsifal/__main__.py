"""``python -m parsifal``: the command line."""

from __future__ import annotations

from parsifal.cli import main

if __name__ == "__main__":
    main()
