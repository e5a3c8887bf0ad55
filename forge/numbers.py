"""Forgeries of the numbers: coefficients, diagonals, gamma and penalty, from the smallest to none at all."""

from __future__ import annotations

import math

import numpy as np

from forge.draft import Draft, Record, each
from forge.problems import ForgeProblem
from forge.structure import Forgery, Rng

SPECIAL = (0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-154, 1e-300, 1e154, 1.4e154, 1e300)
SPECIAL += (
    1.7976931348623157e308,
    -1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    1.0,
    -1.0,
    2.0**53,
    2.0**-53,
)


def factor(rng: Rng) -> float:
    """By how much a number is multiplied: a little, a lot, or beyond what squares."""
    chance = rng.random()
    if chance < 0.3:
        return float(1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-16, -1))
    if chance < 0.6:
        return float(10 ** rng.uniform(-8, 8))
    if chance < 0.9:
        return float(10.0 ** rng.uniform(-300, 300))
    return float(rng.choice([-1.0, 0.0, 0.5, 2.0]))


def scale_coefficients(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """The w of a record, or of all."""
    by = factor(rng)
    for record in draft.records if rng.random() < 0.3 else [_record(rng, draft)]:
        record.value = [times(v, by) for v in record.value]


def replace_coefficient(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """One entry of a w is special, or a new one comes in."""
    record = _record(rng, draft)
    value = float(SPECIAL[int(rng.integers(len(SPECIAL)))])
    if record.index and rng.random() < 0.7:
        record.value[int(rng.integers(len(record.value)))] = value
    else:
        put(record, int(rng.integers(problem.dense.shape[1])), value)


def fit_everything(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A w that fits y as well as can be: its dual point is as good as zero."""
    record = _record(rng, draft)
    _put_all(record, _least_squares(problem, problem.y))


def fit_nothing(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record without coefficients: its dual point is y."""
    record = _record(rng, draft)
    record.index, record.value = [], []


def cancel(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Huge coefficients that cancel, so that alpha is made of rounding errors."""
    record = _record(rng, draft)
    direction = _null(problem)
    size = 10 ** rng.uniform(0, 20)
    dense = np.zeros(problem.dense.shape[1])
    inside = [(j, v) for j, v in zip(record.index, record.value) if 0 <= j < dense.size]
    for j, v in inside:
        dense[j] = v
    with np.errstate(all="ignore"):
        _put_all(record, dense + size * direction)


def scale_diagonal(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """The diagonal of a frame."""
    if draft.frames:
        at = int(rng.integers(len(draft.frames)))
        columns, diagonal = draft.frames[at]
        by = factor(rng)
        draft.frames[at] = (columns, [each(d, lambda value: times(value, by)) for d in diagonal])


def replace_diagonal(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """One entry of a diagonal is special, takes the ridge away, or is nearly a whole square."""
    frames = [diagonal for _, diagonal in draft.frames if diagonal]
    if frames:
        diagonal = frames[int(rng.integers(len(frames)))]
        with np.errstate(all="ignore"):
            gamma = draft.claim["gamma"]
            ridge = 1.0 / gamma if isinstance(gamma, float) and gamma else 1.0
            choices = [*SPECIAL, -ridge * (1 - 1e-9), -0.5 * ridge, -ridge, 1e3 * ridge, -0.49 * ridge]
        at, value = int(rng.integers(len(diagonal))), float(choices[int(rng.integers(len(choices)))])
        diagonal[at] = each(diagonal[at], lambda _: value)


def change_gamma(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Another ridge."""
    _change(rng, draft, "gamma")


def take_the_ridge(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """No ridge, and some columns or all count as independent; or a ridge, and not all do."""
    if rng.random() < 0.8:
        draft.claim["gamma"] = math.inf
    draft.claim["independence"] = float(rng.choice([1e-6, 1e-6, 1e-6, 0.0, 1e-9, 1e-12, 1e-5, 1.0, -1e-6, math.nan]))


def change_penalty(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Another price."""
    _change(rng, draft, "penalty")


NUMBERS: tuple[Forgery, ...] = (
    *(scale_coefficients, replace_coefficient, fit_everything, fit_nothing, cancel),
    *(scale_diagonal, replace_diagonal, change_gamma, take_the_ridge, change_penalty),
)


def put(record: Record, column: int, value: float) -> None:
    """Set a coefficient of a record, keeping its columns in order."""
    entries = dict(zip(record.index, record.value))
    entries[column] = value
    record.index = sorted(entries)
    record.value = [entries[j] for j in record.index]


def _record(rng: Rng, draft: Draft) -> Record:
    return draft.records[int(rng.integers(len(draft.records)))]


def _put_all(record: Record, w: np.ndarray) -> None:
    kept = np.flatnonzero(w)
    record.index, record.value = kept.tolist(), w[kept].tolist()


def times(value: float, by: float) -> float:
    """The product, without a warning."""
    with np.errstate(all="ignore"):
        return float(np.float64(value) * by)


def _change(rng: Rng, draft: Draft, name: str) -> None:
    before = draft.claim[name]
    if rng.random() < 0.75:
        draft.claim[name] = times(before or 1.0, factor(rng))
    else:
        draft.claim[name] = float(SPECIAL[int(rng.integers(len(SPECIAL)))])


def _least_squares(problem: ForgeProblem, target: np.ndarray) -> np.ndarray:
    sizes = np.abs(problem.dense).max(axis=0)
    sizes[sizes == 0] = 1.0
    unit = float(np.abs(target).max()) or 1.0
    with np.errstate(all="ignore"):
        w = np.linalg.lstsq(problem.dense / sizes, target / unit, rcond=None)[0]
        return np.asarray(w / sizes * unit)


def _null(problem: ForgeProblem) -> np.ndarray:
    """The direction that X takes to the smallest vector, columns being scaled."""
    sizes = np.abs(problem.dense).max(axis=0)
    sizes[sizes == 0] = 1.0
    with np.errstate(all="ignore"):
        return np.asarray(np.linalg.svd(problem.dense / sizes)[2][-1] / sizes)
