"""
Wide data
=========

The data are synthetic: random numbers, a hundred and twenty rows and five thousand columns in correlated blocks, made
to resemble measurements of genes, which none of them is. Eight columns have an effect, and since we put it there, we
know which. The exact method beside the Lasso with cross-validation: what is found, and what is found besides.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.linear_model import LassoCV

import parsifal as pf

rng = np.random.default_rng(0)
n, p, block = 120, 5000, 50
shared = np.repeat(rng.standard_normal((n, p // block)), block, axis=1)
X = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal((n, p))
X = (X - X.mean(axis=0)) / X.std(axis=0)
truth = np.sort(rng.choice(p, 8, replace=False))
effects = rng.choice([-1.0, 1.0], 8)
y = X[:, truth] @ effects + 0.5 * rng.standard_normal(n)
y -= y.mean()

# %%
# The best eight columns, among some 10²⁵ choices, with proof.

sol = pf.solve(X, y, k=8, gamma=1 / np.sqrt(n), time_limit=20)
print(sol)
print(f"found {pf.metrics.accuracy(truth, sol.support):.0f} % of the true columns; {sol.stats['nodes']} nodes")

# %%
# The Lasso, its penalty chosen by cross-validation.

largest = np.abs(X.T @ y).max() / n
lasso = LassoCV(alphas=largest * np.geomspace(1, 0.02, 30), cv=5).fit(X, y)
chosen = np.flatnonzero(lasso.coef_)
print(
    f"{len(chosen)} columns, with {pf.metrics.accuracy(truth, chosen):.0f} % of the true ones; "
    f"{pf.metrics.false_alarm_rate(truth, chosen):.0f} % of those chosen are false"
)

# %%
# True effects as grey bars. The Lasso finds the true columns too, shrunk, with company; the exact fit has them alone.

_, axes = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
for ax, name, coef in zip(axes, ("the best eight columns", "Lasso with cross-validation"), (sol.coef, lasso.coef_)):
    ax.vlines(truth, 0, effects, color="#cccccc", lw=7)
    used = np.flatnonzero(coef)
    ax.vlines(used, 0, coef[used], color=np.where(np.isin(used, truth), "#1f6fb2", "#d9772b"), lw=2)
    ax.axhline(0, color="#444444", lw=0.6)
    ax.set_title(name, loc="left", fontsize=11)
    ax.set_ylabel("coefficient")
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("column (orange: no effect in truth)")
plt.show()
