"""Which variables matter, and in which shape? The best 3 of 120 kernels, and the best groups of columns, with proof."""

from __future__ import annotations

import numpy as np

import parsifal as pf


def main() -> None:
    """Choose kernels for an additive model, then groups of columns."""
    rng = np.random.default_rng(0)
    n, p = 200, 40
    X = rng.standard_normal((n, p))
    y = np.sin(2 * X[:, 0]) + 0.7 * X[:, 1] + np.tanh(2 * X[:, 2] * X[:, 3]) + 0.3 * rng.standard_normal(n)

    # Every variable with a straight line and a smooth curve, and neighbours with a smooth surface.
    kernels = [("linear", [j]) for j in range(p)]
    kernels += [("rbf", {"gamma": 0.5}, [j]) for j in range(p)]
    kernels += [("rbf", {"gamma": 0.5}, [j, (j + 1) % p]) for j in range(p)]
    model = pf.SparseKernelRegressor(kernels, k=3).fit(X, y)
    stats = model.solution_.stats
    print("y = sin(2 x0) + 0.7 x1 + tanh(2 x2 x3) + noise")
    print(f"the best 3 of {len(kernels)} kernels: {', '.join(model.selected_)}")
    print(f"{model.status_}: gap {model.gap_:.0e}, {stats['nodes']} nodes, {stats['seconds']:.1f} s")
    fresh = rng.standard_normal((2000, p))
    signal = np.sin(2 * fresh[:, 0]) + 0.7 * fresh[:, 1] + np.tanh(2 * fresh[:, 2] * fresh[:, 3])
    print(f"R² on new data without noise: {model.score(fresh, signal):.3f}")

    groups = np.arange(p) // 4
    y = X[:, :4] @ [1.0, -1.0, 0.5, 2.0] + X[:, 8:12] @ [1.0, 1.0, -1.0, 0.5] + rng.standard_normal(n)
    sol = pf.solve_groups(X, y, groups, k=2)
    print(f"\nthe best 2 of {groups.max() + 1} groups of columns: {sol.support.tolist()} ({sol.status})")


if __name__ == "__main__":
    main()
