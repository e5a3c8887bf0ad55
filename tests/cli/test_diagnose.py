"""`parsifal diagnose`."""

from __future__ import annotations

from pathlib import Path


def test_diagnose_of_an_easy_table(run, json_of, diabetes: Path) -> None:
    text = run("diagnose", diabetes, "-t", "y", "--time-limit", 5).stdout
    for words in ("n0 = ", "n1 = ", "gap at the root", "proven", "With n = 442 beyond n1"):
        assert words in text
    values = json_of("diagnose", diabetes, "-t", "y", "--ks", "2,4", "--k", 4, "--time-limit", 5)
    assert [size["k"] for size in values["sizes"]] == [2, 4]
    assert all(size["solved"] for size in values["sizes"])
    assert 0 < values["n0"] < values["n1"] < 442


def test_diagnose_of_noise_says_so(json_of, hard: Path) -> None:
    values = json_of("diagnose", hard, "-t", "y", "--gamma", 10, "--ks", 12, "--k", 8, "--time-limit", 3)
    assert values["snr"] == 0
    assert values["n0"] is None
    assert values["verdict"].startswith("No signal stands out")
    assert values["sizes"][0]["solved"] is False
    assert values["sizes"][0]["root_gap"] > 0
