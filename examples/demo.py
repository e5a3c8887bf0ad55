"""The best k-sparse models of a real data set, each with a proof: `make demo`.

scikit-learn's diabetes data (442 patients) with all squares and products of its ten measurements.
"""

from __future__ import annotations

import math
import sys
from time import perf_counter

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import parsifal as pf
from parsifal.design import as_design, standardized

LARGEST_K = 10
SHOWN_K = 7


def diabetes() -> tuple[pf.Design, np.ndarray, list[str]]:
    """Return the standardised columns, the centred response, and the columns' names."""
    data = load_diabetes()
    lift = PolynomialFeatures(degree=2, include_bias=False)
    X = lift.fit_transform(data.data)
    names = [str(name).replace("^2", "²").replace(" ", "·") for name in lift.get_feature_names_out(data.feature_names)]
    # A view that centres and scales while it reads: X itself is not copied.
    design, _, _ = standardized(as_design(X), with_mean=True, with_std=True)
    return design, data.target - data.target.mean(), names


def r_squared(design: pf.Design, y: np.ndarray, sol: pf.Solution) -> float:
    """Share of the variance that the fit explains."""
    residual = y - design.matvec(sol.support, sol.coef[sol.support])
    return 1.0 - float(residual @ residual) / float(y @ y)


def watch(progress: pf.Progress) -> None:
    """Show how far a solve of more than half a second has come; the table's line then takes its place."""
    if progress.seconds > 0.5 and sys.stdout.isatty():
        print(f"\r    {progress}", end="", flush=True)


def main() -> None:
    """Solve for every k, then show one model and what is proven about it."""
    design, y, names = diabetes()
    n, p = design.shape
    gamma = 1.0 / math.sqrt(n)
    print(f"Parsifal {pf.__version__}: diabetes data, {n} patients, {p} columns (10 measurements, squares, products)")
    print(f"minimise 1/2 |y - Xw|² + |w|²/(2 gamma) over w with at most k nonzeros, gamma = 1/√{n} = {gamma:.4f}\n")
    header = f"{'k':>3} {'objective':>14} {'lower bound':>14} {'gap':>8} {'nodes':>8} {'seconds':>8} {'R²':>7}  proven"
    print(header)
    print("─" * len(header))
    shown: pf.Solution | None = None
    for k in range(1, LARGEST_K + 1):
        started = perf_counter()
        sol = pf.solve(design, y, k=k, gamma=gamma, time_limit=10, progress=watch)
        seconds = perf_counter() - started
        clear = "\r\033[K" if sys.stdout.isatty() else ""
        print(
            f"{clear}{k:3d} {sol.objective:14.2f} {sol.lower_bound:14.2f} {sol.gap:8.0e} {sol.stats['nodes']:8d} "
            f"{seconds:8.3f} {r_squared(design, y, sol):7.4f}  {'yes' if sol.status == 'optimal' else sol.status}"
        )
        if k == SHOWN_K:
            shown = sol
    assert shown is not None

    print(f"\nThe best model with {SHOWN_K} columns (effect of one standard deviation on disease progression):\n")
    largest = float(np.max(np.abs(shown.coef)))
    width = max(len(names[j]) for j in shown.support)
    for j in sorted(shown.support, key=lambda j: -abs(shown.coef[j])):
        bar = "█" * max(1, round(24 * abs(shown.coef[j]) / largest))
        print(f"  {names[j]:<{width}} {shown.coef[j]:+9.3f}  {bar}")
    choices = sum(math.comb(p, size) for size in range(SHOWN_K + 1))
    print(
        f"\nThe proof: none of the {choices:,} ways to choose at most {SHOWN_K} of the {p} columns has an objective\n"
        f"below {shown.lower_bound:.2f}. This one has {shown.objective:.2f}: nothing can be better by more than "
        f"{100 * shown.gap:.4f} %."
    )


if __name__ == "__main__":
    main()
