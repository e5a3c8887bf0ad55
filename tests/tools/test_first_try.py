"""The script that counts tables which fit at first try (scripts/first_try.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import first_try
from scripts.first_try import attempt, target_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [f"p{i},{'uv'[i % 2]},{rng.normal():.3f},{rng.normal():.3f}" for i in range(40)]
    (tmp_path / "good.csv").write_text("\n".join(["name,g,a,y", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "names.csv").write_text("name,y\na,1\nb,2\nc,4\nd,3\n", encoding="utf-8")
    (tmp_path / "words.csv").write_text("a,b\nu,v\nw,x\n", encoding="utf-8")
    (tmp_path / "notes.pdf").write_text("no table", encoding="utf-8")
    return tmp_path


def test_the_target_is_the_last_number(folder: Path) -> None:
    assert target_of(folder / "good.csv") == "y"
    assert target_of(folder / "words.csv") is None


def test_the_steps_of_one_table(folder: Path) -> None:
    assert [step for step, well, _ in attempt(folder / "good.csv", 10.0) if well] == [
        "fit",
        "proven",
        "check",
        "predict",
    ]
    ((step, well, words),) = attempt(folder / "names.csv", 10.0)
    assert (step, well) == ("fit", False)
    assert "no columns left to choose from: name" in words


def test_the_share_is_printed_and_held(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*options: str) -> int:
        monkeypatch.setattr(sys, "argv", ["first_try.py", str(folder), *options])
        return first_try.main()

    assert run() == 1
    said = capsys.readouterr().out
    assert "fit: 1 of 2 (50.0%)" in said
    assert "nothing to explain: 1 of 1" in said
    assert run("--least", "0.5") == 0


def test_a_run_that_is_stopped_has_a_share(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = iter([[("fit", True, "")], [("fit", False, "no")]])

    def attempts(path: Path, time_limit: float) -> list[tuple[str, bool, str]]:
        found = next(calls, None)
        if found is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(first_try, "attempt", attempts)
    monkeypatch.setattr(sys, "argv", ["first_try.py", str(folder)])
    assert first_try.main() == 1
    words = capsys.readouterr().out
    assert "stopped at" in words
    assert "fit: 1 of 2 (50.0%)" in words
