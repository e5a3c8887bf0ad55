"""Functions of one variable that a dictionary of features is made of, found by name.

A name is the formula itself, with x for the variable: ``sqrt|x|``, ``x^3``, ``cos(10 pi x)``, ``exp(-2 x)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError

FloatArray = npt.NDArray[np.float64]
Elementwise = Callable[[FloatArray], Any]

PAPER = ("x", "sqrt|x|", "log|x|", "x^2", "x^3", "cos(10 pi x)", "sin(x)", "tanh(2 x)")


@dataclass(frozen=True)
class Function:
    """A function of one variable, applied to every entry of an array, and the formula it is shown by.

    Attributes
    ----------
    name : str
        The formula, with ``x`` standing for the variable.
    call : callable
        Maps an array to an array of the same shape, entry by entry.
    ours : bool
        Whether the formula alone says what to call.
    """

    name: str
    call: Elementwise
    ours: bool = False

    @property
    def described(self) -> str | tuple[str, Elementwise]:
        """What `resolve` makes the same function of, without a name from inside the package."""
        return self.name if self.ours else (self.name, self.call)

    def label(self, variable: str) -> str:
        """The formula with the variable's own name in it."""
        if self.name == "x":
            return variable
        # In |x| and f(x) the name is already fenced in; elsewhere one that is not a single word gets parentheses.
        fenced = re.search(r"\|x\||\(x\)", self.name) is not None
        shown = variable if fenced or re.fullmatch(r"[\w.]+", variable) else f"({variable})"
        return _VARIABLE.sub(lambda _: shown, self.name)

    def __call__(self, x: FloatArray) -> FloatArray:
        made = np.asarray(self.call(x))
        if made.dtype.kind == "c":
            raise InputError(f"function {self.name!r} made complex numbers; it must make real ones, e.g. by np.real")
        out = np.asarray(made, dtype=np.float64)
        if out.shape != x.shape:
            raise InputError(
                f"function {self.name!r} made shape {out.shape} of shape {x.shape}; it must work entry by entry"
            )
        return out


_VARIABLE = re.compile(r"(?<![A-Za-z0-9_])x(?![A-Za-z0-9_])")


def _identity(x: FloatArray) -> FloatArray:
    return x


def _sqrt_abs(x: FloatArray) -> Any:
    return np.sqrt(np.abs(x))


def _log_abs(x: FloatArray) -> Any:
    return np.log(np.abs(x))


def _log1p_abs(x: FloatArray) -> Any:
    return np.log1p(np.abs(x))


def _cube(x: FloatArray) -> Any:
    return x * x * x


def _step(x: FloatArray) -> Any:
    return (x > 0.0).astype(np.float64)


def _relu(x: FloatArray) -> Any:
    return np.maximum(x, 0.0)


def _sigmoid(x: FloatArray) -> Any:
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def _bump(x: FloatArray) -> Any:
    return np.exp(-x * x)


def _power(x: FloatArray, *, exponent: float) -> Any:
    return np.power(x, exponent)


def _abs_power(x: FloatArray, *, exponent: float) -> Any:
    return np.power(np.abs(x), exponent)


def _scaled(x: FloatArray, *, factor: float, call: Elementwise) -> Any:
    return call(factor * x)


# The functions f of f(x), which may also be asked for as f(c x) and f(c pi x).
_OF_ONE: dict[str, Elementwise] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "cbrt": np.cbrt,
    "sign": np.sign,
    "step": _step,
    "relu": _relu,
    "sigmoid": _sigmoid,
}

_FORMULAS: dict[str, Elementwise] = {
    "x": _identity,
    "|x|": np.abs,
    "sqrt|x|": _sqrt_abs,
    "log|x|": _log_abs,
    "log(1 + |x|)": _log1p_abs,
    "x^2": np.square,
    "x^3": _cube,
    "1/x": np.reciprocal,
    "exp(-x^2)": _bump,
    **{f"{name}(x)": call for name, call in _OF_ONE.items()},
}

_ALIASES = {
    "identity": "x",
    "linear": "x",
    "abs": "|x|",
    "sqrt": "sqrt|x|",
    "log": "log|x|",
    "log1p": "log(1 + |x|)",
    "square": "x^2",
    "cube": "x^3",
    "reciprocal": "1/x",
    "inverse": "1/x",
    "gauss": "exp(-x^2)",
    **{name: f"{name}(x)" for name in _OF_ONE},
}

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_POWER = re.compile(rf"(x|\|x\|)\^({_NUMBER})")
_SCALED = re.compile(rf"(\w+)\((-|{_NUMBER})? ?(pi)? ?x\)")


def known_names() -> tuple[str, ...]:
    """The names that stand for themselves; powers ``x^m``, ``|x|^a`` and ``f(c x)``, ``f(c pi x)`` come on top."""
    return tuple(_FORMULAS)


def resolve(functions: Any) -> tuple[Function, ...]:
    """Turn what the user gave into functions, each with a name of its own.

    Parameters
    ----------
    functions : None, name, callable, (name, callable) pair, or a sequence or mapping of these
        None is the paper's eight.
    """
    if functions is None:
        functions = PAPER
    if isinstance(functions, Mapping):
        functions = list(functions.items())
    if isinstance(functions, str) or callable(functions) or _is_pair(functions):
        functions = [functions]
    try:
        items = list(functions)
    except TypeError:
        raise InputError(f"functions must be names, callables or (name, callable) pairs, not {functions!r}") from None
    if not items:
        raise InputError("functions is empty; give at least one name or callable")
    out = tuple(_one(item) for item in items)
    seen: set[str] = set()
    for function in out:
        if function.name in seen:
            raise InputError(f"functions holds {function.name!r} twice; give the other one a name of its own")
        seen.add(function.name)
    return out


def _is_pair(item: Any) -> bool:
    return isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str) and callable(item[1])


def _one(item: Any) -> Function:
    if isinstance(item, Function):
        return item
    if isinstance(item, str):
        return _named(item)
    if _is_pair(item):
        name, call = item
        return Function(name if _VARIABLE.search(name) else f"{name}(x)", call)
    if callable(item):
        name = getattr(item, "__name__", "<lambda>")
        if name.startswith("<"):
            raise InputError("a function without a name cannot be shown; give a pair, e.g. ('x^1.5', lambda x: ...)")
        return Function(f"{name}(x)", item)
    raise InputError(f"functions holds {item!r}; give names, callables or (name, callable) pairs")


def _named(name: str) -> Function:
    text = " ".join(name.split())
    text = _ALIASES.get(text, text)
    if text in _FORMULAS:
        return Function(text, _FORMULAS[text], ours=True)
    match = _POWER.fullmatch(text)
    if match:
        exponent = float(match[2])
        return Function(text, partial(_power if match[1] == "x" else _abs_power, exponent=exponent), ours=True)
    match = _SCALED.fullmatch(text)
    if match and match[1] in _OF_ONE:
        given = match[2] or ""
        factor = (float(given) if given.strip("-") else float(given + "1")) * (np.pi if match[3] else 1.0)
        inside = " ".join(part for part in (given, match[3], "x") if part).replace("- ", "-")
        scaled = partial(_scaled, factor=factor, call=_OF_ONE[match[1]])
        return Function(f"{match[1]}({inside})", scaled, ours=True)
    raise InputError(
        f"no function is named {name!r}; known are {', '.join(_FORMULAS)}, powers x^m and |x|^a, f(c x) and f(c pi x), "
        "and any callable"
    )
