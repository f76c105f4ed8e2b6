"""Bars are judged on the right side, and turns are fair."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bars import BARS, Bar, Sense
from benchmarks.figures import FigureTable
from benchmarks.timing import Contest, Contestant

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("sense", "measured", "met"),
    [
        (Sense.AT_MOST, 1.3, True),
        (Sense.AT_MOST, 1.31, False),
        (Sense.AT_LEAST, 1.3, True),
        (Sense.AT_LEAST, 1.29, False),
        (Sense.CONTEXT, 99.0, True),
    ],
)
def test_a_bar_is_met_on_its_own_side(sense: Sense, measured: float, met: bool) -> None:  # noqa: FBT001 - a case of the table
    assert Bar("key", "what", sense, 1.3).is_met(measured) is met


def test_every_bar_has_its_own_key() -> None:
    assert len({bar.key for bar in BARS}) == len(BARS)


def test_every_bar_has_a_benchmark_that_reports_it() -> None:
    source = "".join(path.read_text() for path in sorted(BENCHMARKS.glob("bench_*.py")))
    families = {bar.key.partition("/")[0] for bar in BARS}

    assert {family for family in families if f'"{family}' not in source} == set()


def test_the_table_shows_what_was_measured_and_what_could_not_be() -> None:
    table = FigureTable()
    table.report("fsyncs", 2.0, "200 for 100")
    table.report("admission/flat", 1.1)
    table.report("admission/checkpoint/8", 0.25)
    table.report_missing("growth", "no disk")
    header, *rows = [[cell for cell in line.split("  ") if cell] for line in table.lines()]

    assert [cell.strip() for cell in header] == ["FIGURE", "BAR", "MEASURED", "MET", "FROM"]
    assert [row[1].strip() for row in rows] == ["≤ 1.3 ×", "context", "≤ 1.05", "≤ 1.3 ×"]
    assert [row[-1].strip() for row in rows] == ["met", "0.25 ms", "200 for 100", "no disk"]
    assert table.unmet() == ["fsyncs"]


def test_a_figure_without_a_bar_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        FigureTable().report("speed", 1.0)


def test_contestants_take_turns_and_only_their_run_is_timed() -> None:
    calls: list[str] = []
    contest = Contest(
        {
            "a": Contestant(
                run=lambda: calls.append("run"),
                before=lambda: calls.append("before"),
                after=lambda: calls.append("after"),
                repeat=2,
                operations=10,
            ),
            "b": Contestant(run=lambda: calls.append("b")),
        }
    )
    for _ in range(3):
        contest.round()

    assert calls.count("b") == 3
    assert "".join(call[0] for call in calls if call != "b") == "bra" * 6
    assert {name: len(times) for name, times in contest.times_ns.items()} == {"a": 6, "b": 3}


def test_a_ratio_is_of_medians() -> None:
    contest = Contest({"slow": Contestant(run=str), "fast": Contestant(run=str)})
    contest.times_ns = {"slow": [9.0, 6.0, 100.0], "fast": [3.0, 3.0, 1.0]}

    assert contest.ratio("slow", "fast") == 3.0
