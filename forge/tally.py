"""What came of a run: counts, and what was found, kept so that it can be repeated."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from forge.problems import ForgeProblem

# Of a kind; the others are counted.
_KEPT = 3


@dataclass(kw_only=True)
class Finding:
    """A false certificate that was accepted, a false bound, a wrong answer, or an error that is not the package's own.

    Attributes
    ----------
    kind : str
        ``"accepted"``, ``"provable"``, ``"raised"``, ``"solver"``, or ``"forger"``: this program itself failed.
    where : str
        What tells it from others of its kind.
    text : str
        What happened.
    attempt : int
        Number of the forgery on its problem; -1 for a solver's answer.
    steps : list of str
        How the forgery was made.
    """

    kind: str
    where: str
    text: str
    attempt: int = -1
    steps: list[str] = field(default_factory=list)
    certificate: Any = None

    @property
    def key(self) -> str:
        return f"{self.kind}: {self.where}"


@dataclass
class Tally:
    """Counts over all problems so far."""

    seed: int
    problems: int = 0
    forgeries: int = 0
    answers: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    traits: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[int, Finding]] = field(default_factory=list)

    def add(self, problem: ForgeProblem, finding: Finding) -> bool:
        """Count a finding; whether it is one of the first of its kind."""
        self.found[finding.key] += 1
        first = self.found[finding.key] <= _KEPT
        if first:
            self.examples.append((problem.number, finding))
        return first

    def line(self, elapsed: float) -> str:
        """Progress, on one line."""
        return (
            f"{self.problems} problems, {self.forgeries} forgeries ({self.forgeries / max(elapsed, 1e-9):.0f}/s), "
            f"{len(self.reasons)} reasons to refuse, {self.answers} answers, {self.refused} data refused, "
            f"{sum(self.found.values())} findings of {len(self.found)} kinds"
        )

    def markdown(self, elapsed: float, stop: int) -> str:
        """The summary."""
        rows = ["| | |", "|---|---|", f"| seed | {self.seed} (next problem: {stop}) |"]
        rows += [f"| problems | {self.problems} in {elapsed:.0f} s |", f"| forgeries | {self.forgeries} |"]
        rows += [f"| answers of the solver | {self.answers} ({self.refused} data refused) |"]
        rows += [f"| findings | {sum(self.found.values())} of {len(self.found)} kinds |"]
        rows += ["| traits | " + ", ".join(f"{k} {c}" for k, c in self.traits.most_common()) + " |"]
        rows += [f"| refused: {reason} | {count} |" for reason, count in self.reasons.most_common()]
        rows += [f"| {key} | {count} |" for key, count in self.found.most_common()]
        rows += [f"| problem {number} | {f.key}: {f.text[:300]} |" for number, f in self.examples]
        return "\n".join(rows)


def save(folder: Path, problem: ForgeProblem, finding: Finding) -> Path:
    """Write a finding: its description, and the data with the certificate's arrays (those that are plain)."""
    folder.mkdir(parents=True, exist_ok=True)
    which = str(finding.attempt) if finding.attempt >= 0 else re.sub(r"\W+", "-", finding.where)
    name = folder / f"problem-{problem.number}-{finding.kind}-{which}"
    values = {"kind": finding.kind, "where": finding.where, "text": finding.text, "attempt": finding.attempt}
    record: dict[str, Any] = {**values, "steps": finding.steps, "problem": problem.describe()}
    arrays = problem.arrays()
    if finding.certificate is not None:
        for entry in fields(finding.certificate):
            value = getattr(finding.certificate, entry.name)
            record.setdefault("certificate", {})[entry.name] = f"{type(value).__name__}: {value!r}"[:200]
            try:
                array = np.asarray(value)
            except (TypeError, ValueError):
                continue
            if not array.dtype.hasobject:
                arrays[f"certificate_{entry.name}"] = array
    name.with_suffix(".json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    np.savez_compressed(name.with_suffix(".npz"), **arrays)
    return name
