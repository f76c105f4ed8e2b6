"""How a plugin goes about its life beside a kubelet: where its sockets are, when it registers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulator.config import KUBELET_SOCKET
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.registration import DEVICE_PLUGIN_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a plugin and its kubelet meet.

    Attributes:
        directory: The folder of the plugin's socket: the kubelet's plugin directory, or its
            `plugins_registry`.
        socket_name: The name of the plugin's own socket in it.
        found_by_kubelet: Whether the folder is a `plugins_registry`, in which the kubelet looks for
            plugins and asks for their names (S1.29); otherwise the plugin calls Register.
        socket_mode: Permissions of the plugin's socket.
    """

    directory: Path
    socket_name: str
    found_by_kubelet: bool = False
    socket_mode: int = 0o600

    @property
    def socket(self) -> Path:
        """The plugin's own socket."""
        return self.directory / self.socket_name

    @property
    def kubelet_socket(self) -> Path:
        """The socket on which the kubelet takes registrations."""
        return self.directory / KUBELET_SOCKET


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How a plugin behaves toward its kubelet; the default is how a good one does.

    Attributes:
        starts_after: Delay from the start to the first socket and registration.
        leaves_after: Delay from the start to an end of its own; None for none.
        version: The API version that it registers with (S1.5).
        also_registers: Further resource names that it registers for the same socket.
        serves: Whether it serves its socket at all; Register without one fails (S1.13).
        needs_kubelet: Whether it gives up when there is no kubelet as it starts.
        patience: How long it waits for a kubelet that was there before; None for ever.
        returns_after: Delay from the loss of its socket, or of the kubelet's, to its registering
            again (S1.10); None for a plugin that never notices.
        minds_stream_end: Whether it registers again when the kubelet ends ListAndWatch although no
            socket was touched (R17, R18).
        keeps_server: Whether it goes on serving when a stream has ended; a plugin that does not
            leaves its socket behind, at which nobody answers (R26).
        removes_socket: Whether it takes its socket along when it ends.
        lingers: How long it takes to end.
    """

    starts_after: Duration = Duration(0)
    leaves_after: Duration | None = None
    version: str = DEVICE_PLUGIN_VERSION
    also_registers: tuple[str, ...] = ()
    serves: bool = True
    needs_kubelet: bool = False
    patience: Duration | None = None
    returns_after: Duration | None = Duration(0)
    minds_stream_end: bool = True
    keeps_server: bool = True
    removes_socket: bool = True
    lingers: Duration = Duration(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a plugin looks, and how long it waits; by the real clock.

    Attributes:
        look: Between two looks at the sockets.
        first_retry: After a registration that failed; doubled with each one, up to `last_retry`.
        register: How long Register may take; the kubelet alone dials for up to 10 s (S1.12.5).
    """

    look: Duration = Duration(100 * MILLISECOND)
    first_retry: Duration = Duration(200 * MILLISECOND)
    last_retry: Duration = Duration(5 * SECOND)
    register: Duration = Duration(15 * SECOND)
