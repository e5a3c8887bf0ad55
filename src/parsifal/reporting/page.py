"""The page itself: the results as HTML, put into the template `page.html`."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from importlib.resources import files
from string import Template

import numpy as np

from parsifal.api.paths import Path
from parsifal.api.ranking import Ranking
from parsifal.problem.gap import precision_note
from parsifal.problem.summary import change_text
from parsifal.reporting import charts
from parsifal.reporting.content import Content
from parsifal.reporting.svg import Picture

_REASON = {
    "time_limit": "the time limit was reached",
    "node_limit": "the node limit was reached",
    "interrupted": "the search was interrupted",
    "gap_open": "the proof could not be completed",
    "precision": "double precision resolves no more",
}


def render(content: Content) -> str:
    """The whole page as text."""
    template = Template((files("parsifal.reporting") / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=html.escape(content.title),
        target=html.escape(content.target),
        verdict=_verdict(content),
        tiles=_tiles(content),
        sections="\n".join(_sections(content)),
        command=html.escape(content.command),
        footer=html.escape(f"Made by Parsifal {content.version} on {content.created}"),
    )


def _verdict(content: Content) -> str:
    s = content.solution
    p = _choices(content)
    if s.status == "optimal":
        head = "Proven." if s.rests_on is None else "Optimal."
        words = f"<strong>{head}</strong> No other choice of {_most(content)} of the {p} features fits better "
        words += f"(relative gap {s.gap:.1e})."
        kind = "good"
        if s.rests_on is not None:
            words += f" Not all of this is in the certificate: {html.escape(s.rests_on)}."
    else:
        words = f"<strong>Not proven:</strong> {_REASON[s.status]}. A better choice, if there is one, "
        words += f"lowers the objective by at most {s.gap:.2%}."
        if s.status == "precision":
            words += f" It is {html.escape(precision_note(s.stats.get('empty_objective')))}."
        kind = "open"
    if content.checked is not None:
        if content.checked.valid:
            words += " The certificate was checked independently when this page was written: <strong>valid</strong>."
        else:
            words += f" <strong>The certificate does not hold:</strong> {html.escape(content.checked.reason)}."
            kind = "bad"
    return f'<p class="verdict {kind}" role="status">{words}</p>'


def _choices(content: Content) -> int:
    """The number of features to choose from."""
    return len(content.names) - len(content.adjusted)


def _most(content: Content) -> str:
    s = content.solution
    return f"at most {s.k}" if s.k < _choices(content) else "any number"


def _tiles(content: Content) -> str:
    s = content.solution
    facts = [
        ("features", f"{s.support.size} of {len(content.names)}"),
        ("variance explained", "-" if math.isnan(content.r2) else f"{content.r2:.1%}"),
        ("objective", f"{s.objective:.6g}"),
        ("lower bound", f"{s.lower_bound:.6g}"),
        ("gamma", f"{s.gamma:.4g}"),
        ("time", _seconds(s.stats.get("seconds", {}).get("total", 0.0))),
    ]
    return "".join(f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in facts)


def _sections(content: Content) -> list[str]:
    parts = [_model(content)]
    pictures: list[str] = []
    if content.path is not None and len(content.path):
        r2 = _explained(content.path, content)
        pictures.append(_figure(charts.path_fit(content.path, r2, content.solution.support.size)))
        pictures.append(_figure(charts.path_coefficients(content.path, content.names)))
        parts.append(_section("path", "Models of every size", _grid(pictures) + _path_table(content.path, r2)))
    if content.cv is not None:
        parts.append(_section("cross-validation", "Cross-validation", _grid([_figure(charts.cv_curve(content.cv))])))
    parts.append(_unique(content))
    parts.append(_proof(content))
    rows = [(html.escape(name), f"<code>{html.escape(value)}</code>") for name, value in content.data]
    parts.append(_section("data", "Data", _pairs(rows)))
    if content.notes:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in content.notes)
        parts.append(_section("notes", "Notes", f"<ul>{notes}</ul>"))
    return [part for part in parts if part]


def _model(content: Content) -> str:
    if not content.rows:
        return _section("model", "The model", f"<p>No feature was chosen; the model is {content.intercept:.6g}.</p>")
    head = (
        "feature",
        "coefficient",
        "least squares",
        "standardised",
        "loss if left out",
        "best replacement",
        "loss with it",
    )
    body = [
        (
            html.escape(row.feature),
            f"{row.coef:.6g}",
            "-" if row.least_squares is None else f"{row.least_squares:.6g}",
            f"{row.standardized:.4g}",
            change_text(row.left_out),
            html.escape(row.replacement or "-"),
            change_text(row.replaced),
        )
        for row in content.rows
    ]
    body += [
        (f"{html.escape(name)} <em>(adjusted for)</em>", f"{coef:.6g}", "", "", "", "", "")
        for name, coef in content.adjusted
    ]
    body.append(("<em>intercept</em>", f"{content.intercept:.6g}", "", "", "", "", ""))
    table = _table("The chosen features", head, body, words=(0, 5), cards=True)
    return _section("model", "The model", table + _grid([_figure(charts.coefficients(content.rows))]))


def _path_table(path: Path, r2: Sequence[float]) -> str:
    head = ("k", "explained", "gap", "BIC", "eBIC", "status", "features")
    body = [
        (
            str(s.k),
            f"{share:.2%}",
            f"{s.gap:.1e}",
            f"{bic:.5g}",
            f"{ebic:.5g}",
            "proven" if s.status == "optimal" else "not&nbsp;proven",
            html.escape(", ".join(s.selected)),
        )
        for s, share, bic, ebic in zip(path, r2, path.bic, path.ebic)
    ]
    return _table("The best model of every size", head, body, words=(5, 6))


def _unique(content: Content) -> str:
    ranking = content.ranking
    if ranking is None or not len(ranking):
        return ""
    best = ranking[0]
    listed = len(ranking) - 1
    if listed == 0 and not math.isfinite(ranking.margin):
        words = "There is no other support to compare with."
    elif listed == 0 and ranking.margin >= content.within:
        words = f"No other support is within {content.within:.0%} of the best: the choice is clear-cut."
    elif listed == 0:
        words = "The time for the report ended before other supports could be ranked."
        if ranking.margin > 0:
            words += f" All are at least {ranking.margin:.2%} worse."
    else:
        words = f"{listed} other support{'s are' if listed > 1 else ' is'} within {content.within:.0%} of the best; "
        words += f"the closest is {_excess(ranking, 1):.3%} worse."
        if ranking.status != "optimal":
            words += f" The list may be incomplete: {_REASON[ranking.status]}."
        elif np.isfinite(ranking.lower_bound):
            words += f" Every support that is not listed is at least {_bound_excess(ranking):.3%} worse."
    rows = []
    for place, entry in enumerate(ranking):
        out = [content.names[j] for j in np.setdiff1d(best.support, entry.support)]
        new = [content.names[j] for j in np.setdiff1d(entry.support, best.support)]
        rows.append(
            (
                str(place + 1),
                f"{_excess(ranking, place):.3%}",
                html.escape(", ".join(out)) or ("-" if place else "<em>the best</em>"),
                html.escape(", ".join(new)) or "-",
            )
        )
    body = f"<p>{words}</p>"
    if listed:
        head = ("rank", "worse by", "without", "with instead")
        table = _table("The closest supports", head, rows, words=(2, 3))
        body += _grid([_figure(charts.uniqueness(ranking)), table])
    return _section("unique", "How unique is the choice?", body)


def _proof(content: Content) -> str:
    s = content.solution
    pictures = []
    if charts.thinned(content.history):
        pictures.append(_figure(charts.bounds(content.history)))
    certificate = s.certificate
    rows = [("status", html.escape(s.status)), ("relative gap", f"{s.gap:.2e}")]
    for name in ("nodes", "reads", "columns_left"):
        if name in s.stats:
            value = s.stats[name]
            rows.append((name.replace("_", " "), f"{value:.3g}" if isinstance(value, float) else str(value)))
    if certificate is None:
        claim = "<p>This fit has no certificate.</p>"
    else:
        words = str(certificate)
        claim = f"<p>{html.escape(words[0].upper() + words[1:])}.</p>"
        if content.checked is not None:
            rows.append(("certificate", html.escape(str(content.checked))))
        elif not certificate.complete:
            rows.append(("certificate", "not checkable: the proof was too large to keep, or the time was up before it"))
        else:
            rows.append(("certificate", "not checked here"))
    return _section("proof", "The proof", claim + _grid([*pictures, _pairs(rows)]))


def _explained(path: Path, content: Content) -> list[float]:
    """Variance explained by each model of the path."""
    total = content.total
    return [1.0 - float(rss) / total if total > 0 else math.nan for rss in path.rss]


def _section(identifier: str, title: str, body: str) -> str:
    return (
        f'<section id="{identifier}" aria-labelledby="h-{identifier}">'
        f'<h2 id="h-{identifier}">{html.escape(title)}</h2>{body}</section>'
    )


def _figure(picture: Picture) -> str:
    return f"<figure>{picture}<figcaption>{html.escape(picture.title)}</figcaption></figure>"


def _grid(figures: Sequence[str]) -> str:
    return f'<div class="grid-of-figures">{"".join(figures)}</div>' if figures else ""


def _table(
    caption: str, head: Sequence[str], body: Sequence[Sequence[str]], *, words: Sequence[int], cards: bool = False
) -> str:
    def cell(i: int, content: str, tag: str) -> str:
        css = ' class="words"' if i in words else ""
        if tag == "th" or i == 0:
            return f'<th scope="{"col" if tag == "th" else "row"}"{css}>{content}</th>'
        return f'<td{css} data-label="{html.escape(head[i])}">{content}</td>'

    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(cell(i, content, tag) for i, content in enumerate(row)) + "</tr>"

    name = html.escape(caption)
    css = "table cards" if cards else "table"
    return (
        f'<div class="{css}" tabindex="0" role="region" aria-label="{name}"><table><caption>{name}</caption>'
        f"<thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in body)}</tbody></table></div>"
    )


def _pairs(rows: Sequence[tuple[str, str]]) -> str:
    return '<dl class="pairs">' + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows) + "</dl>"


def _excess(ranking: Ranking, place: int) -> float:
    best = ranking[0].objective
    return (ranking[place].objective - best) / best if best > 0 else 0.0


def _bound_excess(ranking: Ranking) -> float:
    best = ranking[0].objective
    return max(0.0, (ranking.lower_bound - best) / best) if best > 0 else 0.0


def _seconds(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"
