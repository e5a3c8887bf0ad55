"""Certificates: what a stranger needs to verify an answer (`parsifal.proof.checker` does it).

This module uses NumPy and nothing of the solver. The proof is a tree of records. A record stands for all supports that
agree with the decisions on the way to it, and carries a sparse w. With alpha = y - X w, beta = X'alpha,
a_j = gamma/2 beta_j^2 - penalty and the columns so far `in` or free,

    D = 1/2 |alpha|^2 + w'beta - sum_{in} a_j - (sum of the k - |in| largest positive a_j among the free columns)

bounds the objective of every one of those supports from below, for any w, whoever made it. A record may belong to
a *frame*, a set of columns (the others must be out) with a diagonal d for which X'X - diag(d) is positive semidefinite
(an entry may be slightly negative: docs/numerics.md); then beta_j = (x_j'alpha + d_j w_j) / sqrt(1 + gamma d_j) in a_j,
and the first terms are 1/2 |alpha|^2 + w'X'alpha + 1/2 sum d_j w_j^2.

A record may fix columns: j out (in) for the subtree, where the bound with j in (out) reaches the claim. Its children
are one record without a decision, or two that put the same column in and out. A record without children must reach the
claim itself, or have more than k columns in.

That is the kind `DUAL_VALUE`. A record of the kind `EXHAUSTED` has a place in the tree, at most a frame, and nothing
else: no coefficients, no fixings, no children. It says that no support at its place has an objective below the claim,
and the checker finds out by itself, going through the supports with bounds on what few columns can add
(`parsifal.proof.completions`). There is nothing in it that could be wrong.

With gamma = inf there is no ridge, and supports that rounding alone tells from dependent ones could have any value. The
claim is then about supports whose columns are *independent*: each of them, unless it is forced in, is at least
`independence` times its norm away from the span of the others. A support that is not has the value of a smaller one if
it is exactly dependent, so nothing is lost but directions that are rounding errors. With a finite gamma the claim is
about all supports, and `independence` is 0.

A certificate may also say what is asked of single columns. With a price each, a_j = gamma/2 beta_j^2 - price_j. With
signs the objective of a support is its best fit with w_j >= 0 (sign 1) or w_j <= 0 (sign -1), and
a_j = gamma/2 max(0, sign_j beta_j)^2 - price_j. With rows, sum of row_coef over the columns of a support <= row_upper,
the claim is about *allowed* supports, those for which every row holds; what the rows imply at a place (a column that
cannot be in, or must be) counts as fixed there, and where they allow nothing there is nothing to prove.

To add to what can be asked: a field of `Certificate`, what it means where a file of format 1 lacks it (`_FORMER`), its
words in `__str__`, its preconditions in `preconditions.py` and `exact_input.py`. What a column takes off dual values is
computed in `Scaled.terms` and `exact_problem.Problem.dual_point` only, what columns cost in their `price_of` only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from parsifal._public import public
from parsifal.display import counted, html_table
from parsifal.errors import InputError
from parsifal.proof.certificate_file import Arrays, Filed

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FixArray = npt.NDArray[np.int8]  # -1 out, 0 free, 1 in

FORMAT = 3
# Kinds of records.
DUAL_VALUE, EXHAUSTED = 0, 1
# The least distance from the span of the others, relative to a column's norm, at which a column counts without a ridge.
INDEPENDENCE = 1e-6
_WEIGHT_SEED = 20170917
_FEW = 100  # columns, for which making the weights would take longer than using them


@public
@dataclass(frozen=True, kw_only=True)
class Certificate(Filed):
    """A claim, ``objective`` and ``lower_bound`` for a problem, and its proof.

    Attributes
    ----------
    shape, k, penalty, gamma, forced_in, forced_out : the problem.
    support, coef, objective : the solution; `coef` on the support.
    lower_bound : float
        The claim: no support has a smaller objective.
    complete : bool
        False if the proof was larger than its limit: only the claim is here, and it cannot be checked.
    fingerprint : float
        A weighted sum of X'alpha at the first record: ties the certificate to its data.
    independence : float
        With gamma = inf, how far a column has to be from the span of the others, relative to its norm, to count.
    parent, column, side, frame, kind : int arrays, one entry a record
        The tree; ``column = -1`` where the record decides nothing, ``frame = -1`` where no frame applies; `kind` is 0
        for a dual value, 1 for an exhausted record.
    coef_offset, coef_index, coef_value : the sparse w of each record.
    fixed_offset, fixed_column : what each record fixes: ``1 + j`` for j in, ``-1 - j`` for j out.
    frame_offset, frame_column, frame_diagonal : the frames.
    twin_later, twin_earlier : int arrays
        Pairs of equal (or opposite) columns; the later one is in only if the earlier one is.
    price : array
        The price of every column, in place of `penalty`; empty: it is the same for all.
    sign : int array
        1 where a coefficient must be >= 0, -1 where it must be <= 0, 0 elsewhere, one entry a column; empty: none is.
    row_offset, row_column, row_coef, row_upper : int arrays
        Side constraints: in every row the coefficients of the chosen columns sum up to at most ``row_upper``.
    """

    format: ClassVar[int] = FORMAT

    shape: tuple[int, int]
    k: int
    penalty: float
    gamma: float
    forced_in: IntArray
    forced_out: IntArray
    support: IntArray
    coef: FloatArray
    objective: float
    lower_bound: float
    complete: bool
    fingerprint: float
    independence: float
    parent: IntArray
    column: IntArray
    side: IntArray
    frame: IntArray
    kind: IntArray
    coef_offset: IntArray
    coef_index: IntArray
    coef_value: FloatArray
    fixed_offset: IntArray
    fixed_column: IntArray
    frame_offset: IntArray
    frame_column: IntArray
    frame_diagonal: FloatArray
    twin_later: IntArray
    twin_earlier: IntArray
    price: FloatArray = field(default_factory=lambda: np.zeros(0))
    sign: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    row_offset: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    row_column: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    row_coef: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    row_upper: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def records(self) -> int:
        """Number of records of the proof."""
        return int(self.parent.size)

    def __str__(self) -> str:
        size = f"at most {self.k}" if self.k < self.shape[1] else "any number"
        sides = (("in", self.forced_in), ("out", self.forced_out))
        forced = " and ".join(f"{_columns(index)} forced {side}" for side, index in sides if index.size)
        among = f"{self.shape[1]} columns"
        if self.independence:
            among += f" that are independent (to {self.independence:.6g} of their norms)"
        if forced:
            among += f", with {forced}" + ("" if self._signs else ",")
        price = f", penalty {self.penalty:.6g} a column" if self.penalty else ""
        if self.price.size:
            price = f", penalties from {self.price.min():.6g} to {self.price.max():.6g} a column"
        claim = (
            f"no {'allowed ' if self.row_upper.size else ''}support of {size} of {among}{self._signs} "
            f"has an objective below {self.lower_bound:.10g} "
            f"(gamma {self.gamma:.6g}{price}{self._rows}); this one has {self.objective:.10g}"
        )
        if not self.complete:
            return claim + " (the proof was larger than its limit and was dropped)"
        return f"{claim} (proof: {counted(self.records, 'record')}, {self.nbytes / 1e3:.1f} kB)"

    @property
    def _signs(self) -> str:
        """The signs in words."""
        parts = []
        for side, words in ((1, ">= 0"), (-1, "<= 0")):
            index = np.flatnonzero(self.sign == side)
            if index.size:
                which = "all" if index.size == self.shape[1] else _columns(index)
                parts.append(f"{which} {words}")
        return f", coefficients of {' and '.join(parts)}," if parts else ""

    @property
    def _rows(self) -> str:
        """The side constraints in words, the first few of them."""
        if not self.row_upper.size:
            return ""
        shown = []
        for r in range(min(3, self.row_upper.size, self.row_offset.size - 1)):  # a file may be damaged
            part = slice(self.row_offset[r], self.row_offset[r + 1])
            entries = list(zip(self.row_coef[part].tolist(), self.row_column[part].tolist()))
            terms = [f"{coef} s{column}" for coef, column in entries[:4]] + (["..."] if len(entries) > 4 else [])
            shown.append(f"{' + '.join(terms)} <= {self.row_upper[r]}")
        more = f" and {self.row_upper.size - 3} rows more" if self.row_upper.size > 3 else ""
        return f"; allowed: {', '.join(shown)}{more}"

    def __repr__(self) -> str:
        return (
            f"<Certificate: {self.support.size} of {self.shape[1]} columns, objective {self.objective:.8g}, "
            f"lower bound {self.lower_bound:.8g}; proof: {self._size}>"
        )

    @property
    def _size(self) -> str:
        return (
            f"{counted(self.records, 'record')}, {self.nbytes / 1e3:.1f} kB"
            if self.complete
            else "dropped, being too large"
        )

    def _repr_html_(self) -> str:
        facts = [
            ("columns", f"{self.support.size} of {self.shape[1]}"),
            ("rows", str(self.shape[0])),
            ("k", str(self.k)),
            ("gamma", f"{self.gamma:.4g}"),
            ("objective", f"{self.objective:.8g}"),
            ("lower bound", f"{self.lower_bound:.8g}"),
            ("proof", self._size),
        ]
        return html_table("Certificate", facts)

    @classmethod
    def _known(cls, arrays: Arrays) -> Arrays:
        if "items" in arrays:
            raise InputError("it is one of groups or kernels: GroupCertificate.load or KernelCertificate.load reads it")
        if "format" not in arrays or not any(np.array_equal(arrays["format"], known) for known in (1, 2, FORMAT)):
            raise InputError(f"no certificate of format {FORMAT}")
        for former, names in _FORMER.items():
            if int(arrays["format"]) <= former:
                arrays = {**arrays, **{name: value(arrays) for name, value in names.items()}}
        return arrays


# What files up to a format say without saying it.
_FORMER: dict[int, dict[str, Callable[[Arrays], npt.NDArray[Any]]]] = {
    1: {
        "kind": lambda arrays: np.zeros(np.size(arrays.get("parent", ())), dtype=np.int64),
        "independence": lambda arrays: np.asarray(0.0),
    },
    2: {
        "price": lambda arrays: np.zeros(0),
        **{
            name: lambda arrays: np.zeros(0, dtype=np.int64) for name in ("sign", "row_column", "row_coef", "row_upper")
        },
        "row_offset": lambda arrays: np.zeros(1, dtype=np.int64),
    },
}


def _columns(index: IntArray) -> str:
    """The first of them by number, and how many there are if these are not all."""
    shown = ", ".join(str(j) for j in index[:5])
    more = f", ... ({index.size} in all)" if index.size > 5 else ""
    return f"column{'' if index.size == 1 else 's'} {shown}{more}"


@public
@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """True or false in a condition; ``reason`` names the first thing that is wrong."""

    valid: bool
    reason: str
    records: int = 0

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        return ("valid: " if self.valid else "INVALID: ") + self.reason


def response_of(y: Any, certificate: Any) -> FloatArray:
    """y as numbers; raises if it holds none, or if there is no certificate to check it against."""
    if not isinstance(certificate, Certificate):
        raise InputError(
            f"certificate must be a Certificate, not {certificate!r}; Certificate.load reads one from a file"
        )
    try:
        numbers = np.asarray(y)
        if numbers.dtype.kind == "c":
            raise ValueError
        return np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("y must be a vector of numbers, one for every row of X") from None


def fingerprint(beta: FloatArray) -> float:
    """A fixed pseudo-random weighting of X'alpha, which all but the smallest changes of X, y or w change."""
    weights = _few_weights(beta.size) if beta.size <= _FEW else _weights(beta.size)
    return float(weights @ beta)


def _weights(size: int) -> FloatArray:
    return np.random.Generator(np.random.PCG64(_WEIGHT_SEED)).uniform(0.5, 1.5, size)


@lru_cache(maxsize=8)
def _few_weights(size: int) -> FloatArray:
    return _weights(size)
