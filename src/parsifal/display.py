"""Tables of results as text and as HTML, in one style, for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

Cells = Sequence[str]

_MOST_NAMES = 8


def text_table(head: Cells, rows: Sequence[Cells], left: Collection[int] = ()) -> list[str]:
    """Lines of a table; the columns of `left` are flush left, the others flush right."""
    width = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    ruled = [head, ["-" * w for w in width], *rows]
    return [
        "  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, width))).rstrip()
        for row in ruled
    ]


def html_table(
    title: str,
    facts: Sequence[tuple[str, str]],
    head: Cells = (),
    rows: Sequence[Cells] = (),
    left: Collection[int] = (),
) -> str:
    """A title, a line of facts and a table; everything is escaped."""

    def line(tag: str, cells: Cells) -> str:
        align = ["left" if i in left else "right" for i in range(len(cells))]
        inner = "".join(f'<{tag} style="text-align:{a}">{html.escape(c)}</{tag}>' for a, c in zip(align, cells))
        return f"<tr>{inner}</tr>"

    summary = " &middot; ".join(f"{html.escape(name)} <b>{html.escape(value)}</b>" for name, value in facts)
    body = "".join(line("td", cells) for cells in rows)
    table = f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>" if head else ""
    return f"<div><b>{html.escape(title)}</b><p>{summary}</p>{table}</div>"


def short_list(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first few names, and how many there are if these are not all."""
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, noun: str) -> str:
    """A number of things: "1 record", "2 records"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
