"""The address that a class of the public interface goes by: `parsifal`, wherever in the package it is written.

Pickled objects and tracebacks name classes by their address, and outlive the folders of the package.
"""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """Name a class as users import it; the outermost decorator, for `dataclass` looks names up where a class is."""
    cls.__module__ = "parsifal"
    # From Python 3.13 on `inspect.getsource` would take this line of parsifal/__init__.py for the class.
    if "__firstlineno__" in vars(cls):
        delattr(cls, "__firstlineno__")
    return cls
