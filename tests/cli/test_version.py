"""`parsifal --version`, with and without --verbose."""

from __future__ import annotations

from typer.testing import CliRunner

import parsifal as pf
from parsifal.cli.app import app


def lines(*arguments: str) -> list[str]:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_version() -> None:
    assert lines("--version") == [f"parsifal {pf.__version__}"]


def test_verbose_names_the_core_and_the_extras() -> None:
    found = lines("--version", "--verbose")
    assert found[0] == f"parsifal {pf.__version__}"
    assert found[1].startswith("core: the only one of this build; compiled by ")
    assert found[1].endswith(" bits")
    assert any(line.startswith("extra cli: typer ") and "missing" not in line for line in found)
    assert not any(line.startswith("extra dev") for line in found)


def test_verbose_alone_is_refused() -> None:
    done = CliRunner().invoke(app, ["--verbose"])
    assert done.exit_code == 2
