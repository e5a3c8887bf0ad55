"""Drawing in the paper's form: panels above each other over the number of samples n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from parsifal.errors import ParsifalError
from parsifal.paper.curves import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, PALE = "#333333", "#999999"


class Style(NamedTuple):
    """How a curve looks."""

    colour: str
    marker: str


STYLES = tuple(Style(colour, marker) for colour, marker in zip(COLOURS, MARKERS))
LASSO = Style("#D55E00", "s")
METHOD = {
    "search": Style("#0072B2", "o"),
    "cutting-plane": Style("#009E73", "^"),
    "cutting-plane-plus": Style("#CC79A7", "D"),
}
NAMES = {
    "search": "our search",
    "cutting-plane": "cutting planes, as published",
    "cutting-plane-plus": "cutting planes, strengthened",
}


def panels(count: int, width: float = 7.0, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """A new figure with panels above each other that share n; without a window or global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParsifalError('pictures need matplotlib; run: pip install "parsifal[plot]"') from None
    figure = Figure(figsize=(width, height * count + 0.6), layout="constrained")
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#eeeeee", lw=0.8)
        ax.set_axisbelow(True)
    axes[-1].set_xlabel("number of samples n")
    return figure, list(axes)


def draw_curve(
    ax: Axes,
    points: Sequence[Point],
    *,
    label: str,
    style: Style,
    dashed: bool = False,
) -> None:
    """One curve with its band of confidence; hollow markers where not every run was proven."""
    if not points:
        return
    ns = [point.n for point in points]
    means = [point.mean for point in points]
    low, high = [point.low for point in points], [point.high for point in points]
    ax.fill_between(ns, low, high, color=style.colour, alpha=0.15, lw=0)
    ax.plot(ns, means, label=label, color=style.colour, lw=1.5, ls="--" if dashed else "-")
    for hollow in (False, True):
        chosen = [i for i, point in enumerate(points) if (point.proven is not None and point.proven < 1.0) == hollow]
        ax.plot(
            [ns[i] for i in chosen],
            [means[i] for i in chosen],
            ls="",
            marker=style.marker,
            ms=5,
            color=style.colour,
            mfc="white" if hollow else style.colour,
            zorder=3,
        )


def threshold(axes: Sequence[Axes], n: float, text: str, colour: str, *, style: str = ":", level: int = 0) -> None:
    """A vertical line through all panels, named above the first; `level` lifts names that would collide."""
    for ax in axes:
        ax.axvline(n, color=colour, lw=1.0, ls=style, zorder=1)
    axes[0].annotate(
        text,
        (n, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3 + 10 * level),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7.5,
        color=colour,
    )


def time_axis(ax: Axes, limit: float | None) -> None:
    """Seconds on a logarithmic scale, with the time limit."""
    ax.set_yscale("log")
    ax.set_ylabel("T [s]")
    if limit is not None:
        ax.axhline(limit, color=PALE, lw=0.8, ls="-.")
        ax.annotate(
            f"limit {limit:g} s",
            (1.0, limit),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=7.5,
            color=PALE,
        )


def percent_axis(ax: Axes, label: str) -> None:
    """From 0 to 100."""
    ax.set_ylim(-4, 104)
    ax.set_yticks([0, 25, 50, 75, 100])
    ax.set_ylabel(label)
