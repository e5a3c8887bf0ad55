"""What `import parsifal` loads, in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
