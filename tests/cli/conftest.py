"""Tables in files, and a way to run commands."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner, Result

from parsifal.cli.app import app

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run() -> Run:
    runner = CliRunner()

    def invoke(*arguments: object, code: int = 0) -> Result:
        result = runner.invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, f"{result.exit_code}: {result.output}\n{result.exception!r}"
        return result

    return invoke


@pytest.fixture
def refused(run: Run) -> Callable[..., str]:
    """Run a command that must fail with one sentence on standard error and nothing on standard output."""

    def invoke(*arguments: object) -> str:
        result = run(*arguments, code=2)
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        (line,) = result.stderr.strip().splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")

    return invoke


@pytest.fixture
def json_of(run: Run) -> Callable[..., dict[str, Any]]:
    def invoke(*arguments: object, code: int = 0) -> dict[str, Any]:
        values = json.loads(run(*arguments, "--json", code=code).stdout)
        assert isinstance(values, dict)
        return values

    return invoke


@pytest.fixture(scope="session")
def diabetes_frame() -> pd.DataFrame:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X.assign(y=y)


@pytest.fixture
def diabetes(diabetes_frame: pd.DataFrame, here: Path) -> Path:
    diabetes_frame.to_csv(here / "diabetes.csv", index=False)
    return Path("diabetes.csv")


@pytest.fixture
def hitters(here: Path) -> Path:
    """Baseball salaries with categories and missing values; the package is found, not imported."""
    spec = importlib.util.find_spec("ISLP")
    assert spec is not None, "the data come with ISLP: pip install --no-deps ISLP"
    assert spec.submodule_search_locations is not None
    (file,) = Path(spec.submodule_search_locations[0]).rglob("Hitters.csv")
    (here / "hitters.csv").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    return Path("hitters.csv")


@pytest.fixture
def hard(here: Path) -> Path:
    """Pure noise, which no solver proves anything about in seconds."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((80, 301))
    names = ",".join([*(f"v{j}" for j in range(300)), "y"])
    np.savetxt(here / "hard.csv", table, delimiter=",", header=names, comments="")
    return Path("hard.csv")
