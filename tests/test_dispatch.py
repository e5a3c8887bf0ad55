"""The choice among a portable wheel's cores; `scripts/smoke.py` tries the real ones on the built wheels."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

import parsifal._core
from parsifal import _dispatch


@pytest.fixture
def modern(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with AVX-512, in a wheel that has the choice."""
    monkeypatch.setitem(sys.modules, "parsifal._cpu", SimpleNamespace(level=lambda: 4))
    monkeypatch.delenv("PARSIFAL_CPU", raising=False)


@pytest.mark.usefixtures("modern")
@pytest.mark.parametrize(("wanted", "chosen"), [("", 4), ("1", 1), ("3", 3), ("4", 4)])
def test_no_more_than_is_asked_for(monkeypatch: pytest.MonkeyPatch, wanted: str, chosen: int) -> None:
    monkeypatch.setenv("PARSIFAL_CPU", wanted)
    assert _dispatch.load_core() == chosen


@pytest.mark.parametrize("able", [1, 3])
def test_no_more_than_the_processor_can(monkeypatch: pytest.MonkeyPatch, able: int) -> None:
    monkeypatch.setitem(sys.modules, "parsifal._cpu", SimpleNamespace(level=lambda: able))
    monkeypatch.setenv("PARSIFAL_CPU", "4")
    assert _dispatch.load_core() == able


@pytest.mark.usefixtures("modern")
@pytest.mark.parametrize("wanted", ["2", "avx2", "-1"])
def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    monkeypatch.setenv("PARSIFAL_CPU", wanted)
    with pytest.raises(ImportError, match="it must be 1, 3 or 4"):
        _dispatch.load_core()


@pytest.mark.usefixtures("modern")
def test_a_core_that_is_missing_leaves_the_oldest(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(_dispatch, "__file__", str(tmp_path_factory.mktemp("wheel") / "_dispatch.py"))
    monkeypatch.delitem(sys.modules, "parsifal._core")
    assert _dispatch.load_core() == 1


def test_a_build_for_this_machine_has_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parsifal._cpu", None)
    assert _dispatch.load_core() is None
    assert isinstance(parsifal._core, ModuleType)
