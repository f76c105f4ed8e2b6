"""Tables and documents (conventions §2)."""

from __future__ import annotations

import json

import click
import pytest

from simulator.cli.output import Column, OutputOptions, Table, emit

Row = tuple[str, int | str, str]

TABLE: Table[Row] = Table(
    kind="Device",
    columns=(
        Column("NAME", lambda row: row[0]),
        Column("COUNT", lambda row: row[1]),
        Column("NOTE", lambda row: row[2], wide=True),
    ),
    name=lambda row: f"device/{row[0]}",
    document=lambda row: {"name": row[0], "count": row[1]},
    nothing="no devices",
)
ROWS: list[Row] = [("gpu-b", 10, "new"), ("gpu-a", 9, ""), ("日本", "-", "wide cells")]


def shown(
    capsys: pytest.CaptureFixture[str], output: OutputOptions, rows: list[Row] = ROWS
) -> tuple[str, str]:
    emit(TABLE, rows, output)
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_table_has_upper_case_headers_and_aligned_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = shown(capsys, OutputOptions("table"))

    assert out == "NAME    COUNT\ngpu-b   10\ngpu-a   9\n日本    -\n"


def test_wide_shows_more_columns_and_an_empty_cell_as_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = shown(capsys, OutputOptions("wide", headers=False), ROWS[:2])

    assert out == "gpu-b   10   new\ngpu-a   9    <none>\n"


def test_sorting_by_a_number_is_numeric_and_text_comes_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = shown(capsys, OutputOptions("name", sort_by="count"))

    assert out == "device/gpu-a\ndevice/gpu-b\ndevice/日本\n"


def test_an_unknown_sort_column_is_refused_with_the_nearest_name() -> None:
    command = click.Command("get")
    with (
        click.Context(command),
        pytest.raises(click.UsageError, match=r"--sort-by coutn .* did you mean COUNT\?"),
    ):
        emit(TABLE, ROWS, OutputOptions("table", sort_by="coutn"))


def test_json_is_a_list_of_documents(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = shown(capsys, OutputOptions("json"), ROWS[:1])

    assert json.loads(out) == {
        "apiVersion": "rebind.internal/v1alpha1",
        "kind": "DeviceList",
        "items": [{"kind": "Device", "name": "gpu-b", "count": 10}],
    }


def test_yaml_says_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = shown(capsys, OutputOptions("yaml"), ROWS[:1])

    assert out == (
        "apiVersion: rebind.internal/v1alpha1\nkind: DeviceList\nitems:\n"
        "- kind: Device\n  name: gpu-b\n  count: 10\n"
    )


def test_csv_has_all_columns_and_quotes_what_needs_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = shown(capsys, OutputOptions("csv"), [("a,b", 1, "")])

    assert out == 'NAME,COUNT,NOTE\n"a,b",1,\n'


@pytest.mark.parametrize("style", ["table", "wide", "name", "csv"])
def test_nothing_to_show_is_said_on_stderr(capsys: pytest.CaptureFixture[str], style: str) -> None:
    out, err = shown(capsys, OutputOptions(style), [])

    assert (out, err) == ("", "no devices\n")


def test_a_row_of_csv_is_one_line_whatever_its_cells_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = shown(capsys, OutputOptions("csv", headers=False), [("a\nb", 1, "\x0b\u2028\x1b[1m")])

    assert out == "a\\nb,1,\\x0b\\u2028\\x1b[1m\n"


def test_control_characters_cannot_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = shown(capsys, OutputOptions("table", headers=False), [("\x1b[31mred\n", 1, "")])

    assert out == "\\x1b[31mred\\n   1\n"
