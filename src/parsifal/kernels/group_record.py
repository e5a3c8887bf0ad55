"""Write the certificate of a choice among groups: the root's steps, then the search tree, as one tree of records."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.kernels.group_root import GroupRoot, GroupStep
from parsifal.kernels.units import Units
from parsifal.proof.certificate import fingerprint
from parsifal.proof.choice import GroupCertificate

Parts = dict[str, list[Any]]
Frames = list[tuple[IntArray, FloatArray]]  # the groups of a frame, and its diagonal


def make_certificate(
    root: GroupRoot,
    tree: dict[str, Any] | None,
    *,
    searched: bool,
    stated: dict[str, Any],
    units: Units,
    objective: float,
    lower_bound: float,
    size_limit: float,
) -> GroupCertificate:
    """Gather the proof that `lower_bound` holds; only the claim if the proof is larger than `size_limit` bytes.

    Parameters
    ----------
    root : GroupRoot
        With its steps.
    tree : dict or None
        The records of the search; None if there was no search, or if they were too many.
    searched : bool
        Whether there was a search.
    stated : dict
        The fields that state the problem as the user gave it.
    units : Units
        Of the root and the tree.
    objective, lower_bound : float
        As they are reported.
    size_limit : float
        Bytes.
    """
    complete = bool(root.steps) and not (searched and tree is None)
    arrays, frames = _records(root, root.steps, tree) if complete else _records(root, [], None)
    power = units.response - units.factor
    with np.errstate(over="ignore", under="ignore"):
        coef_value = np.ldexp(_join(arrays["coef_value"], np.float64), power)
        diagonal = np.ldexp(_join([d for _, d in frames], np.float64), 2 * units.factor)
        products = np.ldexp(root.first_beta, units.response + units.factor)
    complete = complete and bool(np.isfinite(coef_value).all() and np.isfinite(diagonal).all())
    owner = np.repeat(np.arange(root.problem.size), np.diff(root.problem.start))
    allowed = root.problem.fix[owner] >= 0
    certificate = GroupCertificate(
        **stated,
        support=root.best.support,
        coef=np.ldexp(root.best.coef, power),
        objective=objective,
        lower_bound=lower_bound,
        complete=complete,
        fingerprint=fingerprint(np.where(allowed, products, 0.0)) if products.size else 0.0,
        parent=_join(arrays["parent"], np.int64),
        choice=_join(arrays["choice"], np.int64),
        side=_join(arrays["side"], np.int64),
        frame=_join(arrays["frame"], np.int64),
        coef_offset=_offsets(arrays["coef_count"]),
        coef_index=_join(arrays["coef_index"], np.int64),
        coef_value=coef_value,
        fixed_offset=_offsets(arrays["fixed_count"]),
        fixed_choice=_join(arrays["fixed_choice"], np.int64),
        frame_offset=_offsets([np.array([groups.size for groups, _ in frames])]),
        frame_group=_join([groups for groups, _ in frames], np.int64),
        diagonal_offset=_offsets([np.array([d.size for _, d in frames])]),
        diagonal=diagonal,
    )
    if complete and certificate.nbytes > size_limit:
        return make_certificate(
            root,
            None,
            searched=True,
            stated=stated,
            units=units,
            objective=objective,
            lower_bound=lower_bound,
            size_limit=size_limit,
        )
    return certificate


def _records(root: GroupRoot, steps: list[GroupStep], tree: dict[str, Any] | None) -> tuple[Parts, Frames]:
    """Steps of the root, one below the other, and the search tree below the last of them."""
    vectors = [step.v for step in steps]
    index = [np.flatnonzero(v) for v in vectors]
    arrays: Parts = {
        "parent": [np.arange(-1, len(steps) - 1)],
        "choice": [np.full(len(steps), -1)],
        "side": [np.zeros(len(steps))],
        "frame": [np.full(len(steps), -1)],
        "coef_count": [np.array([at.size for at in index])],
        "coef_index": index,
        "coef_value": [v[at] for v, at in zip(vectors, index)],
        "fixed_count": [np.array([step.into.size + step.out.size for step in steps])],
        "fixed_choice": [np.concatenate([1 + step.into, -1 - step.out]) for step in steps],
    }
    return arrays, [] if tree is None or root.survivors is None else _add_tree(arrays, tree, root)


def _add_tree(arrays: Parts, tree: dict[str, Any], root: GroupRoot) -> Frames:
    """The search tree, whose groups and columns are positions among the survivors, below the root's last record."""
    assert root.survivors is not None
    below, groups = len(root.steps), root.survivors.index
    columns = root.problem.columns(groups)
    arrays["parent"].append(np.where(tree["parent"] < 0, below - 1, tree["parent"] + below))
    arrays["choice"].append(np.append(groups, -1)[tree["column"]])
    arrays["side"].append(tree["side"])
    arrays["frame"].append(tree["frame"])
    offset, position = tree["index"]
    arrays["coef_count"].append(np.diff(offset))
    arrays["coef_index"].append(columns[position])
    arrays["coef_value"].append(tree["coef"][1])
    offset, fixed = tree["fixed"]
    arrays["fixed_count"].append(np.diff(offset))
    group = groups[np.abs(fixed) - 1]
    arrays["fixed_choice"].append(np.where(fixed > 0, 1 + group, -1 - group))
    return [(groups[np.asarray(members, dtype=np.int64)], np.asarray(d)) for members, d in tree["frames_list"]]


def _join(parts: list[Any], dtype: Any) -> Any:
    return np.concatenate([np.empty(0), *parts]).astype(dtype)


def _offsets(counts: list[Any]) -> IntArray:
    return np.concatenate([[0], np.cumsum(_join(counts, np.int64))]).astype(np.int64)
