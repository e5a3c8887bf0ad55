"""What a notebook shows of results, and which names there are."""

from __future__ import annotations

import numpy as np
import pytest

import parsifal as pf

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 300))
y = X[:, :4].sum(axis=1) + rng.standard_normal(60)


@pytest.fixture(scope="module")
def solution() -> pf.Solution:
    return pf.solve(X, y, k=4, gamma=0.2)


@pytest.fixture(scope="module")
def shown(solution: pf.Solution) -> dict[str, object]:
    return {
        "Solution": solution,
        "Certificate": solution.certificate,
        "Path": pf.path(X, y, (1, 2, 3), 0.2),
        "Ranking": pf.k_best(X, y, 2, 0.2, count=3),
    }


@pytest.mark.parametrize("name", ["Solution", "Certificate", "Path", "Ranking"])
def test_short_and_as_html(shown: dict[str, object], name: str) -> None:
    it = shown[name]
    assert len(repr(it)) < 300
    assert "\n" not in repr(it)
    assert name in repr(it)
    html = it._repr_html_()  # type: ignore[attr-defined]
    assert html.startswith("<div>")
    assert html.count("<tr>") == html.count("</tr>")
    assert len(html) < 5000


def test_results_with_long_arrays_are_short_too() -> None:
    groups = pf.solve_groups(X[:, :12], y, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], k=2)
    kernels = pf.solve_kernels([X[:, :3] @ X[:, :3].T, X[:, 3:6] @ X[:, 3:6].T], y, k=1)
    for it in (groups, kernels, groups.certificate, kernels.certificate):
        assert len(repr(it)) < 200
        assert type(it).__name__ in repr(it)
        assert it._repr_html_().startswith(f"<div><b>{type(it).__name__}</b>")  # type: ignore[union-attr]
    assert "2 groups" in repr(groups)
    assert "1 kernels [" in repr(kernels)
    assert "groups <b>2 of 4</b>" in groups.certificate._repr_html_()  # type: ignore[union-attr]
    assert len(repr(pf.relax(X, y, k=3))) < 200
    assert repr(pf.as_design(X)) == "<DenseDesign of 60 rows, 300 columns>"


def test_names_are_escaped() -> None:
    import pandas as pd

    frame = pd.DataFrame(X[:, :4], columns=[f"<b>{j}" for j in range(4)])
    for it in (pf.solve(frame, y, k=2, gamma=1.0), pf.path(frame, y, (1, 2), 1.0), pf.k_best(frame, y, 2, 1.0, 3)):
        assert "<b>0" not in it._repr_html_()


def test_dir_has_public_names_only() -> None:
    names = [name for name in dir(pf) if not name.startswith("__")]
    assert names == sorted(pf.__all__)
