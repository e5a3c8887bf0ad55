"""One problem after another: forgeries made from those that came farthest, and what the checker says to them."""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import parsifal as pf
from forge.claims import make_claim
from forge.craft import CRAFTS, Craft
from forge.disguises import DISGUISES, arrays_of
from forge.draft import Draft
from forge.problems import FORGED_EVERY, ForgeProblem, generator
from forge.referee import Value, falsehood, nearest
from forge.simplify import is_plain, signs, simplify
from forge.structure import Rng
from forge.tally import Finding, Tally, save
from oracles.ways import relaxations_alone

TRIES = 120
_POOL = 24
# The exact check, which takes longer, sees one forgery of so many.
_EXACT_EVERY = 4
_PACKAGE = f"{Path(pf.__file__).parent}/"


def _check_exactly(certificate: Any, X: Any, y: Any) -> Any:
    return pf.check(certificate, X, y, exact=True)


@dataclass(kw_only=True)
class Victims:
    """What is to be deceived."""

    check: Callable[[Any, Any, Any], Any] = pf.check
    check_exactly: Callable[[Any, Any, Any], Any] = _check_exactly
    provable_bound: Callable[[Any, Any, Any], float]
    solve: Callable[..., Any] = pf.solve


def run(
    *,
    seed: int,
    kind: str = "columns",
    start: int = 0,
    problems: int | None = None,
    minutes: float = math.inf,
    tries: int = TRIES,
    out: Path | None = None,
    stop_at: Callable[[Finding], bool] | None = None,
    tell: Callable[[str], None] | None = None,
    **victims: Any,
) -> Tally:
    """Forge certificates for the problems of a seed, and put the same problems to the solver.

    Parameters
    ----------
    kind : str
        ``"columns"``, ``"groups"`` or ``"kernels"``.
    seed, start, problems, minutes
        The problems: from number `start` on, so many, or as many as the time allows.
    tries : int
        Forgeries for each that is forged for: every fourth.
    out : path, optional
        Folder for what is found.
    stop_at : callable, optional
        Ends the run at the first finding for which it is true.
    tell : callable, optional
        Gets lines to print.
    **victims
        ``check``, ``provable_bound`` and ``solve``, if not the package's own.
    """
    craft = CRAFTS[kind]
    tally, opponent = Tally(seed), Victims(**{"provable_bound": craft.provable_bound, **victims})
    began = shown = time.monotonic()
    number = start
    while (problems is None or number < start + problems) and time.monotonic() - began < 60.0 * minutes:
        problem = craft.make(seed, number)
        for finding in Attack(problem, craft, opponent, tally).findings(tries if number % FORGED_EVERY == 0 else 0):
            if tally.add(problem, finding):
                if out is not None:
                    save(out, problem, finding)
                if tell is not None:
                    tell(
                        f"problem {number} FOUND after {time.monotonic() - began:.1f} s: {finding.key}: {finding.text}"
                    )
            if stop_at is not None and stop_at(finding):
                return tally
        number += 1
        if tell is not None and time.monotonic() - shown > 10.0:
            shown = time.monotonic()
            tell(tally.line(shown - began))
    return tally


