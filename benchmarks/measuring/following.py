"""Follows pods by the world's records: when each is durably admitted, started, running, visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks.measuring.carried import Shown
from benchmarks.measuring.windows import Followed, Window
from benchmarks.results.rows import Measure
from simulator.core.pods import PodUid
from simulator.core.records import (
    AdmissionDecided,
    ContainerChanged,
    PodDeleted,
    PodPhaseChanged,
    Stamped,
)
from simulator.engine.api_objects import FAILED, RUNNING

ALL: Final = frozenset(Measure)
"""What is awaited of a pod that comes."""
READMISSION: Final = frozenset({Measure.ADMISSION})
"""Of a pod whose containers go on while its kubelet restarts."""
RESTART: Final = frozenset({Measure.ADMISSION, Measure.START})
"""Of a pod that begins anew after a reboot; the API shows it running all the time."""


_RUNS: Final = "running"


class Risk:
    """Counts bindings that a crash now would lose, or leave invisible.

    Args:
        synced: Returns a number that grows with each fsync, where acknowledged commits are not
            synced by themselves; None where nothing acknowledged can be lost.
        is_counted: Whether it can be told at all.

    Attributes:
        now, most: Bindings at risk now, and at most so far.
    """

    def __init__(self, synced: Callable[[], int] | None, *, is_counted: bool = True) -> None:
        self.is_counted = is_counted
        self.now = 0
        self.most = 0
        self._synced = synced
        self._seen = 0 if synced is None else synced()

    def bound(self, devices: int) -> None:
        """Take note of bindings that count as durable; they are at risk until the next fsync."""
        if self._synced is None:
            return
        self.settle()
        self.add(devices)

    def settle(self) -> None:
        """Take note of fsyncs since the last look: what was bound before them is safe."""
        if self._synced is not None:
            seen = self._synced()
            if seen != self._seen:
                self._seen, self.now = seen, 0

    def add(self, devices: int) -> None:
        """Take note of bindings that nobody sees yet; or, negative, that they are seen or gone."""
        self.now += devices
        self.most = max(self.most, self.now)


class Follower:
    """Follows pods.

    Args:
        now_ns: The driver's clock.
        risk: Counts bindings at risk.
        shown_by_api: Whether devices are visible only once they are in the API.

    Attributes:
        bound: Devices that were bound so far.
        served: Told of every followed pod that was served or has failed.
    """

    def __init__(self, now_ns: Callable[[], int], risk: Risk, *, shown_by_api: bool) -> None:
        self.bound = 0
        self.risk = risk
        self.served: Callable[[Followed], None] = lambda _: None
        self._now_ns = now_ns
        self._shown_by_api = shown_by_api
        self._followed: dict[PodUid, Followed] = {}

    def begin(
        self, due_ns: int, window: Window | None, awaited: frozenset[Measure] = ALL
    ) -> Followed:
        """Begin to wait for a pod whose uid is not known yet."""
        followed = Followed(due_ns, window, set(awaited))
        if window is not None:
            window.begin(followed)
        return followed

    def follow(self, uid: PodUid, followed: Followed) -> None:
        """Follow the pod with this uid; a pod can be followed anew."""
        self._followed[uid] = followed

    def take(self, stamped: Stamped) -> None:
        """Take a record of the world."""
        record = stamped.record
        if isinstance(record, AdmissionDecided):
            self._decided(record)
        elif isinstance(record, ContainerChanged):
            if record.state == _RUNS and (followed := self._followed.get(record.pod)):
                self._reach(followed, Measure.START)
        elif isinstance(record, PodPhaseChanged):
            self._phase(record)
        elif isinstance(record, PodDeleted):
            self._deleted(record)

    def shown(self, shown: Shown) -> None:
        """Take note that devices can be read in the API."""
        uid, keys = shown
        followed = self._followed.get(uid)
        if followed is not None:
            followed.shown |= keys
            self._show(followed)

    def _decided(self, record: AdmissionDecided) -> None:
        followed = self._followed.get(record.pod)
        if not record.admitted:
            if followed is not None and not record.waiting:
                self._fail(followed)
            return
        devices = sum(len(ids) for *_, ids in record.held)
        self.bound += devices
        self.risk.bound(devices)
        if followed is None:
            return
        followed.bound, followed.bindings = devices, len(record.held)
        self._reach(followed, Measure.ADMISSION)
        if self._shown_by_api and Measure.VISIBLE in followed.awaited and devices:
            followed.unshown = True
            self.risk.add(devices)
            self._show(followed)
        else:
            self._reach(followed, Measure.VISIBLE)
        self.served(followed)

    def _show(self, followed: Followed) -> None:
        if followed.unshown and len(followed.shown) >= followed.bindings:
            followed.unshown = False
            self.risk.add(-followed.bound)
            self._reach(followed, Measure.VISIBLE)

    def _phase(self, record: PodPhaseChanged) -> None:
        followed = self._followed.get(record.pod)
        if followed is None:
            return
        if record.phase == RUNNING:
            self._reach(followed, Measure.RUNNING)
        elif record.phase == FAILED:
            self._fail(followed)

    def _deleted(self, record: PodDeleted) -> None:
        followed = self._followed.get(record.pod)
        if followed is None:
            return
        if followed.unshown:
            followed.unshown = False
            self.risk.add(-followed.bound)
        if followed.window is not None:
            if Measure.ADMISSION in followed.awaited:
                self._fail(followed)
            followed.window.gone(followed)
        del self._followed[record.pod]

    def _reach(self, followed: Followed, measure: Measure) -> None:
        if measure in followed.awaited and followed.window is not None:
            followed.window.reached(followed, measure, self._now_ns())

    def _fail(self, followed: Followed) -> None:
        if followed.has_failed:
            return
        followed.has_failed = True
        if followed.window is not None:
            followed.window.failed(followed)
        self.served(followed)
