"""The kinds of plugins that Rebind brings along, and how one is made from a kind and its options.

`rebind plugin run KIND` and a server that is asked to start a plugin both go this way, so they
take the same options. To add a kind, write a module with a `Kind` and add a line to `KINDS`.
"""

from __future__ import annotations

import asyncio
import difflib
import importlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from typing_extensions import override

from plugins.conduct import Conduct, Pace, Place
from plugins.model import DevicePlugin, Sleep, sleep_really
from plugins.options import Chosen, Option, pairs_of_words, read_span, read_switch, read_text
from plugins.serving import PluginServer
from simulator.config import KUBELET_SOCKET
from simulator.errors import ConfigError
from simulator.inotify import DirectoryChanges
from simulator.wire.lifetimes import Startable

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fake": "plugins.fake.kind:FAKE",
        "faulty": "plugins.faulty.kind:FAULTY",
        "files": "plugins.files.kind:FILES",
        "nvml": "plugins.nvml.kind:NVML",
    }
)
"""Kind to `module:attribute`; imported when it is used."""

RESOURCE_NAME: Final = Option(
    name="resource-name",
    read=read_text,
    metavar="NAME",
    is_repeated=True,
    help="Extended resource that is offered, such as example.com/gpu",
)
SOCKET_NAME: Final = Option(
    name="socket-name",
    read=read_text,
    metavar="NAME",
    help="Name of the plugin's own socket; with several resources, a number is added",
)
REGISTRY: Final = Option(
    name="registry",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Put the socket into plugins_registry and let the kubelet find it, instead of registering",
)
START_AFTER: Final = Option(
    name="start-after",
    read=read_span,
    default="0s",
    metavar="DURATION",
    help="How long it takes until the plugin makes its socket and registers",
)
REREGISTER_AFTER: Final = Option(
    name="reregister-after",
    read=read_span,
    default="0s",
    metavar="DURATION",
    help="How long it takes the plugin to come back when a kubelet start has removed its socket",
)
COMMON_OPTIONS: Final[tuple[Option[Any], ...]] = (
    SOCKET_NAME,
    REGISTRY,
    START_AFTER,
    REREGISTER_AFTER,
)
"""Options that every kind takes."""

_SOCKET_NAME_MAX: Final = 44
"""Bytes of the longest socket name that is made from a resource name; real plugins use up to 50."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where plugins are started.

    Attributes:
        plugin_dir: The kubelet's plugin directory.
        registry_dir: The kubelet's `plugins_registry`.
        sleep: How time passes for the plugins.
        pace: How often they look at the sockets.
        changes: Tells of changes in folders, for all plugins of this process; None for one each.
        socket_mode: Permissions of their sockets.
    """

    plugin_dir: Path
    registry_dir: Path
    sleep: Sleep = sleep_really
    pace: Pace = field(default_factory=Pace)
    changes: DirectoryChanges | None = None
    socket_mode: int = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One server that a plugin consists of.

    Attributes:
        conduct: How it behaves; None for how the common options say.
    """

    model: DevicePlugin
    conduct: Conduct | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of plugins.

    Attributes:
        name: As in `rebind plugin run NAME`.
        summary: One sentence for the list of kinds.
        text: What the help of the kind says beyond that.
        example: Options for the example of its help.
        options: Its own options, beside the common ones.
        terms: Words that its help explains, each with what it means.
        open: Makes the plugins from the options for as long as they run.
    """

    name: str
    summary: str
    text: str
    example: str
    options: tuple[Option[Any], ...]
    open: Callable[[Chosen, Setting, Conduct], AbstractContextManager[Sequence[Plan]]]
    terms: tuple[tuple[str, str], ...] = ()

    @property
    def all_options(self) -> tuple[Option[Any], ...]:
        """All options that it takes; its own stand before, and may replace, the common ones."""
        own = {option.name for option in self.options}
        return (*self.options, *(each for each in COMMON_OPTIONS if each.name not in own))


