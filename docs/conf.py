"""The documentation site: `make docs` builds it in build/docs, and a warning is an error."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sphinx.util.inspect import stringify_signature

import parsifal

ROOT = Path(__file__).parents[1]

project = "Parsifal"
author = "The Parsifal developers"
version = release = parsifal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/backreferences", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True
# Names of types in signatures belong to NumPy, scikit-learn or the inside of the package.
nitpick_ignore_regex = [("py:class", ".*")]
default_role = "code"
highlight_language = "text"

# Pages are written for GitHub too: links to headings are GitHub's.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
maximum_signature_line_length = 80
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("parsifal",),
    "backreferences_dir": "generated/backreferences",
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    # A picture shows what the package does now: an example is run again though its own file has not changed.
    "run_stale_examples": True,
}

copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "Parsifal"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# A page without sections of its own has nothing to show there.
html_sidebars = {"tutorial": [], "changelog": []}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Parsifal"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _insert_pages_of_the_root(app: Any, docname: str, source: list[str]) -> None:
    """Put CONTRIBUTING.md and CHANGELOG.md, which GitHub wants at the top, into the pages that name them."""
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        mark = f"% {name} is inserted here.\n"
        if mark in source[0]:
            text = (ROOT / name).read_text(encoding="utf-8").partition("\n")[2]
            for old, new in (
                ("(docs/", "("),
                ("(CONTRIBUTING.md", "(contributing.md"),
                ("(CHANGELOG.md", "(changelog.md"),
            ):
                text = text.replace(old, new)
            source[0] = source[0].replace(mark, text)


def _parameters_of_estimators(app: Any, what: str, name: str, thing: Any, options: Any, *_: str) -> Any:
    """An estimator's parameters are those of its `__init__`; Sphinx would show its `__new__`, which takes anything."""
    if what != "class" or not issubclass(thing, BaseEstimator):
        return None
    return stringify_signature(inspect.signature(thing), show_annotation=False, show_return_annotation=False), None


def setup(app: Any) -> None:
    app.connect("source-read", _insert_pages_of_the_root)
    app.connect("autodoc-process-signature", _parameters_of_estimators)
