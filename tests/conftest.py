"""For all tests."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from parsifal.solver import tree

# A shell that starts the tests in the background has Ctrl-C ignored, and every process below it would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def relaxations_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests about trees: going through completions closes most small problems at their root."""
    monkeypatch.setattr(tree, "_COMPLETIONS_ABOVE", np.inf)
