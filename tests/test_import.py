"""What `import parsifal` loads, in an interpreter of its own, and how the package is laid out."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import parsifal

OPTIONAL = (
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "sklearn",
    "joblib",
    "pyscipopt",
    "highspy",
    "gurobipy",
    "dask",
    "distributed",
    "zarr",
    "h5py",
    "typer",
    "rich",
    "clarabel",
    "numba",
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    code = "import sys, parsifal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("library", OPTIONAL)
def test_import_loads_no_optional_library(loaded: set[str], library: str) -> None:
    assert library not in loaded


def test_everything_public_is_there() -> None:
    code = "import parsifal\nfor name in parsifal.__all__: getattr(parsifal, name)\nprint(parsifal.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip()


ROOT = Path(parsifal.__file__).parent


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing such a module would put it where the function is."""
    functions = [name for name in parsifal.__all__ if inspect.isfunction(getattr(parsifal, name))]
    assert [name for name in functions if importlib.util.find_spec(f"parsifal.{name}") is not None] == []


def test_few_modules_stand_outside_a_room() -> None:
    files = [path.stem for path in ROOT.glob("*.py") if not path.stem.startswith("__")]
    assert len(files) <= 12, files


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if not ast.get_docstring(_tree(path))]
    assert silent == []


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
