"""Which gamma predicts best, by nested cross-validation on real tables: `python -m benchmarks.defaults.gamma`.

Every table is split in five; on each training part k is chosen by an inner cross-validation, for every candidate on its
own (five folds; three, and fewer k, where columns are many), and the model is judged on the rows left out. A candidate
is a number (on standardised columns), or a rule:

    paper         1 / sqrt(n)
    n/p           rows a column, at least 1 / sqrt(n) and at most 10
    (n-p)/p       rows beyond the columns, a column, within the same limits
    gcv, loo      the features chosen without a ridge (gamma = inf); then the gamma that minimises the generalised
                  cross-validation score, or the leave-one-out error in closed form, on these features
    cv            k and gamma chosen together, from all of the above but gcv and loo

A fit to a whole training part ends after `_SECONDS` of processor time, so that what is proven does not depend on what
else the machine has to do. Rows are appended to a file as they come, and a run that was stopped goes on; `--show`
prints the table of the docs.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import parsifal as pf
from benchmarks.defaults.tables import HELD_OUT, TABLES

NUMBERS = (1.0, 10.0, math.inf)
RULES = ("paper", *(f"{gamma:g}" for gamma in NUMBERS), "n/p", "(n-p)/p", "gcv", "loo", "cv")
_SIZES, _SIZES_WIDE = (1, 2, 3, 4, 6, 8, 12), (2, 4, 8)
_WIDE = 60  # columns
_SECONDS = 2.0
_REPEATS, _FOLDS = 1, 5
_DATA = Path(__file__).parents[2] / "docs" / "data"
FILE, HELD_OUT_FILE = _DATA / "gamma-default.jsonl", _DATA / "gamma-held-out.jsonl"


def shrinkage_scores(X: np.ndarray, y: np.ndarray, gamma: float) -> tuple[float, float]:
    """Generalised cross-validation and mean squared leave-one-out error of a ridge fit with an intercept."""
    n = len(y)
    center = X.mean(axis=0)
    u, d, _ = np.linalg.svd((X - center) / X.std(axis=0), full_matrices=False)
    keep = d > 1e-10 * d.max(initial=1.0)
    u, d = u[:, keep], d[keep]
    shrink = d**2 / (d**2 + (0.0 if math.isinf(gamma) else 1.0 / gamma))
    residual = (y - y.mean()) - u @ (shrink * (u.T @ (y - y.mean())))
    leverage = np.minimum(1.0 / n + (u**2) @ shrink, 1 - 1e-9)
    free = n - 1 - shrink.sum()
    gcv = n * float(residual @ residual) / max(free, 1e-9) ** 2
    return gcv, float(np.mean((residual / (1 - leverage)) ** 2))


def ridge_by_rule(X: np.ndarray, y: np.ndarray, rule: str) -> float:
    """The gamma that a rule prefers on these features."""
    grid = [*np.geomspace(1e-4, 1e3, 29), math.inf]
    place = ("gcv", "loo").index(rule)
    return float(min(grid, key=lambda gamma: shrinkage_scores(X, y, gamma)[place]))


def candidates(n: int, p: int) -> dict[str, float]:
    """The ridge weights by name, for n rows and p columns."""
    paper = 1 / math.sqrt(n)
    ratio = n / p
    rules = {"n/p": ratio, "(n-p)/p": ratio - 1}
    limited = {name: min(10.0, max(paper, gamma)) for name, gamma in rules.items()}
    return {"paper": paper, **{f"{gamma:g}": gamma for gamma in NUMBERS}, **limited}


def judge(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, dict[str, Any]]:
    """What each candidate gives on one split: test error, size, features, whether proven, processor seconds."""
    gammas = candidates(train.size, X.shape[1])
    tried = _SIZES_WIDE if X.shape[1] > _WIDE else _SIZES
    sizes_tried = [k for k in tried if k <= max(2, min(X.shape[1], train.size // 4))]
    inner = pf.SparseRegressorCV(
        sizes_tried,
        gammas=list(gammas.values()),
        cv=3 if tried is _SIZES_WIDE else 5,
        node_limit=1,
        fold_node_limit=1,
        time_limit=None,
    )
    inner.fit(X[train], y[train])
    mse = inner.mse_path_.mean(axis=2)
    place = {f"{gamma:.12g}": g for g, gamma in enumerate(inner.gammas_)}
    out: dict[str, dict[str, Any]] = {}

    def note(name: str, model: pf.SparseRegressor, seconds: float) -> None:
        error = float(np.mean((y[test] - model.predict(X[test])) ** 2))
        out[name] = {
            "mse": error,
            "k": int(model.support_.size),
            "support": model.support_.tolist(),
            "proven": model.status_ == "optimal",
            "seconds": round(seconds, 3),
            "gamma": model.gamma_ if math.isfinite(model.gamma_) else "inf",
        }

    sizes = {}
    for name, gamma in gammas.items():
        row = mse[place[f"{gamma:.12g}"]]
        sizes[name] = int(inner.ks_[int(np.argmin(row))])
        same = next((other for other in out if gammas[other] == gamma), None)
        if same is None:
            note(name, *_fit(X[train], y[train], k=sizes[name], gamma=gamma))
        else:
            out[name] = out[same]
    chosen = np.array(out["inf"]["support"])
    for rule in ("gcv", "loo"):
        gamma = ridge_by_rule(X[train][:, chosen], y[train], rule)
        note(rule, *_fit(X[train], y[train], k=chosen.size, gamma=gamma, force_in=chosen))
    g, i = np.unravel_index(int(np.argmin(mse)), mse.shape)
    best = next(name for name, gamma in gammas.items() if gamma == inner.gammas_[g])
    out["cv"] = {**out[best], "k": int(inner.ks_[i])}
    return out


def _fit(X: np.ndarray, y: np.ndarray, **options: Any) -> tuple[pf.SparseRegressor, float]:
    started = time.process_time()

    def stop(_: pf.Progress) -> None:
        if time.process_time() - started > _SECONDS:
            raise KeyboardInterrupt  # which ends a fit with the best that it has

    model = pf.SparseRegressor(time_limit=None, progress=stop, **options).fit(X, y)
    return model, time.process_time() - started


def run(names: Sequence[str], file: Path, repeats: int) -> None:
    """Judge every split that the file does not have yet."""
    done = {(row["table"], row["repeat"], row["fold"]) for row in rows_of(file)}
    file.parent.mkdir(parents=True, exist_ok=True)
    for repeat in range(repeats):
        for name in names:
            X, y = {**TABLES, **HELD_OUT}[name]()
            for fold, (train, test) in enumerate(KFold(_FOLDS, shuffle=True, random_state=repeat).split(X)):
                if (name, repeat, fold) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    warnings.simplefilter("ignore", UserWarning)
                    found = judge(X, y, train, test)
                row = {"table": name, "n": len(y), "p": X.shape[1], "repeat": repeat, "fold": fold, "rules": found}
                row["variance"] = float(np.mean((y[test] - y[train].mean()) ** 2))
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
                print(name, repeat, fold, {rule: round(v["mse"] / row["variance"], 4) for rule, v in found.items()})


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows that are there."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def jaccard(supports: Sequence[Sequence[int]]) -> float:
    """How much the supports of different splits have in common, on average over pairs."""
    pairs = [(set(a), set(b)) for a, b in combinations(supports, 2)]
    return float(np.mean([len(a & b) / max(1, len(a | b)) for a, b in pairs])) if pairs else float("nan")


def show(file: Path) -> str:
    """The tables of the docs: by table the error relative to the mean's; over all tables what each rule is worth."""
    rows = rows_of(file)
    by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_table[row["table"]].append(row)
    lines = ["| table | rows | columns | " + " | ".join(RULES) + " |", "|---|---|---|" + "---|" * len(RULES)]
    excess: dict[str, list[float]] = defaultdict(list)
    for name, splits in by_table.items():
        total = sum(row["variance"] for row in splits)
        error = {rule: sum(row["rules"][rule]["mse"] for row in splits) / total for rule in RULES}
        best = min(error.values())
        for rule in RULES:
            excess[rule].append(error[rule] / best - 1)
        cells = (f"**{error[r]:.4f}**" if error[r] == best else f"{error[r]:.4f}" for r in RULES)
        lines.append(f"| {name} | {splits[0]['n']} | {splits[0]['p']} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "| rule | median excess | mean | largest | within 2 % | stability | proven | seconds |",
        "|---|" + "---|" * 7,
    ]
    for rule in RULES:
        stable = [jaccard([row["rules"][rule]["support"] for row in splits]) for splits in by_table.values()]
        # What is fitted for gcv and loo are features that were chosen without a ridge, and proven then or not.
        fits = [row["rules"]["inf" if rule in ("gcv", "loo") else rule] for row in rows]
        lines.append(
            f"| {rule} | {np.median(excess[rule]):.1%} | {np.mean(excess[rule]):.1%} | {max(excess[rule]):.1%} "
            f"| {sum(e <= 0.02 for e in excess[rule])} of {len(by_table)} | {np.mean(stable):.2f} "
            f"| {np.mean([fit['proven'] for fit in fits]):.0%} | {np.mean([fit['seconds'] for fit in fits]):.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run, or show what was found."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all by default")
    arguments.add_argument("--held-out", action="store_true", help="the tables that the default was not chosen on")
    arguments.add_argument("--file", type=Path)
    arguments.add_argument("--repeats", type=int, default=_REPEATS)
    arguments.add_argument("--show", action="store_true", help="only print the tables of the docs")
    args = arguments.parse_args()
    file = args.file or (HELD_OUT_FILE if args.held_out else FILE)
    if not args.show:
        run(args.tables or list(HELD_OUT if args.held_out else TABLES), file, args.repeats)
    print(show(file))


if __name__ == "__main__":
    main()