@dataclass
class Attack:
    """All that is tried on one problem; the same for the same seed and number."""

    problem: ForgeProblem
    craft: Craft
    victims: Victims
    tally: Tally
    # By reason of refusal: how much was proven, and the draft.
    pool: dict[str, tuple[float, Draft]] = field(default_factory=dict)

    def findings(self, tries: int) -> Iterator[Finding]:
        """Everything that is found, as it is found."""
        problem = self.problem
        self.tally.problems += 1
        self.tally.traits.update(set(problem.traits))
        # Every other one that is forged for, and its three neighbours, by trees.
        way = relaxations_alone() if problem.number // FORGED_EVERY % 2 else contextlib.nullcontext()
        with way, warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="parsifal-forge-") as folder:
            warnings.simplefilter("ignore")
            yield from self.answers(generator(problem.seed, problem.number, 1))
            if tries > 0:
                try:
                    yield from self.forgeries(tries, Path(folder) / "certificate.npz")
                except Exception as error:
                    # Not the victims' fault, whose exceptions are caught where they are asked.
                    yield Finding(kind="forger", where=_place(error), text=traceback.format_exc(limit=-3))

    def forgeries(self, tries: int, path: Path) -> Iterator[Finding]:
        """So many forgeries."""
        problem = self.problem
        rng = generator(problem.seed, problem.number, 2)
        try:
            seeds = self.craft.drafts(problem, rng, self.victims.solve)
        except Exception:
            # What a solver raises has been found among its answers.
            seeds = self.craft.drafts(problem, rng, _refuses)
        for attempt in range(tries):
            self.tally.forgeries += 1
            yield from self.attempt(rng, seeds, attempt, path)

    def answers(self, rng: Rng) -> Iterator[Finding]:
        """The solver's answers."""
        for name, call in self.craft.calls(self.problem, rng, self.victims.solve):
            self.tally.answers += 1
            try:
                faults = call()
            except pf.ParsifalError:
                self.tally.refused += 1
            except Exception as error:
                yield Finding(kind="raised", where=f"{name}: {_place(error)}", text=str(error)[:200])
            else:
                for what, text in faults:
                    yield Finding(kind="solver", where=f"{name}: {what}", text=text)

    def attempt(self, rng: Rng, seeds: list[Draft], attempt: int, path: Path) -> Iterator[Finding]:
        """One forgery."""
        draft = self.forge(rng, seeds)
        certificate, steps = _disguised(rng, draft.build(), draft.steps)
        if rng.random() < 0.1:
            try:
                with open(path, "wb") as file:
                    certificate.write(file)
            except Exception:
                # Not every forgery can be written; one that cannot is handed over as it is.
                pass
            else:
                steps = [*steps, "file"]
                try:
                    certificate = self.craft.certificate.load(path)
                except pf.ParsifalError:
                    return
                except Exception as error:
                    yield self.finding("raised", f"load: {_place(error)}", str(error), attempt, steps, certificate)
                    return
        yield from self.judge(certificate, draft, attempt, steps)

    def forge(self, rng: Rng, seeds: list[Draft]) -> Draft:
        """Several steps from a draft that came far, or from an honest one."""
        pool = list(self.pool.values())
        if pool and rng.random() < 0.6:
            draft = pool[int(rng.integers(len(pool)))][1].copy()
        else:
            draft = seeds[int(rng.integers(len(seeds)))].copy()
        for _ in range(int(rng.choice([0, 1, 1, 1, 2, 2, 3, 5]))):
            table = self.craft.steps[0] if rng.random() < 0.65 else self.craft.steps[1]
            step = table[int(rng.integers(len(table)))]
            step(rng, draft, self.problem)
            draft.steps.append(step.__name__)
        make_claim(rng, draft, self.problem)
        return draft

    def judge(self, c: Any, draft: Draft, attempt: int, steps: list[str]) -> Iterator[Finding]:
        """What the checker says to a forgery, and what is wrong with that."""
        problem = self.problem
        proven = -math.inf
        try:
            proven = float(self.victims.provable_bound(c, problem.X, problem.y))
        except pf.ParsifalError:
            pass
        except Exception as error:
            where = f"provable_bound: {_place(error)}"
            yield self.finding("raised", where, str(error), attempt, steps, c)
        if proven != -math.inf:
            optimum = self.optimum(c)
            if not proven <= optimum:
                text = f"the records are said to prove {proven!r}, the optimum is {nearest(optimum)!r}"
                yield self.deceived("provable", "a bound", text, attempt, steps, c)
        if self.craft.exact and attempt % _EXACT_EVERY == 0:
            yield from self.judge_exactly(c, attempt, steps)
        try:
            result = self.victims.check(c, problem.X, problem.y)
        except pf.ParsifalError:
            return
        except Exception as error:
            yield self.finding("raised", f"check: {_place(error)}", str(error), attempt, steps, c)
            return
        if result:
            false = falsehood(problem.referee, c)
            if false is not None:
                what = re.split(r" [\[\d-]| inf| nan", false)[0]
                yield self.deceived("accepted", what, false, attempt, steps, c)
        else:
            self.keep(str(result.reason), proven, draft)

    def judge_exactly(self, c: Any, attempt: int, steps: list[str]) -> Iterator[Finding]:
        """What the exact check says to a forgery."""
        problem = self.problem
        try:
            accepted = bool(self.victims.check_exactly(c, problem.X, problem.y))
        except pf.ParsifalError:
            return
        except Exception as error:
            yield self.finding("raised", f"exact check: {_place(error)}", str(error), attempt, steps, c)
            return
        false = falsehood(problem.referee, c) if accepted else None
        if false is not None:
            yield self.finding("accepted", "by the exact check", false, attempt, steps, c)

    def keep(self, reason: str, proven: float, draft: Draft) -> None:
        """A draft that was refused for a reason of its own, or proved more than others refused for the same."""
        kind = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?|\bnan\b|\binf\b", "#", reason)[:90]
        self.tally.reasons[kind] += 1
        score = proven if math.isfinite(proven) else -math.inf
        if kind not in self.pool or score > self.pool[kind][0]:
            self.pool[kind] = (score, draft)
            if len(self.pool) > _POOL:
                # The oldest of those that prove least.
                self.pool.pop(min(self.pool, key=lambda other: self.pool[other][0]))

    def optimum(self, c: Any) -> Value:
        """What no bound may be above; a certificate that asks no question proves nothing."""
        question = self.problem.referee.question(c)
        return -math.inf if question is None else self.problem.referee.optimum(question)

    def deceived(self, kind: str, what: str, text: str, attempt: int, steps: list[str], c: Any) -> Finding:
        """A finding, reduced to what it needs."""
        X, y = self.problem.X, self.problem.y

        def accepted(other: Any) -> bool:
            return bool(self.victims.check(other, X, y)) and falsehood(self.problem.referee, other) is not None

        def overstated(other: Any) -> bool:
            return not self.victims.provable_bound(other, X, y) <= self.optimum(other)

        def deceives(other: Any) -> bool:
            try:
                return accepted(other) if kind == "accepted" else overstated(other)
            except Exception:
                return False

        c = simplify(c, self.problem, deceives)
        odd = [] if is_plain(c) else steps[-1:]
        return self.finding(kind, f"{what} ({', '.join(signs(c, self.problem) + odd)})", text, attempt, steps, c)

    def finding(self, kind: str, where: str, text: str, attempt: int, steps: list[str], c: Any) -> Finding:
        return Finding(kind=kind, where=where, text=text[:300], attempt=attempt, steps=list(steps), certificate=c)


def _disguised(rng: Rng, certificate: Any, steps: list[str]) -> tuple[Any, list[str]]:
    steps = list(steps)
    for _ in range(int(rng.choice([0, 0, 0, 1, 2]))):
        if all(_is_plain(getattr(certificate, name)) for name in arrays_of(certificate)):
            disguise = DISGUISES[int(rng.integers(len(DISGUISES)))]
            certificate = disguise(rng, certificate)
            steps.append(disguise.__name__)
    return certificate, steps


def _is_plain(array: Any) -> bool:
    return type(array) is np.ndarray and array.ndim == 1 and array.dtype.kind in "if"


def _refuses(*args: Any, **options: Any) -> Any:
    raise pf.InputError("the solver is left out")


def _place(error: BaseException) -> str:
    """The exception's type, and the last line of the package that it went through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(_PACKAGE)]
    where = f" in {Path(frames[-1].filename).name}: {frames[-1].name}" if frames else ""
    return f"{type(error).__name__}{where}"
