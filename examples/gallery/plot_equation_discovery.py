"""
An equation from data: the Lorenz system
========================================

Sparse regression of derivatives on a library of candidate terms finds the equations of a dynamical system. Here the
Lorenz system is found from one noisy trajectory, with the best support for every size proven, and nothing but
Parsifal, NumPy and SciPy.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.integrate import solve_ivp
from scipy.signal import savgol_filter

import parsifal as pf
from parsifal.design import standardized


def lorenz(_: float, state: np.ndarray) -> list[float]:
    """The right-hand side: seven terms."""
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


times = np.linspace(0, 10, 2000)
states = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=times, rtol=1e-10, atol=1e-10).y.T
rng = np.random.default_rng(0)
measured = states + 0.02 * rng.standard_normal(states.shape)

# %%
# States and derivatives come from the noisy measurements: the values and slopes of cubics through 21 neighbours each.

step = times[1] - times[0]
kept = savgol_filter(measured, 21, 3, axis=0)[20:-20]
slopes = savgol_filter(measured, 21, 3, deriv=1, delta=step, axis=0)[20:-20]

# %%
# Candidates: x, y, z, their squares and cubes, sines, and all products of two.

lift = pf.NonlinearFeatures(["x", "x^2", "x^3", "sin(x)"], products=True)
design, center, scale = standardized(lift.fit_design(kept), with_mean=True, with_std=True)
names = ["x", "y", "z"]
print(f"{design.shape[1]} candidates: {', '.join(lift.get_feature_names_out(names))}")

# %%
# For each equation the path over k: the smallest model whose residual is within a tenth of that of six terms. (Errors
# of neighbouring slopes are correlated, so criteria that count rows, such as BIC, would take too many terms.)

paths = []
for variable, slope in zip(names, slopes.T):
    path = pf.path(design, slope - slope.mean(), ks=range(1, 7), gamma=1e3)
    best = path[int(np.argmax(path.rss <= 1.1 * path.rss[-1]))]
    coef = best.coef * scale
    formula = lift.formula(coef, slope.mean() - center @ coef, digits=3, input_features=names)
    print(f"d{variable}/dt = {formula}     ({best.k} terms, {best.status})")
    paths.append(path)

# %%
# The residual falls by orders of magnitude until the true number of terms is reached, and then no more.

_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for variable, path in zip(names, paths):
    ax.semilogy(path.ks, path.rss / path.n, "o-", label=f"d{variable}/dt")
ax.set_xlabel("terms")
ax.set_ylabel("mean squared residual")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# The trajectory, as measured.

ax = plt.figure(figsize=(6, 5)).add_subplot(projection="3d")
ax.plot(*measured.T, lw=0.7, color="#1f6fb2")
ax.set(xlabel="x", ylabel="y", zlabel="z")
plt.show()
