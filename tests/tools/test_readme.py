"""What the documentation shows is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))


def blocks() -> list[object]:
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[: match.start(1)].count("\n")
            # Line numbers of an error are those of the page.
            found.append(pytest.param(page, "\n" * line + match.group(1), id=f"{page}:{line + 1}"))
    return found


@pytest.mark.parametrize(("page", "code"), blocks())
def test_python_block_runs(page: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(ROOT / page), "exec"), {"__name__": "__main__"})


def test_there_are_blocks_to_run() -> None:
    assert len(blocks()) >= 4


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\((?!\w+://|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{page} links to {target}, which is not there"


def test_make_targets_that_are_named_exist() -> None:
    rules = re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    targets = {name for rule in rules for name in rule.split()}
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make ([\w-]+)", text, re.MULTILINE))
        assert named <= targets, f"{page} names make targets that are not there: {named - targets}"
