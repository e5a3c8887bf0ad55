"""Pictures of results, with matplotlib (``pip install parsifal[plot]``); each returns the Axes it drew on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from parsifal.errors import InputError, ParsifalError
from parsifal.path import Path
from parsifal.problem import FloatArray, check_count
from parsifal.progress import Progress
from parsifal.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from parsifal.crossval import SparseRegressorCV

# Okabe and Ito's colours, told apart with every kind of colour vision.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_INK, _PALE = "#333333", "#bbbbbb"


def coefficients(path: Path, *, names: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the coefficients against k.

    Parameters
    ----------
    path : Path
        From `pf.path`.
    names : int
        How many features are named, those with the largest coefficients at the end of the path first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    _require(path, Path, "path", "pf.path")
    if len(path) == 0:
        raise InputError("the path is empty")
    names = check_count(names, "names") if names != 0 else 0
    ax = _axes(ax)
    ks, coefs = path.ks, path.coefs
    used = np.flatnonzero(np.any(coefs != 0, axis=0))
    order = used[np.lexsort((-np.abs(coefs[:, used]).max(axis=0), -np.abs(coefs[-1, used])))]
    feature_names = path[0].feature_names
    ends = []
    for rank, j in enumerate(order):
        named = rank < names
        style: dict[str, Any] = (
            {"color": _COLOURS[rank % 8], "lw": 1.6} if named else {"color": _PALE, "lw": 0.8, "zorder": 1}
        )
        ax.plot(ks, _from_entry(coefs[:, j]), marker=_MARKERS[(rank // 8) % 8] if named else None, ms=3.5, **style)
        if named:
            ends.append(
                (float(coefs[-1, j]), _plain(f"x{j}" if feature_names is None else feature_names[j]), style["color"])
            )
    ax.axhline(0.0, color=_INK, lw=0.6)
    _whole_numbers(ax)
    _label_ends(ax, float(ks[-1]), ends)
    open_ = ks[path.gaps > 1e-5]
    for k in open_:
        ax.axvspan(k - 0.5, k + 0.5, color="#f3e9d2", lw=0, zorder=0)
    note = "" if open_.size == 0 else " (shaded: not proven)"
    ax.set(xlabel=f"number of features k{note}", ylabel="coefficient", title="Best features for every k")
    return ax


def criteria(
    path: Path, which: Sequence[Literal["aic", "bic", "ebic"]] = ("aic", "bic", "ebic"), *, ax: Axes | None = None
) -> Axes:
    """Draw information criteria against k, each with its minimum marked.

    Parameters
    ----------
    path : Path
        From `pf.path`.
    which : sequence of str
        Of "aic", "bic" and "ebic".
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    _require(path, Path, "path", "pf.path")
    if isinstance(which, str) or not isinstance(which, Sequence) or not which:
        raise InputError(f'which must be a sequence of "aic", "bic" and "ebic", not {which!r}')
    ax = _axes(ax)
    labels = {"aic": "AIC", "bic": "BIC", "ebic": "eBIC"}
    for i, name in enumerate(which):
        if name not in labels:
            raise InputError(f'which may name "aic", "bic" and "ebic", not {name!r}')
        values = getattr(path, name)
        ax.plot(path.ks, values, color=_COLOURS[i], marker=_MARKERS[i], ms=4, label=labels[name])
        least = int(np.argmin(values))
        ax.plot(path.ks[least], values[least], marker="o", ms=12, mfc="none", mec=_COLOURS[i], mew=1.5)
    _whole_numbers(ax)
    ax.legend(frameon=False)
    ax.set(xlabel="number of features k", ylabel="criterion (smaller is better)", title="Information criteria")
    return ax


