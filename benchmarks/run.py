"""Run benchmarks: `python -m benchmarks.run [names] [--quick] [--json FILE]`; without names, all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from benchmarks import cuts, relaxation, scan, search, table1
from benchmarks.report import environment, parser

BENCHMARKS: dict[str, Callable[[Sequence[str]], None]] = {
    "scan": scan.main,
    "relaxation": relaxation.main,
    "table1": table1.main,
    "search": search.main,
    "cuts": cuts.main,
}


def main(argv: Sequence[str]) -> None:
    """Run the named benchmarks, one after the other."""
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}")
    args = arguments.parse_args(argv)
    for name in args.names:
        if name not in BENCHMARKS:
            arguments.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    passed = (["--quick"] if args.quick else []) + (["--json", str(args.json)] if args.json else [])
    print(environment())
    for name in args.names or BENCHMARKS:
        BENCHMARKS[name](passed)


if __name__ == "__main__":
    main(sys.argv[1:])
