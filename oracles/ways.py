"""Other ways of the solver to the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from parsifal.kernels import group_rounds
from parsifal.solver import funnel, root, tree


@contextmanager
def stages() -> Iterator[None]:
    """Few columns by the stages of the funnel, as those do that one compiled call does not settle."""
    with patch.object(funnel, "goes_straight", lambda *_: False):
        yield


@contextmanager
def trees() -> Iterator[None]:
    """Few columns by relaxations first, as more of them are: with a ridge, all their sets would be gone through."""
    with patch.object(root, "_MOMENT", 0):
        yield


@contextmanager
def relaxations_alone() -> Iterator[None]:
    """Nor do completions close nodes, and no probes the roots of groups: they would end most small problems there.

    Without a ridge there is one where no columns depend on each other, and nodes without one are split at once.
    """
    with ExitStack() as patches:
        patches.enter_context(trees())
        for module, name, value in (
            (group_rounds, "_PROBE_ROUNDS", 0),
            (root, "_ALL_SUPPORTS", 0),
            (root, "_FEW_COLUMNS", 0),
            (tree, "_COMPLETIONS_ABOVE", 1e300),
            (tree, "_EXHAUST_WORK", 1.0),
        ):
            patches.enter_context(patch.object(module, name, value))
        yield
