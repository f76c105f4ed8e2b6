"""What a server is, and the plugins that it hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from simulator.core.transitions import NodeName
from simulator.ports import StoreReader
from simulator.server.node_objects import BuiltIn


class PluginHost(Protocol):
    """The built-in plugins that run inside a server."""

    def of_node(self, node: NodeName) -> Mapping[str, BuiltIn]:
        """Return those of a node by name, stopped ones too."""
        ...

    async def start(self, node: NodeName, name: str, kind: str, arguments: tuple[str, ...]) -> str:
        """Start a plugin, or one that was stopped when `kind` is empty; return its name."""
        ...

    async def stop(self, node: NodeName, name: str) -> None:
        """Stop a plugin."""
        ...

    def renumber(self, node: NodeName) -> None:
        """Let the plugins of a node come back with other device ids when it boots."""
        ...


@dataclass(frozen=True, slots=True)
class NodePaths:
    """Where a node is found in the file system."""

    directory: str
    kubelet_socket: str
    pod_resources_socket: str


@dataclass(frozen=True, slots=True)
class Served:
    """What a server is, as it tells those who ask.

    Attributes:
        reader: Opens the database to be read; None where the answers come from the records.
    """

    root_dir: str
    kubelet_version: str
    persistence: str
    db: str = ""
    http: str = ""
    paths: Mapping[NodeName, NodePaths] = field(default_factory=dict)
    reader: Callable[[], AbstractContextManager[StoreReader]] | None = None
