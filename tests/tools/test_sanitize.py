"""How the reports of a sanitizer run are read (scripts/sanitize.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

LEAK = """=================================================================
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 56 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc asan_malloc_linux.cpp:69
    #1 0x56 in {first}
    #2 0x56 in _PyEval_EvalFrameDefault ceval.c:4775

SUMMARY: AddressSanitizer: 56 byte(s) leaked in 1 allocation(s).
"""
TRACER = """Tracer caught signal 11: addr=0xcb28 pc=0x7f3b882e80f0 sp=0x7f3b855ffd10
==29821==LeakSanitizer has encountered a fatal error.
==29821==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)
"""
OVERFLOW = (
    "==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60\n"
    "    #0 0x7f in parsifal::scan cpp/read/scan.cpp:1\n"
)
UNDEFINED = "cpp/search/tree.cpp:9:3: runtime error: null pointer passed as argument 1\n"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("sanitize", ROOT / "scripts" / "sanitize.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("report", "found", "broken"),
    [
        (LEAK.format(first="PyMem_Malloc obmalloc.c:618"), 0, 0),
        (LEAK.format(first="parsifal::Tree::Tree() /repo/cpp/search/tree.cpp:20"), 1, 0),
        (LEAK.format(first="f() (/site/parsifal/_core.cpython-311-x86_64-linux-gnu.so+0x1)"), 1, 0),
        (OVERFLOW, 1, 0),
        (UNDEFINED, 1, 0),
        ("WARNING: ThreadSanitizer: data race (pid=3)\n", 1, 0),
        (TRACER, 0, 1),
        (TRACER + OVERFLOW, 1, 0),
        (TRACER + UNDEFINED, 1, 0),
    ],
)
def test_what_counts_as_a_finding(script: Any, tmp_path: Path, report: str, found: int, broken: int) -> None:
    (tmp_path / "report.7").write_text(report, encoding="utf-8")
    (tmp_path / "report.8").write_text(LEAK.format(first="PyObject_Malloc obmalloc.c:712"), encoding="utf-8")
    reports, died = script.findings(tmp_path)
    assert (len(reports), died) == (found, broken)
