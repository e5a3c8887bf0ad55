"""The referee: plain NumPy, nothing of any solver. It takes supports and claims, and says what they are worth.

A claim of optimality is WRONG if any other support that anyone found on the same problem is better by more than the
gap that was asked for, or if the lower bound that came with it is above the value of any support. Parsifal's proofs
are checked by `parsifal.proof.checker` on top, which knows nothing of the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROUNDING = 1e-9  # of 1/2 |y|^2: what values of the same support may differ by


def ridge_value(X: np.ndarray, y: np.ndarray, support: Sequence[int], gamma: float) -> float:
    """c(S) = min_w 1/2 |y - X_S w|^2 + |w|^2 / (2 gamma), by least squares on augmented columns."""
    columns = np.asarray(X[:, list(support)], dtype=float)
    size = columns.shape[1]
    if size == 0:
        return 0.5 * float(y @ y)
    stacked = np.vstack([columns, np.eye(size) / np.sqrt(gamma)])
    response = np.concatenate([np.asarray(y, dtype=float), np.zeros(size)])
    w = np.linalg.lstsq(stacked, response, rcond=None)[0]
    residual = response - stacked @ w
    return 0.5 * float(residual @ residual)


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, gamma: float, penalty: float) -> float:
    """The value of a coefficient vector, whoever found it."""
    residual = y - X @ w
    return 0.5 * float(residual @ residual) + float(w @ w) / (2 * gamma) + penalty * int(np.count_nonzero(w))


def dual_value(
    X: np.ndarray, y: np.ndarray, alpha: np.ndarray, k: int | None, gamma: float, penalty: float = 0.0
) -> float:
    """D(alpha), which no support's objective is below, whatever alpha is."""
    gains = 0.5 * gamma * (X.T @ alpha) ** 2 - penalty
    gains = np.sort(gains[gains > 0])[::-1]
    taken = gains if k is None else gains[:k]
    return float(y @ alpha) - 0.5 * float(alpha @ alpha) - float(taken.sum())


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What an answer is worth."""

    objective: float | None  # of the best of the supports, recomputed; None: no support that counts
    support: tuple[int, ...]
    proven: bool  # optimality was claimed and not refuted
    verdict: str  # "proven", "unproven", "WRONG: why", "no answer: why"


def best_support(
    X: np.ndarray, y: np.ndarray, supports: Iterable[Sequence[int]], *, k: int | None, gamma: float, penalty: float
) -> tuple[float | None, tuple[int, ...]]:
    """Value and columns of the best of the supports that the problem allows."""
    best: tuple[float | None, tuple[int, ...]] = (None, ())
    for support in supports:
        columns = tuple(sorted({int(j) for j in support}))
        if k is not None and len(columns) > k:
            continue
        value = ridge_value(X, y, columns, gamma) + penalty * len(columns)
        if best[0] is None or value < best[0]:
            best = (value, columns)
    return best


def judge(answers: Mapping[str, Mapping[str, Any]], half_yy: float) -> dict[str, Verdict]:
    """Hold everyone's claims against everyone's supports.

    An answer has ``objective`` (the referee's), ``support``, ``claim`` (bool), ``rel_gap`` (as asked), ``lower_bound``
    (as reported, on our scale, or None), ``error`` and ``certificate`` (None, "valid" or what is wrong with it).
    """
    values = [a["objective"] for a in answers.values() if a.get("objective") is not None]
    best = min(values, default=np.inf)
    slack = ROUNDING * half_yy
    verdicts = {}
    for name, answer in answers.items():
        value, bound = answer.get("objective"), answer.get("lower_bound")
        support = tuple(answer.get("support") or ())
        wrong = None
        if value is None:
            verdicts[name] = Verdict(
                objective=None, support=(), proven=False, verdict=f"no answer: {answer.get('error') or 'no support'}"
            )
            continue
        if bound is not None and bound > best + slack + 1e-9 * abs(best):
            wrong = f"its lower bound {bound:.9g} is above the value {best:.9g} of a support"
        elif answer["claim"] and best < value - answer["rel_gap"] * abs(value) - slack:
            wrong = f"claims that {value:.9g} is optimal; {best:.9g} was found"
        elif str(answer.get("certificate") or "").startswith("INVALID"):
            wrong = f"certificate: {answer['certificate']}"
        proven = bool(answer["claim"]) and wrong is None
        text = f"WRONG: {wrong}" if wrong else "proven" if proven else "unproven"
        verdicts[name] = Verdict(objective=value, support=support, proven=proven, verdict=text)
    return verdicts
