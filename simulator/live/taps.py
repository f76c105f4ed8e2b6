"""Who listens on the wire of a live node: hears all of it and passes it on as it is."""

from __future__ import annotations

from typing import Protocol

from simulator.engine.plugin_ports import KubeletSocket, PluginStream
from simulator.wire.plugin_client import StreamEnd


class Tap(Protocol):
    """One listener on one node."""

    def on(self, kubelet: KubeletSocket) -> KubeletSocket:
        """Return what plugins are to reach in place of a kubelet process that starts."""
        ...

    def ended(self, stream: PluginStream, end: StreamEnd) -> None:
        """A ListAndWatch stream has ended, before the kubelet is told."""
        ...

    def closed(self) -> None:
        """The kubelet process has ended, and all its connections with it."""
        ...


class NoTap:
    """Nobody."""

    def on(self, kubelet: KubeletSocket) -> KubeletSocket:
        """Return the kubelet itself."""
        return kubelet

    def ended(self, stream: PluginStream, end: StreamEnd) -> None:
        """Hear nothing."""

    def closed(self) -> None:
        """Hear nothing."""
