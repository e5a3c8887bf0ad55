"""Whose objective is what: every peer's scaling, and what is taken from its answer, written down once.

The paper's objective, which everything is put on, for a support S:

    c(S) = min_w  1/2 |y - X_S w|^2 + |w|^2 / (2 gamma)

    form "k":        minimise c(S)                 over |S| <= k
    form "penalty":  minimise c(S) + penalty |S|   over all S

===============  ==========================================================  ====================================
peer             what it minimises                                           what makes it c
===============  ==========================================================  ====================================
parsifal,        c(S), c(S) + penalty |S|                                    as it is
cutting-*,
big-m-*
l0bnb            1/2 |y - Xw|^2 + l0 |S| + l2 |w|^2,  |w_j| <= m             l0 = penalty, l2 = 1 / (2 gamma)
el0ps            1/2 |y - Xw|^2 + lmbd |S| + beta |w|^2                      lmbd = penalty, beta = 1 / (2 gamma)
okridge          |y - Xw|^2 - |y|^2 + lambda2 |w|^2,  |S| <= k               lambda2 = 1 / gamma;
                                                                             c = (its loss + |y|^2) / 2
abess            1/2 |y - Xw|^2 + alpha/2 |w|^2,  |S| = k (is_normal=False)  alpha = 1 / gamma, but run with 0
l0learn (L0L2)   1/2 |y - Ub|^2 + lambda |S| + gamma2 |b|^2,                 gamma2 = 1 / (2 gamma mean |x_j|^2),
                 U = X with columns of norm 1                                exact for columns of equal norm
leaps            1/2 |y~ - X~ w|^2,  |S| = k                                 X~ = [X; I / sqrt(gamma)], y~ = [y; 0]
lasso, celer,    |y - Xw|^2 / (2n) + lambda |w|_1                            not c: supports only
adelie
skglm (MCP)      |y - Xw|^2 / (2n) + MCP(w; lambda, 3)                       not c: supports only
===============  ==========================================================  ====================================

Whatever a peer's own coefficients are, its supports are fitted anew by the referee with c's ridge.

abess is run without its ridge, as its users do: with alpha = 1 / gamma its splicing ends in worse supports (n = 200,
p = 2000, k = 10, sqrt(SNR) = 20: 6 of the 10 columns are right, 10 of 10 with alpha = 0).

Gaps. Everyone is asked for a relative gap of c. Two peers measure theirs by something else, and get the number that
comes to the same: okridge's is relative to |2 c - |y|^2|, which on a good fit is many times c; el0ps's is relative to
max(1, c).

Favours. l0bnb needs a bound m on the coefficients and is given 3/2 of the largest of Parsifal's solution; the two
gaps above need c, and it is Parsifal's. None of them could know these.

From a path to a support. A path's points with at most k nonzeros give their supports, the others their k largest
|w_j| |x_j|; the best of all of them after the refit counts, which is more than the path's user could have picked
unaided.

From k to a penalty. With f(k) the best c of k columns, k is the penalised problem's answer for every penalty between
f(k) - f(k+1) and f(k-1) - f(k) if f is convex at k; `price` takes the geometric mean of the two.
"""

from __future__ import annotations

import numpy as np


def half_ridge(gamma: float) -> float:
    """l0bnb's l2 and el0ps's beta: the factor of |w|^2."""
    return 1.0 / (2.0 * gamma)


def okridge_value(value: float, y: np.ndarray) -> float:
    """c from okridge's loss (or bound), which lacks |y|^2 and is twice as large."""
    return 0.5 * (value + float(y @ y))


def okridge_gap(rel_gap: float, objective: float, y: np.ndarray) -> float:
    """okridge's gap_tol for a gap of `rel_gap` of c; `objective` is c."""
    return rel_gap * 2.0 * objective / max(abs(2.0 * objective - float(y @ y)), np.finfo(float).tiny)


def el0ps_gap(rel_gap: float, objective: float) -> float:
    """el0ps's relative_gap for a gap of `rel_gap` of c; it divides by max(1, c)."""
    return rel_gap * min(1.0, objective)


def l0learn_ridge(X: np.ndarray, gamma: float) -> float:
    """l0learn's gamma on columns of norm 1, exact if the columns of X have equal norms."""
    return half_ridge(gamma) / float(np.mean(np.einsum("ij,ij->j", X, X)))


def augmented(X: np.ndarray, y: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows that make least squares the ridge fit: 1/2 |y~ - X~ w|^2 = 1/2 |y - X w|^2 + |w|^2 / (2 gamma)."""
    p = X.shape[1]
    return np.vstack([X, np.eye(p) / np.sqrt(gamma)]), np.concatenate([y, np.zeros(p)])


def from_path(X: np.ndarray, coefs: np.ndarray, k: int) -> list[list[int]]:
    """The distinct supports of at most k columns of a path (p by points), the sparsest point first."""
    norms = np.sqrt(np.einsum("ij,ij->j", X, X))
    found: dict[tuple[int, ...], None] = {}
    for point in range(coefs.shape[1]):
        size = np.abs(coefs[:, point]) * norms
        support = np.flatnonzero(size)
        if support.size > k:
            support = np.sort(np.argsort(-size, kind="stable")[:k])
        if support.size:
            found.setdefault(tuple(int(j) for j in support))
    return [list(support) for support in found]


def price(below: float, at: float, above: float) -> float:
    """A penalty for which k columns are best, from the best c of k-1, k and k+1 columns."""
    return float(np.sqrt(max(below - at, 1e-6 * at) * max(at - above, 1e-6 * at)))
