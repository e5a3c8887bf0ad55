"""The files, folders and modules that a page names are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))

# A path may start at the top of the repository, in the package or beside it, or in the compiled core.
STARTS = [ROOT, ROOT / "src", ROOT / "src/parsifal", ROOT / "cpp"]
# What commands write, and what is installed from elsewhere.
MADE = ("bench-results/", "build/", "dist/", ".peers/", "DIR/")
PLACES = "src|cpp|bindings|tests|oracles|benchmarks|stress|forge|fuzz|scripts|requirements|examples|docs"
FILE = r"(?:py|pyi|hpp|cpp|md|toml|txt|json|jsonl|npz|svg|png|html|sh|R|in|lock|supp)"
WITH_EXTENSION = re.compile(rf"(?<![\w./*-])\.?[\w*-]+(?:/[\w.*-]+)*/[\w.*-]+\.{FILE}(?!\w)")
SOURCE = re.compile(r"(?<![\w./*-])[\w*]+\.(?:py|hpp|cpp)(?!\w)")
FOLDER = re.compile(rf"^(?:{PLACES})/[\w./]*$")
MODULE = re.compile(r"python -m ((?:parsifal|benchmarks|stress|forge|fuzz)[\w.]*)")


def code(text: str) -> Iterator[str]:
    """What stands between backticks, and the lines of shell blocks."""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind == "sh":
            yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def exists(name: str) -> bool:
    return any(any(start.glob(name)) for start in STARTS)


def anywhere(name: str) -> bool:
    return any(any((ROOT / place).rglob(name)) for place in PLACES.split("|"))


def missing(text: str) -> list[str]:
    """What a page names that the repository does not have."""
    gone = []
    for words in code(text):
        paths = [name for name in WITH_EXTENSION.findall(words) if not name.startswith(MADE)]
        gone += [name for name in paths if not exists(name)]
        gone += [name for name in SOURCE.findall(words) if not anywhere(name)]
        if FOLDER.match(words) and not (ROOT / words).exists():
            gone.append(words)
        for module in MODULE.findall(words):
            place = module.rstrip(".").replace(".", "/")
            if not exists(f"{place}.py") and not exists(f"{place}/__main__.py"):
                gone.append(module)
    return list(dict.fromkeys(gone))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    assert missing((ROOT / page).read_text(encoding="utf-8")) == []


def test_what_is_gone_is_noticed() -> None:
    page = "See `solver/gone.py`, `gone.py`, `cpp/gone/`, `cpp/bound/gone.hpp` and `solver/root.py`.\n"
    page += "```sh\n.venv/bin/python -m benchmarks.gone\npytest tests/gone/test_x.py\n```\n"
    assert missing(page) == [
        "benchmarks.gone",
        "tests/gone/test_x.py",
        "solver/gone.py",
        "gone.py",
        "cpp/gone/",
        "cpp/bound/gone.hpp",
    ]


@pytest.mark.parametrize("page", PAGES)
def test_links_to_headings_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target, anchor in re.findall(r"\]\((?!\w+://)([^)#]*)#([^)]+)\)", path.read_text(encoding="utf-8")):
        there = (path.parent / target) if target else path
        headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, f"{page} links to {target}#{anchor}, which is not there"


def test_the_map_has_every_room() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = [room.parent.relative_to(ROOT / "src/parsifal") for room in (ROOT / "src/parsifal").glob("*/__init__.py")]
    rooms += [room.relative_to(ROOT) for room in (ROOT / "cpp").iterdir() if room.is_dir()]
    assert rooms
    assert [str(room) for room in rooms if f"`{room}/`" not in page] == []


def test_the_map_has_every_module() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src/parsifal"
    modules = [path.relative_to(package) for path in package.rglob("*.py") if path.name != "__init__.py"]
    modules = [path for path in modules if path.parent.name != "backends"]  # one line for all of them
    assert modules
    assert [str(path) for path in modules if f"`{path.as_posix()}`" not in page] == []
