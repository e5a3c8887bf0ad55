"""The live line, on a terminal and elsewhere, and tables that never cut a number."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from parsifal.cli import output as module
from parsifal.cli.output import Live, Output
from parsifal.problem.progress import Progress


def progress(seconds: float, nodes: int = 7) -> Progress:
    return Progress(objective=12.5, lower_bound=11.25, nodes=nodes, open_nodes=3, seconds=seconds, reads=1)


def made(*, terminal: bool, width: int = 100, quiet: bool = False) -> tuple[Output, io.StringIO, io.StringIO]:
    output = Output(json=False, quiet=quiet)
    out, err = io.StringIO(), io.StringIO()
    output.out = Console(file=out, force_terminal=terminal, width=width, highlight=False)
    output.err = Console(file=err, force_terminal=terminal, width=width, highlight=False)
    return output, out, err


def test_the_line_is_rewritten_on_a_terminal() -> None:
    output, _, err = made(terminal=True)
    with Live(output) as live:
        for nodes in range(5):
            live(progress(0.1 * nodes, nodes))
        live._live.refresh()  # type: ignore[union-attr]
    text = err.getvalue()
    for words in ("best 12.5", "bound 11.25", "gap 1.00e-01", "nodes 4", "0.4 s"):
        assert words in text
    assert "\x1b[2K" in text, "the line is erased before it is written again"
    assert [snapshot.nodes for snapshot in live.history] == list(range(5))


def test_elsewhere_a_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    output, _, err = made(terminal=False)
    with Live(output) as live:
        for tick in range(140):
            now[0] = 0.1 * tick
            live(progress(now[0]))
    shown = [float(line.split()[0]) for line in err.getvalue().splitlines()]
    assert shown == pytest.approx([1.0, 6.0, 11.0], abs=0.11)


def test_quiet_shows_no_line() -> None:
    for terminal in (True, False):
        output, _, err = made(terminal=terminal, quiet=True)
        with Live(output) as live:
            live(progress(100.0))
            live.fits(1, 10, 3.0)
        assert err.getvalue() == ""


def test_a_long_history_is_thinned_but_keeps_its_ends() -> None:
    output, *_ = made(terminal=False, quiet=True)
    live = Live(output)
    for i in range(20_000):
        live(progress(float(i)))
    seconds = [snapshot.seconds for snapshot in live.history]
    assert 1000 < len(seconds) <= 4001
    assert seconds[0] == 0
    assert seconds[-1] == 19_999
    assert seconds == sorted(seconds)


@pytest.mark.parametrize("terminal", [True, False])
def test_numbers_are_never_cut(terminal: bool) -> None:
    output, out, _ = made(terminal=terminal, width=40)
    rows = [("1", "123456.789", "a name " * 12), ("10", "0.5", "short")]
    output.table("Title", ("k", "value", "features"), rows, left=(2,))
    text = out.getvalue()
    for number in ("123456.789", "10", "0.5"):
        assert number in text
