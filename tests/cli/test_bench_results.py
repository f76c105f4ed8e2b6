"""`rebind bench report` and `compare`, and what a run shows."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from typing_extensions import override

from benchmarks.results.documents import read_result, result_text
from benchmarks.results.progress import Progress
from simulator.cli.commands.bench.progress import progress_shown
from simulator.cli.commands.bench.showing import show_result
from simulator.cli.output import OutputOptions
from simulator.core.instants import MILLISECOND, Duration
from tests.benchmarks.results.example import BATCHED, BIND, CHECKPOINT, DATABASE, example
from tests.cli.running import python_process, rebind
from tests.reports.html import check_stands_alone

SETTINGS = (CHECKPOINT, DATABASE, BATCHED, BIND)
RUN = example(settings=SETTINGS, rates=(100, 900), repetitions=3)
SLOWER = example(settings=SETTINGS[:3], rates=(100, 900), repetitions=3, slower=1.5)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(result_text(RUN))
    Path("slower.json").write_text(result_text(SLOWER))


def test_a_table_begins_with_the_fsync_and_the_noise_and_ends_with_the_findings() -> None:
    lines = rebind("bench", "report", "run.json", "-o", "table").stdout.splitlines()
    head = next(line for line in lines if line.startswith("PERSISTENCE"))
    rows = lines[lines.index(head) + 1 :][:8]

    assert lines[0] == "plain fsync here: p50 800µs, p99 3ms (1000 samples)"
    assert lines[1].startswith("noise: load 0.4 before")
    assert head.split() == [
        *("PERSISTENCE", "BATCH", "QPS", "DURABILITY", "PHASE"),
        *("OFFERED/S", "ACHIEVED/S", "P50", "P99", "START-P99"),
    ]
    assert max(map(len, [head, *rows])) <= 120
    assert rows[2].split()[:6] == ["database", "64", "-", "full", "churn-100", "100"]
    assert all("±" in row for row in rows)
    assert any("≥" in row for row in rows if "churn-900" in row)
    assert any("##" in line and line.lstrip().startswith("<=") for line in lines)
    assert lines[-1].endswith(".")


def test_the_histogram_of_some_settings_names_what_these_have_in_common() -> None:
    slow = [replace(one, added_fsync=Duration(MILLISECOND)) for one in SETTINGS]
    run = example(settings=(*SETTINGS, *slow), rates=(100,), repetitions=1)
    Path("both.json").write_text(result_text(run))
    lines = rebind("bench", "report", "both.json", "-o", "table").stdout.splitlines()

    assert "scheduled start to durable admission, churn-100, fsync +0s, 4 of 8 settings:" in lines


def test_the_wide_table_has_every_figure() -> None:
    finished = rebind("bench", "report", "run.json", "-o", "wide")
    header, *_ = [line for line in finished.stdout.splitlines() if "START-P99.9" in line]

    assert {"FSYNCS/BINDING", "WRITTEN", "CALLS/POD", "AT-RISK", "CPU-CLIENT"} <= set(
        header.split()
    )


def test_a_report_as_json_has_findings_merged_figures_and_the_whole_run() -> None:
    report = json.loads(rebind("bench", "report", "run.json", "-o", "json").stdout)
    (item,) = report["items"]
    first = item["merged"][0]

    assert report["kind"] == "BenchmarkReport"
    assert len(item["findings"]) >= 2
    assert item["complete"] is True
    assert first["setting"]["persistence"] == "checkpoint"
    assert first["repetitions"] == 3
    figure = first["figures"]["admissionP99Ns"]
    assert figure["least"] <= figure["median"] <= figure["most"]
    assert read_result(json.dumps(item["run"]).encode(), "again") == RUN


def test_a_report_as_csv_has_every_row_of_every_run() -> None:
    finished = rebind("bench", "report", "run.json", "slower.json", "-o", "csv")
    lines = list(csv.DictReader(io.StringIO(finished.stdout)))

    assert len(lines) == len(RUN.rows) + len(SLOWER.rows)
    assert {line["persistence"] for line in lines} == {"checkpoint", "database", "bind-resource"}


def test_slices_of_long_phases_are_csv_of_their_own() -> None:
    finished = rebind("bench", "report", "run.json", "-o", "csv", "--over-time")
    refused = rebind("bench", "report", "run.json", "-o", "json", "--over-time")

    assert finished.stdout.splitlines()[0].endswith("memoryBytes,serverMemoryBytes,storedBytes")
    assert refused.code == 2
    assert "--over-time goes with -o csv" in refused.stderr


def test_a_page_is_written_whole_to_a_file() -> None:
    finished = rebind("bench", "report", "run.json", "--out", "report.html")

    assert (finished.code, finished.stdout) == (0, "")
    check_stands_alone(Path("report.html").read_text())


def test_tables_go_to_stdout_only() -> None:
    finished = rebind("bench", "report", "run.json", "-o", "table", "--out", "report.txt")

    assert finished.code == 2
    assert "tables go to stdout; --out takes html, json or csv" in finished.stderr


@pytest.mark.parametrize("command", [("report", "-o", "csv"), ("compare", "run.json")])
def test_what_is_no_run_is_refused_in_one_line(command: tuple[str, ...]) -> None:
    Path("damaged.json").write_text(result_text(RUN)[:500])
    damaged = rebind("bench", *command, "damaged.json")
    missing = rebind("bench", *command, "missing.json")

    assert damaged.code == 2
    assert damaged.stderr.startswith("error: damaged.json:")
    assert damaged.stderr.count("\n") == 1
    assert (missing.code, missing.stderr) == (3, "error: missing.json: No such file or directory\n")


def test_a_comparison_has_a_ratio_for_each_figure_and_says_what_only_one_run_has() -> None:
    finished = rebind("bench", "compare", "run.json", "slower.json")
    header, first, *others = finished.stdout.splitlines()

    assert finished.code == 0
    assert header.split()[:4] == ["SETTING", "PHASE", "ACHIEVED/S", "P50"]
    assert first.startswith("checkpoint ")
    assert len(others) == 5
    assert "only in the first run: bind-resource (churn-100); bind-resource (churn-900)" in (
        finished.stderr
    )


def test_a_run_compared_with_itself_is_within_the_noise() -> None:
    finished = rebind("bench", "compare", "run.json", "run.json", "--fail-over", "0.01%")

    assert (finished.code, finished.stderr) == (0, "")
    assert "×1.00 ~" in finished.stdout


def test_a_worse_run_fails_only_where_that_is_asked_for() -> None:
    failed = rebind("bench", "compare", "run.json", "slower.json", "--fail-over", "10%")
    better = rebind("bench", "compare", "slower.json", "run.json", "--fail-over", "10%")

    assert failed.code == 1
    assert "worse by more than 10%: checkpoint" in failed.stderr
    assert better.code == 0


def test_a_run_with_nothing_to_compare_is_not_taken_for_as_good() -> None:
    """One that was killed before its first row, or a run of something else."""
    Path("empty.json").write_text(result_text(replace(RUN, rows=())))
    finished = rebind("bench", "compare", "run.json", "empty.json", "--fail-over", "10%")

    assert finished.code == 1
    assert "nothing can be compared, so B may be worse by any share" in finished.stderr
    assert rebind("bench", "compare", "run.json", "empty.json").code == 0


def test_a_share_is_a_percentage() -> None:
    finished = rebind("bench", "compare", "run.json", "run.json", "--fail-over", "10")

    assert finished.code == 2
    assert "'10' is not a percentage; write e.g. 10%" in finished.stderr


def test_a_comparison_as_json_tells_whether_each_difference_is_beyond_the_noise() -> None:
    text = rebind("bench", "compare", "run.json", "slower.json", "-o", "json").stdout
    comparison = json.loads(text)
    change = comparison["items"][0]["changes"]["admissionP99Ns"]

    assert comparison["kind"] == "BenchmarkComparison"
    assert change["ratio"] == pytest.approx(change["second"] / change["first"])
    assert change["beyondNoise"] is True
    assert [one["phase"] for one in comparison["onlyFirst"]] == ["churn-100", "churn-900"]


def test_a_comparison_as_csv_has_a_line_for_each_figure_in_base_units() -> None:
    text = rebind("bench", "compare", "run.json", "slower.json", "-o", "csv").stdout
    lines = list(csv.DictReader(io.StringIO(text)))
    (rate,) = [
        line
        for line in lines
        if (line["persistence"], line["phase"], line["figure"])
        == ("checkpoint", "churn-900", "achievedPerSecond")
    ]

    assert float(rate["ratio"]) == pytest.approx(float(rate["second"]) / float(rate["first"]))
    assert float(rate["ratio"]) == pytest.approx(1 / 1.5, rel=0.02)
    assert rate["beyondNoise"] == "true"


def test_a_wide_comparison_shows_both_sides() -> None:
    text = rebind("bench", "compare", "run.json", "slower.json", "-o", "wide").stdout

    assert "100±0% to 100±0%, ×1.00 ~" in text


def test_without_jinja2_a_page_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "simulator.reports.pages.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    finished = rebind("bench", "report", "run.json")

    assert (finished.code, finished.stdout) == (3, "")
    assert finished.stderr == (
        "error: -o html needs Jinja2, which is not installed: pip install 'rebind[report]'\n"
    )


def test_without_the_extra_only_running_is_refused() -> None:
    code = """
