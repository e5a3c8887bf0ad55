"""
The dual bound, drawn
=====================

For any vector alpha, D(alpha) is below the objective of every support. Twelve columns are few enough to look at all
supports.
"""

from itertools import combinations

import numpy as np
from matplotlib import pyplot as plt

import parsifal as pf

n, p, k, gamma = 40, 12, 3, 0.3
rng = np.random.default_rng(2)
X = rng.standard_normal((n, p)) + 1.0 * rng.standard_normal((n, 1))
y = X[:, [1, 4, 8]] @ [1.0, -0.7, 0.6] + 1.5 * rng.standard_normal(n)
supports = list(combinations(range(p), k))
objectives = np.array([pf.loss(X, y, support, gamma).value for support in supports])
best = objectives.min()


def dual(alpha: np.ndarray) -> float:
    """D(alpha): one product with X, and the k largest squares."""
    beta = X.T @ alpha
    return y @ alpha - alpha @ alpha / 2 - gamma / 2 * np.sort(beta**2)[-k:].sum()


# %%
# D along two lines: multiples of the relaxation's alpha, and of y. The relaxation's alpha gives the best bound of all.

alpha = pf.relax(X, y, k=k, gamma=gamma).alpha
line = np.linspace(0, 2, 200)
_, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
ax.hlines(objectives, 0, 2, color="#dddddd", lw=0.5)
ax.axhline(best, color="#d9772b", lw=1.6, label="the best support")
ax.plot(line, [dual(t * alpha) for t in line], color="#1f6fb2", lw=2, label="D(t alpha), alpha of the relaxation")
ax.plot(line, [dual(t * y) for t in line], color="#1f6fb2", lw=1.2, ls=":", label="D(t y)")
ax.set(xlabel="t", ylabel="objective, bound", ylim=(0, 1.02 * objectives.max()))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower center")

# %%
# Splitting: a column in, or out, then a second one. Each part is a box with the objectives of its supports (grey),
# its least one (orange) and its bound (blue). A part whose bound is above the best support of all is done.

first, second = pf.solve(X, y, k=k, gamma=gamma).support[:2]
parts = {
    "all": ([], []),
    f"x{first} out": ([], [first]),
    f"x{first} in": ([first], []),
    f"x{first} in\nx{second} out": ([first], [second]),
    f"x{first} in\nx{second} in": ([first, second], []),
}
bounds = []
_, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
for place, (inside, outside) in enumerate(parts.values()):
    rows = [i for i, s in enumerate(supports) if set(inside) <= set(s) and not set(outside) & set(s)]
    bounds.append(pf.relax(X, y, k=k, gamma=gamma, force_in=inside, force_out=outside).bound)
    ax.hlines(objectives[rows], place - 0.3, place + 0.3, color="#dddddd", lw=0.7)
    ax.hlines(objectives[rows].min(), place - 0.3, place + 0.3, color="#d9772b", lw=2)
    ax.hlines(bounds[-1], place - 0.3, place + 0.3, color="#1f6fb2", lw=2)
ax.axhline(best, color="#888888", lw=1, ls="--")
ax.set_xticks(range(len(parts)), parts)
ax.set_ylabel("objective, bound")
ax.set_ylim(0.95 * min(bounds), None)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The gap at the root, before any split, against gamma.

gammas = np.geomspace(0.003, 30, 25)
gaps = []
for weight in gammas:
    least = min(pf.loss(X, y, support, weight).value for support in supports)
    gaps.append(100 * (1 - pf.relax(X, y, k=k, gamma=weight).bound / least))
_, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.semilogx(gammas, gaps, "o-", color="#1f6fb2", ms=4)
ax.set(xlabel="gamma (left: a strong ridge, right: a weak one)", ylabel="gap of the relaxation, %")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
