"""
Best subset without a ridge
===========================

With ``gamma=np.inf`` nothing is shrunk: the answer is least squares on the best k columns, as in classical statistics,
with proof. Here for every k up to ten, on the diabetes data, beside the usual greedy choice, one column at a time.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

import parsifal as pf

data = load_diabetes()
names = np.array(data.feature_names)
X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
y = data.target - data.target.mean()

# %%
# The best k columns for each k.

ks = range(1, 11)
best = pf.path(X, y, ks=ks, gamma=np.inf)
for k, sol in zip(ks, best):
    print(f"k = {k:2d}: {sol.status}, {', '.join(names[sol.support])}")

# %%
# The coefficients are those of least squares on the same columns, to the last digits.

sol = best[4]
plain = np.linalg.lstsq(X[:, sol.support], y, rcond=None)[0]
print(f"largest difference: {np.abs(sol.coef[sol.support] - plain).max():.1e}")


# %%
# Greedy: the column that helps most, then the one that helps most beside it. What is chosen once stays.


def left_over(columns):
    """The share of the variance that least squares on these columns leaves."""
    fit = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return float(((y - X[:, columns] @ fit) ** 2).sum() / (y**2).sum())


chosen = []
greedy = []
for _ in ks:
    rest = [j for j in range(X.shape[1]) if j not in chosen]
    chosen.append(min(rest, key=lambda j: left_over([*chosen, j])))
    greedy.append(left_over(chosen))
exact = [left_over(list(sol.support)) for sol in best]
for k, one, other in zip(ks, exact, greedy):
    print(f"k = {k:2d}: {1 - one:.4f} explained by the best columns, {1 - other:.4f} by greedy ones")

# %%
# Above, which columns are the best; they need not be nested. Below, what greedy choice loses.

_, (grid, loss) = plt.subplots(2, 1, figsize=(9, 6), height_ratios=[3, 2], sharex=True, layout="constrained")
used = np.array([np.isin(np.arange(len(names)), sol.support) for sol in best]).T
rows, columns = np.nonzero(used)
grid.scatter(columns + 1, rows, s=160, marker="s", color="#1f6fb2")
grid.set_yticks(range(len(names)), names)
grid.invert_yaxis()
grid.set_title("in the best k columns", loc="left", fontsize=11)
loss.bar(list(ks), 100 * (np.array(greedy) - exact), color="#d9772b")
loss.set_ylabel("% of the variance")
loss.set_title("what greedy choice leaves more than the best", loc="left", fontsize=11)
loss.set_xlabel("k")
loss.set_xticks(list(ks))
for ax in (grid, loss):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
