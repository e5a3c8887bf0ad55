"""What each chosen feature of a fitted model is worth, and what would take its place.

With G = X_S'X_S + I/gamma: without j the loss is c(S) + w_j^2 / (2 (G^-1)_jj); with i in j's place, R = S without j and
alpha_R its residual,

    c(R + i) = c(R) - (x_i'alpha_R)^2 / (2 (1/gamma + x_i'x_i - x_i'X_R G_R^-1 X_R'x_i)).
"""

from __future__ import annotations

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.blas import quiet_blas
from parsifal.bound.ridge_loss import fit_support
from parsifal.design import Design
from parsifal.problem.solution import Solution
from parsifal.problem.standardise import Training
from parsifal.problem.summary import Worth


@quiet_blas()
def worth(
    design: Design, y: FloatArray, support: IntArray, gamma: float, penalty: float, barred: IntArray
) -> list[Worth]:
    """Find, for every chosen column, the loss without it and the best replacement: |support| + 1 reads.

    Columns that are `barred` (forced out) replace none.
    """
    p = design.shape[1]
    columns = design.columns(support)
    first = design.scan(y, stats=True)
    assert first.squares is not None
    cross = np.array([design.scan(np.ascontiguousarray(c)).xv for c in columns.T]).reshape(support.size, p)
    out: list[Worth] = []
    for position, j in enumerate(support):
        rest = np.delete(np.arange(support.size), position)
        left = fit_support(design, y, support[rest], gamma, penalty, columns[:, rest])
        system = columns[:, rest].T @ columns[:, rest] + np.eye(rest.size) / gamma
        inner = np.linalg.pinv(system, hermitian=True) if np.isinf(gamma) else np.linalg.inv(system)
        beta = first.xv - left.coef @ cross[rest]
        explained = np.einsum("ip,ij,jp->p", cross[rest], inner, cross[rest], optimize=True)
        left_over = 1.0 / gamma + np.maximum(first.squares - explained, 0.0)
        # Without a ridge a column in the span of the others has nothing to add.
        gain = np.divide(beta**2, left_over, out=np.zeros(p), where=left_over > 1e-12 * first.squares)
        gain[support] = gain[barred] = -1.0
        replacement, value = -1, np.inf
        if p > support.size + barred.size:
            replacement = int(np.argmax(gain))
            swapped = np.append(support[rest], replacement)
            value = fit_support(design, y, swapped, gamma, penalty).objective
        out.append(Worth(column=int(j), left_out=left.objective, replacement=replacement, replaced=value))
    return out


def worth_within(training: Training, solution: Solution, barred: IntArray, *, work: float) -> list[Worth] | None:
    """What each chosen column is worth; None where that takes more than `work` multiplications."""
    n, p = training.design.shape
    if float(n) * p * (solution.support.size + 1) > work:
        return None
    certificate = solution.certificate
    if certificate is None or certificate.price.size + certificate.sign.size + certificate.row_upper.size:
        return None  # what may replace a column is not the same for all
    penalty = float(np.max(solution.penalty))
    return worth(training.design, training.y, solution.support, solution.gamma, penalty, barred)
