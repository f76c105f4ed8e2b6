"""Runs a scenario once as it is, and then once for every way to cut it.

A persistence is judged by what it adds: the violations of a cut run on it, without those of the
same run that is not cut and whose store nothing ever befalls. What the kubelet breaks by its own
decisions, whatever keeps its records, never counts. An invariant that a persistence breaks without
a cut is not looked for in its cut runs, where it may be broken in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from scenarios.loading.loaded import LoadedScenario
from scenarios.loading.matrix import Combination
from scenarios.running.stage import Stage
from scenarios.sights.view import Run
from simulator.core.behavior import Reservations
from simulator.core.instants import Instant
from simulator.core.records import InvariantViolated
from simulator.engine.cluster import Keeping
from simulator.engine.cut_points import INTERRUPTED, CutPoint, cut_points, sampled
from simulator.engine.faults import Effect, Fault
from simulator.engine.node_phase import reservations_of
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching
from simulator.errors import ScenarioError
from simulator.reports.wording import pod_names

IDEAL: Final = "database"
"""The persistence that a store which nothing befalls has."""
UNCUT: Final = "without a cut"


class CuttableRun(Run, Protocol):
    """A run whose effects are counted."""

    @property
    def effects(self) -> Sequence[Effect]:
        """The effects so far, if they are kept."""
        ...

    @property
    def effect_count(self) -> int:
        """The number of effects so far."""
        ...


class StartCuttable(Protocol):
    """Builds a simulated cluster, with what goes wrong in it."""

    def __call__(
        self,
        spec: SimulationSpec,
        *,
        faults: Sequence[Fault] = ...,
        watching: Watching = ...,
        keeping: Keeping = ...,
    ) -> AbstractContextManager[CuttableRun]:
        """Build it, and let go of what it holds at the end."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """A broken invariant, by what can be compared between runs.

    Attributes:
        pods: The pods it is about: which devices are chosen may differ.
    """

    invariant: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run has shown.

    Attributes:
        violations: With the instant and the detail of the first of each.
        effects: Its effects.
        first: Number of effects before the first step.
        ended_by: Why it ended early; empty when it did not.
    """

    violations: dict[Violation, tuple[Instant, str]]
    effects: tuple[Effect, ...] = ()
    first: int = 0
    ended_by: str = ""


@dataclass(slots=True)
class Finding:
    """One kind of violation that a persistence adds, by one kind of cut.

    Attributes:
        cause: The kind of cut, or that there was none.
        points: How many cuts of this kind lead to it.
        point: The first of them; None without a cut.
        detail: What contradicted what there.
    """

    invariant: str
    cause: str
    point: CutPoint | None
    at: Instant
    detail: str
    points: int = 1


@dataclass(slots=True)
class Exploration:
    """What came of one combination of a scenario.

    Attributes:
        effects: Effects of the run without a cut.
        run: Points that were run.
        skipped: Points that were not, by reason.
        ended_early: Cut runs in which a later step could not be done.
        findings: What the persistence adds, in the order in which it was found.
    """

    scenario: str
    combination: Combination
    effects: int = 0
    run: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    ended_early: int = 0
    findings: list[Finding] = field(default_factory=list)
    interrupted: bool = False

    def note(self, violation: Violation, at: Instant, detail: str, point: CutPoint | None) -> None:
        """Take a violation down, with others of its kind."""
        cause = UNCUT if point is None else point.cause
        for known in self.findings:
            if (known.invariant, known.cause) == (violation.invariant, cause):
                known.points += 1
                return
        self.findings.append(Finding(violation.invariant, cause, point, at, detail))


@dataclass(frozen=True, slots=True)
class KindOfFinding:
    """The findings of one kind of all that was explored.

    Attributes:
        persistence: The strategy that adds them, with its options.
        points: How many cuts lead to them.
        where: The exploration with the first of them, by the number of its effect.
        first: That one.
    """

    persistence: str
    invariant: str
    cause: str
    points: int
    where: Exploration
    first: Finding


def kinds_of_findings(explorations: Sequence[Exploration]) -> list[KindOfFinding]:
    """Return what was found, one of each kind, in the order in which it was found."""
    kinds: dict[tuple[str, str, str], KindOfFinding] = {}
    for one in explorations:
        label = one.combination.persistence.label
        for finding in one.findings:
            key = (label, finding.invariant, finding.cause)
            known = kinds.get(key)
            if known is None:
                kinds[key] = KindOfFinding(*key, finding.points, one, finding)
                continue
            earlier = _number(finding) < _number(known.first)
            kinds[key] = replace(
                known,
                points=known.points + finding.points,
                where=one if earlier else known.where,
                first=finding if earlier else known.first,
            )
    return list(kinds.values())


