"""What a report shows: a plain dataclass of results, gathered from a fit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsifal.api.criteria import degrees_of_freedom
from parsifal.api.paths import Path, path
from parsifal.api.ranking import Ranking, k_best
from parsifal.arrays import FloatArray
from parsifal.display import counted
from parsifal.problem.progress import Progress
from parsifal.problem.solution import Solution
from parsifal.problem.standardise import Training
from parsifal.problem.summary import Row
from parsifal.proof.certificate import CheckResult
from parsifal.proof.checker import check
from parsifal.reporting.fitted import Fitted

# A proof with more records is not gone through for a report; `check` does it.
_MOST_RECORDS = 5000
_LONGEST_PATH = 20
_WITHIN = 0.02
_MOST_LISTED = 12


@dataclass(frozen=True, kw_only=True)
class CvCurve:
    """A cross-validation: mean and standard error of the squared error, one row a gamma, and the choice's place."""

    ks: Sequence[int]
    gammas: Sequence[float]
    mean: FloatArray
    error: FloatArray
    best: tuple[int, int]
    folds: int


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything on the page.

    Attributes
    ----------
    title, target, command, version, created : str
        Headline, what is explained, the command or call that made the report, Parsifal's version, and when.
    data : sequence of pairs
        Facts about the data, with their fingerprint.
    solution : Solution
        On the columns as the solver saw them.
    names : sequence of str
        Of all features.
    rows : sequence of Row
        The chosen features.
    intercept : float
    adjusted : sequence of (str, float)
        Features that were adjusted for, with their coefficients.
    r2 : float
        Share of the variance explained, on the training data.
    total : float
        Sum of squares of the response, as the solver saw it.
    path : Path or None
        Best models of other sizes.
    cv : CvCurve or None
    history : sequence of Progress
        The bounds closing.
    ranking : Ranking or None
        The closest other supports.
    within : float
        Relative distance up to which `ranking` lists supports.
    checked : CheckResult or None
        What the checker says of the certificate; None if it was not asked.
    notes : sequence of str
        What was left out, and why.
    """

    title: str
    target: str
    command: str
    version: str
    created: str
    data: Sequence[tuple[str, str]]
    solution: Solution
    names: Sequence[str]
    rows: Sequence[Row]
    intercept: float
    adjusted: Sequence[tuple[str, float]]
    r2: float
    total: float
    path: Path | None = None
    cv: CvCurve | None = None
    history: Sequence[Progress] = ()
    ranking: Ranking | None = None
    within: float = _WITHIN
    checked: CheckResult | None = None
    notes: Sequence[str] = field(default_factory=tuple)


def gather(
    fitted: Fitted,
    *,
    target: str,
    command: str,
    version: str,
    data: Sequence[tuple[str, str]],
    whole_path: Path | None = None,
    cv: CvCurve | None = None,
    history: Sequence[Progress] = (),
    time_limit: float = 30.0,
    threads: int | None = None,
) -> Content:
    """Compute what is not there yet, in at most about `time_limit` seconds: the path over k and the runners-up.

    Parameters
    ----------
    fitted : Fitted
        The model and the data as the solver saw them.
    target, command, version, data, cv, history
        As in `Content`.
    whole_path : Path, optional
        The path, if it is known already.
    time_limit : float
        Seconds for what is computed here; 0 leaves it out.
    threads : int, optional
        As in `solve`.
    """
    notes: list[str] = []
    training, solution = fitted.training, fitted.solution
    design, y = training.design, training.y
    if whole_path is None and time_limit > 0:
        whole_path = with_known(_short_path(fitted, 0.5 * time_limit, threads), solution, training)
    ranking = None
    if time_limit > 0 and solution.support.size:
        ranking = _closest(fitted, 0.5 * time_limit, threads)
    if time_limit <= 0:
        notes.append("The path over k and the uniqueness of the support were not computed.")
    checked = None
    if solution.certificate is not None and solution.certificate.complete:
        if solution.certificate.records <= _MOST_RECORDS:
            checked = check(solution.certificate, design, y)
        else:
            notes.append(
                f"The proof of {counted(solution.certificate.records, 'record')} was not gone through for this page."
            )
    residual = y - design.matvec(solution.support, solution.coef[solution.support])
    total = float(y @ y)
    return Content(
        title=f"The best {solution.support.size} features for {target}",
        target=target,
        command=command,
        version=version,
        created=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        data=data,
        solution=solution,
        names=fitted.names,
        rows=fitted.rows,
        intercept=fitted.intercept,
        adjusted=[(fitted.names[j], float(fitted.coef[j])) for j in training.adjusted.tolist()],
        r2=1.0 - float(residual @ residual) / total if total > 0 else float("nan"),
        total=total,
        path=whole_path,
        cv=cv,
        history=tuple(history),
        ranking=ranking,
        checked=checked,
        notes=tuple(notes),
    )


def _short_path(fitted: Fitted, seconds: float, threads: int | None) -> Path:
    """The best models of the sizes around the model's own."""
    design, solution, fixed = fitted.training.design, fitted.solution, fitted.fixed
    first = max(1, int(np.count_nonzero(fixed == 1)))
    most = min(design.shape[1], max(first, min(_LONGEST_PATH, solution.support.size + 5)))
    return path(
        design,
        fitted.training.y,
        range(first, most + 1),
        solution.gamma,
        fit_intercept=False,
        time_limit=seconds,
        threads=threads,
        force_in=fixed == 1,
        force_out=fixed == -1,
        certificate_limit=0.0,
        sign=_signs(solution),
    )


def _signs(solution: Solution) -> Any:
    """The signs that the model's coefficients had to have."""
    certificate = solution.certificate
    return 0 if certificate is None or not certificate.sign.size else certificate.sign


def _closest(fitted: Fitted, seconds: float, threads: int | None) -> Ranking:
    """The supports whose objective is nearest to the best."""
    solution = fitted.solution
    return k_best(
        fitted.training.design,
        fitted.training.y,
        solution.k if np.any(np.asarray(solution.penalty) > 0) else solution.support.size,
        solution.gamma,
        _MOST_LISTED,
        tolerance=_WITHIN,
        penalty=solution.penalty if np.any(np.asarray(solution.penalty) > 0) else None,
        sign=_signs(solution),
        time_limit=seconds,
        threads=threads,
        force_in=fitted.fixed == 1,
        force_out=fitted.fixed == -1,
    )


def with_known(found: Path, solution: Solution, training: Training) -> Path:
    """The path with the model itself in its place, where it is better or better proven than what a short path found."""
    places = [i for i, s in enumerate(found) if s.k == solution.support.size]
    if not places or np.any(np.asarray(solution.penalty) > 0) or solution.k != solution.support.size:
        return found
    i = places[0]
    if (found[i].objective, -found[i].lower_bound) <= (solution.objective, -solution.lower_bound):
        return found
    columns = training.design.columns(solution.support)
    residual = training.y - columns @ solution.coef[solution.support]
    rss, df = found.rss.copy(), found.df.copy()
    rss[i], df[i] = float(residual @ residual), degrees_of_freedom(columns, solution.gamma)
    return replace(found, solutions=(*found[:i], solution, *found[i + 1 :]), rss=rss, df=df)
