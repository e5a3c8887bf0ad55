"""What the rows come to: verdicts, ratios of times to proof, and where Parsifal is not ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.peers.referee import Verdict, judge
from benchmarks.peers.solvers import PATHS, SOLVERS
from benchmarks.peers.store import Key, Store

BETTER = 1e-6  # relative: a smaller difference of objectives is the gap that Parsifal was asked for
CLOSE = 0.01  # seconds that two times must differ by to be told apart on a machine with other work


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One solver on one problem."""

    problem: dict[str, Any]
    row: dict[str, Any]
    verdict: Verdict

    @property
    def proven(self) -> bool:
        return self.verdict.proven

    @property
    def wrong(self) -> bool:
        return self.verdict.verdict.startswith("WRONG")

    @property
    def seconds(self) -> float:
        """Seconds that were measured; the limit where there was no answer."""
        return self.row["seconds"] if self.row["seconds"] is not None else self.problem["time_limit"]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Peer's time to proof over Parsifal's: at least (">") where it has none, at most ("<") where we have none."""

    value: float
    sign: str = ""

    def __str__(self) -> str:
        return f"{self.sign}{self.value:.2g}" if self.value < 10 else f"{self.sign}{self.value:,.0f}"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that a user would report as a bug."""

    what: str
    case: str
    seed: int
    form: str
    solver: str

    def __str__(self) -> str:
        command = f"python -m benchmarks.peers --plan PLAN --only '{self.case}' --seeds {self.seed}"
        return (
            f"{self.case} seed {self.seed}, {self.form}: {self.what}\n  `{command} --solvers {self.solver} --out again`"
        )


def outcomes(store: Store) -> dict[Key, dict[str, Outcome]]:
    """Judge every problem that has answers."""
    problems = store.problems()
    found: dict[Key, dict[str, Outcome]] = {}
    for key, answers in store.answers().items():
        problem = problems[key]
        verdicts = judge(answers, problem["half_yy"])
        found[key] = {name: Outcome(problem=problem, row=answers[name], verdict=verdicts[name]) for name in answers}
    return found


def ratio(peer: Outcome, ours: Outcome) -> Ratio | None:
    """Compare times to proof; None if neither has one."""
    if peer.proven and ours.proven:
        return Ratio(value=peer.seconds / ours.seconds)
    if ours.proven:
        return Ratio(value=max(peer.seconds, ours.problem["time_limit"]) / ours.seconds, sign=">")
    if peer.proven:
        return Ratio(value=peer.seconds / max(ours.seconds, ours.problem["time_limit"]), sign="<")
    return None


def cpu_ratio(peer: Outcome, ours: Outcome) -> Ratio | None:
    """The same by CPU time, which other work on the machine disturbs less; only where Parsifal has a proof."""
    theirs, mine = peer.row.get("cpu"), ours.row.get("cpu")
    if not (ours.proven and theirs and mine):
        return None
    return Ratio(value=theirs / mine, sign="" if peer.proven else ">")


def middle(ratios: list[Ratio]) -> Ratio | None:
    """The median, of two in the middle the lower; it is a bound itself if a bound on the wrong side could move it."""
    if not ratios:
        return None
    ordered = sorted(ratios, key=lambda ratio: ratio.value)
    at = (len(ordered) - 1) // 2
    lower = any(ratio.sign == ">" for ratio in ordered[: at + 1])
    upper = any(ratio.sign == "<" for ratio in ordered[at:])
    sign = "~" if lower and upper else ">" if lower else "<" if upper else ""
    return Ratio(value=ordered[at].value, sign=sign)


def findings(judged: dict[Key, dict[str, Outcome]]) -> list[Finding]:
    """Where a peer was faster or better, or where Parsifal has no proof or a wrong one."""
    found = []
    for (case, seed, form), solved in judged.items():
        ours = solved.get("parsifal")
        if ours is None:
            continue

        def add(what: str, solver: str, case: str = case, seed: int = seed, form: str = form) -> None:
            found.append(Finding(what=what, case=case, seed=seed, form=form, solver=solver))

        if not ours.proven:
            add(f"Parsifal: {ours.verdict.verdict}, {ours.row['error'] or ours.row['status']}", "parsifal")
        for name, peer in solved.items():
            if name == "parsifal" or peer.verdict.objective is None:
                continue
            mine, theirs = ours.verdict.objective, peer.verdict.objective
            if mine is None or theirs < mine - BETTER * abs(mine) - 1e-12 * ours.problem["half_yy"]:
                add(
                    f"{name} has the better support, {theirs:.9g} against {'none' if mine is None else f'{mine:.9g}'}",
                    name,
                )
            faster = peer.seconds < ours.seconds and ours.seconds - peer.seconds > CLOSE * min(
                1.0, ours.seconds / CLOSE / 4
            )
            if SOLVERS[name].exact and peer.proven and (faster or not ours.proven):
                add(f"{name} has its proof in {_took(peer)}, Parsifal {_took(ours)}", name)
            if name in PATHS and faster:
                add(f"{name}'s path takes {_took(peer)}, Parsifal {_took(ours)}", name)
    return found


def _took(outcome: Outcome) -> str:
    cpu, nodes, solver = outcome.row.get("cpu"), outcome.row["nodes"], SOLVERS[outcome.row["solver"]]
    parts = [f"{outcome.seconds:.4f} s"]
    parts += [f"{cpu:.4f} s of CPU"] if cpu is not None else []
    parts += [f"{nodes} nodes"] if nodes is not None else []
    return ", ".join(parts) + (" without a proof" if solver.exact and not outcome.proven else "")