import sys
sys.modules["aiohttp"] = None
from simulator.cli.program import run
print(run(["bench", "report", "run.json", "-o", "csv"]), run(["bench", "run", "quick"]))
"""
    finished = python_process(code)

    assert finished.stdout.splitlines()[-1] == "0 3"
    assert finished.stderr == (
        "error: the API server needs aiohttp, which is not installed: pip install 'rebind[api]'\n"
    )


def test_progress_is_one_line_on_a_terminal_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, terminal = pty.openpty()
    progress = Progress(row=1, rows=2, what="database, " + "x" * 300, phase="churn", rate=5.0)
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        with progress_shown() as line:
            line.show(progress)
            line.show(progress)
    shown = ""
    with contextlib.suppress(OSError):  # the end of a terminal that nobody has open any more
        while piece := os.read(master, 4_096):
            shown += piece.decode()
    os.close(master)

    assert shown.count("1/2 database") == 1
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")
    assert max(map(len, click.unstyle(shown).split("\r"))) < 100


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def test_long_lines_of_prose_are_folded_on_a_terminal_and_whole_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    with contextlib.redirect_stdout(io.StringIO()) as file:
        show_result(RUN, OutputOptions("table"))
    with contextlib.redirect_stdout(_Terminal()) as terminal:
        show_result(RUN, OutputOptions("table"))
    whole, folded = (stream.getvalue().splitlines() for stream in (file, terminal))

    assert max(map(len, whole)) > 100
    head = folded[: folded.index("")]
    assert max(map(len, head)) <= 72
    assert " ".join(head).split() == " ".join(whole[: whole.index("")]).split()
