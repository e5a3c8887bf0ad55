"""What is decided about a table that nobody has said: every rule, and that a strict recipe says the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsifal.tabular import Recipe, Settled, Table, encode, read_table, settle

N = 12


def made(tmp_path: Path, name: str = "d.csv", rows: int = N, **columns: list[object]) -> Table:
    """A table with these columns, a number `a` and the target `y`."""
    columns = {**columns, "a": [(i * 7) % 5 + i / 10 for i in range(rows)], "y": [(i * 5) % 7 for i in range(rows)]}
    lines = [",".join(columns), *(",".join(f'"{v}"' for v in row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(tmp_path / name)


def settled(table: Table, **asked: object) -> Settled:
    """What is decided; followed to the letter, and decided a second time, nothing is left to decide."""
    found = settle(table, Recipe(target="y", **asked))
    encode(table, found.recipe)
    again = settle(table, found.recipe)
    assert again.remarks == ()
    assert again.recipe == found.recipe
    return found


def why(found: Settled) -> dict[str | None, str]:
    return {remark.column: remark.why for remark in found.remarks}


def test_a_table_of_numbers_needs_no_decision(tmp_path: Path) -> None:
    found = settled(made(tmp_path))
    assert (found.remarks, found.options, found.lines) == ((), (), [])
    assert (found.recipe.drop, found.recipe.categorical, found.recipe.drop_missing) == ((), (), False)


def test_text_becomes_indicators(tmp_path: Path) -> None:
    found = settled(made(tmp_path, g=["u", "v", "w"] * 4, smoker=["yes", "no"] * 6))
    assert found.recipe.categorical == ("g", "smoker")
    assert found.lines == ["as indicators: g, smoker"]
    assert found.options == ("--categorical", "g,smoker")


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ([f"name {i}" for i in range(N)], "text with 12 different values in 12 rows"),
        ([f"name {i % 7}" for i in range(N)], "text with 7 different values in 12 rows"),
        ([f"{i + 1}/{i + 1}/2020" for i in range(N)], "dates that are not written like 2020-01-31"),
        ([5] * N, "it is 5 in every row"),
        ([5] * 6 + [""] * 6, "it is 5 in every row"),
        (["same"] * N, "it is 'same' in every row"),
        ([""] * N, "it has no values"),
        (["NA", "", "?"] * 4, "it has no values"),
    ],
)
def test_columns_that_cannot_help_are_left_out(tmp_path: Path, column: list[object], reason: str) -> None:
    found = settled(made(tmp_path, c=column))
    assert found.recipe.drop == ("c",)
    assert why(found) == {"c": reason}


def test_levels_with_two_rows_each_are_kept_and_too_many_are_not(tmp_path: Path) -> None:
    assert settled(made(tmp_path, c=[f"l{i // 2}" for i in range(N)])).recipe.categorical == ("c",)
    many = made(tmp_path, rows=804, c=[f"l{i // 4}" for i in range(804)])
    assert why(settled(many)) == {"c": "text with 201 different values in 804 rows"}


@pytest.mark.parametrize("name", ["", "rownames", "id", "X", "Unnamed: 0", "index"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_first_column_that_counts_the_rows_is_left_out(tmp_path: Path, name: str, first: int) -> None:
    found = settled(made(tmp_path, **{name: list(range(first, first + N))}))
    assert list(why(found).values()) == ["it counts the rows"]


@pytest.mark.parametrize("name", ["rownames", "row.names", "Rowname", "Unnamed: 0"])
def test_an_index_of_some_rows_is_left_out(tmp_path: Path, name: str) -> None:
    some = [7, 3, *range(20, 18 + N)]
    assert list(why(settled(made(tmp_path, b=[0.5, 1.5] * 6, **{name: some}))).values()) == ["it counts the rows"]
    assert settled(made(tmp_path, **{name: [*some[:-1], 7]})).remarks == ()
    assert settled(made(tmp_path, **{name: [*some[:-1], 0.5]})).remarks == ()


def test_a_column_that_counts_is_kept_where_it_has_a_meaning(tmp_path: Path) -> None:
    assert settled(made(tmp_path, year=list(range(1901, 1901 + N)))).remarks == ()
    assert settled(made(tmp_path, time=list(range(1, 1 + N)))).remarks == ()
    assert settled(made(tmp_path, b=[0.5, 1.5] * 6, id=list(range(1, 1 + N)))).remarks == ()
    assert settled(made(tmp_path, id=[2, 1, *range(3, 1 + N)])).remarks == ()


@pytest.mark.parametrize(
    ("texts", "values", "form"),
    [
        (["1,234", "5", "12,345,678"], [1234, 5, 12345678], "thousands separated by ,"),
        (["1,234.5", "0.5", "3"], [1234.5, 0.5, 3], "thousands separated by ,"),
        (["1 234", "5", "-2 000"], [1234, 5, -2000], "thousands separated by a space"),
        (["1'234", "5", "7'000'000"], [1234, 5, 7000000], "thousands separated by '"),
        (["12 %", "7.5%", "-3 %"], [12, 7.5, -3], "with %"),
        (["$5", "-$1,200.50", "$0"], [5, -1200.5, 0], "with $ and thousands separated by ,"),
        (["5 €", "7 €", "1 200 €"], [5, 7, 1200], "with € and thousands separated by a space"),
        (["5", "6", "."], [5, 6, np.nan], "with marks for gaps"),
        (["5", "6", "#DIV/0!"], [5, 6, np.nan], "with marks for gaps"),
    ],
)
def test_numbers_written_for_people(tmp_path: Path, texts: list[str], values: list[float], form: str) -> None:
    table = made(tmp_path, c=texts * 4)
    found = settled(table, impute="median")
    assert found.recipe.numbers == ("c",)
    assert why(found)["c"] == form
    expected = np.array(values * 4, dtype=float)
    filled = np.where(np.isnan(expected), np.nanmedian(expected), expected)
    np.testing.assert_array_equal(encode(table, found.recipe).design.columns([0])[:, 0], filled)


@pytest.mark.parametrize(
    "texts",
    [
        ["1,5", "2,25", "3"],
        ["1,234", "1234", "5"],
        ["0,123", "1,234", "5"],
        ["$5", "€6", "$7"],
        ["12%", "0.3", "5"],
        ["1,234.5", "1 234", "2"],
        ["5 kg", "6 kg", "7 kg"],
        ["--5", "6", "7"],
        ["-", "unknown", "5"],
    ],
)
def test_what_may_mean_two_things_stays_text(tmp_path: Path, texts: list[str]) -> None:
    found = settled(made(tmp_path, c=texts * 4))
    assert found.recipe.numbers == ()
    assert found.recipe.categorical == ("c",)


def test_a_comma_between_semicolons_needs_more_to_go_by(tmp_path: Path) -> None:
    def read(*numbers: str) -> Settled:
        rows = "\n".join(f"{n};{i};{i * i % 5}" for i, n in enumerate(numbers * 3))
        (tmp_path / "d.csv").write_text("c;a;y\n" + rows + "\n", encoding="utf-8")
        return settled(read_table(tmp_path / "d.csv"))

    assert read("1,234", "2,345", "3,456").recipe.numbers == ()
    assert read("1,234,567", "2,345", "3,456").recipe.numbers == ("c",)
    found = read("1,5", "2,25", "3")
    assert (found.recipe.decimal, found.recipe.delimiter, found.recipe.numbers) == (",", ";", ())
    assert found.options == ("--delimiter", ";", "--decimal", ",")
    assert found.lines == ["the file: fields are separated by ;, the decimal point is a ,"]


def test_dates_become_days(tmp_path: Path) -> None:
    days = [f"2020-01-{i + 1:02d}" for i in range(N)]
    table = made(tmp_path, d=days, t=[f"{day} 12:00:00" for day in days])
    found = settled(table)
    assert found.recipe.dates == ("d", "t")
    assert found.lines == ["as days since 1970-01-01: d (dates), t (dates)"]
    first = encode(table, found.recipe).design.columns([0, 1])
    np.testing.assert_array_equal(first[:, 0], 18262 + np.arange(N))
    np.testing.assert_array_equal(first[:, 1], 18262.5 + np.arange(N))
    assert settled(table, drop=("t",), dates=("d",)).remarks == ()


def test_rows_with_gaps_are_left_out(tmp_path: Path) -> None:
    found = settled(made(tmp_path, b=["", *range(N - 1)], c=[1.5, "", *range(N - 2)]))
    assert found.recipe.drop_missing
    assert why(found) == {None: "2 of 12 have gaps, in b (1), c (1)"}
    assert found.options == ("--drop-missing",)


def test_columns_that_are_mostly_gaps_go_before_a_third_of_the_rows(tmp_path: Path) -> None:
    table = made(tmp_path, b=[1, 2, 4, *[""] * (N - 3)], c=["", *range(N - 1)])
    found = settled(table)
    assert found.recipe.drop == ("b",)
    assert why(found) == {
        "b": "9 of 12 rows have no value; --impute median keeps it",
        None: "1 of 12 have gaps, in c (1)",
    }
    # Whoever asks for rows to go gets that, and a column goes only where none would be left of it.
    asked = settled(table, drop_missing=True)
    assert asked.recipe.drop == ()
    assert encode(table, asked.recipe).rows == 2
    filled = settled(table, impute="median")
    assert (filled.recipe.drop, filled.remarks) == ((), ())


def test_where_many_columns_have_few_gaps_rows_go_and_the_remedy_is_named(tmp_path: Path) -> None:
    columns = {f"c{j}": ["" if i // 2 == j else i + j for i in range(N)] for j in range(3)}
    found = settled(made(tmp_path, **columns))
    assert found.recipe.drop == ()
    assert why(found) == {None: "6 of 12 have gaps, in c0 (2), c1 (2), c2 (2); --impute median keeps them"}


def test_where_no_row_would_be_left_columns_go(tmp_path: Path) -> None:
    columns = {f"c{j}": ["" if i // 2 == j else i + j for i in range(N)] for j in range(6)}
    found = settled(made(tmp_path, **columns))
    assert found.recipe.drop == ("c0", "c1")
    assert encode(made(tmp_path, **columns), found.recipe).rows == 4


def test_a_column_may_be_constant_once_rows_are_gone(tmp_path: Path) -> None:
    table = made(tmp_path, b=["", "", *range(N - 2)], c=[1, 2, *[3] * (N - 2)], d=["x", "x", *["z"] * (N - 2)])
    assert why(settled(table)) == {
        None: "2 of 12 have gaps, in b (2)",
        "c": "it is 3 in every row that is left",
        "d": "it is 'z' in every row that is left",
    }


def test_numbers_stay_numbers_once_rows_are_gone(tmp_path: Path) -> None:
    table = made(tmp_path, b=["", "", *range(N - 2)], c=["1,000,000", "2,000", *(f"{i},500" for i in range(3, N + 1))])
    assert settled(table).recipe.numbers == ("c",)
    same = made(tmp_path, b=["", "", *range(N - 2)], c=["$1", "$2", *["$3"] * (N - 2)])
    assert why(settled(same))["c"] == "it is 3 in every row that is left"


def test_a_target_may_have_gaps_a_unit_or_dates(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n1,$5\n2,\n4,$7\n3,$1\n", encoding="utf-8")
    table = read_table(tmp_path / "d.csv")
    found = settled(table)
    assert found.recipe.numbers == ("y",)
    assert encode(table, found.recipe).y.tolist() == [5.0, 7.0, 1.0]
    (tmp_path / "d.csv").write_text("a,y\n1,2020-01-01\n2,2020-01-03\n4,2020-02-01\n", encoding="utf-8")
    assert settled(read_table(tmp_path / "d.csv")).recipe.dates == ("y",)


def test_an_infinite_number_is_a_gap(tmp_path: Path) -> None:
    found = settled(made(tmp_path, b=["inf", *range(N - 1)]))
    assert why(found) == {None: "1 of 12 have gaps, in b (1)"}


def test_names_twice_are_changed_and_spaces_around_them_go(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a, a ,a_2,,y\n1,2,3,5,1\n2,3,1,8,4\n3,5,9,1,2\n", encoding="utf-8")
    table = read_table(tmp_path / "d.csv")
    assert table.names == ("a", "a_3", "a_2", "column4", "y")
    assert settle(table, Recipe(target="y")).lines == ["renamed: a_3 (there was a 'a' before it)"]


def test_text_that_is_not_utf_8_is_windows(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes("größe,y\n1,2\n2,5\n3,1\n".encode("latin-1"))
    table = read_table(tmp_path / "d.csv")
    assert table.names == ("größe", "y")
    assert settled(table).options == ("--encoding", "cp1252")
    (tmp_path / "d.csv").write_bytes("größe,y\n1,2\n2,5\n3,1\n".encode("utf-16"))
    assert read_table(tmp_path / "d.csv").names == ("größe", "y")


def test_what_was_asked_for_is_never_overruled(tmp_path: Path) -> None:
    table = made(tmp_path, id=list(range(1, N + 1)), p=["$1", "$2", "$3"] * 4, d=["2020-01-01", "2020-01-02"] * 6)
    found = settled(table, categorical=("p", "d"), drop=("id",))
    assert found.remarks == ()
    assert settled(table, categorical=("auto",)).recipe.categorical == ("p",)


def test_names_with_commas_can_be_written(tmp_path: Path) -> None:
    from parsifal.cli.options import names

    found = settled(made(tmp_path, **{'"a, b"': ["u", "v"] * 6, "c": ["u", "v"] * 6}))
    assert found.recipe.categorical == ("a, b", "c")
    assert found.options == ("--categorical", '"a, b",c')
    assert names([found.options[1]]) == ("a, b", "c")
    assert names(['say "x",b', ' c ,"d""e"']) == ('say "x"', "b", "c", 'd"e')
