"""What came of the checks, and how it is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from simulator.conformance.catalog import Check
from simulator.core.plurals import counted
from simulator.reports.text import printable


class Verdict(Enum):
    """How a check came out."""

    PASSED = "pass"
    FAILED = "fail"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one plugin.

    Attributes:
        detail: What was seen; why, if the check failed or does not apply.
    """

    check: Check
    verdict: Verdict
    detail: str


def totals(findings: Sequence[Finding]) -> str:
    """Return the numbers in one line."""
    numbers = {
        verdict: sum(finding.verdict is verdict for finding in findings) for verdict in Verdict
    }
    return (
        f"{counted(len(findings), 'check')}: {numbers[Verdict.PASSED]} passed, "
        f"{numbers[Verdict.FAILED]} failed, {numbers[Verdict.NOT_APPLICABLE]} not applicable"
    )


def as_document(finding: Finding) -> Mapping[str, str | Sequence[str]]:
    """Return a finding with camelCase keys."""
    return {
        "check": finding.check.name,
        "verdict": finding.verdict.value,
        "detail": finding.detail,
        "requires": finding.check.requires,
        "why": finding.check.why,
        "sources": list(finding.check.sources),
    }


def as_junit(findings: Sequence[Finding], plugin: str) -> str:
    """Return JUnit XML: one suite, a case for each check; one that does not apply is skipped.

    Args:
        findings: In the order of the report.
        plugin: The command, for the name of the suite.
    """
    failures = sum(finding.verdict is Verdict.FAILED for finding in findings)
    skipped = sum(finding.verdict is Verdict.NOT_APPLICABLE for finding in findings)
    suite = Element(
        "testsuite",
        name=printable(f"rebind conform {plugin}"),
        tests=str(len(findings)),
        failures=str(failures),
        skipped=str(skipped),
    )
    for finding in findings:
        case = SubElement(suite, "testcase", classname="conform", name=finding.check.name)
        text = printable(finding.detail)
        if finding.verdict is Verdict.FAILED:
            failure = SubElement(case, "failure", message=text)
            sources = ", ".join(finding.check.sources)
            failure.text = f"It {finding.check.requires}. {finding.check.why} ({sources})"
        elif finding.verdict is Verdict.NOT_APPLICABLE:
            SubElement(case, "skipped", message=text)
    indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suite, encoding="unicode")}\n'
