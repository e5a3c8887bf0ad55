"""An experiment: its runs, how to measure one, and what to make of the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsifal.errors import InputError
from parsifal.files.atomic import replacing
from parsifal.paper.options import Options
from parsifal.paper.results import ResultsFile, Row, Task, select
from parsifal.paper.runner import run_tasks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Results:
    """Finished runs of one experiment, and the options they were made with."""

    experiment: str
    options: Options
    rows: list[Row]
    expected: int

    def of(self, **wanted: Any) -> list[Row]:
        """The rows whose task has these values."""
        return [row for row in self.rows if all(row["task"].get(name) == value for name, value in wanted.items())]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title : str
        For the command line, and for people.
    parts : tuple of str
        What `Options.parts` may name.
    tasks : callable
        The runs that the options ask for.
    measure : callable
        One run.
    table : callable
        Results as Markdown.
    plots : callable
        Results as figures, by the names of their files; the first is the paper's.
    """

    name: str
    title: str
    parts: tuple[str, ...]
    tasks: Callable[[Options], list[Task]]
    measure: Callable[[Task], dict[str, Any]]
    table: Callable[[Results], str]
    plots: Callable[[Results], dict[str, Figure]]

    def run(self, options: Options) -> Results:
        """Do the runs that have not been done yet, and return all."""
        unknown = [part for part in options.parts or () if part not in self.parts]
        if unknown:
            raise InputError(f"{self.name} has no part {unknown[0]!r}; its parts are {', '.join(self.parts)}")
        if options.cells is not None and self.name != "table1":
            raise InputError(f"cells are for table1; {self.name} has none")
        tasks = self.tasks(options)
        rows = run_tasks(self.name, tasks, self.measure, options)
        return Results(experiment=self.name, options=options, rows=rows, expected=len(tasks))

    def load(self, options: Options) -> Results:
        """Return what is there of the runs that the options ask for, without running anything."""
        tasks = self.tasks(options)
        with ResultsFile(options.out / f"{self.name}.jsonl", self.name) as file:
            rows = select(file.rows(), tasks)
        return Results(experiment=self.name, options=options, rows=rows, expected=len(tasks))

    def plot(self, results: Results) -> Figure:
        """The figure in the paper's form."""
        return next(iter(self.plots(results).values()))

    def write(self, results: Results) -> list[Path]:
        """Write the table and the pictures beside the results file, and return their paths."""
        out = results.options.out
        written = [out / f"{self.name}.md"]
        with replacing(written[0]) as file:
            file.write(f"# {self.title}\n\n{self.table(results)}".encode())
        for name, figure in self.plots(results).items():
            for kind in ("png", "svg"):
                written.append(out / f"{name}.{kind}")
                with replacing(written[-1]) as file:
                    figure.savefig(file, dpi=110, format=kind)
        return written
