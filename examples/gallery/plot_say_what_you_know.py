"""
Say what you know
=================

Interactions only with their main effects, amounts that cannot be negative: what is known of single columns is part of
the question, and of the proof.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, load_digits

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
