"""Pictures of fitted models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from parsifal.arguments import check_count, check_response
from parsifal.plots.style import (
    COLOURS,
    INK,
    axes,
    label_ends,
    log_scale,
    plain,
    require_fitted,
    require_linear,
    shades,
    square,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from parsifal.estimators.base import SparseLinearModel
    from parsifal.estimators.regressor_cv import SparseRegressorCV


def cv_curve(model: SparseRegressorCV, *, all_gammas: bool = True, ax: Axes | None = None) -> Axes:
    """Draw the mean squared error (or the score that chose) of a cross-validation against k, with standard errors.

    Parameters
    ----------
    model : SparseRegressorCV
        Fitted.
    all_gammas : bool
        Whether to draw the other gammas too, thin and lighter the weaker the ridge.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    require_fitted(model)
    ax = axes(ax)
    ks, mse = model.ks_, model.mse_path_ if model.scoring is None else model.score_path_
    label = "mean squared error" if model.scoring is None else f"score ({model.scoring})"
    # Ctrl-C may have left folds unfinished.
    whole = np.isfinite(mse).all(axis=(0, 1))
    mse = mse[:, :, whole] if whole.any() else mse
    folds = mse.shape[2]
    # One fold says nothing about the spread.
    mean, error = mse.mean(axis=2), mse.std(axis=2, ddof=min(1, folds - 1)) / np.sqrt(folds)
    best, chosen = model.best_index_
    ends = []
    lighter = shades(len(mean))
    for g in range(len(mean)):
        colour = COLOURS[0] if g == best else lighter[g]
        if g == best or all_gammas:
            gamma = model.gammas_[g]
            text = r"$\infty$" if np.isinf(gamma) else f"{gamma:.3g}"
            ends.append((float(mean[g, -1]), f"$\\gamma$ = {text}", colour))
        if g != best and all_gammas:
            ax.plot(ks, mean[g], color=colour, lw=1)
    ax.errorbar(
        ks, mean[best], yerr=error[best], color=COLOURS[0], ecolor=COLOURS[5], marker="o", ms=4, capsize=3, lw=1.6
    )
    ax.axvline(ks[chosen], color=COLOURS[1], ls="--", lw=1.2)
    ax.annotate(
        f"k = {ks[chosen]}",
        (ks[chosen], 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -12),
        textcoords="offset points",
        color=COLOURS[1],
    )
    if mean.min() > 0 and mean.max() / mean.min() > 50:
        log_scale(ax)
    whole_numbers(ax)
    label_ends(ax, float(ks[-1]), ends)
    ax.set(
        xlabel="number of features k",
        ylabel=f"{label} on left-out rows",
        title=f"Cross-validation, {mse.shape[2]} folds (bars: one standard error)",
    )
    return ax


def support_agreement(model: SparseRegressorCV, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw which features each fold chose for the k and gamma that cross-validation took, beside the final model.

    Parameters
    ----------
    model : SparseRegressorCV
        Fitted.
    most : int
        Largest number of features shown, those chosen most often first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    require_fitted(model)
    most = check_count(most, "most")
    g, i = model.best_index_
    supports = model.support_path_[g][i]
    votes = np.bincount(np.concatenate(supports), minlength=model.n_features_in_)
    final = model.get_support()
    used = np.flatnonzero((votes > 0) | final)
    order = used[np.lexsort((used, -votes[used], ~final[used]))][:most]
    names = model._names()
    table = np.array([[float(j in support) for support in supports] + [float(final[j])] for j in order])
    if ax is None or not hasattr(ax, "add_patch"):
        ax = axes(ax, size=(1.2 + 0.45 * (len(supports) + 1) + 2.5, 1.3 + 0.26 * len(order)))
    for row, column in np.argwhere(table > 0):
        last = column == len(supports)
        ax.add_patch(square(column, row, COLOURS[1] if last else COLOURS[0]))
    ax.set(
        xlim=(-0.6, len(supports) + 0.6),
        ylim=(len(order) - 0.4, -0.6),
        yticks=range(len(order)),
        yticklabels=[f"{plain(names[j])}  ({votes[j]}/{len(supports)})" for j in order],
        xticks=range(len(supports) + 1),
        xticklabels=[*(str(f + 1) for f in range(len(supports))), "all"],
        xlabel="fold",
        title=f"Features chosen in each fold, k = {model.k_}",
    )
    if used.size > most:
        ax.set_xlabel(f"fold ({used.size - most} more features are not shown)")
    ax.axvline(len(supports) - 0.5, color=INK, lw=0.8)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def shrinkage(model: SparseLinearModel, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the coefficients of a fitted model beside those of least squares on the same features.

    Parameters
    ----------
    model : SparseRegressor or SparseRegressorCV
        Fitted.
    most : int
        Largest number of features shown, those with the largest coefficients first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        With coefficients per standard deviation of the feature. Bars are two standard errors to either side, as if the
        features had been fixed beforehand: after selection they are too short.
    """
    require_linear(model)
    most = check_count(most, "most")
    ridge, refit = model.solution_.coef[model.support_], model.least_squares_
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(model._ridge_coef[model.support_] != 0, ridge / model._ridge_coef[model.support_], 1.0)
    unshrunk, error = refit.coef * unit, refit.standard_error * np.abs(unit)
    order = np.argsort(-np.abs(unshrunk))[:most]
    ax = axes(ax, size=(6.4, 1.5 + 0.3 * max(1, order.size)))
    rows = np.arange(order.size)
    known = np.where(np.isfinite(error[order]), 2 * error[order], 0.0)
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.errorbar(
        unshrunk[order],
        rows + 0.12,
        xerr=known,
        fmt="o",
        ms=5,
        mfc="white",
        color=COLOURS[1],
        lw=1.2,
        capsize=2,
        label="least squares, 2 standard errors",
    )
    ax.plot(ridge[order], rows - 0.12, "o", color=COLOURS[0], ms=5, label="this model (ridge)")
    names = model._names()
    more = model.support_.size - order.size
    ax.set(
        yticks=rows,
        yticklabels=[plain(names[j]) for j in model.support_[order]],
        ylim=(order.size - 0.4, -0.6),
        xlabel="coefficient per standard deviation" + (f" ({more} more are not shown)" if more else ""),
        title="Shrinkage",
    )
    ax.grid(axis="x", color="#eeeeee", lw=0.8)
    ax.grid(visible=False, axis="y")
    ax.legend(frameon=False, fontsize=8, loc="best")
    return ax


def residuals(model: SparseLinearModel, X: Any, y: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what a fitted model leaves of y against what it predicts.

    Parameters
    ----------
    model : SparseRegressor or SparseRegressorCV
        Fitted.
    X, y : the data
        Those of the fit, or others.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    require_linear(model)
    fitted = model.predict(X)
    left = check_response(y, fitted.size) - fitted
    ax = axes(ax)
    spread = float(left.std())
    size = float(np.clip(1500 / max(1, left.size), 3, 25))
    ax.axhspan(-2 * spread, 2 * spread, color="#eef3f8", lw=0, zorder=0, label="two standard deviations")
    ax.axhline(0.0, color=INK, lw=0.8)
    ax.scatter(fitted, left, s=size, color=COLOURS[0], alpha=0.7, lw=0, rasterized=left.size > 10_000, label="rows")
    total = float(np.sum((left + fitted - np.mean(left + fitted)) ** 2))
    share = "" if total == 0 else f", $R^2$ = {1 - float(left @ left) / total:.3f}"
    ax.legend(frameon=False, fontsize=8, loc="best")
    ax.set(xlabel="predicted", ylabel="residual", title=f"Residuals{share}")
    return ax
