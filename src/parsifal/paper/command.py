"""`parsifal reproduce NAME`: the experiments on the command line."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

from parsifal.errors import InputError
from parsifal.paper import EXPERIMENTS, METHODS, reported
from parsifal.paper.options import Options

# What the options say, here and in `python -m parsifal.paper`.
HELP = {
    "method": f"with commas, of {', '.join(METHODS)}",
    "backend": "mixed-integer solver of the cutting planes",
    "gamma": "ridge weight (default 1/sqrt(n))",
    "time_limit": "seconds of a solve",
    "n": "numbers of rows, with commas",
    "values": "values of the figure's parameter, with commas",
    "cells": 'cells of table1 as "k,p,n k,p,n ..."; k, p or n may be *',
    "p": "number of columns",
    "k": "number of true columns",
    "repeats": "data sets per point",
    "parts": "what to measure, with commas",
    "jobs": "runs at a time",
    "dask": "run on the active Dask client, or on a local one",
    "threads": "threads of a solve",
    "out": "directory of the results",
    "draw_only": "table and pictures of the runs that are there",
}


def make_options(
    *,
    full: bool = False,
    method: str = "search",
    backend: str = "scip",
    gamma: float | None = None,
    time_limit: float | None = None,
    n: str | None = None,
    values: str | None = None,
    cells: str | None = None,
    p: int | None = None,
    k: int | None = None,
    repeats: int | None = None,
    parts: str | None = None,
    jobs: int = 1,
    dask: bool = False,
    threads: int | None = None,
    out: Path = Path("results") / "paper",
) -> Options:
    """Options from what a command line gives: lists are texts with commas."""
    return Options(
        full=full,
        methods=_words(method),
        backend=backend,
        gamma=gamma,
        time_limit=time_limit,
        ns=None if n is None else tuple(int(v) for v in _numbers(n, "--n", whole=True)),
        values=None if values is None else _numbers(values, "--values", infinite=True),
        cells=None if cells is None else parse_cells(cells),
        p=p,
        k=k,
        repeats=repeats,
        parts=None if parts is None else _words(parts),
        jobs=jobs,
        dask=dask,
        threads=threads,
        out=out,
    )


def parse_cells(text: str) -> tuple[tuple[int, int, int], ...]:
    """Cells of Table 1: ``k,p,n`` with blanks between them; ``*`` stands for all values in the paper."""
    cells: list[tuple[int, int, int]] = []
    every = (reported.TABLE1_KS, reported.TABLE1_PS, reported.TABLE1_NS)
    for word in text.split():
        fields = word.split(",")
        if len(fields) != 3:
            raise InputError(f'--cells: {word!r} is not a cell; write k,p,n, such as "10,50000,10000" or "10,*,10000"')
        choices = [
            known if field == "*" else tuple(int(v) for v in _numbers(field, "--cells", whole=True))
            for field, known in zip(fields, every)
        ]
        cells += [(k, p, n) for k, p, n in itertools.product(*choices)]
    return tuple(dict.fromkeys(cells))


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _numbers(text: str, option: str, *, whole: bool = False, infinite: bool = False) -> tuple[float, ...]:
    out = []
    for word in text.split(","):
        try:
            value = float(word)
        except ValueError:
            raise InputError(f"{option}: {word!r} is not a number") from None
        if math.isnan(value) or not (infinite or math.isfinite(value)) or (whole and value != int(value)):
            raise InputError(f"{option}: {word!r} is not a {'whole' if whole else 'finite'} number")
        out.append(int(value) if math.isfinite(value) and value == int(value) else value)
    return tuple(dict.fromkeys(out))


def reproduce(name: str, options: Options, *, draw_only: bool = False) -> list[Path]:
    """Run an experiment, print its table, write table and pictures, and return their paths."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    results = experiment.load(options) if draw_only else experiment.run(options)
    if not results.rows:
        raise InputError(f"{options.out} has no runs of {name} with these options; leave out --draw-only")
    print(f"{experiment.title}\n\n{experiment.table(results)}")
    if len(results.rows) < results.expected:
        print(f"({len(results.rows)} of {results.expected} runs)")
    written = experiment.write(results)
    print("written:", ", ".join(str(path) for path in written))
    return written


def register(app: Any) -> None:
    """Add the command ``reproduce`` to a Typer application."""
    import typer

    def command(
        name: str = typer.Argument(..., metavar="NAME", help=f"one of {', '.join(EXPERIMENTS)}"),
        full: bool = typer.Option(False, "--full/--quick", help="the paper's sizes and repeats, or a few minutes"),
        method: str = typer.Option("search", help=HELP["method"]),
        backend: str = typer.Option("scip", help=HELP["backend"]),
        gamma: float | None = typer.Option(None, help=HELP["gamma"]),
        time_limit: float | None = typer.Option(None, help=HELP["time_limit"]),
        n: str | None = typer.Option(None, "--n", help=HELP["n"]),
        values: str | None = typer.Option(None, help=HELP["values"]),
        cells: str | None = typer.Option(None, help=HELP["cells"]),
        p: int | None = typer.Option(None, "--p", help=HELP["p"]),
        k: int | None = typer.Option(None, "--k", help=HELP["k"]),
        repeats: int | None = typer.Option(None, help=HELP["repeats"]),
        parts: str | None = typer.Option(None, help=HELP["parts"]),
        jobs: int = typer.Option(1, help=HELP["jobs"]),
        dask: bool = typer.Option(False, "--dask", help=HELP["dask"]),
        threads: int | None = typer.Option(None, help=HELP["threads"]),
        out: str = typer.Option("results/paper", help=HELP["out"]),
        draw_only: bool = typer.Option(False, "--draw-only", help=HELP["draw_only"]),
    ) -> None:
        """Reproduce a table or a figure of the paper; a run that was stopped goes on where it was."""
        options = make_options(
            full=full,
            method=method,
            backend=backend,
            gamma=gamma,
            time_limit=time_limit,
            n=n,
            values=values,
            cells=cells,
            p=p,
            k=k,
            repeats=repeats,
            parts=parts,
            jobs=jobs,
            dask=dask,
            threads=threads,
            out=Path(out),
        )
        reproduce(name, options, draw_only=draw_only)

    app.command(name="reproduce")(command)
