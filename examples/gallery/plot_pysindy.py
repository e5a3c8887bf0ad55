"""
The Lorenz system with PySINDy
==============================

PySINDy finds equations of motion from measurements; its exact optimizer needs Gurobi. Any scikit-learn regressor can
take its place through PySINDy's own ``WrappedOptimizer``: here ``SparseRegressor``, with at most three terms for each
equation, proven to be the best three.
"""

import numpy as np
import pysindy as ps
from matplotlib import pyplot as plt
from scipy.integrate import solve_ivp

import parsifal as pf


def lorenz(_: float, state: np.ndarray) -> list[float]:
    """The right-hand side: seven terms."""
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


times = np.linspace(0, 10, 2000)
states = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=times, rtol=1e-10, atol=1e-10).y.T
rng = np.random.default_rng(0)
measured = states + 0.02 * rng.standard_normal(states.shape)

# %%
# PySINDy smooths and differentiates, makes the library of all terms up to the third degree, and asks the optimizer. The
# library has its constant, so the regressor needs no intercept.

exact = ps.WrappedOptimizer(pf.SparseRegressor(k=3, fit_intercept=False))
model = ps.SINDy(
    optimizer=exact,
    feature_library=ps.PolynomialLibrary(degree=3),
    differentiation_method=ps.SmoothedFiniteDifference(smoother_kws={"window_length": 21}),
)
model.fit(measured, t=times[1] - times[0], feature_names=["x", "y", "z"])
model.print()

# %%
# Each equation has its proof, which PySINDy's own optimizers do not.

for name, fitted in zip("xyz", exact.optimizer.estimators_):
    print(
        f"d{name}/dt: {fitted.status_}, gap {fitted.gap_:.1e}, {len(fitted.support_)} of {fitted.n_features_in_} terms"
    )
    assert fitted.status_ == "optimal"

# %%
# The terms are the right ones. Where the first equation has only two, the third comes out as next to nothing.

terms = model.get_feature_names()
found = [{terms[j] for j in np.flatnonzero(np.abs(row) > 0.1)} for row in model.coefficients()]
assert found == [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]

# %%
# The model, started where the data start: both follow the attractor, and a chaotic system forgives nothing for long.

simulated = model.simulate(measured[0], times)
_, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(times, measured[:, 0], lw=1, color="#999999", label="measured")
ax.plot(times, simulated[:, 0], lw=1, color="#1f6fb2", label="simulated")
ax.set(xlabel="time", ylabel="x")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
