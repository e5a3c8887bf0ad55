"""Pictures of paths over k, rankings of supports, and bounds over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from parsifal.api.paths import Path
from parsifal.api.ranking import Ranking
from parsifal.arguments import check_count
from parsifal.errors import InputError
from parsifal.plots.style import (
    COLOURS,
    INK,
    MARKERS,
    PALE,
    PROVEN,
    axes,
    from_entry,
    label_ends,
    note,
    plain,
    require,
    whole_numbers,
)
from parsifal.problem.progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def coefficients(path: Path, *, names: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the coefficients against k; per standard deviation of the feature, if the path is of standardised columns.

    Parameters
    ----------
    path : Path
        From `pf.path`.
    names : int
        How many features are named, 12 at most: those with the largest coefficients at the end of the path first. The
        others are grey.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    require(path, Path, "path", "pf.path")
    if len(path) == 0:
        raise InputError("the path is empty")
    names = min(check_count(names, "names"), len(COLOURS)) if names != 0 else 0
    ax = axes(ax)
    ks, coefs = path.ks, path.coefs if path.scale is None else path.coefs / path.scale
    used = np.flatnonzero(np.any(coefs != 0, axis=0))
    order = used[np.lexsort((-np.abs(coefs[:, used]).max(axis=0), -np.abs(coefs[-1, used])))]
    feature_names = path[0].feature_names
    ends = []
    for rank, j in enumerate(order):
        named = rank < names
        style: dict[str, Any] = (
            {"color": COLOURS[rank], "lw": 1.6} if named else {"color": PALE, "lw": 0.8, "zorder": 1}
        )
        ax.plot(ks, from_entry(coefs[:, j]), marker=MARKERS[rank % 8] if named else None, ms=3.5, **style)
        if named:
            ends.append(
                (float(coefs[-1, j]), plain(f"x{j}" if feature_names is None else feature_names[j]), style["color"])
            )
    ax.axhline(0.0, color=INK, lw=0.6)
    whole_numbers(ax)
    label_ends(ax, float(ks[-1]), ends)
    open_ = ks[path.gaps > PROVEN]
    for k in open_:
        ax.axvspan(k - 0.5, k + 0.5, color="#f3e9d2", lw=0, zorder=0)
    notes = ["shaded: not proven"] if open_.size else []
    if order.size > names:
        notes.append(f"grey: {order.size - names} more feature{'s' if order.size - names > 1 else ''}")
    note = f" ({'; '.join(notes)})" if notes else ""
    unit = "" if path.scale is None else " per standard deviation"
    ax.set(xlabel=f"number of features k{note}", ylabel=f"coefficient{unit}", title="Best features for every k")
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
    require(path, Path, "path", "pf.path")
    if isinstance(which, str) or not isinstance(which, Sequence) or not which:
        raise InputError(f'which must be a sequence of "aic", "bic" and "ebic", not {which!r}')
    ax = axes(ax)
    labels = {"aic": "AIC", "bic": "BIC", "ebic": "eBIC"}
    for i, name in enumerate(which):
        if name not in labels:
            raise InputError(f'which may name "aic", "bic" and "ebic", not {name!r}')
        values = getattr(path, name)
        least = int(np.argmin(values))
        label = f"{labels[name]}, least at k = {path.ks[least]}"
        ax.plot(path.ks, values, color=COLOURS[i], marker=MARKERS[i], ms=4, label=label)
        ax.plot(path.ks[least], values[least], marker="o", ms=12, mfc="none", mec=COLOURS[i], mew=1.5)
    whole_numbers(ax)
    ax.legend(frameon=False)
    ax.set(xlabel="number of features k", ylabel="criterion (smaller is better)", title="Information criteria")
    return ax


def r2(path: Path, *, ax: Axes | None = None) -> Axes:
    """Draw R2, the share of the variation that the best fit of every size explains, against k.

    Parameters
    ----------
    path : Path
        From `pf.path`, with ``fit_intercept=True`` unless y is centred.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    require(path, Path, "path", "pf.path")
    if len(path) == 0:
        raise InputError("the path is empty")
    ax = axes(ax)
    proven = path.gaps <= PROVEN
    ax.plot(path.ks, path.r2, color=COLOURS[0], lw=1.6, zorder=2)
    ax.plot(path.ks[proven], path.r2[proven], "o", color=COLOURS[0], ms=5, label="proven best of its size")
    if not proven.all():
        ax.plot(path.ks[~proven], path.r2[~proven], "o", mfc="white", mec=COLOURS[0], ms=5, label="best found")
    whole_numbers(ax)
    ax.legend(frameon=False, loc="lower right")
    ax.set(xlabel="number of features k", ylabel="$R^2$ on the data of the fit", title="What every size explains")
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
    require(best, Ranking, "best", "pf.k_best")
    ax = axes(ax)
    value = np.array([entry.objective for entry in best])
    # Where the best fits perfectly, no other is worse by a finite part of it.
    unit = value[0] if value[0] > 0 else 1.0
    excess = 100 * (value - value[0]) / unit
    places = np.arange(1, len(best) + 1)
    ax.vlines(places, 0, excess, color=PALE)
    # The best is on the axis, and whole.
    ax.plot(places, excess, "o", color=COLOURS[0], clip_on=False, zorder=3)
    if np.isfinite(best.lower_bound):
        rest = 100 * (best.lower_bound - value[0]) / unit
        ax.axhline(rest, color=COLOURS[1], ls="--", lw=1.2)
        note(ax, 1, rest, "every other support is above", COLOURS[1], offset=(0, 7))
    ax.set(xlabel="rank", ylabel="worse than the best, %", title="How unique is the best support?")
    ax.set_ylim(bottom=0)
    whole_numbers(ax)
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
        require(snapshot, Progress, "history", "pf.solve(..., progress=history)")
    if not snapshots:
        raise InputError("the history is empty; pass it to solve as progress=history")
    ax = axes(ax)
    seconds = np.array([s.seconds for s in snapshots])
    upper = np.array([s.objective for s in snapshots])
    lower = np.array([s.lower_bound for s in snapshots])
    ax.fill_between(seconds, lower, upper, step="post", color="#dfeaf3", lw=0)
    ax.step(seconds, upper, where="post", color=COLOURS[1], lw=1.8, label="best found")
    ax.step(seconds, lower, where="post", color=COLOURS[0], lw=1.8, label="lower bound")
    ax.plot(seconds[-1], upper[-1], "o", color=COLOURS[1], ms=4)
    ax.plot(seconds[-1], lower[-1], "o", color=COLOURS[0], ms=4)
    ax.legend(frameon=False, loc="best")
    ax.margins(x=0.02)
    last = snapshots[-1]
    ax.set(xlabel="seconds", ylabel="objective", title=f"Gap {last.gap:.1e} after {last.nodes} nodes")
    return ax
