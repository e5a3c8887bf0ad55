"""The picture of README, a gap that closes: `python -m benchmarks.picture docs/figures/gap.png`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

import parsifal as pf
from benchmarks.speed.instances import diabetes

mpl.use("Agg")


def main(argv: Sequence[str]) -> int:
    """Solve and draw."""
    if len(argv) != 1:
        print(__doc__)
        return 2
    X, y = diabetes()
    history = pf.History()
    sol = pf.solve(X, y, k=10, gamma=1.0, progress=history, threads=1)
    axes = pf.plots.bounds(history)
    figure = np.ravel(axes)[0].figure
    figure.savefig(Path(argv[0]), dpi=110)
    print(sol)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
