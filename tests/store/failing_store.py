"""A store that fails once, to learn what a failure costs: n = 1, 2, 3, ... until none is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, NodeState, Transition
from simulator.errors import StoreUnavailableError
from simulator.object_ports import ObjectStore, ObjectWrite
from simulator.ports import (
    Change,
    DeviceSummary,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    Outcome,
    PodSummary,
    Store,
    Together,
)

T = TypeVar("T")


class FailingStore:
    """A `Store` whose n-th load or commit fails; all others go to `inner`.

    Args:
        inner: What really stores.
        fail_at: Which call fails, counted from 1; 0 for none.
        after: Whether it fails after its effect, as when a commit is durable and its answer is
            lost. That is the one case in which a `StoreError` does not mean that nothing was done.
        message: The text of the error.

    Attributes:
        has_failed: Whether that call was made. Once it was not, the loop over n is done.
    """

    def __init__(
        self, inner: Store, *, fail_at: int, after: bool = False, message: str = "disk I/O error"
    ) -> None:
        self.has_failed = False
        self._inner = inner
        self._fail_at = fail_at
        self._after = after
        self._message = message
        self._calls = 0

    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Apply a batch, or fail."""
        return self._once(lambda: self._inner.apply(transitions))

    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        """Apply a batch of both, or fail."""
        return self._once(lambda: self._inner.apply_together(transitions, writes))

    @property
    def objects(self) -> ObjectStore:
        """The inner store's objects; of them only what is applied together can fail."""
        return self._inner.objects

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state, or fail."""
        return self._once(lambda: self._inner.load(node))

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes, by name."""
        return self._inner.nodes()

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices by node and resource."""
        return self._inner.devices(node=node)

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods by node."""
        return self._inner.pods(node=node)

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings, those that ended too if `past`."""
        return self._inner.holders(node=node, device=device, past=past)

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes in order of revision."""
        return self._inner.history(node=node, pod=pod, until_revision=until_revision)

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return the file last imported for the node, if any."""
        return self._inner.imported_checkpoint(node)

    def close(self) -> None:
        """Close the inner store."""
        self._inner.close()

    def _once(self, call: Callable[[], T]) -> T:
        self._calls += 1
        fails = self._calls == self._fail_at
        result = None if fails and not self._after else call()
        if fails or result is None:
            self.has_failed = True
            raise StoreUnavailableError(self._message)
        return result
