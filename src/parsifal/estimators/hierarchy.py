"""Hierarchy of features: what a feature is built on, and products only with their factors."""

from __future__ import annotations

import numpy as np

from parsifal.arrays import IntArray
from parsifal.constraints import Implies
from parsifal.design.lifted import Lift
from parsifal.errors import InputError
from parsifal.estimators.functions import Function


def parents_of(lift: Lift, functions: tuple[Function, ...], variables: int) -> IntArray:
    """What each feature is built on, in two columns, -1 where there is nothing: x of f(x), the factors of a product."""
    single = lift.right < 0
    feature_of = np.full(len(lift.column) + 1, -1, dtype=np.int64)  # the last one answers for atom -1
    feature_of[lift.left[single]] = np.flatnonzero(single)
    plain = [f for f, function in enumerate(functions) if function.name == "x"]
    out = np.column_stack([feature_of[lift.left], feature_of[lift.right]])
    out[single] = -1
    if plain:
        root = np.full(variables, -1, dtype=np.int64)
        atoms = np.flatnonzero(lift.function == plain[0])
        root[lift.column[atoms]] = feature_of[atoms]
        parent = root[lift.column[lift.left]]
        out[single, 0] = np.where(parent == np.arange(len(parent)), -1, parent)[single]
    return out


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
