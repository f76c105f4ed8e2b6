"""One run of a scenario: steps are performed when they are due, rows looked at in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenarios.loading.loaded import LoadedScenario
from scenarios.running.agenda import Agenda
from scenarios.running.judging import Cast, Judge, StepProgress
from scenarios.running.rows import TableRow
from scenarios.schema.fields import DURATION_MAX
from scenarios.schema.variants import Persistence
from scenarios.sights.view import Run
from simulator.core.instants import HOUR, Duration, Instant, after, format_duration
from simulator.core.transitions import NodeName
from simulator.engine.actions import Advance
from simulator.errors import ScenarioError

STALL: Final = HOUR
"""A step that is not done so long after all should have been by their own words is given up."""


class Stage:
    """One run: which steps are due, which rows are open.

    Args:
        loaded: The scenario.
        run: The cluster on which it is played.
        persistence: What the run is to show; steps that are not meant for it are left out.
        rows: Rows that are judged.
        column: The number of this run among those that the rows speak of.

    Attributes:
        judges: One for each row.
    """

    def __init__(
        self,
        loaded: LoadedScenario,
        run: Run,
        persistence: Persistence,
        rows: Sequence[TableRow] = (),
        column: int = 0,
    ) -> None:
        self._steps = loaded.scenario.spec.steps
        self._actions = [
            action if step.is_done_under(persistence) else Advance(Duration(0))
            for step, action in zip(self._steps, loaded.actions, strict=True)
        ]
        self._run = run
        self._fault = loaded.step_fault
        self._expected_end = Instant(0)
        self._agenda = Agenda(self._steps)
        self._progress = {step.name: StepProgress() for step in self._steps}
        self._under_way: dict[str, StepProgress] = {}
        cast = _cast(loaded)
        self.judges = [Judge(row, row.meant[column], cast, self._progress) for row in rows]

    def play(self) -> None:
        """Let the run go on until all steps are done and all rows are judged.

        Raises:
            ScenarioError: A step cannot be done at its time.
        """
        while True:
            self._settle()
            at = self._next_at()
            if at is None:
                return
            self._run.run_until(at)

    def _settle(self) -> None:
        """Do all that is due at the present instant: events, then rows, then steps."""
        while True:
            self._run.run_until(self._run.now)
            self._complete()
            for judge in self.judges:
                judge.look(self._run)
            due = self._agenda.take_due(self._run.now)
            for index in due:
                self._perform(index)
            if not due:
                return

    def _complete(self) -> None:
        """Take note of the steps that are done."""
        for name, progress in list(self._under_way.items()):
            progress.done = self._run.completed_at(name)
            if progress.done is not None:
                del self._under_way[name]
                self._agenda.complete(name, progress.done)

    def _perform(self, index: int) -> None:
        step = self._steps[index]
        progress = self._under_way[step.name] = self._progress[step.name]
        progress.began = self._run.now
        progress.first_record = len(self._run.records)
        end = after(self._run.now, step.action.span)
        self._check_time(index, end)
        self._expected_end = max(self._expected_end, end)
        try:
            self._run.perform(self._actions[index], step.name)
        except ScenarioError as error:
            reason = f'the step "{step.name}" cannot be done: {error.reason}'
            raise self._fault(index, reason) from error

    def _check_time(self, index: int, at: Instant) -> None:
        if at > DURATION_MAX:
            longest = format_duration(DURATION_MAX)
            reason = (
                f'the step "{self._steps[index].name}" would go on until {format_duration(at)} '
                f"of virtual time; a run lasts {longest} at most"
            )
            raise self._fault(index, reason)

    def _next_at(self) -> Instant | None:
        """Return the next instant at which something is due; None when the run is over."""
        wanted = self._planned()
        if not wanted and not self._under_way:
            return None
        event = self._run.next_at()
        if event is None or (not wanted and not self._is_close(event)):
            return min(wanted, default=None)
        return min([*wanted, event])

    def _planned(self) -> list[Instant]:
        """Return when rows and steps are due, whatever becomes of the steps under way."""
        rows = [at for judge in self.judges if (at := judge.next_at()) is not None]
        first = self._agenda.first()
        if first is None:
            return rows
        at, index = first
        self._check_time(index, at)
        return [*rows, at]

    def _is_close(self, at: Instant) -> bool:
        """Tell whether `at` is not too long after the steps under way should have been done."""
        return at <= after(self._expected_end, STALL)


def _cast(loaded: LoadedScenario) -> Cast:
    plugins = loaded.scenario.spec.plugins
    nodes = tuple(NodeName(node.name) for node in loaded.scenario.spec.nodes)
    names = dict.fromkeys(plugin.resource_name for plugin in plugins)
    last_parts = [name.rpartition("/")[2] for name in names]
    return Cast(
        nodes=nodes,
        resources={plugin.name: plugin.resource_name for plugin in plugins},
        known_pods={str(pod.uid): pod.name for node in loaded.nodes for pod in node.pods},
        short={
            name: part
            for name, part in zip(names, last_parts, strict=True)
            if last_parts.count(part) == 1
        },
    )
