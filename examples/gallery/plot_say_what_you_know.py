"""
Say what you know
=================

Interactions only with their main effects, amounts that cannot be negative: what is known of single columns is part of
the question, and of the proof.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

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
# A mixture of known spectra: no amount is below zero. Without that knowledge, neighbouring spectra of opposite sign
# explain the noise.

rng = np.random.default_rng(0)
grid = np.linspace(0, 1, 120)
centres = np.sort(rng.uniform(0, 1, 40))
spectra = np.exp(-((grid[:, None] - centres) ** 2) / (2 * 0.05**2))
amounts = np.zeros(40)
amounts[[3, 17, 29]] = [1.0, 0.6, 0.3]
measured = spectra @ amounts + 0.05 * rng.standard_normal(120)

free = pf.solve(spectra, measured, k=5, gamma=100.0, fit_intercept=False, time_limit=20)
known = pf.solve(spectra, measured, k=5, gamma=100.0, sign=1, fit_intercept=False, time_limit=20)
print(known.certificate)

_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for shift, (solution, label) in enumerate([(free, "any sign"), (known, "amounts >= 0")]):
    ax.bar(np.arange(40) + 0.3 * shift, solution.coef, width=0.3, label=label)
ax.plot(np.arange(40) + 0.15, amounts, "k_", markersize=12, label="true amounts")
ax.set_xlabel("substance")
ax.set_ylabel("amount")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
