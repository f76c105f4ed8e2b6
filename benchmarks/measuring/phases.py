"""Runs the phases of a profile on one target, one after the other, and makes their rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.measuring.api_calls import CallOffering
from benchmarks.measuring.clocks import Driver
from benchmarks.measuring.costs import Costs, Instruments
from benchmarks.measuring.courses import Course
from benchmarks.measuring.disturbing import Disturber
from benchmarks.measuring.following import Follower
from benchmarks.measuring.lives import Lives
from benchmarks.measuring.offering import Offering
from benchmarks.measuring.ramps import Ramp
from benchmarks.measuring.windows import Followed, Window
from benchmarks.profiles.disturbances import disturbances
from benchmarks.profiles.loads import Load, QpsLoad, RampLoad, SteppedLoad
from benchmarks.profiles.profile import LostReplies, Phase, Profile
from benchmarks.profiles.schedule import arrivals
from benchmarks.results.rows import Measure, Row, Setting
from simulator.core.instants import MINUTE, SECOND, Duration, Instant, after
from simulator.engine.lossy_api import LossyApi
from simulator.engine.timeline import Priority

GONE_WITHIN: Final = Duration(10 * MINUTE)
"""How long the pods of earlier phases may take to go, where a phase begins afresh."""


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster that is measured.

    Attributes:
        driver: Lets its time pass.
        lives: The pods of the load.
        follower: Follows them.
        instruments: Count what it costs.
        lossy: Where replies of the API server can get lost.
    """

    driver: Driver
    lives: Lives
    follower: Follower
    instruments: Instruments
    lossy: LossyApi | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a phase is, for whoever watches.

    Attributes:
        elapsed: Seconds since it began.
        served: Pods so far.
        window: What is measured now; None during a phase that is not.
    """

    phase: str
    elapsed: float
    served: int
    window: Window | None


class Phases:
    """The phases of one combination.

    Args:
        profile: With the phases.
        setting: Of the combination, for the rows.
        target: Where they run.
        repetition: From 1.
        seed: Of the schedules.
        done: Takes each row when it is complete.
    """

    def __init__(  # noqa: PLR0913 - one object for one run, by keyword
        self,
        *,
        profile: Profile,
        setting: Setting,
        target: Target,
        repetition: int,
        seed: int,
        done: Callable[[Row], None],
    ) -> None:
        self._profile = profile
        self._setting = setting
        self._target = target
        self._driver = target.driver
        self._lives = target.lives
        self._repetition = repetition
        self._seed = seed
        self._done = done
        self._saturation: float | None = None
        self._present: _Run | None = None
        target.follower.served = self._served

    async def run(self) -> None:
        """Run all phases."""
        for phase in self._profile.phases:
            await asyncio.sleep(0)  # Virtual time alone would never hear of Ctrl-C.
            if phase.fresh:
                self._driver.enter(self._lives.end_all)
                await self._driver.until(lambda: self._lives.are_over, GONE_WITHIN)
            if phase.pause:
                await self._driver.sleep(phase.pause)
            await self._run(phase)

    def snapshot(self) -> Snapshot | None:
        """Return how far the present phase is; None between phases."""
        run = self._present
        if run is None:
            return None
        elapsed = (self._driver.now_ns() - run.offering.begun_ns) / SECOND
        served = sum(window.served for window in run.windows)
        begun = [window for window in run.windows if window.before is not None]
        window = begun[-1] if begun and run.phase.measured else None
        return Snapshot(run.phase.name, elapsed, served, window)

    async def _run(self, phase: Phase) -> None:
        run = self._present = self._make(phase)
        try:
            self._driver.enter(run.begin)
            await self._driver.until(lambda: run.offering.is_over)
            await self._driver.until(run.is_done, phase.drain)
        except asyncio.CancelledError:
            self._finish(run, interrupted=True)
            raise
        self._finish(run, interrupted=False)

    def _make(self, phase: Phase) -> _Run:
        coming = arrivals(
            self._profile,
            phase,
            nodes=self._setting.nodes,
            seed=self._seed,
            saturation=self._saturation,
        )
        befalling = disturbances(self._profile, phase, nodes=self._setting.nodes, seed=self._seed)
        ramp = Ramp(phase) if isinstance(phase.load, RampLoad) else None
        windows = [self._stretch(phase)] if ramp is None else ramp.windows
        make = CallOffering if phase.api_calls else Offering
        offering = make(
            driver=self._driver,
            lives=self._lives,
            phase=phase,
            arrivals=coming,
            windows=windows,
            start=self._profile.measuring.start,
        )
        only = windows[0] if phase.load is None else None
        disturber = Disturber(self._driver, self._target.follower, befalling, only)
        return _Run(
            phase,
            self._target,
            offering=offering,
            disturber=disturber,
            windows=windows,
            ramp=ramp,
        )

    def _stretch(self, phase: Phase) -> Window:
        """Return the stretch of a phase that is measured: all but its warm-up."""
        end = phase.duration if phase.load is not None and phase.duration else None
        window = Window(phase.name, phase.warmup, end)
        if phase.is_sliced:
            meter = self._target.instruments.footprint
            window.course = Course(phase.steady, None if meter is None else meter.begin)
        return window

    def _finish(self, run: _Run, *, interrupted: bool) -> None:
        self._present = None
        rows = run.finish(self._setting, self._repetition, interrupted=interrupted)
        if run.ramp is not None:
            self._saturation = run.ramp.saturation()
        if run.phase.measured:
            for row in rows:
                self._done(row)

    def _served(self, followed: Followed) -> None:
        """Let the next pod of a closed loop come."""
        run = self._present
        if run is None or not run.offering.is_closed_loop:
            return
        if followed.window is None or followed.window in run.windows:
            self._driver.world.timeline.call_after(Duration(0), run.offering.offer_next)


class _Run:
    """One phase under way."""

    def __init__(  # noqa: PLR0913 - what belongs to one phase
        self,
        phase: Phase,
        target: Target,
        *,
        offering: Offering,
        disturber: Disturber,
        windows: Sequence[Window],
        ramp: Ramp | None,
    ) -> None:
        self.phase = phase
        self.offering = offering
        self.windows = windows
        self.ramp = ramp
        self.is_finished = False
        self._target = target
        self._driver = target.driver
        self._disturber = disturber

    def begin(self) -> None:
        """Begin, in an event."""
        self._lose_replies(self.phase.lost_replies)
        self.offering.begin()
        self._disturber.begin()
        timeline = self._driver.world.timeline
        begun = timeline.now()
        for index, window in enumerate(self.windows):
            at = after(begun, window.start)
            if window.start:
                timeline.call_at(at, partial(self._open, index), Priority.MACHINE)
            else:
                self._open(index)
            if window.course is not None:
                self._plan_slice(window.course, at)
        if self.ramp is not None and self.windows[-1].end is not None:
            last = after(begun, self.windows[-1].end)
            timeline.call_at(last, partial(self._open, len(self.windows)), Priority.MACHINE)

    def _plan_slice(self, course: Course, begins: Instant) -> None:
        """Plan the end of a slice, and then of those that follow it."""

        def end() -> None:
            if not self.is_finished:
                course.end_slice()
                if not course.is_over:
                    self._plan_slice(course, ends)

        ends = after(begins, course.each)
        self._driver.world.timeline.call_at(ends, end, Priority.OBSERVE)

    def is_done(self) -> bool:
        """Tell whether nothing is left to be waited for."""
        if self.phase.load is None and not self._is_quiet():
            return False
        return not self._target.lives.is_waited_for and not any(
            window.has_unserved for window in self.windows
        )

    def _lose_replies(self, lost: LostReplies | None) -> None:
        if self._target.lossy is not None:
            self._target.lossy.share = 0.0 if lost is None else float(lost.share)

    def _is_quiet(self) -> bool:
        """Tell whether all nodes serve again, and their kubelets have told the API everything."""
        if not self._disturber.is_over():
            return False
        kubelets = [node.kubelet for node in self._driver.world.nodes.values()]
        return all(kubelet is not None and kubelet.has_reported for kubelet in kubelets)

    def finish(self, setting: Setting, repetition: int, *, interrupted: bool) -> list[Row]:
        """End, and return the rows of what was measured."""
        self.is_finished = True
        self.offering.end()
        self._disturber.end()
        self._lose_replies(None)
        self._target.lives.give_up_waiting()
        cut_ns = self._driver.now_ns()
        begun = [window for window in self.windows if window.before is not None]
        for window in begun:
            self._close(window)
            while window.course is not None and not (window.course.is_over or interrupted):
                window.course.end_slice()  # The last one ends in the same instant as the load.
        is_cut = interrupted
        rows = []
        for window in begun:
            if self.ramp is None and window.end is not None and not interrupted:
                self._shorten(window)
            rows.append(
                window.row(setting, repetition=repetition, cut_ns=cut_ns, interrupted=is_cut)
            )
        return rows

    def _shorten(self, window: Window) -> None:
        """A phase that has ended before its time is as long as its load was."""
        length = self.offering.ended_ns - self.offering.begun_ns
        if self.offering.has_run_out:
            length += _distance(self.phase.load)
        if window.end is not None and self.phase.until is not None:
            window.end = Duration(max(min(window.end, length), window.start))

    def _open(self, index: int) -> None:
        """Begin to measure a stretch; the one before is over, but for what is still under way."""
        before = self.windows[index - 1] if index else None
        if self.is_finished or (before is not None and before.after is not None):
            return
        if self.offering.is_over and 0 < index < len(self.windows):
            return
        target = self._target
        if before is not None:
            if before.before is None:
                return
            self._close(before)
            if self.ramp is not None and self.ramp.is_too_much(index - 1, self._driver.now_ns()):
                self.offering.end()
                return
        if index == len(self.windows):
            return
        target.instruments.forget_peak()
        target.follower.risk.most = target.follower.risk.now
        window = self.windows[index]
        window.before = self._costs()

    def _costs(self) -> Costs:
        target = self._target
        return target.instruments.read(target.follower.bound, at_ns=self._driver.now_ns())

    def _close(self, window: Window) -> None:
        """Read the instruments at the end of a stretch, once."""
        if window.after is not None:
            return
        target = self._target
        risk = target.follower.risk
        risk.settle()
        window.after = self._costs()
        window.memory_peak = target.instruments.memory_peak()
        if risk.is_counted:
            window.at_risk_max, window.at_risk_end = risk.most, risk.now


def _distance(load: Load | None) -> int:
    """Return when another pod would have come after the last one; 0 where chance says it."""
    match load:
        case QpsLoad(qps):
            return round(SECOND / qps)
        case SteppedLoad(_, step_delay):
            return step_delay
        case _:
            return 0


def percentile_99(window: Window) -> Duration | None:
    """Return a window's present p99 of admission; None before the first pod."""
    return window.percentile(Measure.ADMISSION, 99)


def row_count(profile: Profile) -> int:
    """Return how many rows one run of a combination has, before it is known where ramps end."""
    return sum(map(_rows, profile.phases))


def _rows(phase: Phase) -> int:
    if not phase.measured:
        return 0
    return len(phase.load.steps()) if isinstance(phase.load, RampLoad) else 1
