"""Small problems stand for large ones here, and are solved as these are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from oracles import ways


@pytest.fixture(autouse=True)
def _trees() -> Iterator[None]:
    with ways.trees():
        yield
