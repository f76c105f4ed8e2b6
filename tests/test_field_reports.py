"""Every field report of the kinds that the device manager has to do with is covered by its id.

A built-in scenario covers what it names in its annotation `rebind.internal/reports`, a test covers
what it names anywhere. `LEFT` lists what a report asks for and nobody has built.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import load_scenarios

TESTS: Final = Path(__file__).parent
REPORTS_ANNOTATION: Final = "rebind.internal/reports"
_LINE: Final = re.compile(r"(R[0-9]{2,3}) +([0-9]{1,2})  (.+)")
_ID: Final = re.compile(r"\bR[0-9]{2,3}\b")

COVERED_KINDS: Final = frozenset({1, 2, 4, 5, 6, 8, 9, 10, 11, 14, 15})
"""Readmission, plugin links, init containers, terminal pods, checkpoint files, stale resources,
changed identities, leaks, plugin calls, topology, races."""

ELSEWHERE: Final = MappingProxyType[str, str]({})
"""Reports that only sockets can show, with the reason."""

LEFT: Final = MappingProxyType(
    {
        "R39": "devices that only init containers used are told by the containers, not by a mark",
        "R48": "a holding has no time since which it could have been released",
        "R60": "that the plugin's NUMA nodes differ from the recorded ones is not logged",
        "R80": "no option makes a device wait for the end of a container deleted by force",
    }
)
"""Parts of the covered reports' right values that nothing answers yet."""


def kinds() -> dict[str, int]:
    """Return the kind of each report of the list."""
    lines = (TESTS / "field_reports.txt").read_text(encoding="utf-8").splitlines()
    found = [_LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(found), "a line is not: id, number of the kind, kind"
    return {match[1]: int(match[2]) for match in found if match}


KINDS: Final = kinds()
WANTED: Final = tuple(report for report, kind in KINDS.items() if kind in COVERED_KINDS)


def named_by_tests() -> dict[str, set[str]]:
    """Return the reports that each test module names."""
    modules = sorted(path for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    texts = {str(path): path.read_text(encoding="utf-8") for path in modules}
    return {name: set(_ID.findall(text)) for name, text in texts.items()}


def named_by_scenarios() -> dict[str, set[str]]:
    """Return the reports that each built-in scenario is annotated with."""
    annotated = {
        name: loaded.scenario.metadata.annotations.get(REPORTS_ANNOTATION, "")
        for name in builtin_names()
        for loaded in load_scenarios(find_file(name), {})
    }
    return {name: set(text.split()) for name, text in annotated.items()}


NAMED: Final = {**named_by_tests(), **named_by_scenarios()}


def test_the_list_has_all_reports_of_the_kinds() -> None:
    """Eighteen kinds; those covered here have 56 of the 82 reports."""
    assert len(KINDS) == 82
    assert set(KINDS.values()) == set(range(1, 19))
    assert len(WANTED) == 56


@pytest.mark.parametrize("report", WANTED)
def test_a_report_is_covered_by_a_scenario_or_a_test(report: str) -> None:
    covering = sorted(name for name, reports in NAMED.items() if report in reports)

    assert bool(covering) != (report in ELSEWHERE)


def test_only_reports_of_the_list_are_named() -> None:
    unknown = {name: reports - KINDS.keys() for name, reports in NAMED.items()}

    assert {name: reports for name, reports in unknown.items() if reports} == {}
    assert ELSEWHERE.keys() | LEFT.keys() <= set(WANTED)
