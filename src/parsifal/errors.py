"""What can go wrong, said so that the reader knows what, where, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from parsifal._public import public


@public
class ParsifalError(Exception):
    """Base class of every error that Parsifal raises on its own account."""


@public
class InputError(ParsifalError, ValueError):
    """An argument cannot be used; the message names it and says what would do."""


@public
class NonFiniteError(InputError):
    """A NaN, an infinity or a value too large to square stands in the data; the message says where."""


@public
class NumericalError(ParsifalError, ArithmeticError):
    """A computation failed in a way that would have made a bound untrustworthy."""


@public
class DataError(ParsifalError):
    """Data outside memory could not be read, or are not what they were; the message names the file or the place."""


@public
class LiftingWarning(UserWarning):
    """A nonlinear feature has no usable value somewhere in the data, and a rule was applied; the message says which."""


@public
class MissingBackendError(ParsifalError, ImportError):
    """A mixed-integer solver is not installed, or its licence refuses; the message says what to install."""


@public
class BackendError(ParsifalError, RuntimeError):
    """A mixed-integer solver ended in a way that gives no answer."""


@public
class BigMWarning(UserWarning):
    """A bound on the coefficients touches the solution: better ones may have been excluded."""


# Libraries between a user's line and a warning of ours.
_NOT_THE_USER = ("parsifal", "sklearn", "joblib", "contextlib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line that called us, however deep inside we are."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_THE_USER:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def suggestion(word: str, known: Iterable[str]) -> str:
    """The end of a message about a word that is not known: the one that was probably meant."""
    by_case = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_case, n=1)
    return f"; did you mean {by_case[close[0]]!r}?" if close else ""
