"""The findings of one run, as they come up: what a check needs, it must have passed."""

from __future__ import annotations

from simulator.conformance.catalog import CATALOG, Check
from simulator.conformance.findings import Finding, Verdict


class Ledger:
    """What is known so far of one plugin."""

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}

    def passed(self, name: str, detail: str) -> None:
        """Note that the plugin does what a check requires."""
        self._note(CATALOG[name], Verdict.PASSED, detail)

    def failed(self, name: str, detail: str) -> None:
        """Note that it does not; a check that has failed stays so."""
        self._note(CATALOG[name], Verdict.FAILED, detail)

    def not_applicable(self, name: str, detail: str) -> None:
        """Note that a check cannot be asked of this plugin."""
        self._note(CATALOG[name], Verdict.NOT_APPLICABLE, detail)

    def judge(self, name: str, fault: str, detail: str) -> None:
        """Note that a check failed because of a fault, or passed if there is none."""
        if fault:
            self.failed(name, fault)
        else:
            self.passed(name, detail)

    def applies(self, name: str) -> bool:
        """Tell whether a check can be asked; if not, that is noted with the check that it needs."""
        for needed in CATALOG[name].needs:
            found = self._findings.get(needed)
            if found is not None and found.verdict is Verdict.PASSED:
                continue
            if found is not None and _is_optional(found):
                continue
            self.not_applicable(name, f"it needs {needed}, which did not pass")
            return False
        return True

    def has_passed(self, name: str) -> bool:
        """Tell whether a check has passed."""
        found = self._findings.get(name)
        return found is not None and found.verdict is Verdict.PASSED

    def has_failed(self, name: str) -> bool:
        """Tell whether a check has failed."""
        found = self._findings.get(name)
        return found is not None and found.verdict is Verdict.FAILED

    def findings(self) -> tuple[Finding, ...]:
        """Return a finding for every check of the catalog, in its order."""
        for name in CATALOG:
            if name not in self._findings and self.applies(name):
                self.not_applicable(name, "it was not reached")
        return tuple(self._findings[name] for name in CATALOG)

    def _note(self, check: Check, verdict: Verdict, detail: str) -> None:
        if not self.has_failed(check.name):
            self._findings[check.name] = Finding(check, verdict, detail)


def _is_optional(found: Finding) -> bool:
    """Tell whether a check did not apply because the plugin does without what it is about."""
    return found.verdict is Verdict.NOT_APPLICABLE and found.check.is_optional
