"""leaps (Lumley, after Furnival and Wilson): exhaustive search with bounds, in R; the ridge by augmented rows."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers import scalings
from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """See whether R and the package are there."""
    if shutil.which("Rscript") is None:
        raise ImportError("there is no Rscript")
    subprocess.run(["Rscript", "-e", "library(leaps)"], check=True, capture_output=True)


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Exhaust the subsets of at most k columns; timed in R."""
    assert job.k is not None
    rows, response = scalings.augmented(X, y, job.gamma)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "leaps.size").write_text(f"{rows.shape[0]} {rows.shape[1]} {job.k}", encoding="ascii")
        rows.ravel(order="F").tofile(folder / "leaps.X")
        response.tofile(folder / "leaps.y")
        script = Path(__file__).with_name("leaps.R")
        subprocess.run(["Rscript", str(script), str(folder)], check=True)
        which = np.loadtxt(folder / "leaps.which", ndmin=2)
        seconds = float((folder / "leaps.seconds").read_text(encoding="ascii"))
    return Answer(
        supports=[np.flatnonzero(row).tolist() for row in which], claim=True, status="exhaustive", seconds=seconds
    )
