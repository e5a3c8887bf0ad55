"""The compiled search, saved and taken up again: a damaged state is refused before anything is read by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parsifal._core as core

P, K, GAMMA = 30, 6, 1.0


def search(state: dict[str, Any] | None, node_limit: float, certificate_limit: float = 1e6) -> dict[str, Any]:
    """Search for the best 6 of 30 columns; the result has the state at the end as "state"."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, P))
    y = X[:, :K].sum(axis=1) + 2 * rng.normal(size=25)
    zeros = np.zeros(P)
    saved: list[dict[str, Any]] = []
    size = 0.5 * float(y @ y)
    result = core.search(
        core.Quadratic(
            gram=np.asfortranarray(X.T @ X), v0=zeros, beta0=X.T @ y, ls0=size, gamma=GAMMA, penalty=0.0, k=K,
            rounding=core.Rounding(
                norm=np.linalg.norm(X, axis=0), unit=1e-14, error=1e-14, base=1e-14, drift=1e-14,
                reach=float(np.linalg.norm(y))
            ),
        ),
        fix=np.zeros(P, np.int8), w=zeros, diagonal=zeros, twin=[-1] * P, objective=size,
        options=core.SearchOptions(
            time_limit=60.0, node_limit=node_limit, branching=core.Branching.largest,
            certificate_limit=certificate_limit, completions=False,
        ),
        state=state, save=saved.append,
    )  # fmt: skip
    return {**result, "state": saved[-1]}


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, Any]:
    return search(None, np.inf)


def test_taken_up_again(undisturbed: dict[str, Any]) -> None:
    paused = search(None, 5.0)
    assert paused["stop"] == "node_limit"
    assert search(paused["state"], np.inf)["objective"] == pytest.approx(undisturbed["objective"], rel=1e-9)


def test_empty_arrays(undisturbed: dict[str, Any]) -> None:
    # Without a certificate there are no records; empty arrays once went to memcpy as null pointers.
    paused = search(None, 5.0, certificate_limit=0.0)["state"]
    assert paused["record_bound"].size == 0
    resumed = search(paused, np.inf, certificate_limit=0.0)
    assert resumed["objective"] == pytest.approx(undisturbed["objective"], rel=1e-9)
    # A search that has ended has no nodes either.
    ended = search(undisturbed["state"], np.inf)
    assert ended["objective"] == undisturbed["objective"]


@pytest.mark.parametrize("value", [None, "many", np.zeros(2)])
@pytest.mark.parametrize("name", ["objective", "pruned", "nodes_seen", "pseudo_total"])
def test_damaged_numbers(name: str, value: Any) -> None:
    state = search(None, 5.0)["state"]
    with pytest.raises(ValueError, match="the state of the search is damaged"):
        search({**state, name: value}, np.inf)
    del state[name]
    with pytest.raises(ValueError, match="the state of the search is damaged"):
        search(state, np.inf)


LEAST = np.iinfo(np.int64).min


@pytest.mark.parametrize("offsets", [[], [1], [0, LEAST], [0, 2, LEAST], [0, 2**62, -(2**62)]])
@pytest.mark.parametrize("name", ["proof_frame_columns", "node_index", "record_w"])
def test_damaged_offsets(name: str, offsets: list[int]) -> None:
    state = search(None, 5.0)["state"]
    before, values = state[name]
    # As many as there are items, so that only what they say is wrong.
    damaged = np.array((offsets + [int(before[-1])] * len(before))[: len(before)] if offsets else [], np.int64)
    with pytest.raises(ValueError, match="the state of the search is damaged"):
        search({**state, name: (damaged, values)}, np.inf)
