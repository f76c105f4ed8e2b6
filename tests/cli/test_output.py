"""Tables and documents (conventions §2)."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace

import click
import pytest
from rich.cells import cell_len
from typing_extensions import override

from simulator.cli.output import Column, OutputOptions, Table, aligned, emit

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


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def on_terminal(columns: int, monkeypatch: pytest.MonkeyPatch, rows: list[Row]) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    with contextlib.redirect_stdout(_Terminal()) as terminal:
        emit(TABLE, rows, OutputOptions("wide"))
    return terminal.getvalue().splitlines()


def test_a_table_too_wide_for_its_terminal_is_folded_where_it_is_widest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[Row] = [("GPU-6f1c2d3e-aaaa-bbbb-cccc-0123456789ab", 1, "日本" * 12)]
    lines = on_terminal(50, monkeypatch, rows)

    assert max(map(cell_len, lines)) <= 50
    assert "".join(line.split()[0] for line in lines[1:6]) == rows[0][0]
    assert "".join(line.split()[-1] for line in lines[1:]).count("日本") == 12
    assert len(on_terminal(100, monkeypatch, rows)) == 2


NODES = [
    ["NODE", "STATUS", "VERSION", "RESOURCE", "CAPACITY", "ALLOCATABLE", "ALLOCATED", "HEALTHY",
     "ENDPOINT"],
    ["n0", "Ready", "v1.36.2", "example.com/gpu", "4", "4", "2", "4", "Registered"],
    ["n1", "Ready", "v1.36.2", "acme.example/widget", "3", "3", "0", "0", "Disconnected"],
]  # fmt: skip


def test_on_80_columns_names_are_folded_where_their_parts_meet_and_headers_are_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with contextlib.redirect_stdout(_Terminal()):
        lines, _ = aligned(NODES)

    assert lines == [
        "NODE STATUS VERSION RESOURCE CAPACITY ALLOCATABLE ALLOCATED HEALTHY ENDPOINT",
        "n0   Ready  v1.36.2 example. 4        4           2         4       Registered",
        "                    com/gpu",
        "n1   Ready  v1.36.2 acme.    3        3           0         0       Disconnected",
        "                    example/",
        "                    widget",
    ]


def test_the_gaps_give_way_before_anything_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ["n0", "default/trainer", "UnexpectedAdmissionError", "example.com/gpu=2"]
    shown: dict[int, list[str]] = {}
    for columns in (67, 66, 50):
        monkeypatch.setenv("COLUMNS", str(columns))
        with contextlib.redirect_stdout(_Terminal()):
            shown[columns], _ = aligned([row])

    assert shown[67] == ["n0   default/trainer   UnexpectedAdmissionError   example.com/gpu=2"]
    assert shown[66] == ["n0  default/trainer  UnexpectedAdmissionError  example.com/gpu=2"]
    assert [line.split() for line in shown[50]] == [
        ["n0", "default/", "Unexpected", "example.com/"],
        ["trainer", "AdmissionError", "gpu=2"],
    ]


def test_a_list_is_folded_between_its_names_and_a_uuid_at_its_hyphens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    with contextlib.redirect_stdout(_Terminal()):
        lines, _ = aligned([["-1:gpu-0,gpu-1", "47bc4d88-8946-1155bb6c0144"]])

    assert [line.split() for line in lines] == [
        ["-1:gpu-0,gpu-1", "47bc4d88-8946-"],
        ["1155bb6c0144"],
    ]
    monkeypatch.setenv("COLUMNS", "26")
    with contextlib.redirect_stdout(_Terminal()):
        lines, _ = aligned([["-1:gpu-0,gpu-1", "47bc4d88-8946-1155bb6c0144"]])

    assert [line.split() for line in lines] == [
        ["-1:gpu-0,", "47bc4d88-"],
        ["gpu-1", "8946-"],
        ["1155bb6c0144"],
    ]


def test_a_sentence_is_folded_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    with contextlib.redirect_stdout(_Terminal()):
        lines, _ = aligned([["pod/q1", "0/2 nodes are available: Insufficient example.com/gpu."]])

    assert lines == [
        "pod/q1  0/2 nodes are available:",
        "        Insufficient example.com/gpu.",
    ]


def test_on_a_terminal_too_narrow_for_anything_columns_keep_some_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert on_terminal(5, monkeypatch, [("x" * 30, 1, "y" * 30)])[1].split() == [
        "x" * 7, "1", "y" * 7,
    ]  # fmt: skip


def test_what_goes_to_no_terminal_keeps_its_lines_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out, _ = shown(capsys, OutputOptions("table", headers=False), [("x" * 40, 1, "")])

    assert out == f"{'x' * 40}   1\n"


def test_a_table_has_short_cells_and_leaves_columns_out_that_say_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns: tuple[Column[Row], ...] = (
        Column("NAME", lambda row: row[0], short=lambda row: row[0][-1]),
        Column("COUNT", lambda row: row[1], if_any=True),
    )
    table = replace(TABLE, columns=columns)
    empty: list[Row] = [("gpu-a", "-", "")]
    full: list[Row] = [*empty, ("gpu-b", 7, "")]
    for rows, style in ((empty, "table"), (full, "table"), (empty, "wide")):
        emit(table, rows, OutputOptions(style))

    assert capsys.readouterr().out.splitlines() == [
        "NAME", "a",
        "NAME   COUNT", "a      -", "b      7",
        "NAME    COUNT", "gpu-a   -",
    ]  # fmt: skip
