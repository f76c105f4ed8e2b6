"""JSON, JUnit XML and traces, for programs."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from simulator.reports.documents import json_report
from simulator.reports.junit import junit
from simulator.reports.results import Cell, Fact, Row, Verdict
from simulator.reports.trace import trace
from simulator.reports.transcript import transcript
from tests.reports.results import (
    ALIKE,
    BROKEN,
    BY_PERSISTENCE,
    BY_VERSION,
    MESSAGE,
    RUNNING,
    UNHELD,
    result,
)


def test_json_has_every_cell_with_what_was_observed_and_expected() -> None:
    document = json.loads(json_report([result(BY_VERSION, UNHELD)]))

    [item] = document["items"]
    assert (document["kind"], item["scenario"]) == ("ReplayReport", "example")
    assert (item["held"], item["broken"], item["skipped"]) == (6, 2, 2)
    assert [row["differsBy"] for row in item["expectations"]] == [
        ["version"],
        ["version", "persistence"],
    ]
    failed = item["expectations"][0]["cells"][2]
    assert (failed["kubeletVersion"], failed["persistence"]) == ("1.36.2", "checkpoint")
    assert failed["facts"][1] == {
        "key": "message",
        "observed": MESSAGE,
        "expected": MESSAGE,
        "holds": True,
    }


def test_junit_has_a_suite_for_each_run_and_a_failure_for_what_is_broken() -> None:
    suites = ET.fromstring(junit([result(BY_PERSISTENCE, UNHELD)]))  # noqa: S314 - our own output

    assert [suite.get("name") for suite in suites] == [
        "example 1.24.0 checkpoint",
        "example 1.24.0 database",
        "example 1.36.2 checkpoint",
        "example 1.36.2 database",
    ]
    counts = [(suite.get("tests"), suite.get("failures")) for suite in suites]
    assert counts == [("1", "0"), ("2", "1"), ("1", "0"), ("2", "1")]
    messages = [failure.get("message") for failure in suites.iter("failure")]
    assert messages == [
        "phase: expected Running, observed Pending",
        'the step "x" was never done',
    ]


def test_junit_holds_no_character_that_xml_forbids() -> None:
    odd = Cell(Verdict.BROKEN, (Fact("message", "\x00<&>", "x", holds=False),))
    text = junit([result(Row("a \x1b row", (odd, RUNNING, RUNNING, BROKEN)))])

    [case] = [
        case
        for case in ET.fromstring(text).iter("testcase")  # noqa: S314 - our own output
        if case.get("classname") == "example.1.24.0 checkpoint"
    ]
    assert case.get("name") == "a \\x1b row"
    assert case[0].get("message") == "message: expected x, observed \\x00<&>"


def test_a_trace_has_a_header_and_a_line_for_each_record() -> None:
    lines = [json.loads(line) for line in trace(result(ALIKE)).splitlines()]

    assert len(lines) == 4 * 3
    assert lines[0]["kind"] == "Trace"
    assert lines[0]["spec"]["kubeletVersion"] == "1.24.0"
    assert lines[0]["spec"]["nodes"] == ["node-a"]
    assert lines[2] == {
        "t": "1.5s",
        "node": "node-a",
        "type": "KubeletStopped",
        "cause": "power cut",
    }


def test_a_transcript_has_one_line_for_each_record_in_fixed_columns() -> None:
    first = transcript(result(UNHELD)).split("\n\n")[0]

    assert first.splitlines() == [
        "# example: 1.24.0 checkpoint, seed 7",
        "0s           node-a PodPhaseChanged     trainer Running",
        "1.5s         node-a KubeletStopped      power cut",
        "= held   always: pod trainer: Running",
    ]


def test_a_transcript_says_what_was_expected_where_it_was_not_seen() -> None:
    second = transcript(result(UNHELD, BY_PERSISTENCE)).split("\n\n")[1]

    assert second.splitlines()[-2:] == [
        "= broken always: pod trainer: Pending; expected phase Running",
        "= held   after admit: pod second: gpu-2",
    ]
