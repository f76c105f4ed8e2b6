"""What is asked of a store, over the control interface: the same questions, at both of its ends.

A command asks a `RemoteReader` as it asks a database; the server answers from its database, or from
the records where the persistence keeps no holdings in one (details 12).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Final, Generic, TypeVar

from pydantic import TypeAdapter

from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, NodeState
from simulator.errors import ConfigError
from simulator.ports import (
    Change,
    DeviceSummary,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    PodSummary,
    StoreReader,
)
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient

T = TypeVar("T")


class _Form(Generic[T]):
    """A kind of answer, and how it is written."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    @cached_property
    def adapter(self) -> TypeAdapter[T]:
        """Made when it is first needed, since that takes time."""
        return TypeAdapter(self._kind)


_STATE: Final = _Form(NodeState)
_NODES: Final = _Form(list[NodeSummary])
_DEVICES: Final = _Form(list[DeviceSummary])
_PODS: Final = _Form(list[PodSummary])
_HOLDERS: Final = _Form(list[Holding])
_HISTORY: Final = _Form(list[Change])
_QUESTIONS: Final = ("load", "nodes", "devices", "pods", "holders", "history")


def answer(store: StoreReader, request: control.ReadRequest) -> bytes:
    """Return the answer to a question as JSON.

    Raises:
        ConfigError: There is no such question.
        StoreError: The database cannot be read.
    """
    node = NodeName(request.node) if request.node else None
    answers: dict[str, Callable[[], bytes]] = {
        "load": lambda: _dump(_STATE, _without_responses(store.load(NodeName(request.node)))),
        "nodes": lambda: _dump(_NODES, store.nodes()),
        "devices": lambda: _dump(_DEVICES, store.devices(node=node)),
        "pods": lambda: _dump(_PODS, store.pods(node=node)),
        "holders": lambda: _dump(
            _HOLDERS,
            store.holders(
                node=node,
                device=DeviceId(request.device) if request.device else None,
                past=request.past,
            ),
        ),
        "history": lambda: _dump(
            _HISTORY,
            store.history(
                node=node,
                pod=PodUid(request.pod) if request.pod else None,
                until_revision=(
                    request.until_revision if request.HasField("until_revision") else None
                ),
            ),
        ),
    }
    if request.question not in answers:
        reason = f'"{request.question[:40]}" is no question; known are {", ".join(_QUESTIONS)}'
        raise ConfigError(reason)
    return answers[request.question]()


class RemoteReader:
    """The store behind a running server (`simulator.ports.StoreReader`).

    Its bindings come without the plugins' responses, which nothing that asks here looks at.
    """

    def __init__(self, client: ControlClient) -> None:
        self._client = client

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state; an unknown node has revision 0 and nothing else."""
        return self._ask(_STATE, control.ReadRequest(question="load", node=node))

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes, by name."""
        return self._ask(_NODES, control.ReadRequest(question="nodes"))

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices by node and resource; listed ones first, in the plugin's order."""
        return self._ask(_DEVICES, control.ReadRequest(question="devices", node=node or ""))

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods by node, in the order in which they became known."""
        return self._ask(_PODS, control.ReadRequest(question="pods", node=node or ""))

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings, those that ended too if `past`, by node, resource, device, since."""
        request = control.ReadRequest(
            question="holders", node=node or "", device=device or "", past=past
        )
        return self._ask(_HOLDERS, request)

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes in order of revision."""
        request = control.ReadRequest(
            question="history", node=node or "", pod=pod or "", until_revision=until_revision
        )
        return self._ask(_HISTORY, request)

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return None: an export is made from a database."""
        del node
        return None

    def _ask(self, form: _Form[T], request: control.ReadRequest) -> T:
        return form.adapter.validate_json(self._client.call(methods.READ, request).answer)


def _without_responses(state: NodeState) -> NodeState:
    bindings = tuple(replace(binding, response=None) for binding in state.bindings)
    return replace(state, bindings=bindings)


def _dump(form: _Form[T], value: T) -> bytes:
    return form.adapter.dump_json(value)
