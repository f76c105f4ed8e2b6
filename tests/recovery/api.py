"""An API server, with or without a disk beside it, as the durable state of a node."""

from __future__ import annotations

from simulator.core.calls import StoreCall, StoreReply
from simulator.core.transitions import NodeName
from tests.core.persistence.api_server import Server
from tests.recovery.outside import CheckpointDisk


class InTheApi:
    """What pods' specs and DeviceBinding objects say, and what a file on the node's disk does."""

    node = NodeName("n0")

    def __init__(self) -> None:
        self.server: Server | None = Server()
        self._disk = CheckpointDisk()

    def answer(self, call: StoreCall) -> StoreReply:
        return self._disk.answer(call)

    def look(self, call: StoreCall) -> StoreReply:
        return self._disk.look(call)