class PluginGroup(Startable):
    """The servers of one plugin, started and stopped together.

    Attributes:
        kind: The kind of plugin.
        servers: One for each resource and socket.
    """

    def __init__(self, kind: str, servers: Sequence[PluginServer], resources: ExitStack) -> None:
        self.kind = kind
        self.servers = tuple(servers)
        self._resources = resources

    @override
    async def start(self) -> None:
        """Start all servers; if one cannot be started, none is left.

        Raises:
            ServerError: A socket is taken, cannot be made, or its path is too long.
        """
        try:
            for server in self.servers:
                await server.start()
        except BaseException:
            await self.stop()
            raise

    @override
    async def stop(self) -> None:
        """Stop all servers; a second time does nothing."""
        await asyncio.gather(*(server.stop() for server in self.servers))
        self._resources.close()


def kind_of(name: str) -> Kind:
    """Return a kind by its name.

    Raises:
        ConfigError: There is none of that name.
    """
    if name not in KINDS:
        near = difflib.get_close_matches(name, KINDS, n=1)
        known = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}"
        reason = f"there is no kind of plugin {name!r}; {known}"
        raise ConfigError(reason)
    module, _, attribute = KINDS[name].partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    if not isinstance(kind, Kind):
        reason = f"{KINDS[name]} is not a kind of plugins"
        raise TypeError(reason)
    return kind


def pairs_of(name: str, words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options in the words of a command line, for `build_plugin`.

    Raises:
        ConfigError: There is no such kind, or a word is no option.
    """
    return pairs_of_words(name, kind_of(name).all_options, words)


def build_plugin(name: str, pairs: Iterable[tuple[str, str]], setting: Setting) -> PluginGroup:
    """Make a plugin of a kind, not yet started; it is to be stopped even if it never is.

    Args:
        name: The kind.
        pairs: Options and their values as text, e.g. `("count", "4")`; a flag is `true` or `false`.
        setting: Where it is to run.

    Raises:
        ConfigError: There is no such kind or option, or a value is not usable.
        HardwareError: The hardware that it stands for is not there.
    """
    kind = kind_of(name)
    chosen = Chosen(name, kind.all_options, pairs)
    conduct = Conduct(
        starts_after=chosen.one(START_AFTER), returns_after=chosen.one(REREGISTER_AFTER)
    )
    with ExitStack() as stack:
        plans = stack.enter_context(kind.open(chosen, setting, conduct))
        names = _socket_names(kind.name, plans, chosen.maybe(SOCKET_NAME))
        in_registry = chosen.one(REGISTRY)
        servers = [
            PluginServer(
                plan.model,
                Place(
                    directory=setting.registry_dir if in_registry else setting.plugin_dir,
                    socket_name=socket_name,
                    found_by_kubelet=in_registry,
                    socket_mode=setting.socket_mode,
                ),
                conduct=plan.conduct or conduct,
                pace=setting.pace,
                changes=setting.changes,
            )
            for plan, socket_name in zip(plans, names, strict=True)
        ]
        return PluginGroup(name, servers, stack.pop_all())


def _socket_names(kind: str, plans: Sequence[Plan], given: str | None) -> list[str]:
    if given is not None and ("/" in given or given.startswith(".")):
        reason = (
            f"--socket-name: {given!r} is not a plain file name; "
            "it may not contain a slash or begin with a dot"
        )
        raise ConfigError(reason)
    if given == KUBELET_SOCKET:
        reason = f"--socket-name: {given} is the kubelet's own socket; choose another name"
        raise ConfigError(reason)
    names: list[str] = []
    for plan in plans:
        name = given or f"{kind}-{_short(plan.model.resource)}.sock"
        stem, suffix = Path(name).stem, Path(name).suffix
        number = 2
        while name in names:
            name = f"{stem}-{number}{suffix}"
            number += 1
        names.append(name)
    return names


def _short(resource: str) -> str:
    """Return a resource's name as part of a file name, short enough for a socket's path."""
    text = "".join(
        each if (each.isascii() and each.isalnum()) or each in "-." else "_" for each in resource
    )
    return text if len(text) <= _SOCKET_NAME_MAX else f"{zlib.crc32(resource.encode()):08x}"
