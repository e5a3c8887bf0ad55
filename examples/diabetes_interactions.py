"""Which interactions matter for diabetes progression? The best models of main effects, squares and products."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_diabetes

import parsifal as pf
from parsifal.design import standardized


def main() -> None:
    """Solve for several k, and print each model as a formula in the standardised measurements."""
    data = load_diabetes()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    y = data.target - data.target.mean()
    lift = pf.NonlinearFeatures(["x", "x^2"], products=True)
    lifted = lift.fit_design(X)
    design, center, scale = standardized(lifted, with_mean=True, with_std=True)
    names = data.feature_names
    print(f"{lifted.shape[0]} patients, {lifted.shape[1]} features of {len(names)} standardised measurements\n")
    for k in (3, 5, 7):
        sol = pf.solve(design, y, k=k, gamma=1.0 / np.sqrt(len(y)), time_limit=30)
        coef = sol.coef * scale
        residual = y - design.matvec(sol.support, sol.coef[sol.support])
        r2 = 1.0 - residual @ residual / (y @ y)
        formula = lift.formula(coef, float(data.target.mean() - center @ coef), digits=3, input_features=names)
        print(f"k = {k}: R² {r2:.3f}, {sol.status}, gap {sol.gap:.0e}, {sol.stats['nodes']} nodes")
        print(f"  progression = {formula}\n")


if __name__ == "__main__":
    main()
