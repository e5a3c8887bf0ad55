"""The report of a run: Markdown with tables and pictures, from the rows alone."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers import figures, tables
from benchmarks.peers.outcomes import findings, outcomes
from benchmarks.peers.session import OUR_GAP, PEER_GAP
from benchmarks.peers.store import Store


def write(store: Store, out: Path) -> Path:
    """Write report.md and its pictures into `out`; returns the file."""
    judged = outcomes(store)
    sessions = list(store.of("session"))
    lines = ["# Parsifal and its peers", ""]
    for session in sessions[-1:]:
        loads = [row["load"] for row in store.of("answer")]
        lines += [
            f"Plan `{session['plan']}`; {session['environment']}; {session['threads']} threads for "
            f"every solver that has them; at most {session['time_limit']:g} s a solve; relative gap {OUR_GAP:g} asked "
            f"of Parsifal, {PEER_GAP:g} of the peers; "
            + (f"load average {min(loads):.1f} to {max(loads):.1f} during the run." if loads else ""),
            "",
        ]
    lines += ["## Solvers", "", tables.summary(store, judged), ""]
    lines += [
        "Ratios are times to proof, peer / Parsifal on the same problem in the same run; > where the peer was stopped "
        "without a proof, < where Parsifal was. First answer: from the start of the process, on a problem of 40 by 50. "
        "Memory: median and most over the problems, beyond the data and the loaded program (leaps: all of R).",
        "",
    ]
    for form, title in (("k", "at most k columns"), ("penalty", "a penalty per column")):
        if any(key[2] == form for key in judged):
            lines += [
                f"## Time to proof, {title}",
                "",
                tables.ratios(judged, form),
                "",
                "† no answer: killed or failed.",
                "",
            ]
    if any(key[2] == "k" for key in judged):
        lines += [
            "## Heuristics and Lasso paths",
            "",
            tables.heuristics(judged),
            "",
            "Time (peer / Parsifal, whose time includes the proof), and how much worse the best of the supports is.",
            "",
        ]
    if figures.draw_profiles(judged, out / "profiles.png"):
        lines += ["## Performance profiles", "", "![Performance profiles](profiles.png)", ""]
    if figures.draw_gaps(store, out / "gaps.png"):
        lines += ["## Gap over time", "", "![Gap over time](gaps.png)", ""]
    lines += ["## Memory, MB", "", tables.memory(judged), ""]
    wrong = [
        f"- {case} seed {seed}, {form}: {name}: {outcome.verdict.verdict}"
        for (case, seed, form), solved in judged.items()
        for name, outcome in solved.items()
        if outcome.wrong
    ]
    lines += ["## Claims that the referee refuted", "", *(wrong or ["None."]), ""]
    plan = sessions[-1]["plan"] if sessions else "quick"
    found = [f"- {finding}".replace("PLAN", plan) for finding in findings(judged)]
    lines += ["## Where Parsifal is not ahead", "", *(found or ["Nowhere."]), ""]
    skipped = sorted({f"- {row['case']}: {row['reason']}" for row in store.of("skipped")})
    if skipped:
        lines += ["## Not run", "", *skipped, ""]
    file = out / "report.md"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file
