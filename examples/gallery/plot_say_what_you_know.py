"""
Say what you know
=================

Interactions only with their main effects, amounts that cannot be negative: what is known of single columns is part of
the question, and of the proof.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, load_wine

import parsifal as pf

X, y = load_diabetes(return_X_y=True, as_frame=True)
Z = (X - X.mean()) / X.std(ddof=0)
y = (y - y.mean()).to_numpy()

# %%
# All ten measurements and the 45 products of two of them. With strong hierarchy a product is chosen only together with
# both of its factors, with weak hierarchy with one of them.

objectives = {}
for kind in (None, "weak", "strong"):
    lift = pf.NonlinearFeatures(["x"], products=True, hierarchy=kind)
    features = lift.fit_design(Z)
    found = pf.path(features, y, range(1, 9), constraints=lift.constraints_, fit_intercept=False)
    objectives[kind or "none"] = found.objectives
    print(kind, found[-1].selected, found[-1].status)

_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for kind, values in objectives.items():
    ax.plot(range(1, 9), values / (0.5 * y @ y), marker="o", label=f"hierarchy: {kind}")
ax.set_xlabel("features")
ax.set_ylabel("objective, share of 1/2 y'y")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# 178 wines: total phenols are the sum of flavanoids, other phenols and proanthocyanins, so a calibration of the total
# from what else was measured has no negative amounts. Without that knowledge the other phenols are taken off the total.

wine = load_wine(as_frame=True).data
parts, total = wine.drop(columns="total_phenols"), wine["total_phenols"]
sizes = range(1, 8)
free = pf.path(parts, total, sizes, gamma=np.inf, fit_intercept=True)
known = pf.path(parts, total, sizes, gamma=np.inf, sign=1, fit_intercept=True)
print(known[-1].certificate)

_, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
deviation = parts.std().to_numpy()
for ax, solutions, title in zip(axes, (free, known), ("any sign", "none below zero")):
    shown = [name for j, name in enumerate(parts.columns) if free[-1].coef[j] != 0 or known[-1].coef[j] != 0]
    for name in shown:
        j = list(parts.columns).index(name)
        ax.plot(sizes, [solution.coef[j] * deviation[j] for solution in solutions], marker="o", label=name)
    ax.axhline(0, color="black", linewidth=0.5)
    ax.set_xlabel("columns")
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("coefficient, a standard deviation of the column")
axes[1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
