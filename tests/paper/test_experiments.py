"""Every experiment at smoke size: runs, table, picture; resumed, shared, and from the command line."""

from __future__ import annotations

import inspect
import json
import math
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsifal import InputError, ParsifalError, Solution, solve
from parsifal.paper import EXPERIMENTS, Options, nonlinear, reported
from parsifal.paper.__main__ import main
from parsifal.paper.command import make_options, parse_cells
from parsifal.paper.curves import Point, mean_band, settled_from, share_band, time_curve
from parsifal.paper.measure import draw
from tests.paper.smoke import SIZES, options, without_times

ARGUMENTS = ["figure1", "--n", "20,30", "--p", "40", "--k", "2", "--repeats", "2", "--parts", "known-k,lasso"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs_with_table_and_picture(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    chosen = options(name, tmp_path)
    results = experiment.run(chosen)
    assert len(results.rows) == results.expected == len(experiment.tasks(chosen)) > 0
    assert all(row["result"].get("status", "optimal") == "optimal" for row in results.rows)
    text = experiment.table(results)
    assert text.startswith("| ")
    assert str(chosen.ns[0] if chosen.ns else 40) in text
    paths = experiment.write(results)
    assert all(path.stat().st_size > 1000 for path in paths if path.suffix in (".png", ".svg"))
    assert experiment.plot(results).axes
    # Nothing is left to do: the file does not grow, and what is loaded is what was run.
    size = (tmp_path / f"{name}.jsonl").stat().st_size
    assert experiment.run(chosen).rows == results.rows
    assert experiment.load(chosen).rows == results.rows
    assert (tmp_path / f"{name}.jsonl").stat().st_size == size


def test_full_runs_are_the_papers() -> None:
    full = Options(full=True)
    tasks = {name: experiment.tasks(full) for name, experiment in EXPERIMENTS.items()}
    cells = {(t["k"], t["p"], t["n"]) for t in tasks["table1"]}
    assert cells == set(reported.TABLE1_EXACT)
    repeats = {"figure1": 50, "figure-p": 20, "figure-k": 20, "figure-snr": 20, "nonlinear": 5}
    for name, count in repeats.items():
        assert {t["repeat"] for t in tasks[name]} == set(range(count))
    assert {t["p"] for t in tasks["figure-p"]} == {5000, 10_000, 15_000}
    assert {t["k"] for t in tasks["figure-k"]} == {10, 15, 20}
    assert {t["sqrt_snr"] for t in tasks["figure-snr"]} == {3, 7, 20}
    assert {tuple(t["ks"]) for t in tasks["figure1"] if t["part"] == "cv"} == {(1, 20)}
    assert {t["time_limit"] for t in tasks["figure1"] if t["part"] == "known-k"} == {900.0}
    # A quick run is not taken for a part of the full one where its limits are others.
    assert {json.dumps(t) for t in EXPERIMENTS["figure1"].tasks(Options()) if "time_limit" in t}.isdisjoint(
        json.dumps(t) for t in tasks["figure1"]
    )


def test_gamma_is_one_over_root_n_unless_given() -> None:
    (task, *_) = EXPERIMENTS["figure1"].tasks(Options(ns=(64,), parts=("known-k",)))
    assert task["gamma"] == 1 / 8
    (task, *_) = EXPERIMENTS["figure1"].tasks(Options(ns=(64,), parts=("known-k",), gamma=3.0))
    assert task["gamma"] == 3.0
    factors = {(t["factor"], t["gamma"]) for t in EXPERIMENTS["figure1"].tasks(Options(ns=(64,), parts=("gamma",)))}
    assert factors == {(0.1, 0.1 / 8), (1.0, 1 / 8), (10.0, 10 / 8), (math.inf, math.inf)}
    chosen = EXPERIMENTS["figure1"].tasks(Options(ns=(64,), parts=("gamma",), values=(10.0, math.inf)))
    assert {t["factor"] for t in chosen} == {10.0, math.inf}


def test_all_parts_have_the_same_data_and_repeats_have_others() -> None:
    tasks = EXPERIMENTS["figure1"].tasks(Options(ns=(20,), p=30, k=2, repeats=2))
    first = {t["part"]: draw(t).X for t in tasks if t["repeat"] == 0}
    assert len(first) == 5
    assert all(np.array_equal(X, first["known-k"]) for X in first.values())
    other = next(t for t in tasks if t["repeat"] == 1)
    assert not np.array_equal(draw(other).X, first["known-k"])


def test_nonlinear_model_by_hand() -> None:
    (task, *_) = EXPERIMENTS["nonlinear"].tasks(Options(ns=(50,), repeats=1, values=(1,), parts=("cosine-10",)))
    features, y, truth = nonlinear.draw_nonlinear(task)
    assert features.shape == (50, 160)
    # y less its true part is the product x1 x2 and the noise; the first eight features are those of x1.
    lead = features[:, truth]
    x1, x2 = features[:, 0], features[:, 8]
    coef, residual, *_ = np.linalg.lstsq(np.column_stack([lead, x1 * x2]), y, rcond=None)
    assert sorted(np.round(coef).tolist()) == [-2, -2, 1, 3, 3, 4]
    assert np.sqrt(residual[0] / (y @ y)) < 1 / 20


def test_a_fit_that_beats_the_truth_is_told(tmp_path: Path) -> None:
    # With far fewer rows than the noise asks for, the best support is not the true one.
    chosen = options("figure-snr", tmp_path, ns=(8,), values=(0.5,), k=3, repeats=2)
    results = EXPERIMENTS["figure-snr"].run(chosen)
    assert all(row["result"]["objective"] < row["result"]["truth_objective"] for row in results.rows)
    assert "n = 8: in 2 of 2 runs the fit found is better than that of the true support" in EXPERIMENTS[
        "figure-snr"
    ].table(results)


def test_time_of_a_run_that_gave_up_is_no_time() -> None:
    def row(n: int, status: str, seconds: float) -> dict[str, Any]:
        return {"task": {"n": n}, "result": {"status": status, "seconds": seconds}}

    rows = [row(1, "gap_open", 0.1), row(2, "gap_open", 0.1), row(2, "optimal", 5.0), row(3, "time_limit", 9.0)]
    points = time_curve(rows)
    assert [(point.n, point.mean, point.runs, point.proven) for point in points] == [(2, 5.0, 1, 0.5), (3, 9.0, 1, 0.0)]


def test_an_interrupted_solve_is_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*args: Any, **kwargs: Any) -> Solution:
        return replace(solve(*args, **kwargs), status="interrupted")

    monkeypatch.setattr("parsifal.paper.measure.solve", interrupted)
    chosen = options("figure1", tmp_path, parts=("known-k",))
    with pytest.raises(KeyboardInterrupt):
        EXPERIMENTS["figure1"].run(chosen)
    assert EXPERIMENTS["figure1"].load(chosen).rows == []


def test_settled_from_is_the_start_of_the_last_stretch() -> None:
    points = [
        Point(n=n, mean=m, low=m, high=m, runs=1, proven=None) for n, m in ((1, 100), (2, 50), (3, 100), (4, 100))
    ]
    assert settled_from(points, lambda point: point.mean == 100) == 3
    assert settled_from(points[:2], lambda point: point.mean == 100) is None


def test_bands_hold_the_mean_and_stay_in_range() -> None:
    assert mean_band([3.0]) == (3.0, 3.0)
    assert mean_band([100.0] * 5) == (100.0, 100.0)
    low, high = mean_band([0.0, 100.0, 100.0, 100.0])
    assert 0 <= low < 75 < high <= 100
    wide, narrow = mean_band([0.0, 1.0] * 3), mean_band([0.0, 1.0] * 300)
    assert narrow[1] - narrow[0] < 0.2 * (wide[1] - wide[0])
    # Wilson's band for 9 of 10, from the formula's textbook example; never empty at the ends.
    assert np.allclose(share_band(9, 10), (0.5958, 0.9821), atol=5e-5)
    assert share_band(0, 10)[0] == 0
    assert share_band(0, 10)[1] > 0.2
    assert share_band(10, 10)[1] == 1


def test_killed_run_resumes_to_the_same_results(tmp_path: Path) -> None:
    chosen = options("figure1", tmp_path / "whole", parts=("known-k", "lasso"))
    whole = EXPERIMENTS["figure1"].run(chosen)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "parsifal.paper", *ARGUMENTS, "--time-limit", "60", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = out / "figure1.jsonl"
    while process.poll() is None and not (file.exists() and file.stat().st_size > 0):
        time.sleep(0.0005)
    process.kill()
    assert process.wait() in (-signal.SIGKILL, 0)
    with file.open("ab") as torn:
        torn.write(b'{"experiment": "figure1", "task": {"par')
    resumed = EXPERIMENTS["figure1"].run(options("figure1", out, parts=("known-k", "lasso")))
    assert without_times(resumed.rows) == without_times(whole.rows)


def test_several_jobs_give_the_same(tmp_path: Path) -> None:
    parts = ("known-k",)
    alone = EXPERIMENTS["figure1"].run(options("figure1", tmp_path / "1", parts=parts))
    jobs = EXPERIMENTS["figure1"].run(options("figure1", tmp_path / "2", parts=parts, jobs=2))
    assert without_times(jobs.rows) == without_times(alone.rows)


def test_active_dask_client_is_used(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    alone = EXPERIMENTS["figure1"].run(options("figure1", tmp_path / "1", parts=("known-k",)))
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
        spread = EXPERIMENTS["figure1"].run(options("figure1", tmp_path / "2", parts=("known-k",), dask=True))
    assert without_times(spread.rows) == without_times(alone.rows)


def test_both_methods_in_one_picture(tmp_path: Path) -> None:
    methods = ("search", "cutting-plane", "cutting-plane-plus")
    chosen = options("figure1", tmp_path, methods=methods, parts=("known-k",), repeats=1)
    if "method" not in inspect.signature(solve).parameters:
        with pytest.raises(ParsifalError, match="cutting planes"):
            EXPERIMENTS["figure1"].run(chosen)
        return
    pytest.importorskip("pyscipopt")
    results = EXPERIMENTS["figure1"].run(chosen)
    objectives = {method: [row["result"]["objective"] for row in results.of(method=method)] for method in methods}
    assert len(objectives["search"]) == 2
    for method in methods:
        assert objectives[method] == pytest.approx(objectives["search"], rel=1e-5)
    labels = [text.get_text() for text in EXPERIMENTS["figure1"].plot(results).axes[1].get_legend().get_texts()]
    assert len(labels) == 3


def test_cells() -> None:
    assert parse_cells("10,50000,10000") == ((10, 50_000, 10_000),)
    assert len(parse_cells("*,50000,10000 10,*,*")) == 11
    for wrong in ("10,50000", "a,b,c", "1.5,2,3"):
        with pytest.raises(InputError, match="--cells"):
            parse_cells(wrong)
    with pytest.raises(InputError, match="1 <= k <= p"):
        EXPERIMENTS["table1"].tasks(Options(cells=((5, 3, 10),)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method"),
        ({"method": ""}, "method"),
        ({"gamma": 0.0}, "gamma"),
        ({"time_limit": -1.0}, "time limit"),
        ({"n": "10,x"}, "--n"),
        ({"n": "0"}, "n must be"),
        ({"values": "nan"}, "--values"),
        ({"repeats": 0}, "repeats"),
        ({"jobs": 0}, "jobs"),
    ],
)
def test_bad_options(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_options(**arguments)  # type: ignore[arg-type]


def test_options_that_do_not_apply(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no part"):
        EXPERIMENTS["figure-snr"].run(options("figure-snr", tmp_path, parts=("cv",)))
    with pytest.raises(InputError, match="cells"):
        EXPERIMENTS["figure1"].run(options("figure1", tmp_path, cells=((1, 2, 3),)))
    for name in ("figure-snr", "nonlinear"):
        with pytest.raises(InputError, match="only the part gamma of figure1"):
            EXPERIMENTS[name].run(options(name, tmp_path, values=(math.inf,)))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ARGUMENTS, "--out", str(tmp_path)]) == 0
    first = capsys.readouterr()
    assert "| p = 40, k = 2 | search | 20 | 2 |" in first.out
    assert "8/8 runs" in first.err
    assert main([*ARGUMENTS, "--out", str(tmp_path), "--draw-only"]) == 0
    assert capsys.readouterr().out == first.out
    assert main(["figure1", "--n", "25", "--out", str(tmp_path), "--draw-only"]) == 2
    assert "leave out --draw-only" in capsys.readouterr().err
    assert main(["figure1", "--gamma", "-1", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: gamma")


def test_typer_command(tmp_path: Path) -> None:
    typer = pytest.importorskip("typer")
    from typer.testing import CliRunner

    from parsifal.paper.command import register

    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    done = CliRunner().invoke(app, ["reproduce", *ARGUMENTS, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "figure1.png").exists()
    assert SIZES.keys() == EXPERIMENTS.keys()
