"""
Proofs: save, check, check exactly
==================================

An answer comes with a certificate: a file from which anyone can verify it, without the solver and without trusting
whoever made it.
"""

import dataclasses
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt

import parsifal as pf

X, y, _ = pf.datasets.make_sparse_regression(60, 200, k=6, sqrt_snr=2, random_state=3)
sol = pf.solve(X, y, k=6, gamma=0.1)
print(sol)

# %%
# Save it, and load it as somebody else.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "proof.npz"
    sol.certificate.save(path)
    certificate = pf.Certificate.load(path)
print(certificate)

# %%
# Check it
# --------
#
# ``check`` recomputes every number from X and y with NumPy. With ``exact=True`` it does so in whole numbers without a
# largest one: no rounding, and code of its own.

for exact in (False, True):
    started = perf_counter()
    result = pf.check(certificate, X, y, exact=exact)
    print(f"exact={exact}: {result}  ({perf_counter() - started:.2f} s)")

# %%
# A claim that is a little too good is refused, and so are other data.

print(pf.check(dataclasses.replace(certificate, lower_bound=sol.objective * 1.001), X, y))
print(pf.check(certificate, X, y + 1e-3))

# %%
# What is in it
# -------------
#
# The proof is a tree. Each record decides about one column (in or out), and carries a few coefficients w whose dual
# value bounds every support that agrees with the decisions on the way to it.

depth = np.zeros(certificate.records, dtype=int)
for i, parent in enumerate(certificate.parent):
    depth[i] = 0 if parent < 0 else depth[parent] + (certificate.column[i] >= 0)
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.bar(*np.unique(depth, return_counts=True), color="#1f6fb2")
ax.set_xlabel("decisions on the way to the record")
ax.set_ylabel("records")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
