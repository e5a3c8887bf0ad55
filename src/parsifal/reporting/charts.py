"""The report's pictures, each from the results it shows; every description says in words what the picture says."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from parsifal.api.paths import Path
from parsifal.api.ranking import Ranking
from parsifal.arrays import FloatArray
from parsifal.problem.progress import Progress
from parsifal.problem.summary import Row
from parsifal.reporting.content import CvCurve
from parsifal.reporting.svg import Picture, frame, number, padded, shorten

_NAMED = 8


def path_fit(path: Path, r2: Sequence[float], chosen: int) -> Picture:
    """Variance explained against k, the chosen k marked, unproven sizes hollow."""
    ks = path.ks.tolist()
    percent = [100 * value for value in r2]
    proven = sum(s.status == "optimal" for s in path)
    words = (
        f"Line chart. With {ks[0]} features {percent[0]:.1f}% of the variance is explained, with {ks[-1]} features "
        f"{percent[-1]:.1f}%. {proven} of {len(ks)} sizes are proven optimal."
    )
    if chosen in ks:
        words += f" The model has {chosen} features and explains {percent[ks.index(chosen)]:.1f}%."
    picture = frame("path", "Variance explained by the best model of every size", words, _whole(ks), padded(percent))
    picture.axes(x_label="number of features k", y_label="variance explained", whole_x=True, y_percent=True)
    if chosen in ks:
        picture.segment(chosen, picture.y.low, chosen, picture.y.high, "mark")
    picture.line(ks, percent, "c0")
    for k, value, solution in zip(ks, percent, path):
        open_ = solution.status != "optimal"
        state = f"not proven, gap {solution.gap:.1e}" if open_ else "proven"
        picture.dot(k, value, "c1" if k == chosen else "c0", f"k = {k}: {value:.2f}%, {state}", hollow=open_)
    return picture


def path_coefficients(path: Path, names: Sequence[str]) -> Picture:
    """Standardised coefficients against k; the largest at the end of the path are named."""
    ks, coefs = path.ks.tolist(), path.coefs
    used = np.flatnonzero(np.any(coefs != 0, axis=0))
    order = used[np.lexsort((-np.abs(coefs[:, used]).max(axis=0), -np.abs(coefs[-1, used])))].tolist()
    entry = {j: ks[int(np.flatnonzero(coefs[:, j])[0])] for j in order}
    first = sorted(order, key=lambda j: (entry[j], -abs(float(coefs[-1, j]))))[:_NAMED]
    words = "Line chart of coefficients. Features in the order in which they first enter: "
    words += ", ".join(f"{names[j]} at k = {entry[j]}" for j in first) + ("." if len(first) == len(order) else ", ...")
    y = padded([0.0, *coefs[:, used].ravel().tolist()])
    picture = frame("entry", "Coefficients of the best model of every size", words, _whole(ks), y, right=96)
    picture.axes(x_label="number of features k", y_label="standardised coefficient", whole_x=True)
    picture.segment(picture.x.low, 0, picture.x.high, 0, "axis")
    ends = []
    for rank, j in reversed(list(enumerate(order))):
        css = f"c{rank}" if rank < _NAMED else "pale"
        values = [float(v) if v != 0 or _beside(coefs[:, j], i) else math.nan for i, v in enumerate(coefs[:, j])]
        picture.line(ks, values, css)
        if rank < _NAMED and coefs[-1, j] != 0:
            ends.append((float(coefs[-1, j]), names[j], css))
    picture.end_labels(ends)
    return picture


def cv_curve(cv: CvCurve) -> Picture:
    """Mean squared error against k for the chosen gamma with bars, the other gammas pale."""
    g, i = cv.best
    ks = list(cv.ks)
    mean, error = cv.mean, cv.error
    low, high = float(np.nanmin(mean - error)), float(np.nanmax(mean + error))
    log = low > 0 and high / low > 50
    least = int(np.argmin(mean[g]))
    words = (
        f"Line chart. Cross-validated mean squared error over {cv.folds} folds for gamma = {cv.gammas[g]:.3g}: "
        f"{number(float(mean[g, 0]))} with {ks[0]} features, least {number(float(mean[g, least]))} with {ks[least]}; "
        f"{ks[i]} features were chosen: error {number(float(mean[g, i]))}, standard error {number(float(error[g, i]))}."
    )
    y = (low, high) if log else padded([low, high])
    picture = frame("cv", "Error on left-out rows against the number of features", words, _whole(ks), y, log_y=log)
    picture.axes(x_label="number of features k", y_label="mean squared error", whole_x=True)
    picture.segment(ks[i], picture.y.low, ks[i], picture.y.high, "mark")
    for other in range(len(mean)):
        if other != g:
            picture.line(ks, mean[other].tolist(), "pale")
    for k, m, e in zip(ks, mean[g].tolist(), error[g].tolist()):
        picture.segment(k, max(m - e, picture.y.low), k, min(m + e, picture.y.high), "bar c5")
    picture.line(ks, mean[g].tolist(), "c0")
    for place, (k, m, e) in enumerate(zip(ks, mean[g].tolist(), error[g].tolist())):
        picture.dot(k, m, "c1" if place == i else "c0", f"k = {k}: {number(m)} ± {number(e)}")
    entries = [(f"gamma = {cv.gammas[g]:.3g}", "c0")] + ([("other gamma", "pale")] if len(mean) > 1 else [])
    picture.legend(entries)
    return picture


def bounds(history: Sequence[Progress]) -> Picture:
    """Objective and lower bound over time; time is logarithmic where it spans much."""
    kept = thinned(history)
    seconds = [max(s.seconds, 1e-4) for s in kept]
    upper = [s.objective for s in kept]
    lower = [s.lower_bound for s in kept]
    last = kept[-1]
    words = (
        f"Step chart. After {last.seconds:.2g} seconds and {last.nodes} nodes the best objective is {upper[-1]:.6g}, "
        f"the lower bound {lower[-1]:.6g}, a gap of {last.gap:.1e}; the first bound was {lower[0]:.6g}."
    )
    log = seconds[-1] / seconds[0] > 100
    x = (seconds[0] if log else 0.0, seconds[-1] if len(kept) > 1 else 2 * seconds[-1])
    picture = frame("bounds", "Objective and lower bound over time", words, x, padded(upper + lower), log_x=log)
    picture.axes(x_label="seconds", y_label="objective")
    picture.line(seconds, upper, "c1", steps=True)
    picture.line(seconds, lower, "c0", steps=True)
    picture.dot(seconds[-1], lower[-1], "c0", f"lower bound {lower[-1]:.8g}")
    picture.dot(seconds[-1], upper[-1], "c1", f"objective {upper[-1]:.8g}")
    picture.legend([("best found", "c1"), ("lower bound", "c0")])
    return picture


def coefficients(rows: Sequence[Row]) -> Picture:
    """Standardised coefficients as bars from zero."""
    words = "Bar chart of standardised coefficients: " + ", ".join(f"{r.feature} {r.standardized:.3g}" for r in rows)
    values = [row.standardized for row in rows]
    low, high = min(0.0, *values), max(0.0, *values)
    longest = max(len(row.feature) for row in rows)
    left = min(150.0, 16 + 6.4 * longest)
    height = 34.0 + 24.0 * len(rows)
    # Room for the longest number beside its bar.
    digits = max(len(f"{value:.3g}") for value in values)
    span = (0.04 + 0.026 * digits) * (high - low or 1.0)
    picture = frame(
        "coefficients",
        "Standardised coefficients",
        words + ".",
        (low - (span if low < 0 else 0), high + (span if high > 0 else 0)),
        (len(rows) - 0.5, -0.5),
        left=left,
        height=height,
    )
    # One row a feature, from the top; the vertical scale counts rows.
    for place, row in enumerate(rows):
        x0, x1 = sorted((picture.x(0.0), picture.x(row.standardized)))
        y = 40 + 24 * place
        css = "up" if row.standardized >= 0 else "down"
        picture.body.append(
            f'<rect class="{css}" x="{x0:.1f}" y="{y - 8}" width="{max(x1 - x0, 0.5):.1f}" height="16" rx="2">'
            f"<title>{row.standardized:.6g}</title></rect>"
        )
        picture.text(left - 8, y + 4, shorten(row.feature, 22), anchor="end")
        inside = (x1 + 4, "start") if row.standardized >= 0 else (x0 - 4, "end")
        picture.text(inside[0], y + 4, f"{row.standardized:.3g}", anchor=inside[1])
    zero = picture.x(0.0)
    picture.body.append(f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" y1="26" y2="{height - 4:.1f}"/>')
    picture.text(4, 14, "change of the target per standard deviation of the feature")
    return picture


def uniqueness(ranking: Ranking) -> Picture:
    """How much worse the closest other supports are."""
    best = ranking[0].objective
    excess = [100 * (entry.objective - best) / best if best > 0 else 0.0 for entry in ranking]
    rest = 100 * (ranking.lower_bound - best) / best if best > 0 and math.isfinite(ranking.lower_bound) else None
    words = f"Lollipop chart. {len(excess)} supports are listed; "
    words += f"the second best is {excess[1]:.3g}% worse. " if len(excess) > 1 else "only the best itself. "
    if rest is not None:
        words += f"Every support that is not listed is at least {max(rest, 0.0):.3g}% worse than the best."
    top = max([*excess, rest or 0.0]) or 1.0
    places = list(range(1, len(excess) + 1))
    picture = frame("unique", "How much worse other supports are", words, (0.5, len(excess) + 0.5), (0.0, 1.12 * top))
    picture.axes(x_label="rank", y_label="worse than the best", whole_x=True, y_percent=True)
    if rest is not None and rest > 0:
        picture.segment(0.5, rest, len(excess) + 0.5, rest, "mark")
        picture.text(picture.x.stop, picture.y(rest) - 5, "all others are above this line", anchor="end", css="name c1")
    for place, value in zip(places, excess):
        picture.segment(place, 0, place, value, "stem")
        picture.dot(place, value, "c0", f"rank {place}: {value:.4g}% worse")
    return picture


def thinned(history: Sequence[Progress], most: int = 200) -> list[Progress]:
    """The snapshots at which something changed, at most `most`, with the first and the last."""
    changed = [
        s
        for i, s in enumerate(history)
        if i in (0, len(history) - 1)
        or s.objective != history[i - 1].objective
        or s.lower_bound != history[i - 1].lower_bound
    ]
    usable = [s for s in changed if math.isfinite(s.objective) and math.isfinite(s.lower_bound)]
    if len(usable) <= most:
        return usable
    places = np.unique(np.linspace(0, len(usable) - 1, most).astype(int))
    return [usable[i] for i in places]


def _whole(ks: Sequence[int]) -> tuple[float, float]:
    return (ks[0] - 0.3, ks[-1] + 0.3) if len(ks) > 1 else (ks[0] - 1.0, ks[0] + 1.0)


def _beside(values: FloatArray, i: int) -> bool:
    """Whether a neighbour on the path is not zero: lines begin where a feature enters."""
    return bool((i > 0 and values[i - 1] != 0) or (i + 1 < len(values) and values[i + 1] != 0))
