"""Hierarchy of interactions: a product of features only with its factors."""

from __future__ import annotations

import numpy as np

from parsifal.arrays import IntArray
from parsifal.constraints import Implies
from parsifal.errors import InputError


def hierarchy_constraints(parents: IntArray, products: IntArray, kind: str | None) -> list[Implies]:
    """A product with both of its parents ("strong"), or with any of them ("weak").

    `parents` has two columns, -1 where a parent is no feature.
    """
    if kind is None:
        return []
    orphans = products[(parents[products] < 0).any(axis=1)]
    if orphans.size:
        raise InputError(
            f"hierarchy={kind!r} needs the factors of every product among the features, but those of feature "
            f'{orphans[0]} are not; add "x" to functions'
        )
    pairs = [(int(child), np.unique(parents[child]).tolist()) for child in products]
    return [Implies(child, needs, any=kind == "weak") for child, needs in pairs]
