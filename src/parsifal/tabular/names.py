"""Names of columns: made unique when a table is read, and suggested where one is misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_SHOWN = 12
_COMPARED, _LONGEST = 10_000, 100  # names that are compared, and how long they may be: comparing takes its time


def unique_names(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Names without spaces around them, all different, and the old names of those that had to be changed."""
    stripped = [name.strip() for name in names]
    taken = set(stripped)
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    out: list[str] = []
    changed: dict[str, str] = {}
    for place, old in enumerate(stripped, start=1):
        name = old or _free(f"column{place}", taken, numbers)
        if name in seen:
            name = _free(name, taken, numbers)
            changed[name] = old
        taken.add(name)
        seen.add(name)
        out.append(name)
    return out, changed


def _free(name: str, taken: set[str], numbers: dict[str, int]) -> str:
    """The name, or the first number after it that makes it new; `numbers` has where to go on."""
    if name not in taken:
        return name
    number = numbers.get(name, 2)
    while f"{name}_{number}" in taken:
        number += 1
    numbers[name] = number + 1
    return f"{name}_{number}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant."""
    folded = {other.casefold(): other for other, _ in zip(known, range(_COMPARED)) if len(other) <= _LONGEST}
    if len(name) > _LONGEST:
        return None
    found = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return folded[found[0]] if found else None


def printable(text: str) -> str:
    """With line ends and control characters written out: a name must not look like a line of its own."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def listed(names: Sequence[str]) -> str:
    """The first names, with dots if there are more."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def suggestion(name: str, known: Sequence[str], what: str) -> str:
    """What to do about a name that is not known: the one that was meant, and those that there are."""
    meant = closest(name, known)
    guess = "" if meant is None else f"did you mean {meant!r}? "
    there = f"{what} are {listed(known)}"
    return guess + (there[0].upper() + there[1:] if guess else there)
