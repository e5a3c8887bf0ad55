"""The page's structure: it parses, asks nothing of the network, describes its pictures, and says what the fit says."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from parsifal.errors import InputError
from parsifal.reporting.content import with_known
from parsifal.reporting.svg import Scale, labels, shorten, spread

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Outline(HTMLParser):
    """Checks that every element is closed in order, and keeps what the tests look at."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(params=["page", "open_page"])
def html(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param).read_text(encoding="utf-8")


@pytest.fixture
def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


def test_elements_are_closed_and_identifiers_unique(outline: Outline) -> None:
    assert outline.open == []
    names = [attributes["id"] for _, attributes in outline.attributes if "id" in attributes]
    assert len(names) == len(set(names))
    for _, attributes in outline.attributes:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in names


def test_nothing_comes_from_elsewhere(html: str, outline: Outline) -> None:
    for tag, attributes in outline.attributes:
        assert tag not in ("script", "link", "img", "iframe", "object", "embed")
        assert not {"src", "href", "srcset", "xlink:href", "action"} & set(attributes)
    assert not re.search(r"https?:|url\(|@import|//", html.replace("<!DOCTYPE html>", ""))
    assert len(html) < 200_000


def test_every_picture_has_a_title_and_a_description(html: str) -> None:
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(pictures) >= 4
    for picture in pictures:
        root = ET.fromstring(picture)
        assert root.attrib["role"] == "img"
        title, description = root.find("title"), root.find("desc")
        assert title is not None
        assert title.text
        assert description is not None
        assert len(description.text or "") > 40
        assert "nan" not in picture.lower().replace("tenant", "")
        for node in root.iter():
            for name in ("x", "y", "cx", "cy", "x1", "x2", "y1", "y2"):
                if name in node.attrib:
                    assert -1 <= float(node.attrib[name]) <= 700


def test_it_is_for_phones_paper_and_the_dark(html: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in html
    assert '<html lang="en">' in html
    for rule in ("@media print", "prefers-color-scheme: dark", "@media (max-width"):
        assert rule in html


def test_what_the_user_wrote_is_escaped(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert "<s3" not in html
    assert "&lt;s3 &amp; &quot;friends&quot;&gt;" in html
    assert "diabetes &lt;copy&gt;.csv" in html


def test_a_proven_model(page: Path, data: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = data
    html = page.read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert "Proven." in text
    assert "The certificate was checked independently when this page was written: valid" in text
    for heading in ("The model", "Models of every size", "Cross-validation", "How unique is the choice?", "The proof"):
        assert heading in text
    model = pf.SparseRegressorCV(ks=range(1, 7), gammas=[0.05, 0.5], cv=4).fit(X, y)
    for name in model.get_feature_names_out()[:2]:
        assert name in text
    assert f"{model.score(X, y):.1%}" in text
    assert "SparseRegressorCV(" in text


def test_a_model_that_is_not_proven(open_page: Path) -> None:
    text = open_page.read_text(encoding="utf-8")
    assert "Not proven:" in text
    assert "the node limit was reached" in text
    assert 'class="verdict open"' in text
    assert 'class="hollow' in text
    assert "<pre>SparseRegressor(gamma=10.0, k=12, node_limit=30)</pre>" in text


def test_a_broken_certificate_is_said_first(data: tuple[pd.DataFrame, pd.Series], tmp_path: Path) -> None:
    X, y = data
    model = pf.SparseRegressor(k=3).fit(X, y)
    other = y.to_numpy() + np.random.default_rng(0).standard_normal(y.size)
    pf.report(model, X, other, tmp_path / "r.html", time_limit=0)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The certificate does not hold:" in html
    assert 'class="verdict bad"' in html


def test_the_model_takes_its_place_in_a_path_that_had_less_time(data: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = data
    model = pf.SparseRegressor(k=3).fit(X, y)
    training = model._training(X, y, None)
    whole = pf.path(training.design, training.y, range(1, 5), model.gamma_)
    worse = replace(whole[2], lower_bound=0.5 * whole[2].lower_bound, status="time_limit")
    doubtful = replace(whole, solutions=(*whole[:2], worse, *whole[3:]), rss=whole.rss * [1, 1, 9, 1])
    mended = with_known(doubtful, model.solution_, training)
    assert [s.status for s in mended] == ["optimal"] * 4
    np.testing.assert_allclose(mended.rss, whole.rss)
    np.testing.assert_allclose(mended.df, whole.df)


def test_a_model_without_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = pf.SparseRegressor(penalty=1e3).fit(X, y)
    content = pf.report(model, X, y, tmp_path / "r.html", time_limit=1)
    assert len(content.rows) == 0
    assert "No feature was chosen" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_model_that_is_not_fitted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not fitted"):
        pf.report(pf.SparseRegressor(), np.eye(3), np.ones(3), tmp_path / "r.html")


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (653400.0, 654400.0), (-3e-9, 5e-9), (12.0, 12.5), (1.0, 3e8)])
def test_ticks_are_inside_and_labels_differ(low: float, high: float) -> None:
    ticks = Scale(low=low, high=high, start=0, stop=100).ticks(6)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in ticks)
    text = labels(ticks)
    assert len(set(text)) == len(text)
    assert [float(label) for label in text] == pytest.approx(ticks, rel=1e-3, abs=1e-3 * (high - low))


def test_labels_move_apart_and_stay_inside() -> None:
    places = spread([50.0, 51.0, 49.0, 98.0, 99.0], 10.0, 0.0, 100.0)
    assert [sorted(places).index(place) for place in places] == [1, 2, 0, 3, 4]
    gaps = np.diff(sorted(places))
    assert gaps.min() >= 10 - 1e-9
    assert max(places) <= 100
    assert shorten("a_very_long_feature_name", 11) == "a_ver…_name"
