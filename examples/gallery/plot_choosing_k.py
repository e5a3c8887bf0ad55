"""
Choosing k
==========

How many features should the model have? Three answers to one question, on the diabetes data: the information criteria
along the path over k, cross-validation, and the smallest k within a standard error of the best.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

import parsifal as pf

X, y = load_diabetes(return_X_y=True, as_frame=True)

# %%
# The path: the best model of every size, each proven
# ---------------------------------------------------
#
# A ``Path`` is a list of solutions. One solve hands what it has learnt to the next, so ten sizes take little longer
# than one.

Z = (X - X.mean()) / X.std(ddof=0)
path = pf.path(Z, y - y.mean(), ks=range(1, 11), gamma=1.0)
print(path)

_, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
pf.plots.coefficients(path, ax=left)
pf.plots.criteria(path, ax=right)

# %%
# AIC is the most generous of the three. eBIC charges, besides what BIC does, for the number of models of that size:
# with many candidates that is much, with ten it is little, and beyond five of ten it falls again. The criteria are
# nearly flat from 5 to 6.

print({name: path.best(name).k for name in ("aic", "bic", "ebic")})

# %%
# Cross-validation
# ----------------
#
# ``SparseRegressorCV`` chooses k and gamma together. With ``one_se=True`` it takes the smallest k whose error is
# within one standard error of the least.

model = pf.SparseRegressorCV(ks=range(1, 11), one_se=True).fit(X, y)
print(f"k = {model.k_}, gamma = {model.gamma_:.3g}: {', '.join(model.get_feature_names_out())}; {model.status_}")
pf.plots.cv_curve(model)

# %%
# Whether the folds agree on the features says more than the curve: a feature that every fold has chosen is no
# accident of a few rows.

pf.plots.support_agreement(model)
plt.show()
