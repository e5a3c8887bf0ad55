"""`parsifal reproduce` and `parsifal bench`."""

from __future__ import annotations

import parsifal as pf


def test_reproduce_hands_on_to_the_papers_command(run) -> None:
    text = run("reproduce", "--help").stdout
    assert "parsifal reproduce" in text
    assert "--draw-only" in text
    run("reproduce", code=2)
    run("reproduce", "figure1", "--what", code=2)
    result = run("reproduce", "figure7", code=2)
    assert result.stderr.startswith("error: there is no experiment 'figure7'; choose one of table1, figure1")
    result = run("reproduce", "figure1", "--draw-only", code=2)
    assert "leave out --draw-only" in result.stderr
    assert isinstance(run("reproduce", "figure7", "--debug", code=1).exception, pf.InputError)


def test_bench_outside_a_checkout_says_where_to_find_it(refused) -> None:
    assert "clone the repository" in refused("bench")
