"""What all pictures have in common: axes, colours, labels, and whether they are given what they draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from parsifal.arrays import FloatArray
from parsifal.errors import InputError, ParsifalError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with every kind of colour vision, and four of Tol's. A colour stands for one line,
# so there are no more named lines than these.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#000000"),
    *("#882255", "#332288", "#999933", "#44AA99"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, PALE = "#333333", "#bbbbbb"
PROVEN = 1e-5  # the relative gap that a picture calls so


def require(value: Any, kind: type, name: str, source: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{name} must come from {source}, not be {value!r}")


def axes(ax: Axes | None, size: tuple[float, float] = (7.0, 4.4)) -> Axes:
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


def require_fitted(model: Any) -> None:
    from parsifal.estimators.inputs import UnfittedError
    from parsifal.estimators.regressor_cv import SparseRegressorCV

    if not isinstance(model, SparseRegressorCV):
        raise InputError(f"the model must be a SparseRegressorCV, not {model!r}")
    if not hasattr(model, "mse_path_"):
        raise UnfittedError


def require_linear(model: Any) -> None:
    from parsifal.estimators.base import SparseLinearModel
    from parsifal.estimators.inputs import UnfittedError

    if not isinstance(model, SparseLinearModel):
        raise InputError(f"the model must be a SparseRegressor or a SparseRegressorCV, not {model!r}")
    if not hasattr(model, "solution_"):
        raise UnfittedError


def plain(name: str) -> str:
    """A feature's name as it is: between dollar signs matplotlib would read a formula."""
    return name.replace("$", r"\$")


def whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def log_scale(ax: Axes) -> None:
    """A logarithmic axis with numbers as one reads them, also between the decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def shades(count: int) -> list[Any]:
    """One colour each, from dark to as light as small letters allow, none of them one of ours."""
    from matplotlib import colormaps

    return [colormaps["copper"](0.1 + 0.58 * place / max(1, count - 1)) for place in range(count)]


def note(ax: Axes, x: float, y: float, text: str, colour: str, offset: tuple[float, float] = (2, 0)) -> None:
    ax.annotate(text, (x, y), xytext=offset, textcoords="offset points", color=colour, fontsize=8, va="center")


def label_ends(ax: Axes, x: float, ends: list[tuple[float, str, Any]]) -> None:
    """Names beside the ends of lines, inside the axes, moved apart until none overlap."""
    ends = sorted(ends, key=lambda end: end[0])
    low, high = ax.get_xlim()
    # Room for the longest name, about: text does not know its width before it is drawn.
    inches = ax.get_window_extent().width / ax.figure.dpi
    longest = max((len(name.replace("$", "").replace("\\gamma", "g")) for _, name, _ in ends), default=0)
    room = min(0.6, (0.25 + 0.065 * longest) / max(inches, 1e-6))
    last = x + 0.02 * max(high - low, 1.0)
    ax.set_xlim(low, low + (last - low) / (1 - room))
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= last]
    ax.set_xticks(ticks)
    start = float(ax.transAxes.inverted().transform(ax.transData.transform((last, 0.0)))[0])
    place = [float(ax.transAxes.inverted().transform(ax.transData.transform((x, value)))[1]) for value, _, _ in ends]
    height = 0.13 / max(ax.get_window_extent().height / ax.figure.dpi, 1e-6)
    place = apart(place, min(height, 1.0 / max(1, len(place))))
    for y, (value, name, colour) in zip(place, ends):
        ax.annotate(
            name,
            (x, value),
            xytext=(start + 0.02, y),
            textcoords="axes fraction",
            color=colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
            # To the middle of the left edge: to the middle of the name it would cross its neighbours.
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.4, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 3},
        )


def apart(place: list[float], height: float) -> list[float]:
    """Sorted places moved until neighbours are this far apart, and all within the axes."""
    half = height / 2
    for _ in range(500):
        moved = False
        for i in range(len(place) - 1):
            overlap = height - (place[i + 1] - place[i])
            if overlap > 1e-9:
                place[i] -= overlap / 2
                place[i + 1] += overlap / 2
                moved = True
        if place and place[0] < half:
            place = [y + half - place[0] if i == 0 else y for i, y in enumerate(place)]
        if place and place[-1] > 1 - half:
            place[-1] = 1 - half
        if not moved:
            break
    return place


def from_entry(coef: FloatArray) -> FloatArray:
    """The line from the last zero before a feature enters to the first after it leaves."""
    there = coef != 0
    near = there.copy()
    near[:-1] |= there[1:]
    near[1:] |= there[:-1]
    return np.where(near, coef, np.nan)


def square(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.4, row - 0.4), 0.8, 0.8, color=colour, lw=0)
