"""Short ways to write a churn profile and to run it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.measuring.making import Request
from benchmarks.measuring.phases import Phases, Target
from benchmarks.measuring.runs import Run, Runner
from benchmarks.measuring.targets import target
from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.loading import parse_profiles
from benchmarks.profiles.profile import Profile
from benchmarks.results.rows import Measure, Result, Row
from simulator.api.client.endpoint import ApiEndpoint
from simulator.core.instants import MILLISECOND, Duration

PROFILE = """
apiVersion: rebind.internal/v1alpha1
kind: ChurnProfile
metadata: {{name: test}}
spec:
  seed: 3
  nodes: {{count: {nodes}}}
  plugins:
  - name: gpu
    resourceName: example.com/gpu
    devices: {{count: {devices}}}
    latency: {{allocate: {{p50: {allocate}, p99: {allocate}}}}}
    {plugin}
  loads:
    load: {load}
  podTemplates:
    pod:
      limits: {{example.com/gpu: 1}}
      lifetime: {{constant: {lifetime}}}
      {pod}
  phases:
  {phases}
  matrix:
    persistence: {persistence}
    clock: {clock}
    {matrix}
"""


def ms(number: float) -> Duration:
    """Return milliseconds."""
    return Duration(round(number * MILLISECOND))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A profile in few words."""

    nodes: int = 1
    devices: int = 8
    allocate: str = "1ms"
    load: str = "{qpsLoad: {qps: 20}}"
    lifetime: str = "100ms"
    phases: str = "- {name: churn, load: load, pods: pod, duration: 1s}"
    persistence: str = "database"
    clock: str = "virtual"
    matrix: str = ""
    plugin: str = ""
    pod: str = ""

    def profile(self) -> Profile:
        """Return the profile."""
        values = {name: getattr(self, name) for name in self.__slots__}
        [loaded] = parse_profiles(PROFILE.format(**values).encode(), "test.yaml", {})
        return loaded.profile

    def combinations(self) -> tuple[Combination, ...]:
        """Return what is run."""
        return self.profile().combinations()

    def rows(
        self,
        watch: Callable[[Target], None] = lambda _: None,
        *,
        postgresql: str | None = None,
        cluster: ApiEndpoint | None = None,
    ) -> list[Row]:
        """Run the first combination; `watch` is given the target before the load begins."""
        rows: list[Row] = []
        profile = self.profile()
        combination = profile.combinations(postgresql=True)[0]

        async def play() -> None:
            request = Request(
                profile, combination, profile.seed, postgresql=postgresql, cluster=cluster
            )
            async with target(request) as made:
                watch(made)
                phases = Phases(
                    profile=profile,
                    setting=combination.setting,
                    target=made,
                    repetition=1,
                    seed=profile.seed,
                    done=rows.append,
                )
                await phases.run()

        asyncio.run(play())
        return rows

    def row(
        self,
        watch: Callable[[Target], None] = lambda _: None,
        *,
        postgresql: str | None = None,
        cluster: ApiEndpoint | None = None,
    ) -> Row:
        """Run the first combination, which has one row."""
        [row] = self.rows(watch, postgresql=postgresql, cluster=cluster)
        return row

    def result(self, *, repetitions: int = 1) -> Result:
        """Run everything."""
        profile = self.profile()
        run = Run(
            profile=profile,
            document={},
            combinations=profile.combinations(),
            seed=profile.seed,
            repetitions=repetitions,
        )
        return Runner(run).measure()


def percentile(row: Row, measure: Measure, percent: float) -> Duration:
    """Return a percentile of a row."""
    return row.latencies[measure].percentile(percent)
