"""The built-in plugins that run inside a server: started and stopped by commands, ended by reboots.

They register over their node's sockets, as any plugin does. A reboot ends them; they come back by
themselves some time after the kubelet, as a plugin does that is a pod of a DaemonSet.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from plugins.kinds import KINDS, SOCKET_NAME, PluginGroup, Setting, build_plugin, kind_of, pairs_of
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.records import KubeletStarted, KubeletStopped, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError, ObjectConflictError, ObjectNotFoundError
from simulator.inotify import DirectoryChanges
from simulator.live.settings import LiveSettings
from simulator.live.tasks import Tasks
from simulator.live.world import LiveWorld
from simulator.server.naming import known
from simulator.server.node_objects import BuiltIn

BACK_AFTER_BOOT: Final = Duration(2 * SECOND)
"""From the start of the kubelet after a boot to that of the node's plugins."""
PLUGINS_MAX: Final = 64
"""Most built-in plugins of one node."""

_KNOWN_WITHIN_S: Final = 10.0
"""Longest real time that a start waits until the node's kubelet knows the plugin."""
_LOOK: Final = Duration(20 * MILLISECOND)
_UNRELIABLE: Final = "faulty"
"""The kind whose plugins may never register."""
_DOWN: Final = frozenset({"reboot", "power cut", "recreated"})
"""Causes for which a kubelet stops and the machine with it."""
_NAME: Final = re.compile(r"[A-Za-z][-A-Za-z0-9_.]{0,39}", re.ASCII)
_RENUMBERED: Final = "uuid"

Pairs = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Plugin:
    """One plugin.

    Attributes:
        pairs: Its options.
        group: What runs; None while it is stopped.
        wanted: Whether it is to run whenever the node does.
    """

    kind: str
    pairs: Pairs
    resources: tuple[ResourceName, ...] = ()
    group: PluginGroup | None = None
    wanted: bool = True


