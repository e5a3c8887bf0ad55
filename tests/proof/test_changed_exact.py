"""Certificates that were changed or made to deceive, shown to the exact check: the tests of the ordinary one again."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import parsifal as pf
from parsifal.proof.certificate import Certificate
from proof import test_changed, test_forged, test_mutations

# Collected here a second time, under the fixture below.
from proof.test_changed import *  # noqa: F403
from proof.test_forged import *  # noqa: F403
from proof.test_mutations import *  # noqa: F403

del test_raised_diagonal  # noqa: F821  where a ridge is taken away each check has its own way; see test_exact.py


def refuse_exactly(certificate: Certificate, X: Any, y: Any, *_: str) -> None:
    result = pf.check(certificate, X, y, exact=True)
    assert not result.valid
    assert result.reason


@pytest.fixture(autouse=True)
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of several wrongs is named first is each check's own affair."""
    monkeypatch.setattr(pf, "check", functools.partial(pf.check, exact=True))
    for module in (test_changed, test_forged):
        monkeypatch.setattr(module, "refuse", refuse_exactly)
    monkeypatch.setattr(test_forged, "ROUNDINGS", 100)  # nothing rounds here
    monkeypatch.setattr(test_mutations, "MUTANTS", 10)
