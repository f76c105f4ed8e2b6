"""`rebind conform` on the plugins that Rebind brings along: good ones pass, faults are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from plugins.faulty.modes import MODES
from simulator.conformance.bench import Deadlines
from simulator.conformance.catalog import CATALOG
from simulator.conformance.findings import Finding, Verdict
from simulator.engine.plugin_ports import KubeletSocket
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from tests.conformance.plugins import DEADLINES, TWO_INSTANCES, PluginInThread, conformance_of

IMPATIENT = "impatient"
"""The mode that gives up when the kubelet is away for more than a second."""

STREAM_ENDS = "stream-ends"
"""The mode that ends its stream a moment after its first list."""

AT_A_TIME = 24
"""They mostly wait."""

PROMPT = frozenset(
    (
        *("two-resources", TWO_INSTANCES, STREAM_ENDS, "leaves-socket", "oversize-list"),
        *("duplicate-ids", "empty-id", "long-id", "flooding", "failing-allocate"),
        *("empty-allocate", "malformed-allocate", "oversize-allocate", "unusable-allocate"),
        *("dies-in-allocate", "lost-device", "allocate-once"),
        *("failing-preferred", "stray-preferred", "few-preferred", "oversize-preferred"),
    )
)
"""The modes whose fault is something that happens, not something that does not."""

AWAITED = replace(DEADLINES, answer=60.0)
"""Where nothing is left out, everything is waited for, as long as a busy machine takes."""

PATIENT = replace(AWAITED, quiet=60.0)
"""Until the second instance has come, or a stream has ended."""

AWAY_FOR_LONG = replace(DEADLINES, absent=10.0)
"""Ten times what the impatient one waits: a busy machine tells it late that the kubelet is gone."""

IS_WAITED_FOR = frozenset((*PROMPT, "fake", "files", "busy after restarts"))
"""The runs in which everything comes."""

SHORT_S, LONG_S = DEADLINES.answer, 30.0
"""How long is waited for what does not come: a machine too busy for the short time has the long."""

Run = Callable[[float], tuple[Finding, ...]]
"""Given how long is waited for what does not come."""
Arranged = Callable[[PluginInThread, Kubelet], None]

EXPECTED: Final[dict[str, set[str]]] = {
    "fake": set(),
    "files": set(),
    "no change": {"health-change"},
    "another resource": {"register"},
    "busy after restarts": {"allocate-after-restart"},
    "ends before start 5": {"kubelet-crash"},
    "ends before start 6": {"slow-kubelet"},
    "ends before start 7": {"socket-wipe"},
    **{name: set(mode.fails) for name, mode in MODES.items()},
}
"""The checks that fail, by run."""


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def names(findings: tuple[Finding, ...], verdict: Verdict) -> set[str]:
    """Return the checks that came out in one way."""
    return {finding.check.name for finding in findings if finding.verdict is verdict}


def all_findings(runs: dict[str, Run], answer_s: float) -> dict[str, tuple[Finding, ...]]:
    """Ask everything of several plugins at a time."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        findings = pool.map(lambda run: run(answer_s), runs.values())
        return dict(zip(runs, findings, strict=True))


def failed_of(findings: dict[str, tuple[Finding, ...]]) -> dict[str, set[str]]:
    """Return the checks that fail, by run."""
    return {name: names(found, Verdict.FAILED) for name, found in findings.items()}


def at_start(start: int, happens: Callable[[PluginInThread], None]) -> Arranged:
    """Let something happen to a plugin right before the kubelet's n-th start."""

    def arrange(plugin: PluginInThread, node: Kubelet) -> None:
        listen = node.tap.on

        def begin(kubelet: KubeletSocket) -> KubeletSocket:
            if node.tap.kubelets + 1 == start:
                happens(plugin)
            return listen(kubelet)

        node.tap.on = begin  # type: ignore[method-assign]  # the moment before the sockets are there

    return arrange


