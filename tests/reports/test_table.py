"""The verdict table for people."""

from __future__ import annotations

import re
from dataclasses import replace

from simulator.reports.results import (
    Cell,
    Column,
    Fact,
    Row,
    RunResult,
    ScenarioResult,
    Verdict,
)
from simulator.reports.table import table_report
from tests.reports.results import ALIKE, BY_PERSISTENCE, BY_VERSION, MESSAGE, UNHELD, result

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def report(*rows: object, width: int = 100, color: bool = False) -> str:
    return table_report([result(*rows)], width=width, color=color)  # type: ignore[arg-type]


def test_two_sentences_say_what_differs_and_what_does_not() -> None:
    text = " ".join(report(ALIKE, BY_VERSION, BY_PERSISTENCE).split())

    assert (
        '1 of 3 outcomes differs between checkpoint and database: "after admit: pod second". '
        "The other 2 outcomes are alike: there the kubelet of one version decides the same, "
        "wherever its records are kept; one of them changes with the version: "
        '"after reboot: pod trainer".'
    ) in text


def test_when_nothing_differs_the_sentences_say_so() -> None:
    text = " ".join(report(ALIKE).split())

    assert (
        "Checkpoint and database do not differ in the one outcome. "
        "The kubelet of one version decides the same, wherever its records are kept."
    ) in text


def test_with_one_persistence_only_versions_are_compared() -> None:
    columns = (Column("1.24.0", "database"), Column("1.36.2", "database"))
    rows = tuple(Row(row.title, row.cells[1::2]) for row in (ALIKE, BY_VERSION))
    one = replace(result(), rows=rows, runs=tuple(RunResult(column, 0, ()) for column in columns))
    text = " ".join(table_report([one], width=100, color=False).split())

    assert (
        "Only the persistence database was run, so there is nothing to compare it with. "
        'One outcome changes with the version: "after reboot: pod trainer".'
    ) in text


def test_without_outcomes_the_sentence_says_that_nothing_was_compared() -> None:
    assert "No expectation is meant for what was run" in report()


def test_the_legend_explains_the_marks_that_are_there_and_no_others() -> None:
    plain = " ".join(report(ALIKE).split())
    marked = " ".join(report(BY_VERSION, BY_PERSISTENCE, UNHELD).split())

    assert plain.count("A cell shows what was observed. 1 scenario") == 1
    for mark in ("BROKEN: not", "( ): only", "!=: differs", "[a]: the text"):
        assert mark in marked
        assert mark not in plain


def test_the_legend_explains_what_does_not_speak_for_itself_once() -> None:
    left = Cell(Verdict.HELD, (Fact("sameDevices", "left", meaning="it went away."),))
    text = report(Row("at 1s: pod trainer", (left,) * 4), Row("at 2s: pod trainer", (left,) * 4))

    assert text.splitlines().count("left: it went away.") == 1
    assert "it went away" not in report(ALIKE)


def test_every_mark_of_the_legend_has_a_line_of_its_own() -> None:
    lines = report(BY_VERSION, BY_PERSISTENCE, UNHELD).splitlines()

    assert "!=: differs from the first persistence of the same version." in lines
    assert "[a]: the text below the table." in lines


def test_reason_and_message_of_a_pod_are_one_text_below_the_table() -> None:
    failed = Cell(
        Verdict.HELD,
        (
            Fact("phase", "Failed"),
            Fact("reason", "", detail="UnexpectedAdmissionError"),
            Fact("message", "", detail="no devices"),
        ),
    )
    text = report(Row("after admit: pod trainer", (failed,) * 4))

    assert "[a] UnexpectedAdmissionError: no devices" in text
    assert "[b]" not in text


def test_what_a_row_differs_by_is_never_cut() -> None:
    columns = tuple(
        Column("1.24.0", name) for name in ("checkpoint", "checkpoint dirFsync", "database")
    )
    cells = tuple(
        Cell(Verdict.HELD, (Fact("reason", name),)) for name in ("acknowledged", "b", "c")
    )
    runs = tuple(RunResult(column, 0, ()) for column in columns)
    wide = ScenarioResult("three", "three.yaml", "", "", runs, (Row("always: x", cells),))

    lines = table_report([wide], width=80, color=False).splitlines()

    assert [line for line in lines if line.endswith(" persistence")]
    assert max(map(len, lines)) <= 80


