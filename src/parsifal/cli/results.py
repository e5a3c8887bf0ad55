"""What fit, path and cv do with a model: show it, and write the files that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import parsifal
from parsifal.api.paths import Path as SolutionPath
from parsifal.arrays import IntArray
from parsifal.cli.claim import encoding_facts
from parsifal.cli.job import Job
from parsifal.cli.output import INTERRUPTED, NOT_PROVEN, OK, Output
from parsifal.errors import InputError
from parsifal.problem.gap import precision_note
from parsifal.problem.progress import Progress
from parsifal.problem.solution import Solution
from parsifal.problem.summary import change_text
from parsifal.reporting import CvCurve, Fitted, gather, write
from parsifal.tabular import save_proof
from parsifal.tabular.modelfile import saved_model

_REASON = {
    "time_limit": "the time limit ended the search",
    "node_limit": "the node limit ended the search",
    "interrupted": "the search was interrupted",
    "gap_open": "the proof could not be completed",
    "precision": "double precision resolves no more",
}


def finish(
    job: Job,
    output: Output,
    fitted: Fitted,
    *,
    threads: int | None,
    path: SolutionPath | None = None,
    cv: CvCurve | None = None,
    history: Sequence[Progress] = (),
    more: dict[str, Any] | None = None,
) -> int:
    """Show the model, write what was asked for, and say how the command ends.

    Parameters
    ----------
    job, output, fitted
        The data and the files to write, where to print, and the model.
    threads : int or None
        For what the report adds.
    path, cv, history
        For the report, where they are known.
    more : dict, optional
        Results of the command itself, for --json and the model file.
    """
    solution, wanted = fitted.solution, job.files
    _show(output, fitted, job)
    model = saved_model(
        solution=solution,
        coef=fitted.coef,
        intercept=fitted.intercept,
        encoded=job.encoded,
        recipe=job.recipe,
        source=job.table.source,
        command=job.command,
        version=parsifal.__version__,
        remarks=job.remarks,
        adjusted=fitted.training.adjusted.tolist(),
        more=more,
    )
    files: dict[str, str] = {}
    if wanted.out is not None:
        model.save(wanted.out)
        files["model"] = str(wanted.out)
    if wanted.certificate is not None:
        _write_proof(wanted.certificate, job, output, solution)
        files["certificate"] = str(wanted.certificate)
    if wanted.report is not None:
        with output.busy(f"looking at other models for the report, up to about {wanted.report_time:g} s"):
            content = gather(
                fitted,
                target=job.recipe.target,
                command=job.command,
                version=parsifal.__version__,
                data=_data_facts(job),
                whole_path=path,
                cv=cv,
                history=history,
                # Whoever interrupts a search does not want to wait for pictures.
                time_limit=0.0 if solution.status == "interrupted" else wanted.report_time,
                threads=threads,
            )
            write(content, wanted.report)
        files["report"] = str(wanted.report)
    for kind, file in files.items():
        output.say(f"{kind} written to {file}")
    output.result({**model.to_dict(), "proven": solution.status == "optimal", "files": files})
    return {"optimal": OK, "interrupted": INTERRUPTED}.get(solution.status, NOT_PROVEN)


def _write_proof(file: Path, job: Job, output: Output, solution: Solution) -> None:
    if solution.certificate is None:
        raise InputError("this method leaves no certificate; use --method search")
    save_proof(file, solution.certificate, job.recipe, job.table.source)
    if solution.rests_on is not None:
        output.note(f"{file} is not the whole proof: {solution.rests_on}")
    if not solution.certificate.complete:
        output.note(f"the proof was too large to keep, or the time was up before it, so {file} holds the claim only")


def _show(output: Output, fitted: Fitted, job: Job) -> None:
    solution, adjusted = fitted.solution, fitted.training.adjusted
    p = len(job.names) - adjusted.size
    body = [
        (row.feature, f"{row.coef:.6g}", f"{row.standardized:.4g}", change_text(row.left_out), row.replacement or "-")
        for row in fitted.rows
    ]
    body += [(f"{job.names[j]} (adjusted for)", f"{fitted.coef[j]:.6g}", "", "", "") for j in adjusted.tolist()]
    head = ("feature", "coefficient", "standardised", "loss if left out", "best replacement")
    title = f"{solution.support.size} of {p} features for {job.recipe.target}"
    output.table(title, head, [*body, ("(intercept)", f"{fitted.intercept:.6g}", "", "", "")], left=(0, 4))
    output.say("")
    output.say(_sentence(solution, p, adjusted), style="green" if solution.status == "optimal" else "yellow")


def _sentence(solution: Solution, p: int, adjusted: IntArray) -> str:
    """The certificate in one sentence; `p` features could be chosen, the adjusted ones could not."""
    nodes, seconds = solution.stats.get("nodes", 0), solution.stats.get("seconds", {}).get("total", 0.0)
    effort = f"{nodes} nodes, {seconds:.2g} s"
    numbers = f"objective {solution.objective:.6g}, lower bound {solution.lower_bound:.6g}, gap {solution.gap:.1e}"
    if solution.status == "optimal":
        which = f"at most {solution.k}" if solution.k < p else "any number"
        claim = (
            f"no other choice of {which} of the {p} features{_forced(solution, adjusted)} has a smaller objective "
            f"({numbers}; {effort})"
        )
        return f"Proven: {claim}." if solution.rests_on is None else f"Optimal: {claim}; {solution.rests_on}."
    if solution.status == "precision":
        numbers += f"; {precision_note(solution.stats.get('empty_objective'))}"
    return (
        f"Not proven: {_REASON[solution.status]}; this is the best so far, and no choice is better by more than "
        f"{_percent(solution.gap)} ({numbers}; {effort})."
    )


def _forced(solution: Solution, adjusted: IntArray) -> str:
    certificate = solution.certificate
    if certificate is None:
        return ""
    sides = (("in", certificate.forced_in.size), ("out", certificate.forced_out.size - adjusted.size))
    parts = [f"{count} forced {side}" for side, count in sides if count]
    signed = int(np.count_nonzero(certificate.sign))
    if signed:
        parts.append("coefficients >= 0" if np.all(certificate.sign == 1) else f"{signed} signs given")
    return f", with {' and '.join(parts)}," if parts else ""


def _data_facts(job: Job) -> list[tuple[str, str]]:
    """What identifies the data, for the report."""
    source = job.table.source
    facts = [
        ("file", source.path),
        ("SHA-256", source.sha256),
        ("columns in the file", str(source.columns)),
    ]
    return facts + encoding_facts(job.recipe, job.table, job.encoded, job.remarks)


def _percent(gap: float) -> str:
    return f"{gap:.3%}" if gap < 10 else f"a factor of {gap:.2g}"
