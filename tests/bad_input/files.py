"""Files that are not what they should be, for the tables; `make` puts them into the working folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bad_input.calls import X, Y, groups_solved, kernels_solved, solved


def make() -> None:
    """Write them all."""
    np.save("X.npy", X)
    np.save("vector.npy", Y)
    np.save("cube.npy", X[None])
    np.save("complex.npy", X.astype(complex))
    np.save("text.npy", X.astype("U4"))
    np.save("object.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    Path("cut.npy").write_bytes(Path("X.npy").read_bytes()[:200])
    np.savez("other.npz", a=X)
    solved().certificate.save("proof.npz")
    groups_solved().certificate.save("groups.npz")
    kernels_solved().certificate.save("kernels.npz")
    Path("garbage").write_bytes(b"neither this nor that\n" * 3)
    Path("data.xyz").write_bytes(b"")
    Path("empty.csv").write_bytes(b"")
