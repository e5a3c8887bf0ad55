"""Small SVG pictures that take their colours from the page's style sheet and carry their own description.

Everything is drawn at 440 units of width, so that text is readable on a telephone and two pictures fit side by side on
a desk. Classes ``c0`` to ``c7`` are the series' colours.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 440.0, 270.0
_CHARACTER = 6.7  # width of an average character at the labels' size


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From data to picture: linear, or logarithmic."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self, most: int = 6, *, whole: bool = False) -> list[float]:
        """Round numbers inside the range."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            return [10.0**power for power in powers][:: max(1, math.ceil(len(powers) / most))]
        span = self.high - self.low
        if span <= 0:
            return [self.low]
        step: float = 10.0 ** math.floor(math.log10(span / most))
        step *= next((factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most), 10)
        if whole:
            step = max(1.0, round(step))
        first = math.ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(kw_only=True)
class Picture:
    """An SVG under construction: axes first, then marks in the order they are drawn."""

    identifier: str
    title: str
    description: str
    x: Scale
    y: Scale
    height: float = HEIGHT
    body: list[str] = field(default_factory=list)

    def axes(self, *, x_label: str, y_label: str, whole_x: bool = False, y_percent: bool = False) -> None:
        left, bottom = self.x.start, self.y.start
        rows = self.y.ticks(5)
        for tick, label in zip(rows, labels(rows)):
            y = self.y(tick)
            self.body.append(f'<line class="grid" x1="{left:.1f}" x2="{self.x.stop:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.text(left - 6, y + 4, label + ("%" if y_percent else ""), anchor="end")
        places = self.x.ticks(7, whole=whole_x)
        for tick, label in zip(places, labels(places)):
            x = self.x(tick)
            self.body.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom:.1f}" y2="{bottom + 4:.1f}"/>')
            self.text(x, bottom + 17, label, anchor="middle")
        self.body.append(f'<line class="axis" x1="{left:.1f}" x2="{self.x.stop:.1f}" y1="{bottom}" y2="{bottom}"/>')
        self.text((left + self.x.stop) / 2, bottom + 35, x_label, anchor="middle")
        self.text(4, 14, y_label)

    def text(self, x: float, y: float, words: str, *, anchor: str = "start", css: str = "") -> None:
        name = f' class="{css}"' if css else ""
        self.body.append(f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def line(self, xs: Sequence[float], ys: Sequence[float], css: str, *, steps: bool = False) -> None:
        """Join the points; a NaN breaks the line, `steps` holds each value until the next."""
        parts: list[str] = []
        last = None
        for x, y in zip(xs, ys):
            if not (math.isfinite(x) and math.isfinite(y)):
                last = None
                continue
            here = f"{self.x(x):.1f}", f"{self.y(y):.1f}"
            if last is None:
                parts.append(f"M{here[0]} {here[1]}")
            elif steps:
                parts.append(f"H{here[0]}" + (f"V{here[1]}" if here[1] != last else ""))
            else:
                parts.append(f"L{here[0]} {here[1]}")
            last = here[1]
        self.body.append(f'<path class="line {css}" d="{"".join(parts)}"/>')

    def dot(self, x: float, y: float, css: str, words: str, *, hollow: bool = False, radius: float = 4) -> None:
        """A point that tells its value when pointed at."""
        kind = "hollow" if hollow else "dot"
        self.body.append(
            f'<circle class="{kind} {css}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}">'
            f"<title>{html.escape(words)}</title></circle>"
        )

    def segment(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        self.body.append(
            f'<line class="{css}" x1="{self.x(x1):.1f}" y1="{self.y(y1):.1f}" '
            f'x2="{self.x(x2):.1f}" y2="{self.y(y2):.1f}"/>'
        )

    def legend(self, entries: Sequence[tuple[str, str]], y: float = 14) -> None:
        """Names of series at the upper right, the last one outermost."""
        x = WIDTH - 6
        for name, css in reversed(entries):
            x -= _CHARACTER * len(name)
            self.text(x, y, name)
            self.body.append(f'<line class="line {css}" x1="{x - 22:.1f}" x2="{x - 5:.1f}" y1="{y - 4}" y2="{y - 4}"/>')
            x -= 34

    def end_labels(self, ends: Sequence[tuple[float, str, str]]) -> None:
        """Names beside the ends of lines, moved apart where they would overlap."""
        places = spread([self.y(value) for value, _, _ in ends], 13.0, self.y.stop + 4, self.y.start)
        for place, (value, name, css) in zip(places, ends):
            x = self.x.stop
            self.body.append(
                f'<path class="leader {css}" d="M{x + 2:.1f} {self.y(value):.1f}L{x + 10:.1f} {place:.1f}"/>'
            )
            self.text(x + 12, place + 4, shorten(name, int((WIDTH - x - 12) / _CHARACTER)), css=f"name {css}")

    def __str__(self) -> str:
        name = self.identifier
        return (
            f'<svg role="img" aria-labelledby="{name}-t {name}-d" viewBox="0 0 {WIDTH:g} {self.height:g}" '
            f'preserveAspectRatio="xMidYMid meet"><title id="{name}-t">{html.escape(self.title)}</title>'
            f'<desc id="{name}-d">{html.escape(self.description)}</desc>{"".join(self.body)}</svg>'
        )


def frame(
    identifier: str,
    title: str,
    description: str,
    x: tuple[float, float],
    y: tuple[float, float],
    *,
    left: float = 58,
    right: float = 14,
    log_x: bool = False,
    log_y: bool = False,
    height: float = HEIGHT,
) -> Picture:
    """A picture with margins for axes around the ranges x and y."""
    return Picture(
        identifier=identifier,
        title=title,
        description=description,
        x=Scale(low=x[0], high=x[1], start=left, stop=WIDTH - right, log=log_x),
        y=Scale(low=y[0], high=y[1], start=height - 42, stop=28, log=log_y),
        height=height,
    )


def padded(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """The range of the finite values with some air around it."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    air = share * (high - low) or 0.05 * abs(high) or 1.0
    return low - air, high + air


def spread(places: Sequence[float], apart: float, top: float, bottom: float) -> list[float]:
    """Move places apart, keeping their order and as close as possible to where they were."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [places[i] for i in order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + apart)
    if moved:
        moved[-1] = min(moved[-1], bottom)
    for i in range(len(moved) - 2, -1, -1):
        moved[i] = min(moved[i], moved[i + 1] - apart)
    if moved and moved[0] < top:
        shift = top - moved[0]
        moved = [place + shift for place in moved]
    out = [0.0] * len(places)
    for i, place in zip(order, moved):
        out[i] = place
    return out


def shorten(name: str, most: int) -> str:
    """Cut a long name in its middle, where names differ least."""
    if len(name) <= most:
        return name
    most = max(most, 5)
    head = (most - 1) // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def labels(ticks: Sequence[float]) -> list[str]:
    """Short numbers with as many digits as it takes to tell them apart."""
    for digits in range(3, 12):
        out = [number(tick, digits) for tick in ticks]
        if len(set(out)) == len(out):
            break
    return out if ticks else []


def number(value: float, digits: int = 4) -> str:
    """A short number for an axis."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e7 or size < 1e-3:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(power)}"
    whole = len(str(int(size)))
    return f"{value:.{max(digits, whole)}g}"
