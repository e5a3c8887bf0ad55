"""
How unique is the answer?
=========================

The best support is one thing; how much worse the second best is, is another. ``k_best`` lists the best supports in
order and proves that none is missing.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

import parsifal as pf

X, y = load_diabetes(return_X_y=True, as_frame=True)
Z = (X - X.mean()) / X.std(ddof=0)
y = y - y.mean()

# %%
# The ten best models of five features. A line shows what a model has lost and gained beside the best one.

best = pf.k_best(Z, y, k=5, gamma=1.0, count=10)
print(best)

# %%
# The dashed line is a proof: every support that is *not* in the list is at least that much worse.

pf.plots.ranking(best)

# %%
# So much for the list. How often is each feature in it? Features that are in all of the ten best models carry the
# story; for those that come and go there are others that do as well.

frequency = best.frequency
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(list(frequency), [100 * share for share in frequency.values()], color="#1f6fb2")
ax.invert_yaxis()
ax.set_xlabel("share of the ten best models, %")
ax.spines[["top", "right"]].set_visible(False)

# %%
# With a tolerance instead of a count the question is: which models are within two percent of the best? This is usually
# much cheaper than a long list, since everything that cannot come that close is dropped at once.

near = pf.k_best(Z, y, k=5, gamma=1.0, tolerance=0.02)
ahead = near.lower_bound / near[0].objective - 1
print(f"{len(near)} models; every other one is worse than the best by {ahead:.2%} or more")
plt.show()
