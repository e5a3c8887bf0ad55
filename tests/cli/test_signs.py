"""--positive and --sign."""

from __future__ import annotations

from pathlib import Path


def test_positive(json_of, diabetes: Path) -> None:
    values = json_of("fit", diabetes, "-t", "y", "-k", 5, "--positive", "--certificate", "proof.npz")
    assert all(row["coefficient"] >= 0 for row in values["features"])
    assert json_of("check", "proof.npz", diabetes)["valid"]


def test_the_claim_says_it(run, diabetes: Path) -> None:
    run("fit", diabetes, "-t", "y", "-k", 3, "--sign", "bmi=-,s5=+", "--certificate", "proof.npz", "--quiet")
    shown = run("fit", diabetes, "-t", "y", "-k", 3, "--positive").output
    assert "with coefficients >= 0, has a smaller objective" in " ".join(shown.split())
    said = run("check", "proof.npz", diabetes).output
    assert "coefficients >= 0" in said
    assert "coefficients <= 0" in said


def test_signs_by_name_in_every_command(json_of, diabetes: Path) -> None:
    for command in (("fit", "-k", 4), ("path", "--ks", "4"), ("cv", "--ks", "4", "--gammas", "0.1", "--folds", 2)):
        values = json_of(command[0], diabetes, "-t", "y", *command[1:], "--sign", "bmi=-", "--sign", "sex=+")
        coefficient = {row["name"]: row["coefficient"] for row in values["features"]}
        assert coefficient.get("bmi", 0.0) <= 0
        assert coefficient.get("sex", 0.0) >= 0


def test_not_both(run, diabetes: Path) -> None:
    result = run("fit", diabetes, "-t", "y", "-k", 3, "--positive", "--sign", "bmi=+", code=2)
    assert "give --positive or --sign, not both" in result.output
