"""The page of figures is made from what `make bench` measured; text around it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figure_page import BEGIN, END, PAGE, PageError, as_markdown, main, put_into
from benchmarks.figures import FigureTable

ROOT = Path(__file__).parents[2]
TABLE = """\
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

    assert as_markdown(table.rows(), machine=machine, missed=table.unmet(), busy=False) == TABLE


def test_others_on_the_machine_are_told_of() -> None:
    text = as_markdown([("FIGURE",)], machine={"date": "2026-11-30"}, missed=(), busy=True)

    assert text.splitlines()[1:3] == [
        "Bars missed: none.",
        "Others used this machine at the same time.",
    ]


def test_a_table_takes_the_place_of_the_one_before_and_no_other() -> None:
    page = f"# Figures\n\n{BEGIN}\nold\n{END}\n\nWhy.\n"
    once = put_into(page, TABLE)

    assert once == f"# Figures\n\n{BEGIN}\n{TABLE}{END}\n\nWhy.\n"
    assert put_into(once, TABLE) == once


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_refused(page: str) -> None:
    with pytest.raises(PageError, match="once each and in this order"):
        put_into(page, TABLE)


def test_the_program_says_what_is_missing_and_changes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    with pytest.raises(SystemExit, match="run `make bench` first"):
        main([str(tmp_path / "table.md"), str(page)])

    assert page.read_text() == f"{BEGIN}\n{END}\n"


def test_the_program_puts_a_table_into_a_page(tmp_path: Path) -> None:
    table, page = tmp_path / "table.md", tmp_path / "page.md"
    table.write_text(TABLE)
    page.write_text(f"{BEGIN}\n{END}\n")
    main([str(table), str(page)])

    assert page.read_text() == f"{BEGIN}\n{TABLE}{END}\n"


def test_the_page_of_this_repository_has_its_marks() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")

    assert put_into(text, TABLE).count("Measured on:") == 1