def deadlines_of(mode: str, answer_s: float) -> Deadlines:
    """Return how long things may take in a mode."""
    if mode == IMPATIENT:
        return replace(AWAY_FOR_LONG, answer=answer_s)
    if mode == STREAM_ENDS:
        return PATIENT
    return AWAITED if mode in PROMPT else replace(DEADLINES, answer=answer_s)


def test_the_faults_name_checks_that_there_are() -> None:
    named = {name for mode in MODES.values() for name in mode.fails}

    assert named <= set(CATALOG)


def all_runs(thread: LoopThread, folder: Path) -> dict[str, Run]:
    """Return what is asked of which plugin, by name; the longest first."""

    def faulty(mode: str) -> Run:
        if mode == TWO_INSTANCES:
            return lambda _: conformance_of(
                thread, "faulty", ("mode", mode), ("after", "1500ms"), deadlines=PATIENT
            )
        return lambda answer_s: conformance_of(
            thread, "faulty", ("mode", mode), deadlines=deadlines_of(mode, answer_s)
        )

    def ending(start: int) -> Run:
        arranged = at_start(start, PluginInThread.vanish)
        return lambda answer_s: conformance_of(
            thread, "fake", arrange=arranged, deadlines=replace(DEADLINES, answer=answer_s)
        )

    for name in ("a", "b", "c"):
        (folder / name).touch()
    files = folder / "b"
    return {
        IMPATIENT: faulty(IMPATIENT),
        "fake": lambda _: conformance_of(
            thread, "fake", ("preferred", "packed"), ("pre-start", "true"), deadlines=AWAITED
        ),
        "files": lambda _: conformance_of(
            thread,
            "files",
            ("device", f"{folder}/*=example.com/files"),
            ("poll", "50ms"),
            break_device=files.unlink,
            mend_device=files.touch,
            deadlines=AWAITED,
        ),
        "no change": lambda answer_s: conformance_of(
            thread,
            "fake",
            break_device=lambda: None,
            mend_device=lambda: None,
            deadlines=replace(DEADLINES, answer=answer_s),
        ),
        "another resource": lambda answer_s: conformance_of(
            thread,
            "fake",
            resource="example.com/other",
            deadlines=replace(DEADLINES, answer=answer_s),
        ),
        "busy after restarts": lambda _: conformance_of(
            thread, "fake", arrange=at_start(4, PluginInThread.refuse), deadlines=AWAITED
        ),
        **{f"ends before start {start}": ending(start) for start in (5, 6, 7)},
        **{mode: faulty(mode) for mode in MODES},
    }


def test_good_plugins_pass_and_each_fault_fails_exactly_the_checks_of_its_row(
    thread: LoopThread, tmp_path: Path
) -> None:
    """A check that cannot fail proves nothing: each one does."""
    runs = all_runs(thread, tmp_path)
    findings = all_findings(runs, SHORT_S)
    failed = failed_of(findings)
    late = runs.keys() - IS_WAITED_FOR
    again = {name: runs[name] for name in runs if name in late and failed[name] != EXPECTED[name]}
    findings |= all_findings(again, LONG_S)
    failed = failed_of(findings)

    wrong = {
        name: [
            f"{each.check.name}: {each.detail}"
            for each in findings[name]
            if each.verdict is Verdict.FAILED
        ]
        for name in runs
        if failed[name] != EXPECTED[name]
    }
    assert wrong == {}
    waited = LONG_S if "another resource" in again else SHORT_S
    assert findings["another resource"][0].detail == (
        f"it does not register example.com/other within {waited:g}s, but example.com/gpu; fake runs"
    )
    assert names(findings["fake"], Verdict.NOT_APPLICABLE) == {"health-change"}
    assert names(findings["files"], Verdict.NOT_APPLICABLE) == {"preferred-allocation", "pre-start"}
    assert {name for found in failed.values() for name in found} == set(CATALOG)
