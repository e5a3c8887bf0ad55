"""What the tests of cross-validation share."""

from __future__ import annotations

from typing import Any

import parsifal as pf

KS, GAMMAS = (1, 2, 3, 5), (0.01, 0.2, 5.0)


def cv(**options: Any) -> pf.SparseRegressorCV:
    return pf.SparseRegressorCV(**{"ks": KS, "gammas": GAMMAS, "cv": 4, "fold_node_limit": None, **options})
