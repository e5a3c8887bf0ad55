"""How many tables of a folder can be fitted at first try: `parsifal fit TABLE --target T --k 3`, and nothing else.

    python scripts/first_try.py FOLDER --sample 100

The target is the last column of numbers with more than two values, but for numbers of the rows. For every table the
model is written, its proof is checked and its own rows are predicted, all by the command line. A table without such a
column, or without another one, asks nothing that a regression answers, and is counted apart. Ctrl-C ends the run with
the share of the tables so far.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from parsifal.cli.app import app
from parsifal.cli.output import NOT_PROVEN, OK
from parsifal.errors import ParsifalError
from parsifal.tabular import read_table

ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".jsonl", ".parquet", ".arrow", ".feather")
RUNNER = CliRunner()


def target_of(path: Path) -> str | None:
    """The last column of numbers with more than two values, but for numbers of the rows."""
    table = read_table(path)
    for name, column in reversed(list(zip(table.names, table.columns))):
        counts = name == table.names[0] and np.array_equal(column, np.arange(1, table.rows + 1))
        if column.dtype.kind in "fiu" and not counts and np.unique(column[np.isfinite(column)]).size > 2:
            return name if len(table.names) > 1 else None
    return None


def run(*words: object) -> tuple[int, str]:
    result = RUNNER.invoke(app, [str(word) for word in words])
    return result.exit_code, (result.stderr.strip().splitlines() or [repr(result.exception)])[-1]


def attempt(path: Path, time_limit: float) -> Iterator[tuple[str, bool, str]]:
    """The steps for one table, whether each went well, and what was said if not."""
    try:
        target = target_of(path)
    except ParsifalError as error:
        yield "fit", False, str(error)
        return
    if target is None:
        yield "nothing to explain", True, ""
        return
    with tempfile.TemporaryDirectory() as folder:
        model, proof = Path(folder) / "model.json", Path(folder) / "proof.npz"
        files = ("--out", model, "--certificate", proof)
        code, words = run("fit", path, "--target", target, "--k", 3, "--time-limit", time_limit, *files)
        fitted = code in (OK, NOT_PROVEN)
        yield "fit", fitted, words
        if not fitted:
            return
        yield "proven", json.loads(model.read_text(encoding="utf-8"))["result"]["status"] == "optimal", "not proven"
        for step, file in (("check", proof), ("predict", model)):
            code, words = run(step, file, path)
            yield step, code == OK, words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, help="so many tables, spread evenly over the folder")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for a fit")
    parser.add_argument("--least", type=float, default=0.95, help="share that has to fit")
    options = parser.parse_args()
    files = sorted(file for file in options.folder.iterdir() if file.suffix.lower() in ENDINGS)
    if not files:
        parser.error(f"there are no tables in {options.folder}")
    if options.sample is not None and options.sample < len(files):
        files = [files[len(files) * i // options.sample] for i in range(options.sample)]
    tried, good = Counter[str](), Counter[str]()
    try:
        for file in files:
            for step, well, words in attempt(file, options.time_limit):
                tried[step] += 1
                good[step] += well
                if not well:
                    print(f"{file.name}: {step}: {words}", flush=True)
    except KeyboardInterrupt:
        print(f"stopped at {file.name}; so far:")
    for step, count in tried.items():
        print(f"{step}: {good[step]} of {count} ({good[step] / count:.1%})")
    return 0 if good["fit"] >= options.least * tried["fit"] > 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
