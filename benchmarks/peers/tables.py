"""The report's tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.peers.outcomes import Outcome, Ratio, cpu_ratio, middle, ratio
from benchmarks.peers.solvers import SOLVERS
from benchmarks.peers.store import Key, Store

Judged = dict[Key, dict[str, Outcome]]


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; every column but the first is set to the right."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def named(judged: Judged, *, exact: bool, form: str | None = None) -> list[str]:
    """The solvers that answered, in the order of the list, without Parsifal."""
    there = {name for key, solved in judged.items() for name in solved if form in (None, key[2])}
    return [name for name, solver in SOLVERS.items() if name in there and solver.exact == exact and name != "parsifal"]


def groups(judged: Judged, form: str) -> dict[str, list[dict[str, Outcome]]]:
    """The seeds of each case."""
    found: dict[str, list[dict[str, Outcome]]] = {}
    for (case, _, at), solved in judged.items():
        if at == form and "parsifal" in solved:
            found.setdefault(case, []).append(solved)
    return found


def ratios(judged: Judged, form: str) -> str:
    """Times to proof, peer / Parsifal, medians over the seeds."""
    peers = named(judged, exact=True, form=form)
    rows = []
    for case, seeds in groups(judged, form).items():
        ours = [solved["parsifal"] for solved in seeds]
        proofs = sum(outcome.proven for outcome in ours)
        cells = [_cell(seeds, name) for name in peers]
        rows.append([case, _seconds(median(o.seconds for o in ours)), f"{proofs}/{len(ours)}", *cells])
    return markdown(["instance", "Parsifal s", "proven", *peers], rows)


def _cell(seeds: list[dict[str, Outcome]], name: str) -> str:
    there = [(solved[name], solved["parsifal"]) for solved in seeds if name in solved]
    if not there:
        return ""
    if any(peer.wrong for peer, _ in there):
        return "**WRONG**"
    compared = [found for peer, ours in there if (found := ratio(peer, ours)) is not None]
    if not compared:
        return "neither"
    at = middle(compared)
    assert at is not None
    failed = all(peer.row["error"] is not None for peer, _ in there)
    text = str(at) + (" †" if failed else "")
    return f"**{text}**" if at.value < 1 else text


def heuristics(judged: Judged) -> str:
    """Times (peer / Parsifal) and how much worse their best support is."""
    peers = named(judged, exact=False, form="k")
    rows = []
    for case, seeds in groups(judged, "k").items():
        cells = []
        for name in peers:
            there = [(solved[name], solved["parsifal"]) for solved in seeds if name in solved]
            cells.append(_heuristic(there) if there else "")
        rows.append([case, _seconds(median(solved["parsifal"].seconds for solved in seeds)), *cells])
    return markdown(["instance", "Parsifal s", *peers], rows)


def _heuristic(there: list[tuple[Outcome, Outcome]]) -> str:
    done = [(peer, ours) for peer, ours in there if peer.verdict.objective is not None and ours.verdict.objective]
    if not done:
        return "failed"
    times = median(peer.seconds / ours.seconds for peer, ours in done)
    excess = [peer.verdict.objective / ours.verdict.objective - 1 for peer, ours in done]  # type: ignore[operator]
    worst = min(excess, default=0.0)
    text = f"{Ratio(value=times)}, " + ("same" if max(map(abs, excess)) <= 1e-6 else f"{100 * median(excess):+.2g} %")
    return f"**{text} BETTER**" if worst < -1e-6 else text


def summary(store: Store, judged: Judged) -> str:
    """One line per solver: what it proved, how far behind, latency, memory."""
    rows = []
    for name, solver in SOLVERS.items():
        start = store.start(name)
        if start is None:
            continue
        if "error" in start:
            rows.append([name, *[""] * 8, start["error"]])
            continue
        mine = [(solved[name], solved["parsifal"]) for solved in judged.values() if {name, "parsifal"} <= solved.keys()]
        compared = [found for peer, ours in mine if (found := ratio(peer, ours)) is not None]
        by_cpu = [found for peer, ours in mine if (found := cpu_ratio(peer, ours)) is not None]
        low = min(compared, key=lambda found: found.value, default=None)
        memory = [peer.row["memory"] for peer, _ in mine if peer.row["memory"] is not None]
        errors = sum(peer.row["error"] is not None for peer, _ in mine)
        versus = solver.exact and name != "parsifal"
        rows.append(
            [
                name,
                start["version"],
                f"{sum(peer.proven for peer, _ in mine)}/{len(mine)}" if solver.exact else f"-/{len(mine)}",
                str(sum(peer.wrong for peer, _ in mine)),
                str(middle(compared) or "") if versus else "",
                str(low or "") if versus else "",
                str(middle(by_cpu) or "") if versus else "",
                f"{start['latency']:.2f}",
                f"{median(memory) / 1e6:.0f} / {max(memory) / 1e6:.0f}" if memory else "",
                f"no answer: {errors}" if errors else "",
            ]
        )
    header = ["solver", "version", "proven", "wrong", "median ratio", "least ratio", "CPU ratio"]
    header += ["first answer s", "memory MB", ""]
    return markdown(header, rows)


def memory(judged: Judged) -> str:
    """Most memory beyond the data and the loaded program, in megabytes, medians over the seeds."""
    peers = ["parsifal", *named(judged, exact=True), *named(judged, exact=False)]
    rows = []
    for form in ("k", "penalty"):
        for case, seeds in groups(judged, form).items():
            cells = []
            for name in peers:
                found = [s[name].row["memory"] for s in seeds if name in s and s[name].row["memory"] is not None]
                cells.append(f"{median(found) / 1e6:.1f}" if found else "")
            rows.append([f"{case}{'' if form == 'k' else ' (penalty)'}", *cells])
    return markdown(["instance", *peers], rows)


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"
