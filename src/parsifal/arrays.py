"""Types of arrays, and arrays as compiled loops need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FixArray = npt.NDArray[np.int8]  # -1 out, 0 free, 1 in


def aligned(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """In C order, and with entries where their type wants them, as compiled loops need it; a copy if it must be.

    Bytes from a file or a network message may start anywhere.
    """
    return np.require(values, dtype, ("C_CONTIGUOUS", "ALIGNED", "ENSUREARRAY"))
