"""The report: one HTML page that shows a fit, how sure it is, and what it was made from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from parsifal.arguments import check_number
from parsifal.errors import InputError
from parsifal.files.atomic import replacing
from parsifal.problem.progress import Progress
from parsifal.reporting.content import Content, CvCurve, gather
from parsifal.reporting.fitted import Fitted
from parsifal.reporting.page import render

if TYPE_CHECKING:
    from parsifal.estimators.base import SparseLinearModel

__all__ = ["Content", "CvCurve", "Fitted", "cv_curve_of", "gather", "render", "report", "write"]


def report(
    model: SparseLinearModel,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    sample_weight: Any = None,
    history: Iterable[Progress] | None = None,
    time_limit: float = 30.0,
    target: str = "y",
    command: str | None = None,
    data: Sequence[tuple[str, str]] = (),
) -> Content:
    """Write one self-contained HTML page about a fitted model.

    Parameters
    ----------
    model : SparseRegressor or SparseRegressorCV
        Fitted.
    X, y, sample_weight
        The training data.
    path : str or path
        Where the page goes.
    history : iterable of Progress, optional
        The bounds over time; by default the model's own ``progress``, if that is a `History`.
    time_limit : float
        Seconds for the path over k and for the closest other supports, which are computed here.
    target : str
        What y is called.
    command : str, optional
        What made the model; the model's ``repr`` by default.
    data : sequence of (name, value), optional
        Facts about the data to show, such as a file's name and hash.

    Returns
    -------
    Content
        What is on the page.
    """
    import parsifal
    from parsifal.estimators.base import SparseLinearModel
    from parsifal.estimators.inputs import UnfittedError

    if not isinstance(model, SparseLinearModel):
        raise InputError(f"the model must be a SparseRegressor or a SparseRegressorCV, not {model!r}")
    if not hasattr(model, "solution_"):
        raise UnfittedError
    time_limit = check_number(time_limit, "time_limit", minimum=0.0)
    for name, text in (("target", target), ("command", "" if command is None else command)):
        if not isinstance(text, str):
            raise InputError(f"{name} must be a text, not {text!r}")
    _check_pairs(data)
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path must be a path, not {path!r}")
    if history is None:
        own = getattr(model, "progress", None)
        history = own if isinstance(own, list) else ()
    if not isinstance(history, Iterable) or not all(isinstance(entry, Progress) for entry in history):
        raise InputError("history must be a History, or another sequence of Progress")
    training = model._training(X, y, sample_weight)
    certificate = model.solution_.certificate
    facts = [("rows", str(training.design.shape[0])), ("features", str(training.design.shape[1])), *data]
    if certificate is not None:
        facts.append(("fingerprint in the certificate", f"{certificate.fingerprint:.17g}"))
    content = gather(
        Fitted.of_model(model, training),
        target=target,
        command=_call(model) if command is None else command,
        version=parsifal.__version__,
        data=facts,
        cv=cv_curve_of(model) if hasattr(model, "mse_path_") else None,
        history=tuple(history),
        # Other supports would have to meet the same side conditions, which these searches do not know.
        time_limit=0.0 if getattr(model, "constraints", None) else time_limit,
    )
    write(content, path)
    return content


def _check_pairs(data: Any) -> None:
    fine = isinstance(data, Sequence) and not isinstance(data, str)
    if not fine or not all(isinstance(pair, tuple) and [type(x) for x in pair] == [str, str] for pair in data):
        raise InputError(f"data must be pairs of texts, (name, value), not {data!r}")


def _call(model: Any) -> str:
    """The call that makes the model, without the listener, which may hold thousands of snapshots."""
    return repr(type(model)(**{**model.get_params(deep=False), "progress": False}))


def cv_curve_of(model: Any) -> CvCurve:
    """The cross-validation of a fitted `SparseRegressorCV`."""
    mse = model.mse_path_
    # After Ctrl-C some folds are whole, or part of one is all there is.
    whole = np.isfinite(mse).all(axis=(0, 1))
    mse = mse[:, :, whole if whole.any() else [int(np.argmax(np.isfinite(mse).sum(axis=(0, 1))))]]
    folds = mse.shape[2]
    spread = mse.std(axis=2, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros(mse.shape[:2])
    return CvCurve(
        ks=model.ks_.tolist(),
        gammas=model.gammas_.tolist(),
        mean=mse.mean(axis=2),
        error=spread,
        best=model.best_index_,
        folds=folds,
    )


def write(content: Content, path: str | os.PathLike[str]) -> None:
    """Write the page, whole or not at all."""
    page = render(content)
    with replacing(path) as file:
        file.write(page.encode())
