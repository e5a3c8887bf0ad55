"""Plots: each returns the Axes it drew on, with the data that it says it shows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from oracles.reference import make_data

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


NAMES = list("abcdefg")


@pytest.fixture(scope="module")
def data() -> tuple[Any, np.ndarray]:
    X, y = make_data(0, noise=3.0)
    return pd.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def a_path(data: Any) -> pf.Path:
    return pf.path(*data, range(1, 7), 1.0, fit_intercept=False)


@pytest.fixture(scope="module")
def model(data: Any) -> pf.SparseRegressorCV:
    return pf.SparseRegressorCV(ks=(1, 2, 3, 5), gammas=(0.01, 0.2, 5.0), cv=4).fit(*data)


@pytest.fixture(scope="module")
def history() -> pf.History:
    rng = np.random.default_rng(0)
    kept = pf.History()
    pf.solve(rng.standard_normal((40, 24)), rng.standard_normal(40), k=5, gamma=1.0, progress=kept)
    return kept


@pytest.fixture(scope="module")
def best(data: Any) -> pf.Ranking:
    return pf.k_best(*data, 3, 1.0, count=5)


@pytest.fixture
def draw(request: Any, a_path: Any, model: Any, history: Any, best: Any) -> Callable[..., Axes]:
    given = {
        "coefficients": a_path,
        "criteria": a_path,
        "cv_curve": model,
        "bounds": history,
        "support_agreement": model,
        "ranking": best,
    }[request.param]
    return lambda **options: getattr(pf.plots, request.param)(given, **options)


ALL = ("coefficients", "criteria", "cv_curve", "bounds", "support_agreement", "ranking")


@pytest.mark.parametrize("draw", ALL, indirect=True)
def test_returns_axes_and_labels_them(draw: Callable[..., Axes]) -> None:
    ax = draw()
    assert isinstance(ax, Axes)
    assert len(plt.get_fignums()) == 1
    assert ax.get_title()
    assert ax.get_xlabel()
    assert ax.has_data()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("draw", ALL, indirect=True)
def test_draws_where_it_is_told(draw: Callable[..., Axes]) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert draw(ax=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert plt.get_fignums() == [figure.number]


def lines(ax: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        (np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float))
        for line in ax.get_lines()
    ]


def texts(ax: Axes) -> str:
    found = [t.get_text() for t in ax.texts] + [t.get_text() for t in ax.get_xticklabels() + ax.get_yticklabels()]
    legend = ax.get_legend()
    return "\n".join(found + ([t.get_text() for t in legend.get_texts()] if legend else []))


def test_coefficients(a_path: pf.Path) -> None:
    ax = pf.plots.coefficients(a_path)
    drawn = lines(ax)
    for j in np.flatnonzero(np.any(a_path.coefs, axis=0)):
        wanted = dict(zip(a_path.ks, a_path.coefs[:, j]))
        hits = [
            (x, y)
            for x, y in drawn
            if all(np.isnan(v) or v == pytest.approx(wanted.get(int(k), 0.0), abs=1e-12) for k, v in zip(x, y))
            and {k for k, v in wanted.items() if v} <= {int(k) for k, v in zip(x, y) if not np.isnan(v)}
        ]
        assert hits, f"no line for column {j}"
    assert {NAMES[j] for j in a_path[-1].support} <= set(texts(ax).split("\n"))
    assert ax.get_xlabel() == "number of features k"
    few = texts(pf.plots.coefficients(a_path, names=2)).split("\n")
    top = np.argsort(-np.abs(a_path.coefs[-1]))[:2]
    assert {name for name in NAMES if name in few} == {NAMES[j] for j in top}
    assert not [name for name in NAMES if name in texts(pf.plots.coefficients(a_path, names=0)).split("\n")]


def test_criteria(a_path: pf.Path) -> None:
    ax = pf.plots.criteria(a_path)
    for name in ("aic", "bic", "ebic"):
        assert any(len(y) == 6 and np.allclose(y, getattr(a_path, name)) for _, y in lines(ax))
        assert name in texts(ax).lower()
    only = pf.plots.criteria(a_path, ["bic"])
    assert not any(len(y) == 6 and np.allclose(y, a_path.aic) for _, y in lines(only))
    with pytest.raises(ValueError, match=r"criteri|which|cp"):
        pf.plots.criteria(a_path, ["cp"])  # type: ignore[list-item]


def test_cv_curve(model: pf.SparseRegressorCV) -> None:
    ax = pf.plots.cv_curve(model)
    g, i = model.best_index_
    mean, error = model.mse_path_[g].mean(axis=1), model.mse_path_[g].std(axis=1, ddof=1) / 2
    assert any(len(y) == 4 and np.allclose(y, mean) for _, y in lines(ax))
    bars = np.concatenate([np.array(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments")])
    heights = sorted((segment[0, 0], abs(segment[1, 1] - segment[0, 1])) for segment in bars)
    np.testing.assert_allclose([k for k, _ in heights], model.ks_)
    np.testing.assert_allclose([h for _, h in heights], 2 * error)
    assert any(len(x) and np.allclose(x, model.ks_[i]) for x, _ in lines(ax))
    others = [m.mean(axis=1) for h, m in enumerate(model.mse_path_) if h != g]
    assert all(any(len(y) == 4 and np.allclose(y, other) for _, y in lines(ax)) for other in others)
    single = pf.plots.cv_curve(model, all_gammas=False)
    assert not any(len(y) == 4 and np.allclose(y, others[0]) for _, y in lines(single))


def test_bounds(history: pf.History) -> None:
    ax = pf.plots.bounds(history)
    low, high = history[-1].lower_bound, history[-1].objective
    ends = [y[-1] for _, y in lines(ax) if len(y) > 1]
    assert any(np.isclose(e, low) for e in ends)
    assert any(np.isclose(e, high) for e in ends)
    assert ax.get_xlabel() == "seconds"
    one = pf.Progress(objective=2.0, lower_bound=1.0, nodes=1, open_nodes=1, seconds=0.1, reads=1.0)
    assert isinstance(pf.plots.bounds(iter([one, one])), Axes)
    assert isinstance(pf.plots.bounds([one]), Axes)
    with pytest.raises(ValueError, match=r"(?i)history|progress|snapshot"):
        pf.plots.bounds(pf.History())
    with pytest.raises(ValueError, match=r"(?i)history|progress|snapshot"):
        pf.plots.bounds([])


def test_bounds_that_are_not_finite_yet() -> None:
    early = pf.Progress(objective=np.inf, lower_bound=-np.inf, nodes=0, open_nodes=1, seconds=0.0, reads=0.0)
    late = pf.Progress(objective=2.0, lower_bound=1.0, nodes=1, open_nodes=1, seconds=0.1, reads=1.0)
    pf.plots.bounds([early, late]).figure.canvas.draw()


def test_support_agreement(model: pf.SparseRegressorCV) -> None:
    ax = pf.plots.support_agreement(model)
    g, i = model.best_index_
    chosen = {int(j) for s in model.support_path_[g][i] for j in s} | {int(j) for j in model.support_}
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert sorted(label.split()[0] for label in labels) == sorted(NAMES[j] for j in chosen)
    for label in labels:
        votes = sum(NAMES[j] == label.split()[0] for s in model.support_path_[g][i] for j in s)
        assert f"{votes}/4" in label
    marks = sum(len(s) for s in model.support_path_[g][i]) + len(model.support_)
    assert len(ax.patches) == marks
    assert len(pf.plots.support_agreement(model, most=1).get_yticklabels()) == 1


def test_ranking(best: pf.Ranking) -> None:
    ax = pf.plots.ranking(best)
    worse = np.array([e.objective / best[0].objective - 1 for e in best])
    widths = np.array([p.get_width() for p in ax.patches]), np.array([p.get_height() for p in ax.patches])
    drawn = [np.sort(w) for w in widths] + [np.sort(y) for _, y in lines(ax)] + [np.sort(x) for x, _ in lines(ax)]
    assert any(len(d) == 5 and np.allclose(d, unit * worse) for d in drawn for unit in (1, 100))


def test_without_names_and_with_one_entry() -> None:
    X, y = make_data(0)
    path = pf.path(X, y, [2], 1.0, fit_intercept=False)
    assert {"x0", "x1"} <= set(texts(pf.plots.coefficients(path)).split("\n"))
    pf.plots.criteria(path).figure.canvas.draw()
    pf.plots.ranking(pf.k_best(X, y, 7, 1.0)).figure.canvas.draw()
    pf.plots.ranking(pf.k_best(X, 0 * y, 3, 1.0)).figure.canvas.draw()
    split = [(np.arange(30), np.arange(30, 40))]
    pf.plots.cv_curve(pf.SparseRegressorCV(ks=[1, 2], gammas=1.0, cv=split, one_se=True).fit(X, y)).figure.canvas.draw()
    nothing = pf.SparseRegressorCV(ks=[1, 2], gammas=1.0, cv=2, penalty=1e9).fit(X, y)
    pf.plots.support_agreement(nothing).figure.canvas.draw()
    pf.plots.cv_curve(nothing).figure.canvas.draw()
    cv = pf.SparseRegressorCV(ks=[2], gammas=1.0, cv=2).fit(X, y)
    pf.plots.cv_curve(cv).figure.canvas.draw()
    assert "x" in texts(pf.plots.support_agreement(cv))


def test_names_with_dollar_signs() -> None:
    X, y = make_data(0)
    frame = pd.DataFrame(X, columns=[f"$_{{{j} \\frac" + "$" * (j % 2) for j in range(7)])
    pf.plots.coefficients(pf.path(frame, y, [1, 2, 3], 1.0, fit_intercept=False)).figure.canvas.draw()
    cv = pf.SparseRegressorCV(ks=[2], gammas=1.0, cv=2).fit(frame, y)
    pf.plots.support_agreement(cv).figure.canvas.draw()
    pf.plots.ranking(pf.k_best(frame, y, 2, 1.0)).figure.canvas.draw()


def test_other_things_are_refused() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        pf.plots.cv_curve(pf.SparseRegressorCV())
    with pytest.raises(NotFittedError):
        pf.plots.support_agreement(pf.SparseRegressorCV())


def test_without_matplotlib_says_what_to_install() -> None:
    script = """
import sys
sys.modules["matplotlib"] = None
import numpy as np, parsifal as pf
rng = np.random.default_rng(0)
path = pf.path(rng.standard_normal((9, 3)), rng.standard_normal(9), [1, 2], 1.0)
try:
    pf.plots.coefficients(path)
except pf.ParsifalError as error:
    assert "parsifal[plot]" in str(error), error
    assert "matplotlib" in str(error), error
    print("said")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "said\n", done.stderr


def test_importing_plots_is_light_and_opens_nothing() -> None:
    script = "import sys, parsifal as pf; pf.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
