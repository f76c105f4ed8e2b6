"""XID events and lost GPUs, as they happen on the stub's machine."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from plugins.nvml.events import Watch
from plugins.nvml.health import XidEvent
from plugins.nvml.library import opened
from plugins.nvml.reading import read_inventory
from tests.plugins.nvml.stub import Stub, gpu

WITHIN_S = 60


class Told:
    """What a watch has told so far; each is taken once."""

    def __init__(self) -> None:
        self._events: queue.Queue[XidEvent] = queue.Queue()
        self._lost: queue.Queue[frozenset[str]] = queue.Queue()
        self.note = self._events.put
        self.note_lost = self._lost.put

    def event_after(self, stub: Stub, statement: str) -> XidEvent:
        """Let an event happen until one of its XID is told.

        A set of events tells of what happens after it was made, which nobody sees from outside.
        """
        for _ in range(WITHIN_S * 20):
            stub.says(statement)
            with suppress(queue.Empty):
                told = self._events.get(timeout=0.05)
                if str(told.xid) in statement.split():
                    return told
        raise TimeoutError

    def lost(self) -> frozenset[str]:
        return self._lost.get(timeout=WITHIN_S)


@contextmanager
def watched(stub: Stub) -> Iterator[Told]:
    told, stop = Told(), threading.Event()
    with opened():
        gpus = read_inventory(stub.host_root).gpus
        watch = Watch(gpus, on_event=told.note, on_lost=told.note_lost)
        thread = threading.Thread(target=watch.run, args=(stop,))
        thread.start()
        try:
            yield told
        finally:
            stop.set()
            thread.join(WITHIN_S)
            assert not thread.is_alive()


def test_events_are_told_with_their_gpu_and_instance(stub: Stub) -> None:
    with watched(stub) as told:
        assert told.lost() == {gpu(7)}

        assert told.event_after(stub, "xid 2 79") == XidEvent(79, gpu=2)
        assert told.event_after(stub, "xid 1 94 8 0") == XidEvent(
            94, gpu=1, gpu_instance=8, compute_instance=0
        )


def test_gpus_that_fall_off_the_bus_are_told_and_the_others_stay_watched(stub: Stub) -> None:
    with watched(stub) as told:
        assert told.lost() == {gpu(7)}
        stub.says("lost 3")
        assert told.lost() == {gpu(3), gpu(7)}

        assert told.event_after(stub, "xid 2 79") == XidEvent(79, gpu=2)


def test_a_gpu_that_is_found_again_is_told(stub: Stub) -> None:
    with watched(stub) as told:
        assert told.lost() == {gpu(7)}
        stub.says("found 7")

        assert told.lost() == frozenset()


def test_a_gpu_that_must_be_reset_counts_as_lost(stub: Stub) -> None:
    stub.says("lost 2 16")
    with watched(stub) as told:
        assert told.lost() == {gpu(2), gpu(7)}


def test_without_events_lost_gpus_are_told_all_the_same(stub: Stub) -> None:
    stub.says("no-events")
    with watched(stub) as told:
        assert told.lost() == {gpu(7)}
        stub.says("lost 0")

        assert told.lost() == {gpu(0), gpu(7)}


def test_a_driver_that_cannot_wait_is_asked_again_later(stub: Stub) -> None:
    stub.says("wait 999")
    with watched(stub) as told:
        assert told.lost() == {gpu(7)}
        stub.says("lost 0", "wait 0")

        assert told.lost() == {gpu(0), gpu(7)}
        assert told.event_after(stub, "xid 2 79") == XidEvent(79, gpu=2)