def test_names_of_persistences_are_cut_at_their_joints_in_a_narrow_table() -> None:
    names = ("bind-resource", "binding-object", "checkpoint+api", "bind-resource perContainer=true")
    columns = tuple(Column("1.36.2", name) for name in names)
    runs = tuple(RunResult(column, 0, ()) for column in columns)
    cells = (Cell(Verdict.HELD, (Fact("phase", "Running"),)),) * 4
    narrow = ScenarioResult("four", "four.yaml", "", "", runs, (Row("always: x", cells),))

    lines = [line.split() for line in table_report([narrow], width=80, color=False).splitlines()]
    start = lines.index(["1.36.2"] * 4)

    assert lines[start + 1 : start + 5] == [
        ["bind-", "binding-", "checkpoint", "bind-"],
        ["resource", "object", "+api", "resource"],
        ["per"],
        ["Container="],
    ]


def test_differences_are_marked_in_text() -> None:
    lines = report(ALIKE, BY_VERSION, BY_PERSISTENCE).splitlines()

    [second] = [line for line in lines if line.startswith("after admit: pod second")] or [
        line for line in lines if "gpu-2" in line
    ]
    assert second.count("!= gpu-2") == 2
    assert second.endswith("persistence")
    [version] = [line for line in lines if line.startswith("after reboot")]
    assert version.endswith("version")


def test_differences_are_marked_in_color_and_colors_change_no_text() -> None:
    plain = report(ALIKE, BY_VERSION, BY_PERSISTENCE, UNHELD)
    colored = report(ALIKE, BY_VERSION, BY_PERSISTENCE, UNHELD, color=True)

    assert "\x1b[" not in plain
    assert "\x1b[1;35m!= gpu-2" in colored
    assert [line.rstrip() for line in ANSI.sub("", colored).splitlines()] == plain.splitlines()


def test_what_is_only_observed_stands_in_parentheses() -> None:
    assert "(gpu-0)" in report(BY_PERSISTENCE)


def test_a_broken_expectation_says_broken_and_why() -> None:
    text = report(UNHELD)

    assert text.count("BROKEN") >= 3
    assert '[a] the step "x" was never done' in text


def test_a_long_text_stands_below_the_table_once() -> None:
    text = " ".join(report(BY_VERSION).split())

    assert text.count(f"[a] {MESSAGE}") == 1


def test_no_line_is_wider_than_asked_for() -> None:
    for width in (60, 80, 100, 140):
        text = report(ALIKE, BY_VERSION, BY_PERSISTENCE, UNHELD, width=width)
        assert max(map(len, text.splitlines())) <= width


def test_columns_that_do_not_fit_go_to_another_block_of_whole_versions() -> None:
    lines = report(ALIKE, width=60).splitlines()
    versions = [line.split() for line in lines if line.strip().startswith("1.")]

    assert versions == [["1.24.0", "1.24.0"], ["1.36.2", "1.36.2"]]


def test_scenarios_of_one_file_share_a_table() -> None:
    one, two = result(ALIKE, name="restart"), result(BY_PERSISTENCE, name="damage")
    text = table_report([one, two], width=100, color=False)

    assert text.count("DIFFERS BY") == 1
    assert text.index("\nrestart:\n") < text.index("\ndamage:\n")
    assert "1 of 2 outcomes differs between checkpoint and database: in damage." in text


def test_scenarios_of_several_files_have_an_overview_at_the_end() -> None:
    one = result(ALIKE, BY_VERSION, name="restart", file="a.yaml")
    two = result(BY_PERSISTENCE, name="damage", file="b.yaml")
    lines = table_report([one, two], width=100, color=False).splitlines()

    assert lines[-5].split()[:3] == ["restart", "4", "8"]
    assert lines[-4].split() == ["damage", "4", "2", "0", "1", "of", "1", "0", "of", "1"]
    assert lines[-2].startswith("2 scenarios, 8 runs, 10 expectations held, 0 broken")


def test_the_totals_count_what_was_observed_and_skipped() -> None:
    assert report(ALIKE, BY_PERSISTENCE, UNHELD, width=140).splitlines()[-1] == (
        "1 scenario, 4 runs, 8 expectations held, 2 broken, 2 only observed, "
        "2 skipped: no combination selects them"
    )
