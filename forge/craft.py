"""What is forged: certificates of columns, of groups, or of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forge import choice_honest, honest, solvers
from forge.choice_problems import make_groups, make_kernels
from forge.choice_steps import GROUP_STEPS, KERNEL_STEPS
from forge.numbers import NUMBERS
from forge.problems import make_problem
from forge.structure import STRUCTURE, Forgery
from parsifal.proof.certificate import Certificate
from parsifal.proof.checker import provable_bound
from parsifal.proof.choice import GroupCertificate, KernelCertificate
from parsifal.proof.choice_checker import provable_choice


@dataclass(frozen=True, kw_only=True)
class Craft:
    """The tools for one kind of certificate.

    Attributes
    ----------
    certificate : type
        Whose ``load`` reads a file of it.
    make : callable
        Problem `number` of a seed.
    drafts, calls : callables
        Where forgeries of a problem start from, and the questions that the solver is asked about it.
    steps : pair of tuples
        Forgeries of the structure, and of the numbers.
    provable_bound : callable
        What the checker says that the records prove.
    exact : bool
        Whether there is an exact check.
    """

    certificate: Any
    make: Callable[[int, int], Any]
    drafts: Callable[..., list[Any]]
    calls: Callable[..., Any]
    steps: tuple[tuple[Forgery, ...], tuple[Forgery, ...]]
    provable_bound: Callable[..., float]
    exact: bool = True


CRAFTS = {
    "columns": Craft(
        certificate=Certificate,
        make=make_problem,
        drafts=honest.drafts,
        calls=solvers.calls,
        steps=(STRUCTURE, NUMBERS),
        provable_bound=provable_bound,
    ),
    "groups": Craft(
        certificate=GroupCertificate,
        make=make_groups,
        drafts=choice_honest.drafts,
        calls=choice_honest.calls,
        steps=GROUP_STEPS,
        provable_bound=provable_choice,
    ),
    "kernels": Craft(
        certificate=KernelCertificate,
        make=make_kernels,
        drafts=choice_honest.drafts,
        calls=choice_honest.calls,
        steps=KERNEL_STEPS,
        provable_bound=provable_choice,
        exact=False,
    ),
}
