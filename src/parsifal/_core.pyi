"""
Compiled core of Parsifal: arrays in, arrays out, the GIL released while it computes.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


compiler: str = 'GCC 12.2'

vector_bits: int = 512

class TimeUp(Exception):
    pass

class StridedMatrix:
    """A dense matrix by address; strides in bytes."""

    def __init__(self, data: int, dtype: int, n: int, p: int, row_stride: int, col_stride: int) -> None: ...

    def scan(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sum_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, square_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, xv: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, threads: int, seconds: float = float('inf')) -> bool:
        """
        One read: xv = (X - shift)'v and, if asked, weighted column sums and sums of squares. Returns whether all of them are finite; TimeUp if it takes more than `seconds`.
        """

    def gather(self, idx: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu')], threads: int, seconds: float = float('inf')) -> None:
        """Copy columns to a Fortran-ordered array of doubles."""

class Table:
    """Columns by address, each with its own byte stride and type."""

    def __init__(self, n: int, data: Sequence[int], strides: Sequence[int], dtypes: Sequence[int]) -> None: ...

    def scan(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sum_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, square_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, xv: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, threads: int, seconds: float = float('inf')) -> bool:
        """
        One read: xv = (X - shift)'v and, if asked, weighted column sums and sums of squares. Returns whether all of them are finite; TimeUp if it takes more than `seconds`.
        """

    def gather(self, idx: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu')], threads: int, seconds: float = float('inf')) -> None:
        """Copy columns to a Fortran-ordered array of doubles."""

    def rows(self, start: int, stop: int) -> Table:
        """The same columns from row start to row stop."""

class SparseMatrix:
    """Compressed columns or rows by address; indices sorted and unique."""

    def __init__(self, data: int, indices: int, indptr: int, is_csc: bool, is_f32: bool, is_i64: bool, n: int, p: int, lo: int, hi: int) -> None: ...

    def scan(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sum_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, square_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, xv: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, threads: int, seconds: float = float('inf')) -> bool:
        """
        One read: xv = (X - shift)'v and, if asked, weighted column sums and sums of squares. Returns whether all of them are finite; TimeUp if it takes more than `seconds`.
        """

    def gather(self, idx: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu')], threads: int, seconds: float = float('inf')) -> None:
        """Copy columns to a Fortran-ordered array of doubles."""

class SyntheticMatrix:
    """Correlated normals made from a counter while they are read."""

    def __init__(self, seed: int, rho: float, innovation: float, burn: int, width: int, n: int, p: int, lo: int, hi: int) -> None: ...

    def scan(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sum_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, square_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, xv: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, threads: int, seconds: float = float('inf')) -> bool:
        """
        One read: xv = (X - shift)'v and, if asked, weighted column sums and sums of squares. Returns whether all of them are finite; TimeUp if it takes more than `seconds`.
        """

    def gather(self, idx: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu')], threads: int, seconds: float = float('inf')) -> None:
        """Copy columns to a Fortran-ordered array of doubles."""

def philox(arg0: int, arg1: int, arg2: int, arg3: int, arg4: int, arg5: int, /) -> tuple:
    """The four words of Philox 4x32-7 for a counter and a key."""

def gram(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], threads: int = 0, seconds: float = float('inf')) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
    """a'b, without a BLAS."""

def submatrix(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], keep: Sequence[int], threads: int = 0, seconds: float = float('inf')) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
    """a[np.ix_(keep, keep)], in Fortran order."""

def residual(y: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """y - columns v, skipping zeros."""

def choose(beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], *, gamma: float, penalty: float, k: int, rules: ColumnRules | None = None) -> tuple:
    """
    What the best completion takes off the dual value, and the two thresholds of safe fixing.
    """

def fix_columns(beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], *, bound: float, cutoff: float, gamma: float, penalty: float, k: int, rules: ColumnRules | None = None) -> tuple:
    """
    Safe fixing: the new fixes and how many (-1: no solution below the cutoff exists).
    """

