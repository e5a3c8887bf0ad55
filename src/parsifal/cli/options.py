"""The options that commands share, each described once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from parsifal.errors import InputError
from parsifal.problem import Gamma as GammaValue
from parsifal.tabular import Recipe

DATA, MODEL, SEARCH, FILES, SHOW = "Data", "Model", "Search", "Files to write", "Output"


class Impute(str, Enum):
    """Ways to fill gaps."""

    median = "median"


class Criterion(str, Enum):
    """Ways to choose a size along a path."""

    aic = "aic"
    bic = "bic"
    ebic = "ebic"


DataFile = Annotated[
    Path,
    typer.Argument(
        help="Table: .csv, .tsv, .txt (also .gz), .parquet, .arrow, .feather, or an array: .npy, .npz.",
        show_default=False,
        metavar="DATA",
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        help="Column to explain. For .npy: a column's number, or a .npy file with the response; for .npz: an array.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Columns to leave out; a,b or repeated.", rich_help_panel=DATA, show_default=False),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        help="Columns to turn into indicators (one-hot); a,b or repeated; auto: every column of text.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
ImputeOption = Annotated[
    Impute | None,
    typer.Option(
        "--impute",
        help="Fill gaps: median (categories: the most frequent level). Without it gaps are refused.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out rows with gaps; with --impute, only rows that lack the target.",
        rich_help_panel=DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="Column of observation weights.", rich_help_panel=DATA, show_default=False),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Between fields of a text file, or tab; a comma by default.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Decimal = Annotated[str, typer.Option("--decimal", help="Decimal point of a text file.", rich_help_panel=DATA)]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of a text file.", rich_help_panel=DATA)]

K = Annotated[
    int | None,
    typer.Option(
        "--k",
        "-k",
        help="Largest number of features; 10 unless --penalty is given.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
Sizes = Annotated[str, typer.Option("--ks", help="Sizes to try: 1-20, or 1,2,5.", rich_help_panel=MODEL)]
Gamma = Annotated[
    str,
    typer.Option(
        "--gamma", "-g", help="Ridge weight; large means a weak ridge. auto: 1/sqrt(n).", rich_help_panel=MODEL
    ),
]
Penalty = Annotated[
    float | None,
    typer.Option(
        "--penalty", help="Price of a feature, in units of the objective.", rich_help_panel=MODEL, show_default=False
    ),
]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.", rich_help_panel=MODEL)]
NoStandardize = Annotated[
    bool, typer.Option("--no-standardize", help="Leave the columns' scales as they are.", rich_help_panel=MODEL)
]
ForceIn = Annotated[
    list[str] | None,
    typer.Option(
        "--force-in", help="Features that must be chosen; a,b or repeated.", rich_help_panel=MODEL, show_default=False
    ),
]
ForceOut = Annotated[
    list[str] | None,
    typer.Option("--force-out", help="Features that must not be chosen.", rich_help_panel=MODEL, show_default=False),
]

TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", help="Seconds; then the best so far with its gap.", rich_help_panel=SEARCH, show_default=False
    ),
]
NodeLimit = Annotated[
    int | None,
    typer.Option("--node-limit", help="Nodes of the search tree.", rich_help_panel=SEARCH, show_default=False),
]
RelGap = Annotated[float, typer.Option("--rel-gap", help="Relative gap that counts as proven.", rich_help_panel=SEARCH)]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Threads; all cores by default.", rich_help_panel=SEARCH, show_default=False),
]
Method = Annotated[str, typer.Option("--method", help="How to solve, as in parsifal.solve.", rich_help_panel=SEARCH)]
Backend = Annotated[
    str, typer.Option("--backend", help="The solver below --method cutting-plane.", rich_help_panel=SEARCH)
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        help="File for the state of the solve; if it is there, the solve goes on from it.",
        rich_help_panel=SEARCH,
        show_default=False,
    ),
]

Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write the model, as JSON.", rich_help_panel=FILES, show_default=False),
]
CertificateFile = Annotated[
    Path | None,
    typer.Option(
        "--certificate", help="Write the proof (.npz), for parsifal check.", rich_help_panel=FILES, show_default=False
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Write a page about the model (.html).", rich_help_panel=FILES, show_default=False),
]
ReportTime = Annotated[
    float,
    typer.Option(
        "--report-time",
        min=0,
        help="Seconds for what the report adds: the path over k and the closest other supports.",
        rich_help_panel=FILES,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.", rich_help_panel=SHOW)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=SHOW)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=SHOW)]


def names(values: list[str] | None) -> tuple[str, ...]:
    """Names given as a,b or with a repeated option."""
    return tuple(name.strip() for value in values or () for name in value.split(",") if name.strip())


def gamma_of(text: str) -> GammaValue:
    """``auto`` or a number."""
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--gamma must be a number > 0 or auto, not {text!r}") from None


def sizes_of(text: str) -> list[int]:
    """``1-20``, ``1:20`` or ``1,2,5``, and mixtures."""
    out: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().replace(":", "-").partition("-")
        try:
            out.extend(range(int(first), int(last) + 1) if dash else [int(first)])
        except ValueError:
            raise InputError(f"--ks must be like 1-20 or 1,2,5, not {text!r}") from None
    if not out or min(out) < 1:
        raise InputError(f"--ks must be whole numbers from 1 up, like 1-20 or 1,2,5, not {text!r}")
    return sorted(set(out))


def recipe_of(
    *,
    target: str,
    drop: list[str] | None,
    categorical: list[str] | None,
    impute: Impute | None,
    drop_missing: bool,
    weights: str | None,
    no_intercept: bool,
    no_standardize: bool,
    delimiter: str | None,
    decimal: str,
    encoding: str,
) -> Recipe:
    """Gather the options about data."""
    return Recipe(
        target=target,
        weights=weights,
        drop=names(drop),
        categorical=names(categorical),
        impute=None if impute is None else impute.value,
        drop_missing=drop_missing,
        intercept=not no_intercept,
        standardize=not no_standardize,
        delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter),
        decimal=decimal,
        encoding=encoding,
    )
