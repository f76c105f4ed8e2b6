"""A result made by hand: two versions, two persistences, four rows."""

from __future__ import annotations

from simulator.core.instants import Instant
from simulator.core.records import KubeletStopped, PodPhaseChanged, Stamped
from simulator.core.transitions import NodeName
from simulator.reports.results import Cell, Column, Fact, Row, RunResult, ScenarioResult, Verdict

MESSAGE = (
    "Pod was rejected: Allocate failed due to no healthy devices present; "
    "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
)
RUNNING = Cell(Verdict.HELD, (Fact("phase", "Running", "Running"),))
FAILED = Cell(
    Verdict.HELD, (Fact("phase", "Failed", "Failed"), Fact("message", "", MESSAGE, detail=MESSAGE))
)
OTHER = Cell(Verdict.HELD, (Fact("deviceIDs", "gpu-2", "gpu-2"),))
SAME = Cell(Verdict.NOT_MEANT, (Fact("deviceIDs", "gpu-0"),))
BROKEN = Cell(Verdict.BROKEN, (Fact("phase", "Pending", "Running", holds=False),))
NEVER = Cell(Verdict.BROKEN, problem='the step "x" was never done')

COLUMNS = tuple(
    Column(version, persistence)
    for version in ("1.24.0", "1.36.2")
    for persistence in ("checkpoint", "database")
)
RECORDS = (
    Stamped(Instant(0), NodeName("node-a"), PodPhaseChanged("u1", "trainer", "Running")),  # type: ignore[arg-type]
    Stamped(Instant(1_500_000_000), NodeName("node-a"), KubeletStopped("power cut")),
)


def result(*rows: Row, name: str = "example", file: str = "example.yaml") -> ScenarioResult:
    return ScenarioResult(
        name=name,
        file=file,
        description="What it shows.",
        source="https://example.com/issues/1",
        runs=tuple(RunResult(column, 7, RECORDS) for column in COLUMNS),
        rows=rows,
        skipped=2,
    )


BY_VERSION = Row("after reboot: pod trainer", (RUNNING, RUNNING, FAILED, FAILED))
BY_PERSISTENCE = Row("after admit: pod second", (SAME, OTHER, SAME, OTHER))
ALIKE = Row("after admit: pod trainer", (RUNNING, RUNNING, RUNNING, RUNNING))
UNHELD = Row("always: pod trainer", (RUNNING, BROKEN, RUNNING, NEVER))
