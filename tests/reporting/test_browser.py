"""The report in a real Chromium; `make test-browser` installs what it takes and runs this file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("PARSIFAL_BROWSER", "")

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="run by make test-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Any, file: Path, width: int, scheme: str = "light") -> Any:
    """A tab with the page; requests to anything but the file, and errors, are kept on it."""
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    tab = context.new_page()
    tab.asked, tab.errors = [], []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("console", lambda message: tab.errors.append(message.text))
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(file.as_uri())
    return tab


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("name", ["page", "open_page"])
def test_it_fits_every_width(browser: Any, request: pytest.FixtureRequest, name: str, width: int) -> None:
    file = request.getfixturevalue(name)
    tab = opened(browser, file, width)
    assert tab.asked == [file.as_uri()]
    assert tab.errors == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    # Text of the pictures stays readable: its height on the screen, in pixels.
    heights = tab.evaluate("[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)")
    assert min(heights) >= 7
    keep(tab, f"{name}-{width}")


@pytest.mark.parametrize("name", ["page", "open_page"])
def test_text_of_pictures_is_inside_them_and_apart(browser: Any, request: pytest.FixtureRequest, name: str) -> None:
    tab = opened(browser, request.getfixturevalue(name), 1280)
    boxes = tab.evaluate(
        """[...document.querySelectorAll('svg')].map(svg => {
            const frame = svg.getBoundingClientRect();
            return {frame: [frame.left, frame.top, frame.right, frame.bottom],
                    texts: [...svg.querySelectorAll('text')].map(t => {
                        const b = t.getBoundingClientRect();
                        return [b.left, b.top, b.right, b.bottom, t.textContent]; })}; })"""
    )
    assert boxes
    for picture in boxes:
        left, top, right, bottom = picture["frame"]
        for x0, y0, x1, y1, words in picture["texts"]:
            assert x0 >= left - 2 and x1 <= right + 2, f"{words!r} leaves its picture"  # noqa: PT018
            assert y0 >= top - 2 and y1 <= bottom + 2, f"{words!r} leaves its picture"  # noqa: PT018
        texts = picture["texts"]
        for i, a in enumerate(texts):
            for b in texts[i + 1 :]:
                wide = min(a[2], b[2]) - max(a[0], b[0])
                high = min(a[3], b[3]) - max(a[1], b[1])
                assert wide < 3 or high < 6, f"{a[4]!r} lies on {b[4]!r}"


def test_pictures_are_described_to_those_who_cannot_see_them(browser: Any, page: Path) -> None:
    tab = opened(browser, page, 1280)
    pictures = tab.get_by_role("img").all()
    assert len(pictures) == tab.evaluate("document.querySelectorAll('svg').length") >= 6
    assert tab.get_by_role("img", name="Objective and lower bound over time").count() == 1
    assert tab.get_by_role("heading", level=1).inner_text().startswith("The best")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(browser: Any, page: Path, scheme: str) -> None:
    tab = opened(browser, page, 1280, scheme)
    ratios = tab.evaluate(
        """() => {
            const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(
                x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
                return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
            const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255,255,255)'; };
            return [...document.querySelectorAll('p, td, th, dt, dd, h1, h2, caption, figcaption, svg text')].map(e => {
                const style = getComputedStyle(e);
                const a = light(e.closest('svg') ? style.fill : style.color), b = light(ground(e));
                return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent]; }); }"""
    )
    for ratio, words in ratios:
        assert ratio >= 4.5, f"{words!r} has a contrast of {ratio:.2f}"
    keep(tab, f"page-{scheme}")


def test_it_prints(browser: Any, page: Path) -> None:
    tab = opened(browser, page, 1280, "dark")
    pdf = tab.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 1 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 8
    # Dark screens print black on white.
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def keep(tab: Any, name: str) -> None:
    """Keep a picture of the page where PARSIFAL_SCREENSHOTS says, for people to look at."""
    folder = os.environ.get("PARSIFAL_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
