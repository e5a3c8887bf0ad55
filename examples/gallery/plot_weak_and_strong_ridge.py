"""
A weak and a strong ridge on collinear data
===========================================

gamma is the weight of the ridge, ``|w|² / (2 gamma)``: a large gamma is a weak ridge. With columns that nearly repeat
each other it decides how large the coefficients get, and how hard the proof is.
"""

import numpy as np
from matplotlib import pyplot as plt

import parsifal as pf

# %%
# Sixty columns in blocks of three that are nearly the same; four of the blocks have an effect.

rng = np.random.default_rng(1)
n, blocks = 80, 20
hidden = rng.standard_normal((n, blocks))
X = np.repeat(hidden, 3, axis=1) + 0.1 * rng.standard_normal((n, 3 * blocks))
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = hidden[:, :4] @ [2.0, -1.5, 1.0, 1.0] + rng.standard_normal(n)
y -= y.mean()

# %%
# Six columns are allowed where four would do. A strong ridge spends the spare ones on twins of the true columns,
# which share their weight; a weak ridge fits noise with them. The nodes are what the proof takes.

gammas = [0.005, 0.05, 0.5, 5.0]
fits = []
for gamma in gammas:
    sol = pf.solve(X, y, k=6, gamma=gamma, time_limit=20)
    size = np.abs(sol.coef).max()
    print(
        f"gamma {gamma:6g}: {sol.status:10} {sol.stats['nodes']:6d} nodes, largest coefficient {size:5.2f}, "
        f"blocks {sorted({int(j) // 3 for j in sol.support})}"
    )
    fits.append(sol)

# %%
# The coefficients, one row for each gamma; the four blocks with an effect are shaded.

_, axes = plt.subplots(len(gammas), 1, figsize=(9, 6), sharex=True, layout="constrained")
for ax, gamma, sol in zip(axes, gammas, fits):
    ax.axvspan(-0.5, 11.5, color="#f0efe6", zorder=0)
    ax.bar(np.arange(60), sol.coef, color="#1f6fb2")
    ax.axhline(0, color="#444444", lw=0.6)
    ax.set_ylabel(f"gamma {gamma:g}")
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("column")

# %%
# Which gamma predicts best is a question for cross-validation, together with k. A weaker ridge is among the candidates,
# so that the choice is not at the edge of what was tried.

model = pf.SparseRegressorCV(ks=range(1, 7), gammas=[*gammas, 50.0], standardize=False, one_se=True).fit(X, y)
print(f"chosen: k = {model.k_}, gamma = {model.gamma_:g}, columns {model.get_support(indices=True).tolist()}")
pf.plots.cv_curve(model)
plt.show()
