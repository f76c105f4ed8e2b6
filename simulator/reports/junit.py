"""JUnit XML: a suite for each scenario and combination, a test case for each expectation."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from simulator.reports.results import Cell, ScenarioResult, Verdict
from simulator.reports.text import printable


def junit(results: Sequence[ScenarioResult]) -> str:
    """Return the report of all scenarios."""
    root = Element("testsuites")
    for result in results:
        for index, column in enumerate(result.columns):
            cells = [(row.title, row.cells[index]) for row in result.rows]
            meant = [(title, cell) for title, cell in cells if _is_meant(cell)]
            failures = sum(cell.verdict is Verdict.BROKEN for _, cell in meant)
            suite = SubElement(
                root,
                "testsuite",
                name=printable(f"{result.name} {column.label}"),
                tests=str(len(meant)),
                failures=str(failures),
            )
            for title, cell in meant:
                _case(suite, f"{result.name}.{column.label}", title, cell)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _is_meant(cell: Cell) -> bool:
    return cell.verdict is not Verdict.NOT_MEANT


def _case(suite: Element, group: str, title: str, cell: Cell) -> None:
    case = SubElement(suite, "testcase", classname=printable(group), name=printable(title))
    if cell.verdict is Verdict.BROKEN:
        wanted = [
            f"{fact.key}: expected {fact.expected}, observed {fact.observed} {fact.detail}".strip()
            for fact in cell.facts
            if not fact.holds
        ]
        text = cell.problem or "; ".join(wanted)
        SubElement(case, "failure", message=printable(text))
