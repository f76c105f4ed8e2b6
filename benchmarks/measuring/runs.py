"""A whole run: every combination of a profile, repeated, interleaved, in shuffled order.

Combinations take turns (A B C A B C), so that a machine that grows busy blurs all of them and not
the last ones; in which order follows from the seed. Each row is handed out as soon as it is there,
so that whoever keeps them loses nothing when the run is broken off.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.measuring.instruments import MachineMeter, plain_fsync
from benchmarks.measuring.machine import machine_facts, versions
from benchmarks.measuring.making import Request
from benchmarks.measuring.phases import Phases, percentile_99, row_count
from benchmarks.measuring.targets import target
from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.estimate import estimated
from benchmarks.profiles.profile import Profile
from benchmarks.results.fields import Json
from benchmarks.results.naming import Naming
from benchmarks.results.progress import Progress
from benchmarks.results.rows import Noise, Result, Row, TimeSource
from simulator.api.client.endpoint import ApiEndpoint
from simulator.core.instants import SECOND

PROGRESS_PERIOD_S: Final = 1.0
"""Real seconds between two looks at how far a run is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is run.

    Attributes:
        document: The profile as it was written, for the result.
        combinations: Of the profile.
        seed, repetitions: In place of the profile's own, where they differ.
        folder: Where files are made; None for the usual place of temporary files.
        postgresql: URL of a server's database.
        cluster: An API server that is there already.
        kubeconfig: The file that names it.
    """

    profile: Profile
    document: dict[str, Json]
    combinations: tuple[Combination, ...]
    seed: int
    repetitions: int
    folder: Path | None = None
    postgresql: str | None = None
    cluster: ApiEndpoint | None = None
    kubeconfig: Path | None = None

    def turns(self) -> tuple[tuple[int, Combination], ...]:
        """Return repetitions and combinations in the order in which they are run."""
        chance = random.Random(self.seed)  # noqa: S311 - an order is no secret
        found: list[tuple[int, Combination]] = []
        for repetition in range(1, self.repetitions + 1):
            shuffled = list(self.combinations)
            chance.shuffle(shuffled)
            found += ((repetition, each) for each in shuffled)
        return tuple(found)


class Runner:
    """Runs it.

    Args:
        run: What is run.
        kept: Takes the result so far, first without rows, then after every row.
        progress: Takes how far it is, every second or so.

    Attributes:
        result: What there is so far.
    """

    def __init__(
        self,
        run: Run,
        *,
        kept: Callable[[Result], None] = lambda _: None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._run = run
        self._kept = kept
        self._progress = progress
        self._turns = run.turns()
        self._naming = Naming(each.setting for each in run.combinations)
        self._rows_of_turn = row_count(run.profile)
        self._meter = MachineMeter()
        self._phases: Phases | None = None
        self._is_real = any(each.clock is TimeSource.REAL for each in run.combinations)
        self.result = self._begun()

    def measure(self) -> Result:
        """Run everything and return the result; it is complete.

        Raises:
            KeyboardInterrupt: It was broken off; what there is was handed out.
            RebindError: A target cannot be made.
        """
        try:
            asyncio.run(self._all())
        finally:
            noise = replace(self.result.noise, after=self._meter.load())
            self._keep(replace(self.result, noise=noise))
        return self.result

    def _begun(self) -> Result:
        folder = self._run.folder or Path(tempfile.gettempdir())
        fsync = plain_fsync(folder) if self._is_real else None
        return Result(
            name=self._run.profile.name,
            started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            machine=machine_facts(folder),
            versions=versions(),
            profile=self._run.document,
            seed=self._run.seed,
            noise=Noise(fsync=fsync, before=self._meter.load()),
            expected_rows=len(self._turns) * self._rows_of_turn,
        )

    def _keep(self, result: Result) -> None:
        self.result = result
        self._kept(result)

    async def _all(self) -> None:
        for number, (repetition, combination) in enumerate(self._turns):
            await self._one(number, repetition, combination)
            # A ramp ends when it is too much: then there are fewer rows than it has steps.
            to_come = (len(self._turns) - number - 1) * self._rows_of_turn
            expected = len(self.result.rows) + to_come
            self.result = replace(self.result, expected_rows=expected)

    async def _one(self, number: int, repetition: int, combination: Combination) -> None:
        run = self._run
        request = Request(
            run.profile,
            combination,
            run.seed,
            folder=run.folder,
            postgresql=run.postgresql,
            cluster=run.cluster,
            kubeconfig=run.kubeconfig,
        )
        self._phases = None
        watching = asyncio.create_task(self._watch(number, combination))
        try:
            async with target(request) as made:
                self._phases = Phases(
                    profile=run.profile,
                    setting=combination.setting,
                    target=made,
                    repetition=repetition,
                    seed=run.seed,
                    done=self._add,
                )
                await self._phases.run()
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    def _add(self, row: Row) -> None:
        self._keep(replace(self.result, rows=(*self.result.rows, row)))

    async def _watch(self, number: int, combination: Combination) -> None:
        """Tell how far it is, again and again."""
        begun = time.monotonic()
        whole = estimated(self._run.profile, [each for _, each in self._turns[number:]])
        left = whole // max(self._run.profile.repetitions, 1) / SECOND
        while True:
            spent = time.monotonic() - begun
            self._progress(self._present(combination, max(left - spent, 0.0)))
            await asyncio.sleep(PROGRESS_PERIOD_S)

    def _present(self, combination: Combination, left: float) -> Progress:
        row = len(self.result.rows) + 1
        present = Progress(
            row=min(row, self.result.expected_rows or row),
            rows=self.result.expected_rows or row,
            what=self._naming.name(combination.setting),
            remaining=left,
        )
        snapshot = None if self._phases is None else self._phases.snapshot()
        if snapshot is None:
            return present
        p99 = None if snapshot.window is None else percentile_99(snapshot.window)
        rate = snapshot.served / snapshot.elapsed if snapshot.elapsed > 0 else 0.0
        return replace(present, phase=snapshot.phase, elapsed=snapshot.elapsed, rate=rate, p99=p99)
