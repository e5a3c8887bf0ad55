"""
Kernels and groups
==================

Which variables matter, if their effects need not be lines? Each variable gets two candidates, a line and a smooth
curve; the best three of all these kernels are chosen, with proof. Then the same for groups of columns.
"""

import numpy as np
from matplotlib import pyplot as plt

import parsifal as pf

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (200, 10))
y = np.sin(2 * X[:, 0]) + 0.6 * X[:, 1] + 0.5 * X[:, 4] ** 2 + 0.2 * rng.standard_normal(200)

model = pf.SparseKernelRegressor(k=3).fit(X, y)
print(f"{model.status_}, gap {model.gap_:.1e}: {', '.join(model.selected_)}")

# %%
# The fitted effects: one variable moves, the others stay at zero.

grid = np.linspace(-2, 2, 200)
truth = {0: np.sin(2 * grid), 1: 0.6 * grid, 4: 0.5 * grid**2}
_, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
for ax, (j, effect) in zip(axes, truth.items()):
    rows = np.zeros((200, 10))
    rows[:, j] = grid
    ax.plot(grid, effect, color="#bbbbbb", lw=4, label="truth")
    ax.plot(grid, model.predict(rows) - model.predict(np.zeros((1, 10))), color="#1f6fb2", label="fit")
    ax.set_xlabel(f"x{j}")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)

# %%
# Groups
# ------
#
# Columns that belong together (the levels of a category, the lags of a series) are chosen together. Here groups 2 and
# 5 of eight, four columns each, have an effect.

Z = rng.standard_normal((150, 32))
response = Z[:, 8:12] @ [1, -1, 0.5, 0.5] + Z[:, 20:24] @ [0.5, 0.5, 1, -1] + rng.standard_normal(150)
groups = np.repeat(np.arange(8), 4)
sol = pf.solve_groups(Z, response, groups=groups, k=2, gamma=1.0)
print(f"{sol.status}: groups {sol.support.tolist()}, objective {sol.objective:.2f}, lower bound {sol.lower_bound:.2f}")

_, ax = plt.subplots(figsize=(9, 3), layout="constrained")
ax.bar(np.arange(32), sol.coef, color=np.where(groups % 2 == 0, "#1f6fb2", "#d9772b"))
ax.set_xticks(np.arange(1.5, 32, 4), [f"group {g}" for g in range(8)])
ax.set_ylabel("coefficient")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
