"""A run: every problem of a plan given to every solver, one at a time, and what they say put on record."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import parsifal as pf
from benchmarks.peers import referee, scalings
from benchmarks.peers.cases import Case, Plan, fortran, seeds_of
from benchmarks.peers.environments import missing
from benchmarks.peers.runner import Crew
from benchmarks.peers.solvers import SOLVERS, Job
from benchmarks.peers.store import Store
from benchmarks.report import environment

OUR_GAP, PEER_GAP = 1e-6, 1e-4
CHECKED_RECORDS = 20_000  # larger proofs take longer to check than the run has


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a run is asked for beyond its plan."""

    solvers: Sequence[str]
    seeds: Sequence[int] | None
    threads: int
    memory: int | None
    log: Path


class Session:
    """Runs a plan, leaving out what the store has already."""

    def __init__(self, plan: Plan, store: Store, settings: Settings) -> None:
        self._plan, self._store, self._settings = plan, store, settings
        self._folder: Path
        self._crew: Crew

    def run(self) -> None:
        """Ask everyone everything."""
        settings, store = self._settings, self._store
        store.add(
            "session",
            plan=self._plan.name,
            environment=environment(),
            threads=settings.threads,
            time_limit=self._plan.time_limit,
            load=os.getloadavg()[0],
        )
        absent = {name: missing(SOLVERS[name].environment) for name in settings.solvers}
        with (
            Crew(threads=settings.threads, memory=settings.memory, log=settings.log) as crew,
            tempfile.TemporaryDirectory() as folder,
        ):
            self._crew, self._folder = crew, Path(folder)
            for name in settings.solvers:
                self._start(name, absent[name])
            for case in self._plan.cases:
                if case.instance.n == 0:
                    store.add("skipped", case=case.key, reason=case.instance.label)
                    continue
                for seed in seeds_of(self._plan, case, settings.seeds):
                    self._case(case, seed)

    def _start(self, name: str, absent: str | None) -> None:
        """Start a solver and note how long its first answer takes, or why there is none."""
        store = self._store
        before = store.start(name)
        if before is not None and before.get("error") == absent:
            return
        if absent:
            store.add("start", solver=name, error=absent)
        else:
            self._crew.worker(name)
            store.add("start", solver=name, load=os.getloadavg()[0], **self._crew.started[name])
        _say(f"{name}: {absent or self._crew.started[name]}")

    def _case(self, case: Case, seed: int) -> None:
        todo = [
            (form, name)
            for form in case.forms
            for name in self._settings.solvers
            if self._takes_part(name, form, case)
            and self._store.first("answer", case=case.key, seed=seed, form=form, solver=name) is None
        ]
        traces = [
            (form, name)
            for form in case.forms
            for name in self._settings.solvers
            if case.traced
            and seed == seeds_of(self._plan, case, self._settings.seeds)[0]
            and SOLVERS[name].exact
            and self._takes_part(name, form, case)
            and self._store.first("trace", case=case.key, seed=seed, form=form, solver=name) is None
        ]
        if not (todo or traces):
            return
        X, y = fortran(case.instance.draw(seed))
        np.save(self._folder / "X.npy", X)
        np.save(self._folder / "y.npy", y)
        for form in case.forms:
            problem = self._problem(case, seed, form, y)
            if problem is None:
                continue
            for name in (name for at, name in todo if at == form):
                self._answer(problem, name, X, y)
            for name in (name for at, name in traces if at == form):
                self._trace(problem, name)

    def _takes_part(self, name: str, form: str, case: Case) -> bool:
        solver, start = SOLVERS[name], self._store.start(name)
        wide = solver.columns is not None and case.instance.p > solver.columns
        can = form in solver.forms and not wide and not (solver.needs_ridge and np.isinf(case.instance.gamma))
        return can and start is not None and "error" not in start

    def _problem(self, case: Case, seed: int, form: str, y: np.ndarray) -> dict[str, Any] | None:
        """What is asked, from the store if it is there; None if Parsifal fails to price a column."""
        found = self._store.first("problem", case=case.key, seed=seed, form=form)
        if found is not None:
            return found
        instance = case.instance
        common = {"k": instance.k, "gamma": instance.gamma}
        penalty = None
        if form == "penalty":
            values = []
            for size in (instance.k - 1, instance.k, instance.k + 1):
                reply = self._crew.ask(self._job("parsifal", {**common, "k": size, "penalty": None}, repeats=1))
                if "supports" not in reply:
                    self._store.add("skipped", case=case.key, reason=f"no penalty: {reply['error']}")
                    return None
                X = np.load(self._folder / "X.npy", mmap_mode="r")
                values.append(referee.ridge_value(X, y, reply["supports"][0], instance.gamma))
            penalty = scalings.price(*values)
            common["k"] = None
        return self._store.add(
            "problem",
            case=case.key,
            group=case.group,
            label=instance.label,
            seed=seed,
            form=form,
            n=instance.n,
            p=instance.p,
            penalty=penalty,
            time_limit=self._plan.time_limit,
            half_yy=0.5 * float(y @ y),
            **common,
        )

    def _job(self, name: str, problem: dict[str, Any], **options: Any) -> Job:
        return Job(
            solver=name,
            data=str(self._folder),
            k=problem["k"],
            gamma=problem["gamma"],
            penalty=problem["penalty"],
            rel_gap=OUR_GAP if name == "parsifal" else PEER_GAP,
            time_limit=self._plan.time_limit,
            threads=self._settings.threads,
            **options,
        )

    def _hints(self, problem: dict[str, Any]) -> dict[str, float]:
        ours = self._store.first("answer", solver="parsifal", **_key(problem))
        if ours is None or ours["objective"] is None:
            return {"objective_hint": problem["half_yy"], "largest_hint": 1e3}
        return {"objective_hint": ours["objective"], "largest_hint": ours["largest"]}

    def _answer(self, problem: dict[str, Any], name: str, X: np.ndarray, y: np.ndarray) -> None:
        proof = self._folder / "proof.npz"
        proof.unlink(missing_ok=True)
        hints = {} if name == "parsifal" else self._hints(problem)
        keep = {"certificate": str(proof)} if name == "parsifal" else {}
        load, started = os.getloadavg()[0], perf_counter()
        reply = self._crew.ask(self._job(name, problem, **hints, **keep))
        spent = perf_counter() - started
        penalty = problem["penalty"] or 0.0
        value, support = referee.best_support(
            X, y, reply.get("supports", ()), k=problem["k"], gamma=problem["gamma"], penalty=penalty
        )
        row = self._store.add(
            "answer",
            **_key(problem),
            solver=name,
            seconds=reply.get("seconds"),
            cpu=reply.get("cpu"),
            objective=value,
            support=support,
            claim=reply.get("claim", False),
            status=reply.get("status", "failed"),
            lower_bound=reply.get("lower_bound"),
            rel_gap=OUR_GAP if name == "parsifal" else PEER_GAP,
            nodes=reply.get("nodes"),
            largest=reply.get("largest"),
            memory=reply.get("memory"),
            error=reply.get("error"),
            certificate=self._check(proof, X, y, value, reply) if proof.exists() else None,
            spent=spent,
            load=load,
        )
        seconds = "-" if row["seconds"] is None else f"{row['seconds']:.4f} s"
        shown = "-" if value is None else f"{value:.8g}"
        _say(
            f"{problem['case']} seed {problem['seed']} {problem['form']:8s} {name:14s} {seconds:>12s} {shown:>14s} "
            f"{row['error'] or row['status']} {row['certificate'] or ''}"
        )

    def _check(self, proof: Path, X: np.ndarray, y: np.ndarray, value: float | None, reply: dict[str, Any]) -> str:
        """The referee's look at Parsifal's own proof: that it is of this answer, and that it holds."""
        certificate = pf.Certificate.load(proof)
        if value is None or abs(certificate.objective - value) > 1e-8 * abs(value):
            return f"INVALID: it is about the objective {certificate.objective!r}, not {value!r}"
        if certificate.lower_bound < reply["lower_bound"] - 1e-12 * abs(reply["lower_bound"]):
            return f"INVALID: it proves {certificate.lower_bound!r}, not {reply['lower_bound']!r}"
        if not certificate.complete:
            return "not kept: larger than certificate_limit"
        if certificate.records > CHECKED_RECORDS:
            return f"not checked: {certificate.records} records"
        result = pf.check(certificate, X, y)
        return f"valid, {certificate.records} records" if result else f"INVALID: {result.reason}"

    def _trace(self, problem: dict[str, Any], name: str) -> None:
        reply = self._crew.ask(self._job(name, problem, trace=True, repeats=1, **self._hints(problem)))
        history = reply.get("history", [])
        thinned = history[:: max(1, len(history) // 300)] + history[-1:]
        self._store.add(
            "trace",
            **_key(problem),
            solver=name,
            history=thinned,
            claim=reply.get("claim", False),
            seconds=reply.get("seconds"),
        )


def _key(problem: dict[str, Any]) -> dict[str, Any]:
    return {"case": problem["case"], "seed": problem["seed"], "form": problem["form"]}


def _say(text: str) -> None:
    print(text, flush=True)
