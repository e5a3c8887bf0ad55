"""What `stress.crash` kills: commands that note their work in files, each with a way to read it afterwards."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import parsifal as pf

# The search's state is written so often here, not every minute, that a kill in a short run finds one.
_SAVE_EVERY = 0.02
_CLI = (
    "from parsifal.solver.checkpoint import Checkpoint\n"
    f"Checkpoint.__init__.__defaults__ = ({_SAVE_EVERY},)\n"
    "from parsifal.cli import main\n"
    "main()\n"
)

Answer = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A command and its files.

    Attributes
    ----------
    prepare : callable
        Puts the data into a folder.
    command : list of str
        What to run, with the folder as working directory, time and again until it ends by itself.
    answer : callable
        What has come out, without times; equal for equal answers.
    state : str
        The file that work is noted in.
    done : callable
        How much work is noted as done; it never becomes less, and what is done is not done again.
    most : int or None
        The work in all, where it is counted in pieces of which none may be done twice.
    """

    name: str
    prepare: Callable[[Path], None]
    command: list[str]
    answer: Callable[[Path], Answer]
    state: str
    done: Callable[[Path], int]
    most: int | None = None


def data(n: int = 80, p: int = 160, k: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Some hundred nodes of search."""
    X, y, _ = pf.datasets.make_sparse_regression(n, p, k, sqrt_snr=1.8, random_state=4)
    return X, y


def write_table(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    names = ",".join([*(f"v{j}" for j in range(X.shape[1])), "y"])
    np.savetxt(folder / "data.csv", np.column_stack([X, y]), "%.17g", delimiter=",", header=names, comments="")


def cli(*arguments: object) -> list[str]:
    return [sys.executable, "-c", _CLI, *map(str, arguments)]


# ---- pf.solve with a checkpoint


def solve(folder: Path) -> None:
    """Run in a process of its own: solve, and write the answer at the end."""
    from parsifal.solver.checkpoint import Checkpoint

    Checkpoint.__init__.__defaults__ = (_SAVE_EVERY,)
    X, y = data()
    found = pf.solve(X, y, k=6, gamma=0.25, threads=1, checkpoint=folder / "state.npz")
    assert found.certificate is not None
    valid = pf.check(found.certificate, X, y)
    answer = {
        "support": found.support.tolist(),
        "objective": found.objective,
        "lower_bound": found.lower_bound,
        "status": found.status,
        "certificate": bool(valid),
    }
    (folder / "answer.json").write_text(json.dumps(answer))


def nodes_in(file: Path) -> int:
    """Nodes in a checkpoint; a file that cannot be read is an error."""
    if not file.exists():
        return 0
    with np.load(file, allow_pickle=False) as saved:
        nodes = int(saved["tree_nodes_seen"]) if "tree_nodes_seen" in saved.files else 0
        arrays = {name: saved[name].size for name in saved.files}
    assert arrays
    return nodes


def model_answer(folder: Path) -> Answer:
    """A model file without times, and whether its proof holds."""
    from parsifal.tabular import load_proof

    model = json.loads((folder / "model.json").read_text())
    certificate, _, _ = load_proof(folder / "proof.npz")
    result = {name: model["result"][name] for name in ("status", "objective", "lower_bound")}
    kept = {name: value for name, value in model.items() if name != "result"}
    return {
        **kept,
        **result,
        "cv": model["result"].get("cross_validation"),
        "same": [certificate.objective == model["result"]["objective"], certificate.support.tolist()],
    }


# ---- parsifal fit --checkpoint


FILES = ("--out", "model.json", "--certificate", "proof.npz")
FIT = cli(
    *("fit", "data.csv", "-t", "y", "-k", 6, "--gamma", 0.25, "--threads", 1, "-q"),
    *("--checkpoint", "state.npz", *FILES),
)


# ---- parsifal cv --checkpoint

FOLDS = 6


CV = cli(
    *("cv", "data.csv", "-t", "y", "--ks", "1-4", "--gammas", "0.05,0.25", "--folds", FOLDS, "--threads", 1, "-q"),
    *("--checkpoint", "cv.jsonl", *FILES),
)


def folds_in(folder: Path) -> int:
    """Folds in the journal; one that is there twice was done twice."""
    lines = _whole_lines(folder / "cv.jsonl")[1:]
    numbers = [json.loads(line)["entry"]["fold"] for line in lines]
    assert len(set(numbers)) == len(numbers), f"folds done twice: {numbers}"
    return len(numbers)


# ---- parsifal reproduce


REPRODUCE = cli(
    *("reproduce", "figure1", "--n", "20,30", "--p", 40, "--k", 2, "--repeats", 2, "--time-limit", 60, "--out", "out"),
)


def runs_in(folder: Path) -> int:
    """Runs in the results file; one that is there twice was done twice."""
    rows = _rows(folder)
    tasks = {json.dumps(row["task"], sort_keys=True) for row in rows}
    assert len(tasks) == len(rows), f"{len(rows) - len(tasks)} runs were done twice"
    return len(rows)


def reproduce_answer(folder: Path) -> Answer:
    """Every result without times, and which files there are."""
    found = {
        json.dumps(row["task"], sort_keys=True): {
            name: value for name, value in row["result"].items() if "seconds" not in name
        }
        for row in _rows(folder)
    }
    files = sorted(path.name for path in (folder / "out").iterdir() if not path.name.startswith("."))
    assert all((folder / "out" / name).stat().st_size for name in files if not name.endswith(".lock"))
    return {"runs": dict(sorted(found.items())), "files": files}


def _rows(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for line in _whole_lines(folder / "out" / "figure1.jsonl"):
        try:
            rows.append(json.loads(line))
        except ValueError:
            # Torn by a kill; the writer after it has ended the line.
            assert line.startswith(b'{"experiment"'[: len(line)]), line
    return rows


def _whole_lines(file: Path) -> list[bytes]:
    if not file.exists():
        return []
    return [line for line in file.read_bytes().split(b"\n")[:-1] if line]


VICTIMS = (
    Victim(
        name="solve",
        state="state.npz",
        prepare=lambda folder: None,
        command=[sys.executable, "-m", "stress.victims"],
        answer=lambda folder: json.loads((folder / "answer.json").read_text()),
        done=lambda folder: nodes_in(folder / "state.npz"),
    ),
    Victim(
        name="fit",
        state="state.npz",
        prepare=lambda folder: write_table(folder, *data()),
        command=FIT,
        answer=model_answer,
        done=lambda folder: nodes_in(folder / "state.npz"),
    ),
    Victim(
        name="cv",
        state="cv.jsonl",
        prepare=lambda folder: write_table(folder, *data(50, 30, 3)),
        command=CV,
        answer=model_answer,
        done=folds_in,
        most=FOLDS,
    ),
    Victim(
        name="reproduce",
        state="out/figure1.jsonl",
        prepare=lambda folder: None,
        command=REPRODUCE,
        answer=reproduce_answer,
        done=runs_in,
    ),
)


if __name__ == "__main__":
    solve(Path())
