"""The page of figures is made from what `make bench` measured; text around it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bars import HEADLINES
from benchmarks.figure_page import (
    BEGIN,
    END,
    PAGE,
    SHORT_PAGE,
    TABLE,
    PageError,
    as_markdown,
    main,
    put_into,
    shortened,
)
from benchmarks.figures import FigureTable

ROOT = Path(__file__).parents[2]
MEASURED = """\
Measured on: date 2026-11-30, cpus 2.
Bars missed: fsyncs.

| FIGURE | BAR | MEASURED | MET | FROM |
| --- | --- | --- | --- | --- |
| fsyncs for each durable commit, counted | ≤ 1.05 | 2 | NOT MET | 200 \\| 100 |
"""


def test_the_table_says_on_what_and_when_it_was_measured_and_what_was_missed() -> None:
    table = FigureTable()
    table.report("fsyncs", 2.0, "200 | 100")
    machine = {"date": "2026-11-30", "cpus": "2"}

    assert as_markdown(table.rows(), machine=machine, missed=table.unmet(), busy=False) == MEASURED


def test_others_on_the_machine_are_told_of() -> None:
    text = as_markdown([("FIGURE",)], machine={"date": "2026-11-30"}, missed=(), busy=True)

    assert text.splitlines()[1:3] == [
        "Bars missed: none.",
        "Others used this machine at the same time.",
    ]


def test_a_table_takes_the_place_of_the_one_before_and_no_other() -> None:
    page = f"# Figures\n\n{BEGIN}\nold\n{END}\n\nWhy.\n"
    once = put_into(page, MEASURED)

    assert once == f"# Figures\n\n{BEGIN}\n{MEASURED}{END}\n\nWhy.\n"
    assert put_into(once, MEASURED) == once


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_refused(page: str) -> None:
    with pytest.raises(PageError, match="once each and in this order"):
        put_into(page, MEASURED)


def _whole_table() -> str:
    table = FigureTable()
    for key in (*HEADLINES, "store/512"):
        table.report(key, 2.0, "from there")
    return as_markdown(table.rows(), machine={"date": "2026-11-30"}, missed=[], busy=False)


def _folder(tmp_path: Path, table: str | None) -> Path:
    for name in (PAGE, SHORT_PAGE):
        (tmp_path / name).write_text(f"{name}\n{BEGIN}\n{END}\n")
    (tmp_path / TABLE).parent.mkdir()
    if table is not None:
        (tmp_path / TABLE).write_text(table)
    return tmp_path


def test_the_short_table_has_what_says_most_and_not_where_it_comes_from() -> None:
    lines = shortened(_whole_table()).splitlines()

    assert lines[:4] == [
        "Measured on: date 2026-11-30.",
        "",
        "| FIGURE | BAR | MEASURED | MET |",
        "| --- | --- | --- | --- |",
    ]
    assert len(lines) == 4 + len(HEADLINES)
    assert lines[8] == "| fsyncs for each durable commit, counted | ≤ 1.05 | 2 | NOT MET |"


@pytest.mark.parametrize(
    ("table", "reason"),
    [(None, "run `make bench` first"), (MEASURED, "run the whole of `make bench`")],
)
def test_the_program_says_what_is_missing_and_changes_nothing(
    tmp_path: Path, table: str | None, reason: str
) -> None:
    folder = _folder(tmp_path, table)
    with pytest.raises(SystemExit, match=reason):
        main([str(folder)])

    assert (folder / PAGE).read_text() == f"{PAGE}\n{BEGIN}\n{END}\n"
    assert (folder / SHORT_PAGE).read_text() == f"{SHORT_PAGE}\n{BEGIN}\n{END}\n"


def test_the_program_puts_a_table_into_one_page_and_what_says_most_into_the_other(
    tmp_path: Path,
) -> None:
    table = _whole_table()
    folder = _folder(tmp_path, table)
    main([str(folder)])

    assert (folder / PAGE).read_text() == f"{PAGE}\n{BEGIN}\n{table}{END}\n"
    assert (folder / SHORT_PAGE).read_text() == (
        f"{SHORT_PAGE}\n{BEGIN}\n{shortened(table)}\n{END}\n"
    )


@pytest.mark.parametrize("name", [PAGE, SHORT_PAGE])
def test_the_pages_of_this_repository_have_their_marks(name: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert put_into(text, MEASURED).count("Measured on:") == 1
