"""A store that fails once, at the n-th call: for loops over n that leave no call untried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, NodeState, Transition
from simulator.errors import StoreUnavailableError
from simulator.ports import (
    Change,
    DeviceSummary,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    Outcome,
    PodSummary,
    Store,
)

T = TypeVar("T")
FULL = "database or disk is full"


class FailingStore:
    """A `Store` around another one.

    Args:
        inner: What really stores.
        fail_at: Which `apply` or `load` fails, counted from 1; 0 for none.
        after: Whether it fails after the inner store did what was asked, as when a commit is
            durable and its answer is lost.

    Attributes:
        calls: How many `apply` and `load` calls there were.
    """

    def __init__(self, inner: Store, *, fail_at: int, after: bool = False) -> None:
        self.calls = 0
        self._inner = inner
        self._fail_at = fail_at
        self._after = after

    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Apply a batch, or fail."""
        return self._once(lambda: self._inner.apply(transitions))

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state, or fail."""
        return self._once(lambda: self._inner.load(node))

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes."""
        return self._inner.nodes()

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices."""
        return self._inner.devices(node=node)

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods."""
        return self._inner.pods(node=node)

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings."""
        return self._inner.holders(node=node, device=device, past=past)

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes."""
        return self._inner.history(node=node, pod=pod, until_revision=until_revision)

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return the file last imported for the node."""
        return self._inner.imported_checkpoint(node)

    def close(self) -> None:
        """Let go of the inner store."""
        self._inner.close()

    def _once(self, call: Callable[[], T]) -> T:
        self.calls += 1
        fails = self.calls == self._fail_at
        if fails and not self._after:
            raise StoreUnavailableError(FULL)
        result = call()
        if fails:
            raise StoreUnavailableError(FULL)
        return result
