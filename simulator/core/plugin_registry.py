"""Which sockets of `plugins_registry` are to be registered, and which are (S1.31 to S1.37).

Keyed by socket path, not by plugin name: two sockets may announce the same plugin. Whoever does the
operations says when they end; at most one is under way for a socket, and after a failure a socket
rests for a while, longer each time.

Kubelet: pluginmanager (cache, reconciler, operationexecutor).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NewType

from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration, Instant, after
from simulator.core.registration import DEVICE_PLUGIN_VERSION
from simulator.core.resources import is_extended_resource_name

SocketPath = NewType("SocketPath", str)
"""The absolute path of a registration socket."""

DEVICE_PLUGIN: Final = "DevicePlugin"
"""The type of plugin that is handled here; CSIPlugin and DRAPlugin have no handler (S1.30)."""

DESIRED: Final = "desired_state_of_world"
ACTUAL: Final = "actual_state_of_world"
"""The states as the metric `plugin_manager_total_plugins` names them (S11)."""

_BACK_OFF_FIRST: Final = Duration(500 * MILLISECOND)
_BACK_OFF_MAX: Final = Duration(2 * MINUTE + 2 * SECOND)


@dataclass(frozen=True, slots=True)
class WatchedSocket:
    """One making of a socket that should be registered.

    Attributes:
        uuid: Another one for every making, also at the same path.
        seen: When it was noticed.
    """

    path: SocketPath
    uuid: int
    seen: Instant


@dataclass(frozen=True, slots=True)
class Announced:
    """What a plugin says of itself in GetInfo (S1.29)."""

    kind: str
    name: str
    endpoint: str
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegisteredPlugin:
    """A plugin in the actual state: its handler was, or is being, told."""

    socket: WatchedSocket
    plugin: Announced


@dataclass(frozen=True, slots=True)
class Register:
    """Register what is behind this socket (S1.33)."""

    socket: WatchedSocket

    @property
    def path(self) -> SocketPath:
        """The socket that is operated on."""
        return self.socket.path


@dataclass(frozen=True, slots=True)
class Unregister:
    """Tell the handler that this plugin is gone (S1.36)."""

    registered: RegisteredPlugin

    @property
    def path(self) -> SocketPath:
        """The socket that is operated on."""
        return self.registered.socket.path


Operation = Register | Unregister


@dataclass(frozen=True, slots=True)
class _Rest:
    """A socket is left alone until then, after a failure."""

    until: Instant
    span: Duration


class PluginRegistry:
    """The desired and the actual state of one kubelet process.

    Args:
        retried: `Behavior.watched_plugins_retried`: a plugin whose registration failed leaves the
            actual state, so that it is tried again; before, it stayed there (S1.35, PR 133335).
    """

    def __init__(self, *, retried: bool) -> None:
        self._retried = retried
        self._uuids = 0
        self._desired: dict[SocketPath, WatchedSocket] = {}
        self._actual: dict[SocketPath, RegisteredPlugin] = {}
        self._pending: dict[SocketPath, Operation] = {}
        self._rests: dict[SocketPath, _Rest] = {}

    def socket_made(self, path: SocketPath, now: Instant) -> WatchedSocket:
        """Want a socket registered; one that was made anew counts as another (S1.31).

        Raises:
            ValueError: The path is empty.
        """
        if not path:
            message = "socket path is empty"
            raise ValueError(message)
        self._uuids += 1
        self._desired[path] = WatchedSocket(path, self._uuids, now)
        return self._desired[path]

    def socket_removed(self, path: SocketPath) -> None:
        """Want a socket no longer; without effect where it is not wanted."""
        self._desired.pop(path, None)

    def reconcile(self, now: Instant) -> tuple[Operation, ...]:
        """Return the operations to begin; they are under way from now on (S1.32).

        What is registered and no longer wanted, or was made anew, is unregistered first.
        """
        self._forget_rests(now)
        gone = (
            Unregister(each) for path, each in self._actual.items() if not self._is_current(path)
        )
        new = (Register(each) for path, each in self._desired.items() if not self._is_current(path))
        return tuple(self._begin([*gone, *new], now))

    def record(self, operation: Register, plugin: Announced) -> None:
        """Take a plugin into the actual state, before its handler is told (S1.33)."""
        self._actual[operation.path] = RegisteredPlugin(operation.socket, plugin)

    def registration_failed(self, operation: Register) -> None:
        """The handler has refused a recorded plugin (S1.35)."""
        if self._retried:
            self._actual.pop(operation.path, None)

    def unrecord(self, operation: Unregister) -> None:
        """Take a plugin out of the actual state, before its handler is told (S1.36)."""
        self._actual.pop(operation.path, None)

    def end(self, operation: Operation, now: Instant, *, failed: bool) -> None:
        """End an operation that is under way; after a failure its socket rests (S1.35)."""
        del self._pending[operation.path]
        rest = self._rests.pop(operation.path, None)
        if failed:
            span = _BACK_OFF_FIRST if rest is None else Duration(min(2 * rest.span, _BACK_OFF_MAX))
            self._rests[operation.path] = _Rest(after(now, span), span)

    def wanted(self) -> Sequence[WatchedSocket]:
        """Return the sockets of the desired state, in the order of their first making."""
        return tuple(self._desired.values())

    def is_registered(self, socket: WatchedSocket) -> bool:
        """Tell whether this very making of a socket is registered."""
        registered = self._actual.get(socket.path)
        return registered is not None and registered.socket.uuid == socket.uuid

    def totals(self) -> Sequence[tuple[SocketPath, str]]:
        """Return each socket with each state that it is in, for the metric (S11)."""
        return [(path, DESIRED) for path in self._desired] + [
            (path, ACTUAL) for path in self._actual
        ]

    def _is_current(self, path: SocketPath) -> bool:
        wanted = self._desired.get(path)
        return wanted is not None and self.is_registered(wanted)

    def _forget_rests(self, now: Instant) -> None:
        """Forget failures of sockets that have been gone for long; paths may be made up."""
        for path, rest in list(self._rests.items()):
            if path not in self._desired and now > after(rest.until, _BACK_OFF_MAX):
                del self._rests[path]

    def _begin(self, operations: Iterable[Operation], now: Instant) -> Iterable[Operation]:
        for operation in operations:
            rest = self._rests.get(operation.path)
            if operation.path in self._pending or (rest is not None and now < rest.until):
                continue
            self._pending[operation.path] = operation
            yield operation


# What is said to a plugin, and in the log (S1.34)


def refusal_of(plugin: Announced, path: SocketPath) -> str:
    """Return why a plugin cannot be registered; empty when it can.

    Kubelet: generateRegisterPluginFunc, and ValidatePlugin (plugin/v1beta1/handler.go).
    """
    if plugin.kind != DEVICE_PLUGIN:
        return (
            "RegisterPlugin error -- no handler registered for plugin type: "
            f"{plugin.kind} at socket {path}"
        )
    cause = ""
    if DEVICE_PLUGIN_VERSION not in plugin.versions:
        cause = (
            f"manager version, {DEVICE_PLUGIN_VERSION}, is not among plugin supported versions "
            f"[{' '.join(plugin.versions)}]"
        )
    elif not is_extended_resource_name(plugin.name):
        cause = f'invalid name of device plugin socket: the ResourceName "{plugin.name}" is invalid'
    return cause and f"RegisterPlugin error -- plugin validation failed with err: {cause}"


def failure_of(cause: str) -> str:
    """Return what a plugin is told whose handler has failed."""
    return f"RegisterPlugin error -- plugin registration failed with err: {cause}"
