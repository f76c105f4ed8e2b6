"""Critical errors and lost GPUs, as NVML tells them; runs in a thread of its own.

NVML waits for events in a call that blocks. It is made for a quarter of a second at a time, so that
the watch ends soon after it is asked to; and the set of events is freed by the thread that waits
for it, never under its feet.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_void_p, cast
from threading import Event
from typing import Final

import pynvml

from plugins.nvml.gpus import Gpu
from plugins.nvml.health import XidEvent
from plugins.nvml.library import Handle, NvmlError, answered, error_text, is_timeout

_LOG: Final = logging.getLogger(__name__)
_WAIT_MS: Final = 250
_PAUSE_S: Final = 0.25
_NO_INSTANCE: Final = 0xFFFFFFFF
"""What NVML says for an event that is not inside a MIG device."""


class Watch:
    """Tells of XID events and of which GPUs are lost.

    Args:
        gpus: Those to watch.
        on_event: Called with each critical error, from the watching thread.
        on_lost: Called with the UUIDs of the lost GPUs at first and when they change, likewise.
    """

    def __init__(
        self,
        gpus: Sequence[Gpu],
        *,
        on_event: Callable[[XidEvent], None],
        on_lost: Callable[[frozenset[str]], None],
    ) -> None:
        self._gpus = tuple(gpus)
        self._on_event = on_event
        self._on_lost = on_lost
        self._handles: dict[str, Handle | None] = {}
        self._lost: frozenset[str] | None = None
        self._complaints: set[str] = set()

    def run(self, stop: Event) -> None:
        """Watch until `stop` is set; NVML stays open for as long.

        GPUs that tell of no events are looked at all the same.
        """
        self._handles = {gpu.uuid: _handle(gpu) for gpu in self._gpus}
        while not stop.is_set():
            lost = self._look()
            with _event_set() as events:
                usable = self._follow(events, lost, stop)
            if not usable:
                stop.wait(_PAUSE_S)

    def _follow(self, events: Handle | None, lost: frozenset[str], stop: Event) -> bool:
        """Wait for events until a set without the GPUs that are lost by then is wanted.

        A GPU that falls off the bus spoils the set that it is in. Returns whether to go on at once.
        """
        watched = self._register(events, without=lost)
        while watched and not stop.is_set():
            if not self._wait(events, watched):
                return False
            if self._look() != lost:
                return True
        return False

    def _look(self) -> frozenset[str]:
        lost = frozenset(uuid for uuid, handle in self._handles.items() if _is_gone(handle))
        if lost != self._lost:
            self._lost = lost
            self._on_lost(lost)
        return lost

    def _register(self, events: Handle | None, *, without: frozenset[str]) -> dict[int | None, int]:
        """Ask for the events of the GPUs that are there; returns their indexes by handle."""
        watched: dict[int | None, int] = {}
        for gpu in self._gpus:
            handle = self._handles[gpu.uuid]
            if events is None or handle is None or gpu.uuid in without:
                continue
            try:
                pynvml.nvmlDeviceRegisterEvents(
                    handle, pynvml.nvmlEventTypeXidCriticalError, events
                )
            except NvmlError as error:
                self._complain(f"GPU {gpu.uuid} tells of no events: {error_text(error)}")
                continue
            watched[_address(handle)] = gpu.index
        return watched

    def _wait(self, events: Handle | None, watched: dict[int | None, int]) -> bool:
        """Wait for one event; tell whether the set can be waited for again."""
        try:
            told = pynvml.nvmlEventSetWait(events, _WAIT_MS)
        except NvmlError as error:
            if not is_timeout(error):
                self._complain(f"NVML cannot wait for events: {error_text(error)}")
            return is_timeout(error)
        if told.eventType == pynvml.nvmlEventTypeXidCriticalError:
            self._on_event(
                XidEvent(
                    xid=told.eventData,
                    gpu=watched.get(_address(told.device)),
                    gpu_instance=_instance(told.gpuInstanceId),
                    compute_instance=_instance(told.computeInstanceId),
                )
            )
        return True

    def _complain(self, text: str) -> None:
        """Say what is wrong, but not the same again and again."""
        if text not in self._complaints:
            _LOG.warning("%s; whether GPUs are lost is watched all the same", text)
        self._complaints.add(text)


@contextmanager
def _event_set() -> Iterator[Handle | None]:
    """Make a set of events for a block; None where this driver has none."""
    try:
        events = pynvml.nvmlEventSetCreate()
    except NvmlError as error:
        _LOG.debug("NVML has no events", extra={"error": error_text(error)})
        yield None
        return
    try:
        yield events
    finally:
        pynvml.nvmlEventSetFree(events)


def _handle(gpu: Gpu) -> Handle | None:
    """Return pynvml's handle of a GPU; None where it is so lost that it has none."""
    try:
        handle: Handle = pynvml.nvmlDeviceGetHandleByUUID(gpu.uuid)
    except NvmlError:
        return None
    return handle


def _is_gone(handle: Handle | None) -> bool:
    """Tell whether a GPU is lost: it is asked something that only the hardware can answer.

    One that answers with another error, such as that it must be reset, is of no more use.
    """
    if handle is None:
        return True
    try:
        answered(pynvml.nvmlDeviceGetMemoryInfo, handle)
    except NvmlError:
        return True
    return False


def _address(handle: Handle) -> int | None:
    """Return what tells a GPU's handle from another's.

    A GPU that has just fallen off the bus may not answer when it is asked for its UUID.
    """
    return cast(handle, c_void_p).value


def _instance(told: int) -> int | None:
    return None if told == _NO_INSTANCE else told
