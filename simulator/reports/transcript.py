"""The transcript: one line per record, in fixed columns.

    TIME         NODE     RECORD               WHAT HAPPENED
    1.003s       node-a   PluginCalled         Allocate trainer/main example.com/gpu gpu-0

Times are virtual, counted from the start of the run. Each run begins with its combination and ends
with its expectations: `held`, `broken`, or `seen` for what is only observed in this combination.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simulator.core.instants import format_duration
from simulator.core.records import Stamped
from simulator.reports.results import Cell, RunResult, ScenarioResult, Verdict
from simulator.reports.text import printable
from simulator.reports.wording import Names, pod_names, sentence

_TIME_WIDTH: Final = 12
_TYPE_WIDTH: Final = 19
VERDICT_WORDS: Final = {Verdict.HELD: "held", Verdict.BROKEN: "broken", Verdict.NOT_MEANT: "seen"}
"""What a report says of an expectation in a run."""


def transcript(result: ScenarioResult) -> str:
    """Return the transcript of all runs of a scenario."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: ScenarioResult) -> Iterator[str]:
    for index, run in enumerate(result.runs):
        if index:
            yield ""
        yield f"# {result.name}: {run.column.label}, seed {run.seed}"
        yield from record_lines(run)
        for row in result.rows:
            cell = row.cells[index]
            if cell.facts or cell.problem:
                yield _expectation(row.title, cell)


def record_lines(run: RunResult) -> Iterator[str]:
    """Iterate over the lines of a run's records."""
    names = pod_names(run.records)
    width = max((len(stamped.node) for stamped in run.records), default=0)
    for stamped in run.records:
        yield _record(stamped, names, width)


def _record(stamped: Stamped, names: Names, node_width: int) -> str:
    time = format_duration(stamped.at).ljust(_TIME_WIDTH)
    kind = type(stamped.record).__name__.ljust(_TYPE_WIDTH)
    what = sentence(stamped.record, names)
    return f"{time} {stamped.node:<{node_width}} {kind} {what}".rstrip()


def _expectation(title: str, cell: Cell) -> str:
    seen = printable(cell.text())
    wanted = [
        f"{fact.key} {fact.expected}"
        for fact in cell.facts
        if not fact.holds and fact.expected is not None
    ]
    missing = f"; expected {printable(', '.join(wanted))}" if wanted else ""
    return f"= {VERDICT_WORDS[cell.verdict]:<6} {title}: {seen}{missing}"
