"""
Out of core: X from a file
==========================

X need not be in memory. ``open_design`` reads a ``.npy`` file, a folder of them, Parquet, Zarr or HDF5 block by
block, and a solve reads X a handful of times. The file here is small so that the example is quick; nothing changes
for one of 100 GB.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import parsifal as pf

n, p, k = 1000, 20_000, 15
data = pf.datasets.SyntheticDesign(n, p, k, rho=0.3, sqrt_snr=10, seed=0)  # entries are made while they are read

# %%
# Write it as single precision in Fortran order, so that columns are together; a piece at a time.

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "x.npy"
file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, p), fortran_order=True)
for left in range(0, p, 2000):
    file[:, left : left + 2000] = data.columns(range(left, left + 2000))
file.flush()
del file
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# The solve: 50 MB of memory for X, and a file that the state goes to after every read.

X = pf.open_design(path, memory_limit=50e6)
history = pf.History()
sol = pf.solve(X, data.y, k=k, gamma=0.03, checkpoint=Path(folder.name) / "state.npz", progress=history)
print(sol)
print(f"{sol.stats['reads']:.2f} reads of X; the true columns found: {np.array_equal(sol.support, data.support)}")

# %%
# What was known after how many reads of X. The right columns were there at once; two more reads went into the proof.

reads = [snapshot.reads for snapshot in history]
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(reads, [snapshot.objective for snapshot in history], "o-", color="#d9772b", label="best found")
ax.plot(reads, [snapshot.lower_bound for snapshot in history], "o-", color="#1f6fb2", label="lower bound")
ax.set_xticks(range(round(reads[0]), round(reads[-1]) + 1))
ax.set_xlabel("reads of X")
ax.set_ylabel("objective")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

folder.cleanup()
plt.show()
