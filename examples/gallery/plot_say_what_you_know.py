"""
Say what you know
=================

Interactions only with their main effects, amounts that cannot be negative, groups to adjust for, prices: what is known
is part of the question, and of the proof.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, load_digits, load_wine

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
# An image as a mixture of a few others: ink is added, never taken away. Without that knowledge the best mixture of four
# digits takes one of them off.

images = load_digits().images.reshape(-1, 64)
digits, image = images[:100].T, images[1500]
free = pf.solve(digits, image, k=4, gamma=np.inf, fit_intercept=False)
known = pf.solve(digits, image, k=4, gamma=np.inf, sign=1, fit_intercept=False)
print(known.certificate)

_, axes = plt.subplots(2, 6, figsize=(9, 3.6), layout="constrained")
for row, (solution, label) in enumerate([(free, "any sign"), (known, "amounts >= 0")]):
    pictures = [(image, "the image"), (digits @ solution.coef, label)]
    pictures += [(digits[:, j], f"{solution.coef[j]:+.2f} times") for j in solution.support]
    for ax, (picture, title) in zip(axes[row], pictures):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set_title(title, fontsize=9)
for ax in axes.ravel():
    ax.set_axis_off()

# %%
# Wines of three cultivars: what goes with the alcohol? Proline tells the cultivars apart, and is the best measurement
# as long as they are mixed. Adjusted for the cultivar it is the intensity of the colour.

wine = load_wine(as_frame=True)
alcohol, measured = wine.data["alcohol"], wine.data.drop(columns="alcohol")
cultivars = pd.get_dummies(wine.target, prefix="cultivar", dtype=float)
mixed = pf.SparseRegressor(k=1).fit(measured, alcohol)
within = pf.SparseRegressor(k=1, adjust=list(cultivars)).fit(measured.join(cultivars), alcohol)
print(mixed.get_feature_names_out(), within.get_feature_names_out(), within.status_)

_, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, model, title in zip(axes, (mixed, within), ("cultivars mixed: the best is", "adjusted for them:")):
    name = model.get_feature_names_out()[0]
    for group, color in enumerate(("#1f6fb2", "#d9772b", "#555555")):
        here = wine.target == group
        x, values = measured.loc[here, name], alcohol[here]
        ax.scatter(x, values, s=12, color=color, alpha=0.5, label=f"cultivar {group}")
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, np.polyval(np.polyfit(x, values, 1), ends), color=color, lw=2)
    ax.set_title(f"{title} {name}", loc="left", fontsize=11)
    ax.set_xlabel(name)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("alcohol")
axes[0].legend(frameon=False)

# %%
# Six of the ten diabetes measurements need a blood test. The dearer such a value is, the fewer are worth it.

blood = ["s1", "s2", "s3", "s4", "s5", "s6"]
prices = np.geomspace(100, 300_000, 40)
bought = np.zeros((len(blood), len(prices)))
explained = []
for i, price in enumerate(prices):
    model = pf.SparseRegressor(penalty=dict.fromkeys(blood, price)).fit(X, y)
    bought[:, i] = np.isin(blood, model.get_feature_names_out())
    explained.append(model.score(X, y))

_, (upper, lower) = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained", height_ratios=(2, 1))
upper.pcolormesh(prices, np.arange(len(blood)), bought, cmap="Blues", vmin=0, vmax=1.4, shading="nearest")
upper.set_yticks(range(len(blood)), blood)
upper.invert_yaxis()
upper.set_title("blood values that are bought", loc="left", fontsize=11)
lower.step(prices, explained, where="mid", color="#1f6fb2")
lower.set_xscale("log")
lower.set_ylabel("R2")
lower.set_xlabel("price of a blood value, in units of the objective")
for ax in (upper, lower):
    ax.spines[["top", "right"]].set_visible(False)
