"""What the site promises, without building it: every page in a room, every public name in the reference, a gallery.

`make docs` builds it, with warnings as errors, and follows every link.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import parsifal as pf
from scripts.check_site import broken_links, stopped_examples

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples/gallery").glob("*.py"))
# Modules whose public names the reference has, besides those of parsifal itself.
MODULES = ("constraints", "datasets", "metrics", "plots", "design", "tabular")
TYPES = {"FloatArray", "IntArray"}


def in_toctrees() -> list[str]:
    """The pages that a toctree names."""
    found = []
    for page in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^:::\{toctree\}\n(.*?)^:::", text, re.MULTILINE | re.DOTALL)
        blocks += re.findall(r"^\.\. toctree::\n((?:[ ]+.*\n|\n)*)", text, re.MULTILINE)
        for line in "\n".join(blocks).splitlines():
            if line.strip() and not line.strip().startswith(":"):
                named = re.search(r"<(.*)>", line)
                found.append(named.group(1) if named else line.strip())
    return found


def in_reference() -> list[str]:
    """The names that the reference documents, relative to parsifal."""
    text = (DOCS / "reference.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. autosummary::\n((?:[ ]+.*\n|\n)*)", text, re.MULTILINE)
    lines = [line.strip() for line in "\n".join(blocks).splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def public(name: str) -> set[str]:
    module = importlib.import_module(f"parsifal.{name}")
    if hasattr(module, "__all__"):
        return set(module.__all__) - TYPES
    made_there = {key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    return {key for key in made_there if not key.startswith("_")}


def test_every_page_is_in_one_room() -> None:
    found = in_toctrees()
    pages = {page.stem for page in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]} - {"index", "sg_execution_times"}
    assert pages | {"gallery/index"} == set(found)
    assert len(found) == len(set(found))


def test_every_public_name_is_in_the_reference() -> None:
    found = in_reference()
    assert len(found) == len(set(found))
    assert {name for name in pf.__all__ if not inspect.ismodule(getattr(pf, name))} <= set(found)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_of_a_module_is_in_the_reference(module: str) -> None:
    found = {name.removeprefix(f"{module}.") for name in in_reference()}
    assert public(module)
    assert public(module) <= found


def test_what_the_reference_names_exists() -> None:
    for name in in_reference():
        module, _, attribute = f"parsifal.{name}".rpartition(".")
        assert getattr(importlib.import_module(module), attribute).__doc__, name


def test_modules_of_the_public_names_are_in_the_reference() -> None:
    assert {name for name in pf.__all__ if inspect.ismodule(getattr(pf, name))} <= set(MODULES)


def test_there_is_a_gallery() -> None:
    assert len(GALLERY) >= 10


@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_example_has_a_title_and_a_picture(example: Path) -> None:
    tree = ast.parse(example.read_text(encoding="utf-8"))
    title, rule, blank, *_ = (ast.get_docstring(tree) or "").splitlines()
    assert title
    assert rule == "=" * len(title)
    assert blank == ""
    assert "plt" in example.read_text(encoding="utf-8")


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><img src="c.png"><a href="https://x.org">y</a>')
    (tmp_path / "b.html").write_text(
        '<p id="here"><a href="#gone">x</a><a href="a.html">y</a><a href="a.html#no">z</a>'
    )
    assert broken_links(tmp_path) == ["a.html: c.png", "b.html: #gone", "b.html: a.html#no"]


def test_an_example_that_ran_into_a_limit_is_found(tmp_path: Path) -> None:
    (tmp_path / "gallery").mkdir()
    code = "<pre>pf.solve(X, y, k=3, time_limit=5)</pre>"
    for name, printed in (("plot_a", "optimal"), ("plot_b", "time_limit, gap 3 %")):
        text = f'{code}<div class="sphx-glr-script-out"><pre>status {printed}</pre></div>'
        (tmp_path / f"gallery/{name}.html").write_text(text, encoding="utf-8")
    assert stopped_examples(tmp_path) == ["gallery/plot_b.html: an example ran into its time limit"]
