"""For all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from oracles import ways

# A shell that starts the tests in the background has Ctrl-C ignored, and every process below it would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def relaxations_alone() -> Iterator[None]:
    """For tests about trees."""
    with ways.relaxations_alone():
        yield
