"""The commands of docs/command-line.md are run, in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_commands_of_the_page_run(run, diabetes: Path, hitters: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("parsifal ")]
    assert len(commands) >= 8
    results = {command: run(*shlex.split(command)[1:]) for command in commands}
    outputs = {command: result.stdout for command, result in results.items()}
    # What the page shows is what is printed, but for the time that it took and line breaks.
    shown = next(block for kind, block in blocks if kind == "" and "Proven" in block)
    printed = next(output for command, output in outputs.items() if command.startswith("parsifal fit diabetes.csv"))
    table, sentence = shown.split("Proven:")
    there = {line.rstrip() for line in printed.splitlines()}
    assert all(line.rstrip() in there for line in table.strip().splitlines())
    assert " ".join(sentence.split()).partition("objective 665817")[0] in printed
    remarks = next(block for kind, block in blocks if kind == "" and block.startswith("as indicators"))
    command = next(command for command in commands if "hitters" in command)
    assert results[command].stderr == remarks
    refusal = next(block for kind, block in blocks if kind == "" and "--strict" in block)
    assert run("fit", "hitters.csv", "--target", "Salary", "--k", 6, "--strict", code=2).stderr == refusal
    run(*shlex.split(refusal.splitlines()[-1].partition("parsifal ")[2]))
    valid = next(output for command, output in outputs.items() if command.startswith("parsifal check"))
    assert valid.startswith("valid: objective 665817.4995")
    assert valid.splitlines()[-1] in text
