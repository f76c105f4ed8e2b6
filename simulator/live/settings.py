"""How a live cluster is set up, beside the choices of the run (`simulator.engine.spec`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simulator.config import (
    KUBELET_SOCKET,
    PLUGIN_DIRECTORY,
    POD_RESOURCES_DIRECTORY,
    REGISTRY_DIRECTORY,
)
from simulator.core.endpoints import DIAL_TIMEOUT, PRE_START_TIMEOUT
from simulator.core.instants import Duration, Instant
from simulator.live.remote.settings import RemoteSettings
from simulator.wire.connections import RECEIVE_BYTES_MAX
from store.committer import COMMIT_BATCH


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """One node's folder, laid out like `/var/lib/kubelet` (S1.6, S1.30, S8.1)."""

    path: Path

    @property
    def device_plugins(self) -> Path:
        """The plugin directory, with `kubelet.sock` and the checkpoint file."""
        return self.path / PLUGIN_DIRECTORY

    @property
    def registration_socket(self) -> Path:
        """Where plugins register."""
        return self.device_plugins / KUBELET_SOCKET

    @property
    def plugins_registry(self) -> Path:
        """Where the kubelet looks for plugins by itself."""
        return self.path / REGISTRY_DIRECTORY

    @property
    def pod_resources_socket(self) -> Path:
        """Where agents ask who has which device."""
        return self.path / POD_RESOURCES_DIRECTORY / KUBELET_SOCKET


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """Where a cluster's files are, and how its sockets behave.

    Attributes:
        root: Its folder; each node has one of its own name in it.
        start: The present instant; nanoseconds since the epoch.
        speed: How much time passes on the nodes in one real second.
        skips: Whether time in which nothing real is under way is left out (`LiveTimeline.reach`).
        commit_batch: Most commits that are made one.
        socket_mode: Of the sockets; None for what the umask leaves.
        confined: Whether endpoints outside the plugin directory are refused (S1.12.4).
        reflection: Whether gRPC reflection and health are served.
        dial_timeout: How long a plugin may take to serve its socket, by the node's time (S1.12.5).
        receive_bytes_max: Largest message taken from a plugin (S1.21).
        plugins_max: Most registered plugins of a node.
        pre_start_timeout: How long PreStartContainer may take, by the real clock (S1.26).
        sync: What fsyncs an open file; a benchmark counts with it.
        api: Of which API server the nodes are clients; None for the world's own objects.
    """

    root: Path
    start: Instant = field(default_factory=lambda: Instant(time.time_ns()))
    speed: float = 1.0
    skips: bool = False
    commit_batch: int = COMMIT_BATCH
    socket_mode: int | None = 0o600
    confined: bool = True
    reflection: bool = False
    dial_timeout: Duration = DIAL_TIMEOUT
    receive_bytes_max: int = RECEIVE_BYTES_MAX
    plugins_max: int = 1024
    pre_start_timeout: Duration = PRE_START_TIMEOUT
    sync: Callable[[int], None] = os.fsync
    api: RemoteSettings | None = None

    def folder(self, node: str) -> NodeFolder:
        """Return a node's folder."""
        return NodeFolder(self.root / node)
