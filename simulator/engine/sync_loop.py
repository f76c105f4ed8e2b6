"""The kubelet's one loop: while it admits pods, all else that it does waits (S1.28).

What reaches the loop are changes of pods, exits of containers, changes of health, sync back-offs
that are over and the turns of the housekeeping. A plugin that does not answer Allocate therefore
holds up more than the admission of pods: nobody is stopped, and no container is started again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class SyncLoop:
    """The loop of one kubelet process.

    Attributes:
        is_admitting: Whether it is busy with a batch of pods.
    """

    def __init__(self) -> None:
        self.is_admitting = False
        self._waiting: deque[Callable[[], None]] = deque()

    def do(self, action: Callable[[], None]) -> None:
        """Do something at once, or in its turn when the pods under way are decided."""
        if self.is_admitting:
            self._waiting.append(action)
        else:
            action()

    def begin_admitting(self) -> None:
        """Be busy with pods."""
        self.is_admitting = True

    def end_admitting(self) -> None:
        """Do what has waited, up to the next pods."""
        self.is_admitting = False
        while self._waiting and not self.is_admitting:
            self._waiting.popleft()()
