"""`python -m parsifal.paper NAME`: the experiments without the command line's libraries."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from parsifal.errors import ParsifalError
from parsifal.paper import EXPERIMENTS
from parsifal.paper.command import HELP, make_options, reproduce


def main(argv: Sequence[str] | None = None) -> int:
    """Run one experiment; 0 if all went well, 2 for a wrong argument, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m parsifal.paper", description="Reproduce the paper's experiments.")
    parser.add_argument("name", choices=[*EXPERIMENTS], metavar="NAME", help=", ".join(EXPERIMENTS))
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few minutes (the default)")
    size.add_argument("--full", action="store_true", help="the paper's sizes and repeats")
    parser.add_argument("--method", default="search", help=HELP["method"])
    parser.add_argument("--backend", default="scip", help=HELP["backend"])
    parser.add_argument("--gamma", type=float, help=HELP["gamma"])
    parser.add_argument("--time-limit", type=float, help=HELP["time_limit"])
    parser.add_argument("--n", help=HELP["n"])
    parser.add_argument("--values", help=HELP["values"])
    parser.add_argument("--cells", help=HELP["cells"])
    parser.add_argument("--p", type=int, help=HELP["p"])
    parser.add_argument("--k", type=int, help=HELP["k"])
    parser.add_argument("--repeats", type=int, help=HELP["repeats"])
    parser.add_argument("--parts", help=HELP["parts"])
    parser.add_argument("--jobs", type=int, default=1, help=HELP["jobs"])
    parser.add_argument("--dask", action="store_true", help=HELP["dask"])
    parser.add_argument("--threads", type=int, help=HELP["threads"])
    parser.add_argument("--out", type=Path, default=Path("results") / "paper", help=HELP["out"])
    parser.add_argument("--draw-only", action="store_true", help=HELP["draw_only"])
    args = vars(parser.parse_args(argv))
    name, draw_only = args.pop("name"), args.pop("draw_only")
    args.pop("quick")
    try:
        reproduce(name, make_options(**args), draw_only=draw_only)
    except ParsifalError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; the same command goes on from here\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
