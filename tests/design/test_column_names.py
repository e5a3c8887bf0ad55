"""A frame has its columns for attributes: what they are called must not change what it is taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import zarr
from typer.testing import CliRunner

import parsifal as pf
from parsifal.cli.app import app

NAMES = ["scan", "columns", "shape", "tocsc", "dtype", "to_numpy", "toarray", "iloc", "read", "rows", "feature_names"]
NAMES += ["reads", "nbytes", "sparse", "chunks", "to_delayed", "format", "data", "values", "index", "kind", "T", "dask"]
_RNG = np.random.default_rng(0)
X, Y = _RNG.standard_normal((30, len(NAMES) + 2)), _RNG.standard_normal(30)


def frames(*names: str) -> list[Any]:
    pandas = pd.DataFrame(X[:, : len(names) + 2], columns=[*names, "b", "c"])
    return [pandas, pandas.assign(b=X[:, 1].astype(np.float32)), pl.from_pandas(pandas)]


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_is_taken_for_a_frame(name: str) -> None:
    for frame in frames(name):
        plain = np.asarray(frame.to_numpy(), dtype=np.float64)
        assert pf.as_design(frame).feature_names == (name, "b", "c")
        np.testing.assert_array_equal(pf.as_design(frame).columns([0, 1, 2]), plain)
        model = pf.SparseRegressor(k=2).fit(frame, Y)
        assert model.feature_names_in_.tolist() == [name, "b", "c"]
        np.testing.assert_allclose(
            model.predict(frame), pf.SparseRegressor(k=2).fit(plain, Y).predict(plain), rtol=1e-5
        )


def test_every_call_takes_the_frame_for_a_frame() -> None:
    name, names = NAMES[0], (*NAMES, "b", "c")
    for frame in frames(*NAMES):
        plain = np.asarray(frame.to_numpy(), dtype=np.float64)
        expected = pf.solve(plain, Y, k=2, gamma=1.0)
        solution = pf.solve(frame, Y, k=2, gamma=1.0, force_in=[name])
        assert pf.as_design(frame).feature_names == names
        assert 0 in solution.support
        assert pf.check(solution.certificate, plain, Y)
        assert pf.solve(frame, Y, k=2, gamma=1.0).objective == pytest.approx(expected.objective)
        assert pf.path(frame, Y, ks=(1, 2), gamma=1.0).solutions[1].objective == pytest.approx(expected.objective)
        assert pf.k_best(frame, Y, k=2, gamma=1.0, count=1)[0].objective == pytest.approx(expected.objective)
        assert pf.relax(frame, Y, k=2, gamma=1.0).bound == pytest.approx(pf.relax(plain, Y, k=2, gamma=1.0).bound)
        assert pf.loss(frame, Y, [0], gamma=1.0).value == pytest.approx(pf.loss(plain, Y, [0], gamma=1.0).value)
        assert pf.SparseRegressor(k=2).fit(frame, Y).check(frame, Y)
        pf.SparseRegressorCV(ks=(1, 2), gammas=[1.0], cv=3).fit(frame, Y).predict(frame)
        pf.SparseKernelRegressor(["linear", "rbf"], k=1, gamma=1.0).fit(frame, Y).predict(frame)
        pf.NonlinearFeatures().fit(frame).transform(frame)


def test_the_command_line_takes_the_column_for_a_column(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    frames(*NAMES)[0].assign(y=Y).to_csv(table, index=False)
    proof = str(tmp_path / "proof.npz")
    forced = ",".join(NAMES)
    fit = ["fit", str(table), "-t", "y", "-k", "24", "--force-in", forced, "--certificate", proof, "--quiet"]
    assert CliRunner().invoke(app, fit).exit_code == 0
    assert CliRunner().invoke(app, ["check", proof, str(table)]).exit_code == 0


def test_a_dask_frame_with_such_a_column_is_refused_as_a_frame() -> None:
    frame = dd.from_pandas(frames("chunks")[0], npartitions=2)
    with pytest.raises(pf.InputError, match=r"X is a Dask DataFrame; pass a Dask array"):
        pf.as_design(frame)


def test_a_group_with_a_member_named_shape_is_a_group(tmp_path: Path) -> None:
    group = zarr.open_group(str(tmp_path / "X.zarr"), mode="w")
    for name, values in (("shape", np.arange(3.0)), ("X", X)):
        array = group.create_array(name, shape=values.shape, dtype="f8")
        array[...] = values
    np.testing.assert_array_equal(pf.open_design(tmp_path / "X.zarr").columns([0, 1, 2]), X[:, :3])
