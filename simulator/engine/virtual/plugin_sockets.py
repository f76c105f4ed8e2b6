"""The sockets of a simulated node: who reaches what, without any file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.behavior import Behavior
from simulator.engine.plugin_ports import KubeletSocket
from simulator.engine.virtual.checkpoint_file import RETIRED_FILE
from simulator.engine.virtual.disk import Disk
from simulator.engine.virtual.plugin import Plugin

_KEPT: Final = frozenset({CHECKPOINT_FILE_NAME, RETIRED_FILE})


class PluginSockets:
    """The plugin directory of a simulated node (`simulator.engine.plugin_ports.NodeSockets`)."""

    def __init__(self, disk: Disk, plugins: Mapping[str, Plugin]) -> None:
        self._disk = disk
        self._plugins = plugins

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Empty the directory and tell the plugins, which find their sockets gone (S1.9, S1.10)."""
        del kubelet
        if behavior.plugin_directory_emptied:
            for name in self._disk.names():
                if name not in _KEPT:
                    self._disk.remove(name)
        opened("")
        for plugin in self._plugins.values():
            plugin.socket_removed()

    def close(self) -> None:
        """Every connection is gone with the kubelet."""
        for plugin in self._plugins.values():
            plugin.lose_kubelet()