def cv_curve(model: SparseRegressorCV, *, all_gammas: bool = True, ax: Axes | None = None) -> Axes:
    """Draw the mean squared error (or the score that chose) of a cross-validation against k, with standard errors.

    Parameters
    ----------
    model : SparseRegressorCV
        Fitted.
    all_gammas : bool
        Whether to draw the other gammas too, in grey.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    _require_fitted(model)
    ax = _axes(ax)
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
    for g in range(len(mean)):
        colour = _COLOURS[0] if g == best else "#888888"
        if g == best or all_gammas:
            ends.append((float(mean[g, -1]), f"$\\gamma$ = {model.gammas_[g]:.2g}", colour))
        if g != best and all_gammas:
            ax.plot(ks, mean[g], color=_PALE, lw=1)
    ax.errorbar(
        ks, mean[best], yerr=error[best], color=_COLOURS[0], ecolor=_COLOURS[5], marker="o", ms=4, capsize=3, lw=1.6
    )
    ax.axvline(ks[chosen], color=_COLOURS[1], ls="--", lw=1.2)
    ax.annotate(
        f"k = {ks[chosen]}",
        (ks[chosen], 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -12),
        textcoords="offset points",
        color=_COLOURS[1],
    )
    if mean.min() > 0 and mean.max() / mean.min() > 50:
        ax.set_yscale("log")
    _whole_numbers(ax)
    _label_ends(ax, float(ks[-1]), ends)
    ax.set(
        xlabel="number of features k",
        ylabel=f"{label} on left-out rows",
        title=f"Cross-validation, {mse.shape[2]} folds (bars: one standard error)",
    )
    return ax


def bounds(history: Iterable[Progress], *, ax: Axes | None = None) -> Axes:
    """Draw objective and lower bound closing on each other over time.

    Parameters
    ----------
    history : History or iterable of Progress
        ``history = pf.History(); pf.solve(..., progress=history)``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    snapshots = list(history) if isinstance(history, Iterable) else [history]
    for snapshot in snapshots:
        _require(snapshot, Progress, "history", "pf.solve(..., progress=history)")
    if not snapshots:
        raise InputError("the history is empty; pass it to solve as progress=history")
    ax = _axes(ax)
    seconds = np.array([s.seconds for s in snapshots])
    upper = np.array([s.objective for s in snapshots])
    lower = np.array([s.lower_bound for s in snapshots])
    ax.fill_between(seconds, lower, upper, step="post", color="#dfeaf3", lw=0)
    ax.step(seconds, upper, where="post", color=_COLOURS[1], lw=1.8, label="best found")
    ax.step(seconds, lower, where="post", color=_COLOURS[0], lw=1.8, label="lower bound")
    ax.plot(seconds[-1], upper[-1], "o", color=_COLOURS[1], ms=4)
    ax.plot(seconds[-1], lower[-1], "o", color=_COLOURS[0], ms=4)
    ax.legend(frameon=False, loc="best")
    ax.margins(x=0.02)
    last = snapshots[-1]
    ax.set(xlabel="seconds", ylabel="objective", title=f"Gap {last.gap:.1e} after {last.nodes} nodes")
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
    _require_fitted(model)
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
        ax = _axes(ax, size=(1.2 + 0.45 * (len(supports) + 1) + 2.5, 1.3 + 0.26 * len(order)))
    for row, column in np.argwhere(table > 0):
        last = column == len(supports)
        ax.add_patch(_square(column, row, _COLOURS[1] if last else _COLOURS[0]))
    ax.set(
        xlim=(-0.6, len(supports) + 0.6),
        ylim=(len(order) - 0.4, -0.6),
        yticks=range(len(order)),
        yticklabels=[f"{_plain(names[j])}  ({votes[j]}/{len(supports)})" for j in order],
        xticks=range(len(supports) + 1),
        xticklabels=[*(str(f + 1) for f in range(len(supports))), "all"],
        xlabel="fold",
        title=f"Features chosen in each fold, k = {model.k_}",
    )
    if used.size > most:
        ax.set_xlabel(f"fold ({used.size - most} more features are not shown)")
    ax.axvline(len(supports) - 0.5, color=_INK, lw=0.8)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def ranking(best: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw how much worse the runners-up of `k_best` are than the best support.

    Parameters
    ----------
    best : Ranking
        From `pf.k_best`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    _require(best, Ranking, "best", "pf.k_best")
    ax = _axes(ax)
    value = np.array([entry.objective for entry in best])
    # Where the best fits perfectly, no other is worse by a finite part of it.
    unit = value[0] if value[0] > 0 else 1.0
    excess = 100 * (value - value[0]) / unit
    places = np.arange(1, len(best) + 1)
    ax.vlines(places, 0, excess, color=_PALE)
    ax.plot(places, excess, "o", color=_COLOURS[0])
    if np.isfinite(best.lower_bound):
        rest = 100 * (best.lower_bound - value[0]) / unit
        ax.axhline(rest, color=_COLOURS[1], ls="--", lw=1.2)
        _note(ax, 1, rest, "every other support is above", _COLOURS[1], offset=(0, 4))
    ax.set(xlabel="rank", ylabel="worse than the best, %", title="How unique is the best support?")
    ax.set_ylim(bottom=0)
    _whole_numbers(ax)
    return ax


def _require(value: Any, kind: type, name: str, source: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{name} must come from {source}, not be {value!r}")


def _axes(ax: Axes | None, size: tuple[float, float] = (7.0, 4.4)) -> Axes:
    if ax is None:
        try:
            from matplotlib import pyplot as plt
        except ImportError:
            raise ParsifalError("plots need matplotlib: pip install parsifal[plot]") from None
        _, ax = plt.subplots(figsize=size, layout="constrained")
    if not hasattr(ax, "spines"):
        raise InputError(f"ax must be matplotlib Axes, not {ax!r}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#eeeeee", lw=0.8)
    ax.set_axisbelow(True)
    return ax


def _require_fitted(model: SparseRegressorCV) -> None:
    from parsifal.crossval import SparseRegressorCV
    from parsifal.validation import UnfittedError

    if not isinstance(model, SparseRegressorCV):
        raise InputError(f"the model must be a SparseRegressorCV, not {model!r}")
    if not hasattr(model, "mse_path_"):
        raise UnfittedError


def _plain(name: str) -> str:
    """A feature's name as it is: between dollar signs matplotlib would read a formula."""
    return name.replace("$", r"\$")


def _whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _note(ax: Axes, x: float, y: float, text: str, colour: str, offset: tuple[float, float] = (2, 0)) -> None:
    ax.annotate(text, (x, y), xytext=offset, textcoords="offset points", color=colour, fontsize=8, va="center")


def _label_ends(ax: Axes, x: float, ends: list[tuple[float, str, Any]]) -> None:
    """Names beside the ends of lines, moved apart until none overlap."""
    to_axes = ax.transAxes.inverted()
    ends = sorted(ends)
    place = [float(to_axes.transform(ax.transData.transform((x, value)))[1]) for value, _, _ in ends]
    for _ in range(200):
        moved = False
        for i in range(len(place) - 1):
            overlap = 0.045 - (place[i + 1] - place[i])
            if overlap > 1e-9:
                place[i] -= overlap / 2
                place[i + 1] += overlap / 2
                moved = True
        if not moved:
            break
    for y, (value, name, colour) in zip(place, ends):
        ax.annotate(
            name,
            (x, value),
            xytext=(1.02, y),
            textcoords="axes fraction",
            color=colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.4, "shrinkA": 0, "shrinkB": 3},
        )


def _from_entry(coef: FloatArray) -> FloatArray:
    """The line from the last zero before a feature enters to the first after it leaves."""
    there = coef != 0
    near = there.copy()
    near[:-1] |= there[1:]
    near[1:] |= there[:-1]
    return np.where(near, coef, np.nan)


def _square(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.4, row - 0.4), 0.8, 0.8, color=colour, lw=0)
