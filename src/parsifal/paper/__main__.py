"""`python -m parsifal.paper NAME`: the experiments without the command line's libraries."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from parsifal.errors import ParsifalError
from parsifal.paper import EXPERIMENTS, METHODS
from parsifal.paper.command import make_options, reproduce


def main(argv: Sequence[str] | None = None) -> int:
    """Run one experiment; 0 if all went well, 2 for a wrong argument, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m parsifal.paper", description="Reproduce the paper's experiments.")
    parser.add_argument("name", choices=[*EXPERIMENTS], metavar="NAME", help=", ".join(EXPERIMENTS))
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few minutes (the default)")
    size.add_argument("--full", action="store_true", help="the paper's sizes and repeats")
    parser.add_argument("--method", default="search", help=f"with commas, of {', '.join(METHODS)}")
    parser.add_argument("--backend", default="scip", help="mixed-integer solver of the cutting planes")
    parser.add_argument("--gamma", type=float, help="ridge weight (default 1/sqrt(n))")
    parser.add_argument("--time-limit", type=float, help="seconds of a solve")
    parser.add_argument("--n", help="numbers of rows, with commas")
    parser.add_argument("--values", help="values of the parameter that the figure is about, with commas")
    parser.add_argument("--cells", help='cells of table1 as "k,p,n k,p,n ..."; k, p or n may be *')
    parser.add_argument("--p", type=int, help="number of columns")
    parser.add_argument("--k", type=int, help="number of true columns")
    parser.add_argument("--repeats", type=int, help="data sets per point")
    parser.add_argument("--parts", help="what to measure, with commas")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--dask", action="store_true", help="run on the active Dask client, or on a local one")
    parser.add_argument("--threads", type=int, help="threads of a solve")
    parser.add_argument("--out", type=Path, default=Path("results") / "paper", help="directory of the results")
    parser.add_argument("--draw-only", action="store_true", help="table and pictures of the runs that are there")
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
