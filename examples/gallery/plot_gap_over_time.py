"""
Reading the gap over time
=========================

A long solve is two curves: the best model found, which falls, and the lower bound, which rises. ``History`` keeps both.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import parsifal as pf

data = load_diabetes()
terms = PolynomialFeatures(degree=2, include_bias=False)  # ten measurements, their squares and products
X = StandardScaler().fit_transform(terms.fit_transform(data.data))
y = data.target - data.target.mean()
history = pf.History()
sol = pf.solve(X, y, k=10, gamma=1.0, progress=history, time_limit=20)
print(sol)
print(f"{sol.stats['nodes']} nodes, {sol.stats['reads']:.1f} reads of X, {history[-1].seconds:.2f} s")

# %%
# The best model is usually found early; most of the time goes into the proof. So a solve that ends at its
# ``time_limit`` tends to have the right model without knowing it, and its gap says how much is not known.

pf.plots.bounds(history)

# %%
# The gap on a logarithmic scale, and the nodes that still wait.

seconds = [snapshot.seconds for snapshot in history]
_, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.step(seconds, [max(snapshot.gap, 1e-7) for snapshot in history], where="post")
left.set_yscale("log")
left.axhline(sol.rel_gap, color="#888888", ls="--", lw=1)
left.set(xlabel="seconds", ylabel="relative gap")
right.step(seconds, [snapshot.open_nodes for snapshot in history], where="post", color="#d9772b")
right.set(xlabel="seconds", ylabel="open nodes")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# A function of one's own works too: it gets a snapshot up to twenty times a second. Here it prints the first, and
# every time that a better model is found.

best = float("inf")


def watch(progress: pf.Progress) -> None:
    """Print what is new."""
    global best
    if progress.objective < best:
        best = progress.objective
        print(progress)


pf.solve(X, y, k=10, gamma=1.0, progress=watch, node_limit=500)
plt.show()
