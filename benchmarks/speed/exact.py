"""A proof checked in doubles and in exact arithmetic: `python -m benchmarks.speed.exact`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import timed

COLUMNS = (
    Column("n", "n", 6, "d"),
    Column("p", "p", 6, "d"),
    Column("k", "k", 3, "d"),
    Column("records", "records", 8, "d"),
    Column("frames", "frames", 7, "d"),
    Column("check_s", "check, s", 9, ".2f"),
    Column("exact_s", "exact, s", 9, ".2f"),
    Column("record_ms", "ms a record", 11, ".2f"),
)
# n, p, k, noise, gamma, nodes after which the search is cut short.
CASES = ((100, 1000, 8, 1.0, 0.1, 500), (200, 500, 10, 1.0, 0.05, 4000), (1000, 100, 10, 5.0, 1.0, 1000))
QUICK = ((30, 40, 4, 1.0, 0.3, 5),)


def main(argv: Sequence[str]) -> None:
    """Print one line per case."""
    args = parser(__doc__).parse_args(argv)
    table = Table("exact", "Seconds of a check; frames: those with a diagonal", COLUMNS, args.json)
    for n, p, k, noise, gamma, nodes in QUICK if args.quick else CASES:
        data = pf.datasets.make_sparse_regression(n, p, k, rho=0.5, sqrt_snr=1 / noise, random_state=0)
        certificate = pf.solve(data.X, data.y, k=k, gamma=gamma, threads=1, node_limit=nodes).certificate
        assert certificate is not None
        check, result = timed(lambda c=certificate, d=data: pf.check(c, d.X, d.y))
        exact, exactly = timed(lambda c=certificate, d=data: pf.check(c, d.X, d.y, exact=True))
        assert result, result.reason
        assert exactly, exactly.reason
        parts = zip(certificate.frame_offset[:-1], certificate.frame_offset[1:])
        table.row(
            n=n,
            p=p,
            k=k,
            records=certificate.records,
            frames=sum(bool(np.any(certificate.frame_diagonal[a:b])) for a, b in parts),
            check_s=check,
            exact_s=exact,
            record_ms=1e3 * exact / certificate.records,
        )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
