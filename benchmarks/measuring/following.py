"""Follows pods by the world's records: when each is durably admitted, started, running, visible."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
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


class ApiRole(Enum):
    """What the API is for the devices of a pod."""

    NONE = "none"
    """It does not have them."""
    COPY = "copy"
    """It has what is kept elsewhere, some time later."""
    KEEPER = "keeper"
    """They are kept nowhere else, and the pod waits for that."""
    LATE_KEEPER = "late-keeper"
    """They are kept nowhere else, and the pod does not wait."""


class Risk:
    """Counts bindings of pods that may start, and that a crash now would lose.

    Such are those that were acknowledged before an fsync, and those that are to be in the API and
    are not there yet: with the disk, or the kubelet's memory, they would be gone.

    Args:
        synced: Returns a number that grows with each fsync, where acknowledged commits are not
            synced by themselves; None where nothing acknowledged can be lost.
        is_counted: Whether it can be told at all.

    Attributes:
        most: Bindings at risk at most so far.
    """

    def __init__(self, synced: Callable[[], int] | None, *, is_counted: bool = True) -> None:
        self.is_counted = is_counted
        self.most = 0
        self._synced = synced
        self._seen = 0 if synced is None else synced()
        self._unsynced = 0
        self._unseen = 0

    @property
    def now(self) -> int:
        """Bindings at risk now."""
        return self._unsynced + self._unseen

    def bound(self, devices: int) -> None:
        """Take note of bindings that count as durable; they are at risk until the next fsync."""
        if self._synced is None:
            return
        self.settle()
        self._unsynced += devices
        self.most = max(self.most, self.now)

    def settle(self) -> None:
        """Take note of fsyncs since the last look: what was bound before them is safe."""
        if self._synced is not None:
            seen = self._synced()
            if seen != self._seen:
                self._seen, self._unsynced = seen, 0

    def unseen(self, devices: int) -> None:
        """Take note of bindings that nobody sees yet; or, negative, that they are seen or gone."""
        self._unseen += devices
        self.most = max(self.most, self.now)


class Follower:
    """Follows pods.

    Args:
        now_ns: The driver's clock.
        risk: Counts bindings at risk.
        role: What the API is for bindings: where it keeps them, a pod is durably admitted only
            when it does.

    Attributes:
        bound: Devices that were bound durably so far; a pod that is admitted again binds none.
        served: Told once of every followed pod, when it was served or never will be.
    """

    def __init__(self, now_ns: Callable[[], int], risk: Risk, role: ApiRole) -> None:
        self.bound = 0
        self.risk = risk
        self.served: Callable[[Followed], None] = lambda _: None
        self._now_ns = now_ns
        self._role = role
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

    def give_up(self, followed: Followed) -> None:
        """Wait no longer for a pod that will never have a uid."""
        self._fail(followed)

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
        if followed is None or followed.has_failed:
            return
        if not record.admitted:
            if not record.waiting:
                self._fail(followed)
        elif followed.is_admitted or Measure.VISIBLE not in followed.awaited:
            followed.is_admitted = True
            if not followed.unshown:
                self._admit(followed)
        else:
            followed.is_admitted = True
            followed.bound = sum(len(ids) for *_, ids in record.held)
            followed.bindings = len(record.held)
            self._bound(followed)

    def _bound(self, followed: Followed) -> None:
        """The pod has devices for the first time."""
        if self._role is ApiRole.NONE or not followed.bound:
            self._keep(followed)
            self._reach(followed, Measure.VISIBLE)
            return
        if self._role is ApiRole.COPY:
            self._keep(followed)
        if self._role is not ApiRole.KEEPER:
            self.risk.unseen(followed.bound)
        followed.unshown = True
        self._show(followed)

    def _keep(self, followed: Followed) -> None:
        """The pod's bindings are durable."""
        self.bound += followed.bound
        if self._role is not ApiRole.COPY:
            self.risk.bound(followed.bound)
        self._admit(followed)

    def _admit(self, followed: Followed) -> None:
        self._reach(followed, Measure.ADMISSION)
        self._tell(followed)

    def _show(self, followed: Followed) -> None:
        if followed.unshown and len(followed.shown) >= followed.bindings:
            self._stop_showing(followed)
            if self._role is not ApiRole.COPY:
                self._keep(followed)
            self._reach(followed, Measure.VISIBLE)

    def _stop_showing(self, followed: Followed) -> None:
        """The pod's devices are in the API, or never will be."""
        if followed.unshown:
            followed.unshown = False
            if self._role is not ApiRole.KEEPER:
                self.risk.unseen(-followed.bound)

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
        self._stop_showing(followed)
        if Measure.ADMISSION in followed.awaited and not followed.is_admitted:
            self._fail(followed)
        if followed.window is not None:
            followed.window.gone(followed)
        self._tell(followed)
        del self._followed[record.pod]

    def _reach(self, followed: Followed, measure: Measure) -> None:
        awaits = measure in followed.awaited and not followed.has_failed
        if awaits and followed.window is not None:
            followed.window.reached(followed, measure, self._now_ns())

    def _fail(self, followed: Followed) -> None:
        if followed.has_failed:
            return
        followed.has_failed = True
        self._stop_showing(followed)
        if followed.window is not None:
            followed.window.failed(followed)
        self._tell(followed)

    def _tell(self, followed: Followed) -> None:
        if not followed.is_told:
            followed.is_told = True
            self.served(followed)
