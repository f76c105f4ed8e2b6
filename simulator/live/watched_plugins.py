"""Plugins that a live kubelet finds in `plugins_registry` by itself (S1.29 to S1.38)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.registration import RegisterRequest
from simulator.core.resources import ResourceName
from simulator.errors import RegistrationError
from simulator.live.settings import LiveSettings
from simulator.live.timeline import LiveTimeline
from simulator.wire.connections import ConnectionSettings
from simulator.wire.plugin_watcher import WatcherSettings

_PERIOD_MIN: Final = Duration(20 * MILLISECOND)


class WatchedPlugins:
    """The device manager's handler of such plugins (`simulator.wire.plugin_watcher`).

    Args:
        connect: Registers the plugin at a socket; returns why that failed, empty when it did not.
        disconnect: Disconnects whoever has a resource.
        refused: Told of a plugin that was refused by its announcement alone, and why.
    """

    def __init__(
        self,
        connect: Callable[[RegisterRequest, Path], Awaitable[str]],
        disconnect: Callable[[ResourceName], None],
        refused: Callable[[RegisterRequest, str], None],
    ) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._refused = refused

    async def register_watched(
        self, resource: ResourceName, endpoint: Path, versions: Sequence[str]
    ) -> None:
        """Connect to a plugin; this is no Register call, and not counted as one (S1.38).

        Raises:
            RegistrationError: It cannot be registered.
        """
        del versions  # The right one is among them (S1.34).
        request = RegisterRequest(resource, endpoint=str(endpoint), watched=True)
        error = await self._connect(request, endpoint)
        if error:
            raise RegistrationError(error)

    def deregister_watched(self, resource: ResourceName) -> None:
        """Disconnect the plugin that has the resource now (S1.36)."""
        self._disconnect(resource)

    def watched_refused(self, resource: str, message: str) -> None:
        """Note that a plugin was refused."""
        self._refused(RegisterRequest(resource, watched=True), message)


def watcher_settings(
    behavior: Behavior, timeline: LiveTimeline, settings: LiveSettings
) -> WatcherSettings:
    """Return how the watcher of one kubelet process behaves: a pass each second (S1.32)."""
    return WatcherSettings(
        retried=behavior.watched_plugins_retried,
        now=timeline.now,
        period=Duration(max(_PERIOD_MIN, int(SECOND / settings.speed))),
        connection=ConnectionSettings(dial_timeout=settings.dial_timeout),
    )
