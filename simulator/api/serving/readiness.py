"""Whether what clients write is kept: the last commit tells, and after one that failed a trial.

A disk that is full is noticed by the write that fails. From then on nobody need write: who asks
whether the server is ready sends it nothing until it is. So the server tries by itself when it is
asked, with a write that leaves nothing behind; nobody asks, nothing is tried.
"""

from __future__ import annotations

import asyncio
from typing import Final

from simulator.api.dialect.kinds import GROUP
from simulator.api.serving.calls import Clock
from simulator.api.serving.objects import Objects
from simulator.errors import StoreError
from simulator.object_ports import (
    Body,
    CreateObject,
    DeleteObject,
    ObjectKey,
    ObjectOutcome,
    ObjectWrite,
)

TRIAL_SECONDS: Final = 1.0
"""How long after a trial the next one begins by default: who asks ten times a second is no load."""
_KEY: Final = ObjectKey(f"trials.{GROUP}", "", "trial")
"""Of a collection that no path leads to, so that no list and no watch shows it."""
_BODY: Final = Body(b'{"metadata":{"resourceVersion":"', b'"}}')


class Readiness:
    """Tells whether writes are kept.

    Args:
        objects: What the clients write.
        clock: The time.
        pause_seconds: How long after a trial the next one begins at the earliest.
    """

    def __init__(
        self, objects: Objects, clock: Clock, *, pause_seconds: float = TRIAL_SECONDS
    ) -> None:
        self._objects = objects
        self._clock = clock
        self._pause_seconds = pause_seconds
        self._is_trying = False
        self._next_trial = 0.0

    def is_ready(self) -> bool:
        """Tell what is known; when that is nothing good, find out for who asks next."""
        if not self._objects.is_writable:
            self._try()
        return self._objects.is_writable

    def _try(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._is_trying or now < self._next_trial:
            return
        self._next_trial = now + self._pause_seconds
        at = self._clock()
        writes: list[ObjectWrite] = [
            CreateObject(at, _KEY, _KEY.name, _BODY),
            DeleteObject(at, _KEY),
        ]
        self._is_trying = True
        try:
            self._objects.commits.submit_objects(writes, self._tried)
        except StoreError as error:  # Nothing is taken any more, or as much waits as may.
            self._tried(error)

    def _tried(self, answer: list[ObjectOutcome] | StoreError) -> None:
        self._is_trying = False
        self._objects.is_writable = not isinstance(answer, StoreError)
