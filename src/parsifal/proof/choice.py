"""Certificates of a choice among groups of columns or among kernels (`parsifal.proof.choice_checker` verifies them).

NumPy, and nothing of the solver. The items to choose among are kernels K_j, for a group of columns K_j = Z_j Z_j'. For
any vector alpha, with a_j = gamma/2 alpha'K_j alpha - price_j,

    D = y'alpha - 1/2 |alpha|^2 - sum_{in} a_j - (sum of the k - |in| largest positive a_j among the free items)

bounds the objective of every set that agrees with the decisions so far. The proof is a tree of records as in
`Certificate`: decisions on items, fixings, leaves that reach the claim. A record's dual point is alpha itself for
kernels; for groups it is alpha = y - Z w for sparse coefficients w, and the record may be in a frame, a set of groups
(the others must be out) with a diagonal d on their columns for which Z'Z - diag(d) is positive semidefinite: then
a_g is the sum over its columns of (z_j'alpha + d_j w_j)^2 / (2 (1/gamma + d_j)) less the price, and D has
1/2 sum d_j w_j^2 more. A column of two groups counts as two columns.

With sample weights the data are sqrt(weight_i) times the rows of X and y, and sqrt(weight_i) sqrt(weight_j) times the
entries of a kernel matrix, in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from parsifal._public import public
from parsifal.display import counted, html_table
from parsifal.errors import InputError
from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.certificate_file import Arrays, Filed

FORMAT = 1
KINDS = {1: "GroupCertificate", 2: "KernelCertificate"}


@dataclass(frozen=True, kw_only=True)
class Choice(Filed):
    """What certificates of groups and of kernels have in common."""

    format: ClassVar[int] = FORMAT
    kind: ClassVar[int]
    items: ClassVar[str]

    rows: int
    k: int
    price: FloatArray
    gamma: float
    sample_weight: FloatArray
    forced_in: IntArray
    forced_out: IntArray
    support: IntArray
    objective: float
    lower_bound: float
    complete: bool
    fingerprint: float
    parent: IntArray
    choice: IntArray
    side: IntArray
    fixed_offset: IntArray
    fixed_choice: IntArray

    @property
    def records(self) -> int:
        """Number of records of the proof."""
        return int(self.parent.size)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.support.size} of {self.price.size} {self.items}, objective "
            f"{self.objective:.8g}, lower bound {self.lower_bound:.8g}; proof: {self._size}>"
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
            (self.items, f"{self.support.size} of {self.price.size}"),
            ("rows", str(self.rows)),
            ("k", str(self.k)),
            ("gamma", f"{self.gamma:.4g}"),
            ("objective", f"{self.objective:.8g}"),
            ("lower bound", f"{self.lower_bound:.8g}"),
            ("proof", self._size),
        ]
        return html_table(type(self).__name__, facts)

    def __str__(self) -> str:
        m = int(self.price.size)
        size = f"at most {self.k}" if self.k < m else "any number"
        sides = (("in", self.forced_in), ("out", self.forced_out))
        forced = " and ".join(f"{self._some(index)} forced {side}" for side, index in sides if index.size)
        claim = (
            f"no choice of {size} of {m} {self.items}{f', with {forced},' if forced else ''} "
            f"has an objective below {self.lower_bound:.10g} "
            f"(gamma {self.gamma:.6g}{self._asked}); this one has {self.objective:.10g}"
        )
        if not self.complete:
            return claim + " (the proof was larger than its limit and was dropped)"
        return f"{claim} (proof: {counted(self.records, 'record')}, {self.nbytes / 1e3:.1f} kB)"

    def _some(self, index: IntArray) -> str:
        """The first of these items by number, and how many there are if these are not all."""
        shown = ", ".join(str(j) for j in index[:5])
        more = f", ... ({index.size} in all)" if index.size > 5 else ""
        return f"{self.items[:-1] if index.size == 1 else self.items} {shown}{more}"

    @property
    def _asked(self) -> str:
        """Prices and weights in words."""
        words = ""
        if np.any(self.price):
            low, high = self.price.min(), self.price.max()
            range_ = f"penalty {low:.6g} each" if low == high else f"penalties from {low:.6g} to {high:.6g}"
            words += f", {range_}"
        if self.sample_weight.size:
            words += f", rows weighted from {self.sample_weight.min():.6g} to {self.sample_weight.max():.6g}"
        return words

    def _heading(self) -> dict[str, npt.NDArray[Any]]:
        return {**super()._heading(), "items": np.asarray(self.kind)}

    @classmethod
    def _known(cls, arrays: Arrays) -> Arrays:
        if "items" not in arrays:
            raise InputError(f"it is no certificate of {cls.items}; Certificate.load reads those of columns")
        kind = arrays["items"]
        if kind.shape != () or kind.dtype.kind not in "iu" or int(kind) not in KINDS:
            raise InputError("it is a certificate of no known kind")
        if int(kind) != cls.kind:
            raise InputError(f"{KINDS[int(kind)]}.load reads it")
        if "format" not in arrays or not np.array_equal(arrays["format"], FORMAT):
            raise InputError(f"no certificate of {cls.items} of format {FORMAT}")
        return arrays


@public
@dataclass(frozen=True, kw_only=True, repr=False)
class GroupCertificate(Choice):
    """A claim about groups of columns, and its proof.

    Attributes
    ----------
    rows, columns, group_offset, group_column, k, price, gamma, sample_weight, forced_in, forced_out : the problem.
        Group g has the columns ``group_column[group_offset[g]:group_offset[g + 1]]`` of X; positions in `group_column`
        are what everything below calls columns. `sample_weight` is empty where all rows count alike.
    support, coef, objective : the solution; `coef` on the columns of its groups.
    lower_bound : float
        The claim: no choice of groups has a smaller objective.
    complete : bool
        False if the proof was larger than its limit: only the claim is here, and it cannot be checked.
    fingerprint : float
        A weighted sum of Z'alpha at the first record: ties the certificate to its data.
    parent, choice, side, frame : int arrays, one entry a record
        The tree; ``choice = -1`` where the record decides nothing, ``frame = -1`` where no frame applies.
    coef_offset, coef_index, coef_value : the sparse w of each record.
    fixed_offset, fixed_choice : what each record fixes: ``1 + g`` for g in, ``-1 - g`` for g out.
    frame_offset, frame_group, diagonal_offset, diagonal : the frames: groups, and the diagonal on their columns.
    """

    kind: ClassVar[int] = 1
    items: ClassVar[str] = "groups"

    columns: int
    group_offset: IntArray
    group_column: IntArray
    coef: FloatArray
    frame: IntArray
    coef_offset: IntArray
    coef_index: IntArray
    coef_value: FloatArray
    frame_offset: IntArray
    frame_group: IntArray
    diagonal_offset: IntArray
    diagonal: FloatArray


@public
@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCertificate(Choice):
    """A claim about kernels, and its proof.

    Attributes
    ----------
    rows, k, price, gamma, sample_weight, forced_in, forced_out : the problem; `price` has one entry a kernel.
    support, coef, objective : the solution; `coef` has, for every kernel of the support in turn, the w of the fit Z w
        for a factor, and the u of K u for a matrix.
    lower_bound : float
        The claim: no choice of kernels has a smaller objective.
    complete : bool
        False if the proof was larger than its limit: only the claim is here, and it cannot be checked.
    fingerprint : float
        A weighted sum of alpha'K_j alpha at the first record: ties the certificate to its data.
    parent, choice, side, point : int arrays, one entry a record
        The tree; ``choice = -1`` where the record decides nothing. Records share dual points.
    points : array
        The dual points, one after the other, `rows` numbers each.
    fixed_offset, fixed_choice : what each record fixes: ``1 + j`` for j in, ``-1 - j`` for j out.
    """

    kind: ClassVar[int] = 2
    items: ClassVar[str] = "kernels"

    coef: FloatArray
    point: IntArray
    points: FloatArray
