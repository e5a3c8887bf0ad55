"""Cross-validation of k and gamma beside scikit-learn's LassoCV: `python -m benchmarks.speed.crossval`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from statistics import median

import numpy as np
from sklearn.linear_model import LassoCV

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import timed
from parsifal.datasets import make_sparse_regression

COLUMNS = (
    Column("label", "instance", 44, "s"),
    Column("fits", "fold fits", 9, "d"),
    Column("seconds", "seconds", 8, ".2f"),
    Column("proven", "fold fits proven", 16, ".0%"),
    Column("optimal", "last fit proven", 15, "s"),
    Column("accuracy", "A %", 6, ".0f"),
    Column("false_alarms", "F %", 6, ".0f"),
    Column("lasso_seconds", "LassoCV s", 9, ".2f"),
    Column("lasso_false_alarms", "LassoCV F %", 11, ".0f"),
)


def main(argv: Sequence[str]) -> None:
    """Print one line per instance."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int)
    arguments.add_argument("--jobs", type=int, default=2)
    args = arguments.parse_args(argv)
    seeds = range(args.seeds or (1 if args.quick else 3))
    table = Table(
        "crossval", f"Cross-validation, 5 folds, {args.jobs} jobs, medians of {len(seeds)}", COLUMNS, args.json
    )
    n, p, k, most = (60, 100, 3, 5) if args.quick else (150, 2000, 10, 20)
    compare(
        table,
        f"linear, n={n}, p={p}, k=1..{most}, 1 gamma",
        [make_sparse_regression(n, p, k, random_state=seed) for seed in seeds],
        pf.SparseRegressorCV(range(1, most + 1), gammas=1 / np.sqrt(n), n_jobs=args.jobs),
    )
    n, variables, most = (60, 4, 4) if args.quick else (200, 20, 10)
    factors = np.array([1.0] if args.quick else [0.1, 0.3, 1.0, 3.0, 10.0])
    compare(
        table,
        f"nonlinear, n={n}, p={8 * variables}, k=1..{most}, {factors.size} gammas",
        [nonlinear(n, variables, seed) for seed in seeds],
        pf.SparseRegressorCV(range(1, most + 1), gammas=factors / np.sqrt(n), n_jobs=args.jobs),
    )


def nonlinear(n: int, variables: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The paper's nonlinear model (a = 0) on `variables` variables, lifted by its eight functions."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1.0, 1.0, (n, variables))
    lift = pf.NonlinearFeatures()
    X = lift.fit_transform(Z)
    names = list(lift.get_feature_names_out())
    truth = {"sqrt|x3|": 3.0, "x2^2": -2.0, "tanh(2 x2)": 4.0, "cos(10 pi x1)": 3.0, "x0": -2.0}
    support = np.array([names.index(name) for name in truth])
    y = X[:, support] @ np.array(list(truth.values()))
    noise = rng.standard_normal(n)
    return X, y + noise * np.linalg.norm(y) / np.linalg.norm(noise) / 20, np.sort(support)


def compare(table: Table, label: str, data: list, model: pf.SparseRegressorCV) -> None:
    """Fit both to every data set."""
    ours, theirs, proven, accuracy, alarms, lasso_alarms, optimal = [], [], [], [], [], [], 0
    for X, y, support in data:
        seconds, fitted = timed(lambda X=X, y=y: model.fit(X, y))
        ours.append(seconds)
        proven.append(float((fitted.gap_path_ <= fitted.rel_gap).mean()))
        optimal += fitted.status_ == "optimal"
        accuracy.append(pf.metrics.accuracy(support, fitted.support_))
        alarms.append(pf.metrics.false_alarm_rate(support, fitted.support_))
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, lasso = timed(lambda X=scaled, y=y: LassoCV(cv=5, n_jobs=model.n_jobs).fit(X, y))
        theirs.append(seconds)
        lasso_alarms.append(pf.metrics.false_alarm_rate(support, np.flatnonzero(lasso.coef_)))
    table.row(
        label=label,
        fits=model.mse_path_.size,
        seconds=median(ours),
        proven=median(proven),
        optimal=f"{optimal}/{len(data)}",
        accuracy=median(accuracy),
        false_alarms=median(alarms),
        lasso_seconds=median(theirs),
        lasso_false_alarms=median(lasso_alarms),
    )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
