"""The command as a process of its own: exit codes, signals, and what it loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

PARSIFAL = [sys.executable, "-m", "parsifal"]


def test_help_names_every_command_and_exit_code() -> None:
    done = subprocess.run([*PARSIFAL, "--help"], capture_output=True, text=True, check=True)
    for word in ("fit", "path", "cv", "predict", "check", "diagnose", "bench", "Exit codes", "130"):
        assert word in done.stdout


def test_the_shell_completes_commands() -> None:
    environment = os.environ | {"_PARSIFAL_COMPLETE": "complete_bash", "COMP_WORDS": "parsifal di", "COMP_CWORD": "1"}
    code = "import sys; sys.argv[0] = 'parsifal'\nfrom parsifal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["diagnose"]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom parsifal.cli.app import app\n"
        "assert CliRunner().invoke(app, ['fit', '--help']).exit_code == 0\n"
        "print([name for name in ('sklearn', 'pyarrow', 'matplotlib', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_fit_from_start_to_end(diabetes: Path) -> None:
    done = subprocess.run([*PARSIFAL, "fit", diabetes, "-t", "y", "-k", "4"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "error" not in done.stderr
    assert "Proven" in done.stdout
    done = subprocess.run([*PARSIFAL, "fit", "nothing.csv", "-t", "y"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_prints_the_best_so_far(hard: Path, number: signal.Signals) -> None:
    command = [*PARSIFAL, "fit", hard, "-t", "y", "-k", "15", "--gamma", "10", "--json", "--threads", "1"]
    process = subprocess.Popen(
        [*command, "--out", "m.json", "--report", "r.html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "gap" in line, line
        process.send_signal(number)
        out, _ = process.communicate()
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
    assert process.returncode == 130
    values = json.loads(out)
    assert values["result"]["status"] == "interrupted"
    assert 0 < values["result"]["gap"] < 1
    assert len(values["features"]) == 15
    assert json.loads(Path("m.json").read_text(encoding="utf-8"))["features"] == values["features"]
    assert "the search was interrupted" in Path("r.html").read_text(encoding="utf-8")


def test_ctrl_c_in_the_folds_leaves_a_model(hard: Path) -> None:
    command = [*PARSIFAL, "cv", hard, "-t", "y", "--ks", "5-20", "--gammas", "1,3,10,30,100", "--json", "-o", "m.json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()
    try:
        assert process.stderr is not None
        assert "fits" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert "interrupted: chosen from what was finished" in err
    values = json.loads(out)
    assert 5 <= len(values["features"]) <= 20
    assert values["result"]["cross_validation"]["chosen"]["k"] >= len(values["features"])
    assert json.loads(Path("m.json").read_text(encoding="utf-8"))["features"] == values["features"]


def test_without_its_libraries_it_says_how_to_get_them() -> None:
    code = "import sys; sys.modules['typer'] = None\nfrom parsifal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "The command line needs typer: pip install 'parsifal[cli]'\n"


def test_csv_without_pyarrow_says_how_to_get_it(diabetes: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None\nfrom parsifal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "fit", diabetes, "-t", "y"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: reading .csv files needs pyarrow: pip install 'parsifal[cli]'\n"
