"""Every example runs, and shows what it says it shows."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "equation_discovery.py": "5 of 5 terms found, 0 false; optimal",
    "kernels.py": "the best 3 of 120 kernels: linear(x1), rbf(x0; gamma=0.5), rbf(x2, x3; gamma=0.5)\noptimal",
    "breast_cancer.py": "parsifal, optimal",
    "diabetes_interactions.py": "k = 7: R² 0.534, optimal",
}


@pytest.mark.parametrize("name", SHOWN)
def test_example_runs(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLES / name)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert SHOWN[name] in capsys.readouterr().out


def test_heuristics_miss_the_optimum_by_more_than_half() -> None:
    sol, rivals, names = runpy.run_path(str(EXAMPLES / "breast_cancer.py"))["compare"]()
    assert sol.status == "optimal"
    assert len(names) == 464
    assert set(rivals) == {"orthogonal matching pursuit", "lasso"}
    assert all(objective > 1.5 * sol.objective for objective in rivals.values())


def test_the_papers_nonlinear_model_is_found() -> None:
    module = runpy.run_path(str(EXAMPLES / "equation_discovery.py"))
    for seed in range(5):
        _, found, sol = module["discover"](*module["paper_data"](200, seed=seed), 5)
        assert found == set(module["TERMS"])
        assert sol.status == "optimal"
