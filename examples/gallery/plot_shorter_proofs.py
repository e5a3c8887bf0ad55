"""
What makes a proof shorter
==========================

The same data, asked differently: a stronger ridge, fewer columns, a gap of a percent instead of a millionth. The nodes
of the search are what a proof takes.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import parsifal as pf

# %%
# Ten measurements of 442 patients with their squares and products: 65 columns, many of them nearly equal.

data = load_diabetes()
terms = PolynomialFeatures(degree=2, include_bias=False)
X = StandardScaler().fit_transform(terms.fit_transform(data.data))
y = data.target - data.target.mean()

# %%
# One option is changed at a time. With one thread the nodes are the same in every run.

asked = {"k": 10, "gamma": 1.0, "rel_gap": 1e-6}
changes = [{}, {"gamma": 0.05}, {"k": 7}, {"k": 5}, {"rel_gap": 1e-2}]
nodes, supports = [], []
for change in changes:
    sol = pf.solve(X, y, threads=1, **asked | change)
    nodes.append(sol.stats["nodes"])
    supports.append(sol.support.tolist())
    print(f"{sol.status}: {nodes[-1]:6d} nodes, gap {sol.gap:.1e}, {change or asked}")

# %%
# A gap of one percent gives the same model: what takes longer is to know that it is the best.

print(f"the same model with a gap of 1 %: {supports[-1] == supports[0]}")
assert supports[-1] == supports[0]

_, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
labels = [", ".join(f"{name}={value:g}" for name, value in (change or asked).items()) for change in changes]
bars = ax.barh(labels, nodes, color=["#d9772b"] + ["#1f6fb2"] * (len(changes) - 1))
ax.bar_label(bars, padding=4)
ax.invert_yaxis()
ax.set_xlabel("nodes until the proof was there")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