def tightening(gram: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], *, max_newton: int, unit: float, gamma: float, seconds: float = float('inf')) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    A diagonal d with gram - diag(d) positive semidefinite beyond rounding that makes weight'd large.
    """

class Rounding:
    """
    How far the numbers of a Quadratic may be off (cpp/bound/rounding.hpp).
    """

    def __init__(self, *, norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float, error: float, base: float, drift: float, reach: float) -> None: ...

class ColumnRules:
    """
    Prices, signs and side constraints, where columns are not all alike (cpp/bound/column_rules.hpp).
    """

    def __init__(self, *, price: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], row_offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_coef: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_upper: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cap: Sequence[int], most: Sequence[int]) -> None: ...

    def propagate(self, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)]) -> tuple[Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C')], bool]:
        """The fixes with what the rows imply, and whether they allow anything."""

class Survivors:
    """The reduced problem, as searches take it."""

class Columns(Survivors):
    """
    The columns that survive, in place; `cache` is what products of them may take, in bytes (cpp/bound/held_columns.hpp).
    """

    def __init__(self, *, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: float, penalty: float, k: int, cache: float, rules: ColumnRules | None = None) -> None: ...

class FloatColumns(Survivors):
    """
    The columns that survive, in place; `cache` is what products of them may take, in bytes (cpp/bound/held_columns.hpp).
    """

    def __init__(self, *, columns: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='F', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: float, penalty: float, k: int, cache: float, rules: ColumnRules | None = None) -> None: ...

class DistantColumns(Survivors):
    """
    The columns that survive, elsewhere: load(positions) gives some of them as a matrix. Those marked in `copied` are copied coarsely; of the others the products with `reference` are noted. `kept` is what loaded columns may take, in bytes, `cache` their products.
    """

    def __init__(self, *, load: Callable, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], copied: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], reference: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], gamma: float, penalty: float, k: int, kept: float, cache: float, rules: ColumnRules | None = None) -> None: ...

class Quadratic(Survivors):
    """
    The reduced problem; refers to its arrays, which are copied only where they are not float64, contiguous and, for gram, in Fortran order.
    """

    def __init__(self, *, gram: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], v0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ls0: float, gamma: float, penalty: float, k: int, rounding: Rounding, rules: ColumnRules | None = None) -> None: ...

def relax(quadratic: Quadratic, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], cutoff: float, tolerance: float, max_solves: int, seconds: float = float('inf')) -> dict:
    """Solve the relaxation of one node of the reduced problem."""

def local_search(survivors: Survivors, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], support: Sequence[int], greedy: bool, max_moves: int, seconds: float = float('inf')) -> tuple[list[int], float]:
    """
    Improve a support by additions, removals and swaps; greedy fills it first.
    """

def least_value(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: float) -> float:
    """Not above the objective of any coefficients on these columns."""

def complete(quadratic: Quadratic, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], objective: float, rel_gap: float, abs_gap: float = 0.0, most_work: float = float('inf'), seconds: float = float('inf')) -> dict:
    """
    Whether a node has a completion below the cutoff, by bounds on sets of few columns.
    """

def restarts(survivors: Survivors, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], count: int, seconds: float = float('inf')) -> tuple[list[int], float]:
    """Local search from random supports drawn from the columns with s > 0."""

class Groups:
    """Columns start[g] .. start[g + 1] - 1 of a Quadratic are group g."""

    def __init__(self, *, start: Sequence[int], price: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], k: int) -> None: ...

def relax_groups(quadratic: Quadratic, groups: Groups, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], cutoff: float, tolerance: float, slack: float = 0.0, max_solves: int, seconds: float = float('inf')) -> dict:
    """Solve the relaxation of one node of groups."""

def improve_groups(quadratic: Quadratic, groups: Groups, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C')], support: Sequence[int], max_moves: int, seconds: float = float('inf')) -> tuple[list[int], float]:
    """Improve a set of groups by additions, removals and swaps."""

class Branching(enum.Enum):
    """Which fractional column a node is split on."""

    largest = 0

    fractional = 1

    strong = 2

    pseudo = 3

class SearchOptions:
    """Tolerances and limits of a search (cpp/search/search.hpp)."""

    def __init__(self, *, rel_gap: float = 1e-06, abs_gap: float = 0.0, time_limit: float = float('inf'), node_limit: float = float('inf'), threads: int = 1, at_once: bool = False, here: bool = False, branching: Branching = Branching.pseudo, memory_limit: float = 2000000000.0, certificate_limit: float = 0.0, save_every: float = float('inf'), rank: int = 0, tighten_at_most: int = 100, dive: float = 0.1, completions: bool = True, exhaust_work: float = 400000000.0) -> None: ...

def search(survivors: Survivors, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], twin: Sequence[int], objective: float, options: SearchOptions, poll: object | None = None, state: object | None = None, save: object | None = None, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)] | None = None, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> dict:
    """Branch and bound on the reduced problem."""

def search_groups(quadratic: Quadratic, groups: Groups, *, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], objective: float, options: SearchOptions, poll: object | None = None) -> dict:
    """Branch and bound over groups of columns."""

class FewColumns:
    """
    Few columns and y, in place, with all their products (cpp/bound/few_columns.hpp).
    """

    def __init__(self, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def plain(self) -> bool:
        """Whether they may go straight through at all."""

    @property
    def product(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """X'y"""

    @property
    def y_square(self) -> float:
        """y'y"""

    @property
    def gram(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """X'X"""

    @property
    def rounding(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], float, float, float, float, float]:
        """
        How far the products may be off: norm, unit, error, base, drift and reach.
        """

    def residual_square(self, support: Sequence[int], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]) -> float:
        """|y - X w|^2 for w on these columns."""

    def solve(self, *, k: int, gamma: float, penalty: float, fix: Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)], starts: Sequence[Sequence[int]], known: float, rel_gap: float, abs_gap: float, seconds: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], float, float] | None:
        """
        The best support with its coefficients, its objective and a lower bound on all others; None: not settled. An empty support with the objective `known` says that nothing better was found.
        """

def fit_columns(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], gamma: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """Coefficients of the columns; none where they are too ill-conditioned."""

def fit_value(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], gamma: float) -> tuple[float, bool]:
    """
    The objective of coefficients, and whether all of its squares are within what a double holds.
    """

def precise_residual(y: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    y - columns w with twice the digits of a double, rounded once at the end.
    """
