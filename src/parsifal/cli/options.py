"""The options that commands share, each described once, and what their texts mean."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from parsifal.arguments import Gamma as GammaValue
from parsifal.errors import InputError

# A name in double quotes, in which two stand for one, or anything without a comma.
_NAME = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?=,|$)|([^,]+)')

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
        help="Table: .csv, .tsv, .txt (also .gz), .xlsx, .jsonl, .parquet, .arrow, .feather, an array: .npy, .npz; "
        "or - for standard input.",
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
Dates = Annotated[
    list[str] | None,
    typer.Option(
        "--dates", help="Columns of dates, as days since 1970-01-01.", rich_help_panel=DATA, show_default=False
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "--numbers",
        help="Columns of text that are numbers: 1,234 or 12 % or $5.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
ImputeOption = Annotated[
    Impute | None,
    typer.Option(
        "--impute",
        help="Fill gaps: median (categories: the most frequent level). Without it rows with gaps are left out.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out rows with gaps, and no columns for their gaps; with --impute, only rows that lack the target.",
        rich_help_panel=DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="Column of observation weights.", rich_help_panel=DATA, show_default=False),
]
Adjust = Annotated[
    list[str] | None,
    typer.Option(
        "--adjust",
        help="Features to adjust for: always in the model, neither counted nor shrunk; a,b or repeated.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Between fields of a text file, or tab; found out by default.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help="Decimal point of a text file; found out by default.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="Encoding of a text file; found out by default.", rich_help_panel=DATA, show_default=False
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", help="Sheet of an Excel file; the first by default.", rich_help_panel=DATA, show_default=False
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a table that needs a decision which no option makes.", rich_help_panel=DATA),
]

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
        "--gamma",
        "-g",
        help="Ridge weight; large means weak, inf none. auto: (n - p)/p, from 1/sqrt(n) to 10.",
        rich_help_panel=MODEL,
    ),
]
Penalty = Annotated[
    float | None,
    typer.Option(
        "--penalty", help="Price of a feature, in units of the objective.", rich_help_panel=MODEL, show_default=False
    ),
]
Positive = Annotated[bool, typer.Option("--positive", help="All coefficients are >= 0.", rich_help_panel=MODEL)]
Sign = Annotated[
    list[str] | None,
    typer.Option(
        "--sign",
        help="Signs of coefficients: bmi=+,s3=- or repeated.",
        rich_help_panel=MODEL,
        show_default=False,
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
    """Names given as a,b or with a repeated option; a name with a comma in it stands in double quotes."""
    found = (one for value in values or () for one in _NAME.finditer(value))
    names = (one[2].strip() if one[1] is None else one[1].replace('""', '"') for one in found)
    return tuple(name for name in names if name)


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


def delimiter_of(text: str | None) -> str | None:
    """The character between fields; a tab may be spelt out."""
    return {"tab": "\t", "\\t": "\t"}.get(text or "", text)
