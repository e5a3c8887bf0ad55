"""`TableEncoder`: the command line's encoding in a pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import parsifal as pf
from parsifal.tabular import Recipe, encode, read_table, settle


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    out = pd.DataFrame(
        {
            "id": np.arange(1, 61),
            "size": rng.standard_normal(60),
            "town": rng.choice(["A", "B", "C"], 60),
            "when": pd.date_range("2020-01-01", periods=60, unit="s"),
            "price": [f"${1000 + 7 * i % 100:,}" for i in range(60)],
            "same": 3,
        }
    )
    out.loc[5, "size"] = np.nan
    out.loc[[7, 8], "town"] = None
    return out


FEATURES = ["size", "town=A", "town=B", "town=C", "when", "price"]


def test_it_does_what_the_command_line_does(frame: pd.DataFrame, tmp_path) -> None:
    frame.assign(y=np.arange(60.0)).to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    found = settle(table, Recipe(target="y", impute="median"))
    encoded = encode(table, found.recipe)
    encoder = pf.TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == list(encoded.features) == FEATURES
    assert encoder.remarks_ == found.lines
    np.testing.assert_array_equal(encoder.transform(frame), encoded.design.columns(range(6)))


def test_frames_of_all_libraries_and_arrays(frame: pd.DataFrame) -> None:
    expected = pf.TableEncoder().fit_transform(frame)
    assert isinstance(expected, pd.DataFrame)
    assert list(expected.columns) == FEATURES
    polars = pf.TableEncoder().fit_transform(pl.from_pandas(frame))
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == FEATURES
    arrow = pf.TableEncoder().fit_transform(pa.Table.from_pandas(frame))
    plain = pf.TableEncoder().fit(frame.to_numpy(dtype=object, na_value=None))
    assert plain.get_feature_names_out().tolist() == [
        "x0", "x1", "x2=A", "x2=B", "x2=C", "x3", "x4"
    ]  # fmt: skip
    for other in (polars, arrow, plain.transform(frame.to_numpy(dtype=object, na_value=None))[:, 1:]):
        np.testing.assert_array_equal(np.asarray(other), expected)
    assert list(pf.TableEncoder().fit_transform(frame.astype({"town": "category"})).columns) == FEATURES


def test_in_a_pipeline_names_reach_the_model(frame: pd.DataFrame) -> None:
    y = frame["size"].fillna(0.0) + 3.0 * (frame["town"] == "B")
    pipe = make_pipeline(pf.TableEncoder(unknown="ignore"), pf.SparseRegressor(k=2)).fit(frame, y)
    assert list(pipe[-1].get_feature_names_out()) == ["size", "town=B"]
    assert cross_val_score(clone(pipe), frame, y, cv=3).min() > 0.5
    assert pipe.predict(frame[::-1])[0] == pytest.approx(pipe.predict(frame)[-1])


def test_new_rows_are_encoded_as_the_first_were(frame: pd.DataFrame) -> None:
    encoder = pf.TableEncoder().fit(frame)
    new = frame.head(3).assign(size=np.nan, town=None, price="$12")
    found = encoder.transform(new[["price", "when", "town", "size"]])
    assert found["size"].tolist() == [frame["size"].median()] * 3
    assert found[f"town={frame['town'].mode()[0]}"].tolist() == [1.0] * 3
    assert found["price"].tolist() == [12.0] * 3
    strange = new.assign(town="Z")
    with pytest.raises(pf.InputError, match="'town' is 'Z' in row 1, a level that the training data did not have"):
        encoder.transform(strange)
    ignoring = pf.TableEncoder(unknown="ignore").fit(frame).transform(strange)
    assert ignoring[["town=A", "town=B", "town=C"]].to_numpy().tolist() == [[0.0] * 3] * 3


def test_strict_names_all_faults_and_parameters_that_would_do(frame: pd.DataFrame) -> None:
    with pytest.raises(pf.InputError, match="strict refuses X") as refused:
        pf.TableEncoder(strict=True).fit(frame)
    for name in ("id", "town", "when", "price", "same"):
        assert f"column '{name}'" in str(refused.value)
    would_do = str(refused.value).partition("This would do: ")[2]
    encoder = eval(would_do, {"TableEncoder": pf.TableEncoder}).fit(frame)
    assert encoder.remarks_ == []
    assert encoder.get_feature_names_out().tolist() == FEATURES


def test_gaps_can_be_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(pf.InputError, match=r"column 'size' has no value in row 6; use impute='median', or X\.dropna"):
        pf.TableEncoder(impute=None).fit(frame)
    encoder = pf.TableEncoder(impute=None).fit(frame.dropna())
    with pytest.raises(pf.InputError, match="column 'size' has no value in row 6; fit with impute='median', or fill"):
        encoder.transform(frame)


def test_names_of_any_type(frame: pd.DataFrame) -> None:
    mixed = frame.rename(columns={"size": 1, "town": ("a", "b")})
    assert pf.TableEncoder().fit(mixed).get_feature_names_out().tolist()[0] == "1"


def test_scikit_learn_may_choose_the_output(frame: pd.DataFrame) -> None:
    encoder = pf.TableEncoder().set_output(transform="pandas").fit(frame)
    assert list(encoder.transform(frame).columns) == FEATURES
