"""The kubelet's status manager: it caches pod statuses and brings them to the API (S12.3 to S12.5).

One worker, one pod after the other: GET, PATCH unless nothing would change, and, when the pod has
ended and is to go, DELETE. It is woken by a change; what fails waits for the next change of any
pod, or for the ticker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from simulator.core.api_calls import ApiRefused, ApiUnavailable
from simulator.core.devices import device_ids
from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.core.transitions import DeviceBinding, PodIdentity
from simulator.engine.api_objects import PodStatus
from simulator.engine.api_requests import (
    DeletePod,
    GetPod,
    PatchPodStatus,
    PodRead,
    RequestReply,
)
from simulator.engine.kubelet_api import ApiClient
from simulator.engine.latencies import STATUS_TICK
from simulator.engine.local_pods import LocalPod, Stage
from simulator.engine.timeline import Process, Timeline

DevicesOf = Callable[[PodUid], tuple[DeviceBinding, ...]]

_ALL: Final = 0
"""The number of all changes of a pod, where they are one patch."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A pod's status as it is to be sent.

    Attributes:
        number: Of the change, among those of the pod that are not in the API yet.
        ends: Whether the pod is to be deleted for good after it.
    """

    pod: LocalPod
    status: PodStatus
    devices: tuple[DeviceBinding, ...]
    number: int
    ends: bool


class StatusManager:
    """The status manager of one kubelet process.

    Args:
        timeline: Its time.
        process: Its kubelet.
        client: Whom it asks.
        devices_of: Returns what a pod's status says of its devices.
        coalesces: Whether several changes of one pod that wait are one patch.
    """

    def __init__(
        self,
        timeline: Timeline,
        process: Process,
        client: ApiClient,
        devices_of: DevicesOf,
        *,
        coalesces: bool = True,
    ) -> None:
        self._coalesces = coalesces
        self._timeline = timeline
        self._process = process
        self._client = client
        self._devices_of = devices_of
        self._started_at = timeline.now()
        self._cached: set[PodUid] = set()
        self._unsent: dict[tuple[PodUid, int], Callable[[], _Version]] = {}
        self._numbers: dict[PodUid, int] = {}
        self._ending: set[PodUid] = set()
        self._anew: set[PodUid] = set()
        self._differing: dict[PodUid, LocalPod] = {}
        self._devices: dict[PodUid, tuple[DeviceBinding, ...]] = {}
        self._pass: deque[_Version] = deque()
        self._is_busy = self._is_notified = self._tick_is_planned = False

    @property
    def is_waiting(self) -> bool:
        """Whether a status that was changed is not in the API yet."""
        return bool(self._unsent)

    def take_over(self, pod: LocalPod) -> None:
        """Have a pod's status as the API has it: this process is taken to have run before."""
        self._cached.add(pod.uid)

    def set(self, pod: LocalPod, status: PodStatus) -> None:
        """Change a pod's status; one that is as it was is dropped (S12.5).

        The first one of a pod in the life of this kubelet is looked at in any case, which costs a
        GET: an empty cache cannot tell that the API has it already.
        """
        if status != pod.status or pod.uid not in self._cached:
            self._cached.add(pod.uid)
            pod.status = status
            self.send(pod)

    def send(self, pod: LocalPod) -> None:
        """Have a pod's cached status in the API.

        Changes that are one patch are what the pod is like when a pass begins; else each waits as
        it is now.
        """
        self._owe(pod)
        self._notify()

    def _owe(self, pod: LocalPod) -> None:
        self._differing.pop(pod.uid, None)
        self._look_at_devices(pod)
        number = self._numbers[pod.uid] = self._numbers.get(pod.uid, 0) + 1
        if self._coalesces:
            self._unsent[pod.uid, _ALL] = partial(self._version_of, pod)
        else:
            version = self._version_of(pod)
            self._unsent[pod.uid, number] = lambda: version

    def send_anew(self, pod: LocalPod) -> None:
        """Patch a pod's status though it is as it was: the health of its devices is not (S9.6)."""
        self._anew.add(pod.uid)
        self.send(pod)

    def saw(self, pod: LocalPod, status: PodStatus) -> None:
        """See what the API says of a pod; what differs from what was sent is patched anew (S12.3).

        That is the ticker's work. A patch of an earlier kubelet may come through later than those
        of this one. What has ended for the API has ended.
        """
        uid = pod.uid
        is_sent = uid in self._cached and uid not in self._numbers
        if is_sent and status != pod.status and not status.is_terminal:
            self._differing[uid] = pod
            self._plan_tick()
        else:
            self._differing.pop(uid, None)

    def finish(self, pod: LocalPod) -> None:
        """Delete the pod from the API for good, after its last status (S12.4)."""
        self._ending.add(pod.uid)
        self.send(pod)

    def forget(self, uid: PodUid) -> None:
        """Drop what is known of a pod that is gone."""
        self._cached.discard(uid)
        self._ending.discard(uid)
        self._differing.pop(uid, None)
        self._devices.pop(uid, None)
        self._drop(uid)

    def _drop(self, uid: PodUid) -> None:
        """Have nothing more to send of a pod."""
        self._anew.discard(uid)
        for number in range(_ALL, self._numbers.pop(uid, _ALL) + 1):
            self._unsent.pop((uid, number), None)

    def _notify(self) -> None:
        """Wake the worker, which has one slot to remember that it was woken (S12.3)."""
        if not self._is_notified:
            self._is_notified = True
            if not self._is_busy:
                self._process.after(Duration(0), self._begin)

    def _begin(self) -> None:
        """Begin a pass over the statuses that are newer than what was sent."""
        if self._is_busy:
            return
        self._is_busy, self._is_notified = True, False
        self._pass = deque(version() for version in self._unsent.values())
        self._next()

    def _version_of(self, pod: LocalPod) -> _Version:
        self._look_at_devices(pod)
        devices = self._devices.get(pod.uid, ())
        number = self._numbers[pod.uid]
        return _Version(pod, pod.status, devices, number, ends=pod.uid in self._ending)

    def _look_at_devices(self, pod: LocalPod) -> None:
        """See what a pod has; what one that has ended had stays, and a refused one has nothing.

        Its record may be another pod's by the time at which its last status is sent (S6.3).
        """
        if pod.stage is Stage.ADMITTED:
            self._devices[pod.uid] = self._devices_of(pod.uid)

    def _next(self) -> None:
        while self._pass:
            version = self._pass.popleft()
            number = _ALL if self._coalesces else version.number
            if (version.pod.uid, number) in self._unsent:
                self._client.send(GetPod(_identity(version.pod)), partial(self._got, version))
                return
        self._is_busy = False
        if self._is_notified:
            self._process.after(Duration(0), self._begin)
        elif self._unsent:
            self._plan_tick()

    def _got(self, version: _Version, reply: RequestReply) -> None:
        if not isinstance(reply, PodRead):
            self._next()
        elif reply.status is None:
            self.forget(version.pod.uid)
            self._next()
        elif version.pod.uid in self._anew:
            self._patch(version, reply)
        elif reply.status == version.status and _named(version.devices) <= _named(reply.devices):
            if version.ends and not version.status.is_terminal:
                self._patch(version, reply)
            else:
                self._patched(version, reply)
        else:
            self._patch(version, reply)

    def _patch(self, version: _Version, read: PodRead) -> None:
        """Patch; the last status of a pod that was running says that its containers have ended.

        Who has nothing to say of the devices leaves there what is said of them (S13.1).
        """
        devices = version.devices or read.devices
        request = PatchPodStatus(_identity(version.pod), version.status, devices)
        self._client.send(request, partial(self._patched, version))

    def _patched(self, version: _Version, reply: RequestReply) -> None:
        if _has_failed(reply):
            self._next()
        elif version.ends and not isinstance(reply, ApiRefused):
            self._client.send(DeletePod(_identity(version.pod)), partial(self._deleted, version))
        else:
            self._done(version)

    def _deleted(self, version: _Version, reply: RequestReply) -> None:
        if _has_failed(reply):
            self._next()
        else:
            self._done(version)

    def _done(self, version: _Version) -> None:
        """Go on; a change that came meanwhile, or later, still waits."""
        uid = version.pod.uid
        if self._numbers.get(uid) == version.number:
            self._drop(uid)
        else:
            self._unsent.pop((uid, version.number), None)
        self._next()

    def _plan_tick(self) -> None:
        """Try again what has failed when the ticker comes; it began with the process."""
        if self._tick_is_planned:
            return
        self._tick_is_planned = True
        age = self._timeline.now() - self._started_at

        def tick() -> None:
            self._tick_is_planned = False
            for pod in tuple(self._differing.values()):
                self._owe(pod)
            if not self._is_notified:
                self._begin()

        self._process.after(Duration(STATUS_TICK - age % STATUS_TICK), tick)


def _has_failed(reply: RequestReply) -> bool:
    """Tell whether a write is to be tried again: whatever went wrong, unless the pod has gone.

    A refusal may end, too: of a right that is missing, or of an admission webhook that is away.
    """
    if isinstance(reply, ApiRefused):
        return not reply.gone
    return isinstance(reply, ApiUnavailable)


def _named(devices: tuple[DeviceBinding, ...]) -> set[tuple[str, str, str]]:
    """Return the devices as a status names them: without their NUMA nodes."""
    return {
        (binding.container, binding.resource, device)
        for binding in devices
        for device in device_ids(binding.devices)
    }


def _identity(pod: LocalPod) -> PodIdentity:
    return PodIdentity(pod.uid, pod.pod.namespace, pod.pod.name)