def _number(finding: Finding) -> int:
    return finding.point.effect.number if finding.point is not None else 0


class Explorer:
    """Explores the combinations of one scenario.

    Args:
        loaded: The scenario.
        start: Builds the cluster of one run.
        keeping: How state is kept, where that is not as the combination says.
    """

    def __init__(
        self, loaded: LoadedScenario, start: StartCuttable, keeping: Keeping = Keeping()
    ) -> None:
        self._loaded = loaded
        self._start = start
        self._keeping = keeping

    def explore(
        self,
        combination: Combination,
        *,
        limit: int | None = None,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> Exploration:
        """Cut one combination everywhere.

        Args:
            combination: The version, persistence and readmission policy.
            limit: Most points that are run; None for all.
            progress: Told how many points of how many were run.

        Returns:
            What was found; up to an interrupt, if there was one.
        """
        found = Exploration(self._loaded.name, combination)
        points: tuple[CutPoint, ...] = ()
        try:
            known = set(self.unavoidable(combination))
            uncut = self.seen(combination)
            found.effects = len(uncut.effects)
            every, found.skipped = cut_points(uncut.effects, uncut.first)
            points, beyond = sampled(every, limit)
            found.skipped += beyond
            for violation, (at, detail) in _added(uncut, known):
                found.note(violation, at, detail, None)
            broken = {violation.invariant for violation in uncut.violations}
            for point in points:
                progress(found.run, len(points))
                cut = self.seen(combination, (point.fault,))
                found.run += 1
                found.ended_early += bool(cut.ended_by)
                noted = set(broken)
                for violation, (at, detail) in _added(cut, known):
                    if violation.invariant not in noted:
                        noted.add(violation.invariant)
                        found.note(violation, at, detail, point)
        except KeyboardInterrupt:
            found.interrupted = True
            found.skipped[INTERRUPTED] += len(points) - found.run
        return found

    def unavoidable(self, combination: Combination) -> dict[Violation, tuple[Instant, str]]:
        """Return what the scenario itself breaks, on a store that nothing ever befalls."""
        ideal = self._ideal(combination)
        return self._play(ideal, combination, (), Keeping(ideal=True)).violations

    def seen(self, combination: Combination, faults: Sequence[Fault] = ()) -> Seen:
        """Play the scenario once on the combination's persistence."""
        spec = self._loaded.simulation(combination)
        return self._play(spec, combination, faults, self._keeping)

    def _ideal(self, combination: Combination) -> SimulationSpec:
        """Return the run with the same kubelet, and its state in nothing but memory."""
        spec = self._loaded.simulation(combination)
        reservations: Reservations = reservations_of(spec)
        return replace(spec, persistence=IDEAL, persistence_options=(), reservations=reservations)

    def _play(
        self,
        spec: SimulationSpec,
        combination: Combination,
        faults: Sequence[Fault],
        keeping: Keeping,
    ) -> Seen:
        watching = Watching(effects=not faults)
        with self._start(spec, faults=faults, watching=watching, keeping=keeping) as run:
            first = run.effect_count
            ended_by = ""
            try:
                Stage(self._loaded, run, combination.persistence).play()
            except ScenarioError as error:
                ended_by = error.reason
            return Seen(_violations(self._loaded, run), tuple(run.effects), first, ended_by)


def _added(seen: Seen, known: set[Violation]) -> Iterator[tuple[Violation, tuple[Instant, str]]]:
    return ((key, first) for key, first in seen.violations.items() if key not in known)


def _violations(loaded: LoadedScenario, run: Run) -> dict[Violation, tuple[Instant, str]]:
    """Return what counts of the violations of a run, with pods called by their names."""
    known = {str(pod.uid): pod.name for node in loaded.nodes for pod in node.pods}
    names = {**known, **pod_names(run.records)}
    violations: dict[Violation, tuple[Instant, str]] = {}
    for stamped in run.records:
        record = stamped.record
        if isinstance(record, InvariantViolated) and not record.by_kubelet:
            detail, about = record.detail, []
            for uid, name in names.items():
                if uid in detail:
                    detail = detail.replace(uid, name)
                    about.append(uid)
            key = Violation(record.invariant, tuple(sorted(about)))
            violations.setdefault(key, (stamped.at, detail))
    return violations
