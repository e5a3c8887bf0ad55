"""What can go wrong, said so that the reader knows what, where, and what to do."""

from __future__ import annotations


class ParsifalError(Exception):
    """Base class of every error that Parsifal raises on its own account."""


class InputError(ParsifalError, ValueError):
    """An argument cannot be used; the message names it and says what would do."""


class NonFiniteError(InputError):
    """A NaN, an infinity or a value too large to square stands in the data; the message says where."""


class NumericalError(ParsifalError, ArithmeticError):
    """A computation failed in a way that would have made a bound untrustworthy."""


class DataError(ParsifalError):
    """Data outside memory could not be read, or are not what they were; the message names the file or the place."""


class LiftingWarning(UserWarning):
    """A nonlinear feature has no usable value somewhere in the data, and a rule was applied; the message says which."""


class MissingBackendError(ParsifalError, ImportError):
    """A mixed-integer solver is not installed, or its licence refuses; the message says what to install."""


class BackendError(ParsifalError, RuntimeError):
    """A mixed-integer solver ended in a way that gives no answer."""


class BigMWarning(UserWarning):
    """A bound on the coefficients touches the solution: better ones may have been excluded."""
