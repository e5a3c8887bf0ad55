"""What came of a run: counts, rates, and the table at the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Tally:
    """Counts over all problems so far."""

    seed: int
    problems: int = 0
    certificates: int = 0
    seconds: float = 0.0
    worst_excess: float = -1.0
    worst_number: int = -1
    ran: Counter[str] = field(default_factory=Counter)
    proven: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    traits: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def add(self, record: dict[str, Any]) -> None:
        """Count one problem."""
        self.problems += 1
        self.certificates += record["certificates"]
        self.seconds += record["seconds"]
        self.ran.update(name for name in record["ran"] if not name.endswith("check"))
        self.proven.update(record["proven"])
        self.refused.update(line.split(":")[0] + ": " + line.split(":")[1].strip() for line in record["refused"])
        self.faults += [(record["number"], fault) for fault in record["faults"]]
        if record["excess"] > self.worst_excess:
            self.worst_excess, self.worst_number = record["excess"], record["number"]
        if "problem" in record:
            self.kinds[record["problem"]["kind"]] += 1
            self.traits.update(set(record["problem"]["traits"]))

    @property
    def disagreements(self) -> int:
        """Problems with at least one fault."""
        return len({number for number, _ in self.faults})

    def rate(self, name: str) -> float:
        """Share of a method's solves that were proven; the cutting planes are counted over all backends."""
        names = [key for key in self.ran if key == name or (name == "cuts" and key.startswith("cuts, "))]
        runs = sum(self.ran[key] for key in names)
        return sum(self.proven[key] for key in names) / runs if runs else 0.0

    def line(self, elapsed: float) -> str:
        """Progress, on one line."""
        return (
            f"{self.problems} problems, {self.problems / max(elapsed, 1e-9):.1f}/s, "
            f"{self.disagreements} disagreements, {sum(self.refused.values())} refusals, "
            f"proven: search {self.rate('search'):.1%}, cuts {self.rate('cuts'):.1%}, "
            f"{self.certificates} certificates"
        )

    def markdown(self, elapsed: float, stop: int) -> str:
        """The summary."""
        rows = [
            "| | |",
            "|---|---|",
            f"| seed | {self.seed} (next problem: {stop}) |",
            f"| problems | {self.problems} in {elapsed:.0f} s |",
            f"| disagreements | {self.disagreements} |",
            f"| certificates checked | {self.certificates} |",
            f"| highest bound less least value, in 1/2 y'y | {self.worst_excess:.1e} (problem {self.worst_number}) |",
        ]
        rows += [f"| solves: {name} | {count} |" for name, count in sorted(self.ran.items())]
        rows += [f"| proven: {name} | {self.rate(name):.1%} |" for name in sorted(self.ran) if self.proven[name]]
        rows += [f"| refused: {name} | {count} |" for name, count in self.refused.most_common()]
        rows += ["| kinds | " + ", ".join(f"{k} {c}" for k, c in self.kinds.most_common()) + " |"]
        rows += ["| traits | " + ", ".join(f"{k} {c}" for k, c in self.traits.most_common()) + " |"]
        rows += [f"| problem {number} | {fault.splitlines()[0][:300]} |" for number, fault in self.faults[:50]]
        return "\n".join(rows)

    def save(self, folder: Path, elapsed: float, stop: int) -> None:
        """Write the summary as Markdown and as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.md").write_text(self.markdown(elapsed, stop) + "\n", encoding="utf-8")
        values = {**vars(self), "elapsed": elapsed, "stop": stop, "disagreements": self.disagreements}
        (folder / "summary.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
