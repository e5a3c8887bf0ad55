"""Follow every link within the built site: files and headings. Links to other sites are left alone. And no example of
the gallery may have run into a time limit: what it shows would be another thing on another machine.

python scripts/check_site.py build/docs
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page can be linked at, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif value and (name == "href" or (name == "src" and tag != "iframe")):
                self.links.append(value)


def broken_links(site: Path) -> list[str]:
    """Links of the site's pages that lead nowhere, as ``page: link``."""
    # The theme's templates are among the static files.
    paths = [path.resolve() for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    broken = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else {parts.fragment}
            if not target.is_file() or unquote(parts.fragment) not in known:
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


def stopped_examples(site: Path) -> list[str]:
    """Pages of the gallery whose examples print that a time limit was reached."""
    found = []
    for path in sorted((site / "gallery").glob("plot_*.html")):
        printed = re.findall(r"sphx-glr-script-out.*?</pre>", path.read_text(encoding="utf-8"), re.DOTALL)
        if any("time_limit" in text for text in printed):
            found.append(f"{path.relative_to(site)}: an example ran into its time limit")
    return found


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1])) + stopped_examples(Path(sys.argv[1]))
    print("\n".join(found) or "every link within the site leads somewhere, every example ran to its end")
    sys.exit(bool(found))