class BuiltInPlugins:
    """All of them (`simulator.server.served.PluginHost`)."""

    def __init__(self, world: LiveWorld, settings: LiveSettings) -> None:
        self._world = world
        self._settings = settings
        self._plugins: dict[NodeName, dict[str, _Plugin]] = {}
        self._renumber: set[NodeName] = set()
        self._down: set[NodeName] = set()
        self._boots = 0
        self._tasks = Tasks()
        self._changes = DirectoryChanges()
        world.watch_records(self._recorded)

    def of_node(self, node: NodeName) -> Mapping[str, BuiltIn]:
        """Return those of a node by name, stopped ones too."""
        return {
            name: BuiltIn(plugin.kind, plugin.resources, runs=plugin.group is not None)
            for name, plugin in self._plugins.get(node, {}).items()
        }

    async def start(self, node: NodeName, name: str, kind: str, arguments: tuple[str, ...]) -> str:
        """Start a plugin, or one that was stopped when `kind` is empty; return its name.

        Waits a while for the kubelet to have its list, since pods get no devices before (S3.7).

        Raises:
            ConfigError: There is no such kind, or its options cannot be used.
            ObjectConflictError: One of this name runs.
            ObjectNotFoundError: None of this name was stopped.
        """
        of_node = self._plugins.setdefault(node, {})
        if not kind:
            plugin = self._found(node, name)
            if plugin.group is not None:
                message = f'the plugin "{name}" runs on {node} already'
                raise ObjectConflictError(message)
            plugin.wanted = True
            await self._begin(node, plugin)
            await self._until_known(node, plugin)
            return name
        name = name or kind
        if not _NAME.fullmatch(name):
            reason = (
                f"{name[:60]!r} is no name for a plugin; write at most 40 letters, digits, "
                "'-', '_' and '.', beginning with a letter"
            )
            raise ConfigError(reason)
        if name in of_node and of_node[name].group is not None:
            message = f'a plugin "{name}" runs on {node}; stop it, or give this one another --name'
            raise ObjectConflictError(message)
        if len(of_node) >= PLUGINS_MAX:
            message = f"{node} has {PLUGINS_MAX} built-in plugins, as many as a server starts"
            raise ConfigError(message)
        plugin = _Plugin(kind, _with_socket(tuple(pairs_of(kind, arguments)), name))
        await self._begin(node, plugin)
        of_node[name] = plugin
        await self._until_known(node, plugin)
        return name

    async def stop(self, node: NodeName, name: str) -> None:
        """Stop a plugin.

        Raises:
            ObjectNotFoundError: None of this name runs.
        """
        plugin = self._found(node, name)
        if plugin.group is None:
            message = f'the plugin "{name}" of {node} does not run'
            raise ObjectNotFoundError(message)
        plugin.wanted = False
        await self._end(plugin)

    def renumber(self, node: NodeName) -> None:
        """Let the plugins of a node come back with other device ids when it boots."""
        self._renumber.add(node)

    async def close(self) -> None:
        """Stop all."""
        await self._tasks.close()
        for of_node in self._plugins.values():
            await asyncio.gather(*(self._end(plugin) for plugin in of_node.values()))
        self._changes.close()

    def _found(self, node: NodeName, name: str) -> _Plugin:
        plugin = self._plugins.get(node, {}).get(name)
        if plugin is None:
            names = list(self._plugins.get(node, {}))
            message = (
                f'{node} has no built-in plugin "{name}"; {known(names)}; '
                f"kinds of new ones: {', '.join(KINDS)}"
            )
            raise ObjectNotFoundError(message)
        return plugin

    async def _begin(self, node: NodeName, plugin: _Plugin) -> None:
        folder = self._settings.folder(node)
        mode = self._settings.socket_mode
        setting = Setting(
            plugin_dir=folder.device_plugins,
            registry_dir=folder.plugins_registry,
            changes=self._changes,
            socket_mode=0o600 if mode is None else mode,
        )
        group = build_plugin(plugin.kind, plugin.pairs, setting)
        await group.start()
        plugin.group = group
        plugin.resources = tuple(ResourceName(server.model.resource) for server in group.servers)

    async def _until_known(self, node: NodeName, plugin: _Plugin) -> None:
        """Wait until the node's kubelet has the plugin's list or refuses it, if it is there."""

        def is_settled() -> bool:
            kubelet = self._world.nodes[node].kubelet
            if kubelet is None or not kubelet.serving or plugin.group is None:
                return True
            known, total = kubelet.manager.snapshot(), kubelet.manager.capacity().total
            return all(
                server.refusal
                or (
                    known.endpoints.get(ResourceName(server.model.resource)) == "running"
                    and server.model.resource in total
                )
                for server in plugin.group.servers
            )

        if plugin.kind == _UNRELIABLE:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_KNOWN_WITHIN_S):
                while not await self._world.until(is_settled, _LOOK):
                    pass

    async def _end(self, plugin: _Plugin) -> None:
        group, plugin.group = plugin.group, None
        if group is not None:
            await group.stop()

    def _recorded(self, stamped: Stamped) -> None:
        node, record = stamped.node, stamped.record
        if isinstance(record, KubeletStopped) and record.cause in _DOWN:
            self._down.add(node)
            self._tasks.start(self._go_down(node), f"end of the plugins of {node}")
        elif isinstance(record, KubeletStarted) and node in self._down:
            self._down.discard(node)
            self._tasks.start(self._come_back(node), f"return of the plugins of {node}")

    async def _go_down(self, node: NodeName) -> None:
        plugins = self._plugins.get(node, {}).values()
        await asyncio.gather(*(self._end(plugin) for plugin in plugins))

    async def _come_back(self, node: NodeName) -> None:
        renumbered = node in self._renumber
        self._renumber.discard(node)
        self._boots += 1
        await self._world.sleep(BACK_AFTER_BOOT)
        for plugin in self._plugins.get(node, {}).values():
            if renumbered:
                plugin.pairs = _other_ids(plugin, self._boots)
            if plugin.wanted and plugin.group is None and node not in self._down:
                await self._begin(node, plugin)


def _with_socket(pairs: Pairs, name: str) -> Pairs:
    """Return options with a socket of the plugin's own name, unless they say another."""
    if any(option == SOCKET_NAME.name for option, _ in pairs):
        return pairs
    return (*pairs, (SOCKET_NAME.name, f"{name}.sock"))


def _other_ids(plugin: _Plugin, boot: int) -> Pairs:
    """Return options with which the same plugin names its devices in another way."""
    known_options = {option.name for option in kind_of(plugin.kind).all_options}
    changed = {"id-style": _RENUMBERED, "seed": str(boot)}
    if not known_options >= changed.keys():
        return plugin.pairs
    kept = tuple(pair for pair in plugin.pairs if pair[0] not in changed)
    return (*kept, *changed.items())
