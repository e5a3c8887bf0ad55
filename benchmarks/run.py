"""Run benchmarks: `python -m benchmarks.run [names] [--quick] [--json FILE]`.

Without names, all of them but `scale`, which takes an hour and tens of gigabytes (`make bench-scale`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from benchmarks.report import environment, parser
from benchmarks.speed import (
    asked,
    best_subset,
    crossval,
    cuts,
    exact,
    groups,
    kernels,
    lifting,
    relaxation,
    scale,
    scan,
    search,
    table1,
    wide,
)

BENCHMARKS: dict[str, Callable[[Sequence[str]], None]] = {
    "scan": scan.main,
    "relaxation": relaxation.main,
    "table1": table1.main,
    "search": search.main,
    "best_subset": best_subset.main,
    "cuts": cuts.main,
    "crossval": crossval.main,
    "lifting": lifting.main,
    "kernels": kernels.main,
    "groups": groups.main,
    "asked": asked.main,
    "exact": exact.main,
    "wide": wide.main,
    "scale": scale.main,
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
    for name in args.names or [name for name in BENCHMARKS if name != "scale"]:
        BENCHMARKS[name](passed)


if __name__ == "__main__":
    main(sys.argv[1:])
