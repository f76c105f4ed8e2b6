"""A plugin beside a kubelet of its own, in the hands of the checks."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from simulator.core.devices import HEALTHY, DeviceId
from simulator.rig.kubelet import Kubelet
from simulator.rig.outcomes import NotInTimeError
from simulator.rig.rig import Rig
from simulator.rig.tap import Registration

_LOOK_S: Final = 0.02
_RESTARTED_S: Final = 11.0
"""A kubelet that panicked is back by then."""
SETTLE_S: Final = 0.1
"""How long a kubelet is away in an ordinary restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long things may take, in seconds by the real clock.

    Attributes:
        answer: Until a plugin has registered, sent a list, answered a call, or ended.
        alone: How long a plugin may take to serve its socket before there is a kubelet.
        settle: How long it waits for its first kubelet after that.
        quiet: How long a plugin is watched while nothing is done to it.
        absent: How long a slow kubelet is away.
    """

    answer: float = 30.0
    alone: float = 5.0
    settle: float = 0.3
    quiet: float = 1.0
    absent: float = 3.0


class Plugin(Protocol):
    """A plugin that runs, or has ended (`simulator.rig.processes.PluginProcess`)."""

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        ...

    def start(self) -> None:
        """Run it again, when it has ended."""
        ...

    def wait(self, within_s: float) -> int | None:
        """Wait for it to end by itself; returns the exit code, None if it has not in time."""
        ...

    def terminate(self) -> None:
        """Send SIGTERM to it."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def story(self) -> str:
        """Return in one line how it is, and the last that it has said."""
        ...


@dataclass(slots=True)
class Bench:
    """What the checks work with.

    Attributes:
        resource: The resource that pods ask for; empty while none is known.
        disturbed: Registrations whose stream ended because the plugin was ended from here.
    """

    rig: Rig
    kubelet: Kubelet
    plugin: Plugin
    deadlines: Deadlines
    resource: str
    disturbed: list[Registration]

    # What was said

    def registrations(self) -> list[Registration]:
        """Return the registrations with the present kubelet that are of the plugin's resource."""
        return [
            each
            for each in self.kubelet.tap.current
            if self.resource in ("", each.request.resource_name)
        ]

    def present(self) -> Registration | None:
        """Return the registration that counts: the newest that was accepted."""
        accepted = [each for each in self.registrations() if each.is_accepted]
        return accepted[-1] if accepted else None

    # Waiting

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is true; tell whether it came true in time."""
        try:
            self.kubelet.wait_until(condition, seconds)
        except NotInTimeError:
            return False
        return True

    def until_back(self, *, after: int = 0, strict: bool = False) -> str:
        """Wait until the plugin is registered with a healthy device; return what is wrong.

        A plugin that exits is started again, as a DaemonSet does, unless `strict`.

        Args:
            after: How many registrations with this kubelet are too old to count.
            strict: Whether the plugin must not exit.
        """
        end = time.monotonic() + self.deadlines.answer
        exits = 0

        def is_back() -> bool:
            return any(each.is_open and healthy_in(each) for each in self.registrations()[after:])

        while time.monotonic() < end:
            if self.until(is_back, min(0.1, max(0.0, end - time.monotonic()))):
                return ""
            if self.plugin.code is None:
                continue
            if strict or exits:
                return f"the plugin exits: {self.plugin.story()}"
            exits += 1
            self.plugin.start()
        return f"{self._how_far(after)} within {self.deadlines.answer:g}s; {self.plugin.story()}"

    def start_afresh(self) -> bool:
        """End the plugin and start it again; tell whether it is registered then."""
        self.note_disturbance()
        self.plugin.kill()
        if not self.kubelet.is_up:
            self.kubelet.advance(_RESTARTED_S)
        before = len(self.registrations())
        self.plugin.start()
        return not self.until_back(after=before)

    def note_disturbance(self) -> None:
        """Remember that the streams that are open now end because of what is done from here."""
        self.disturbed += [each for each in self.kubelet.tap.registrations if each.is_open]

    def left_alone(self) -> int | None:
        """Leave the plugin without a kubelet for a while; returns its exit code if it ends."""
        end = time.monotonic() + self.deadlines.alone
        while time.monotonic() < end and self.plugin.code is None:
            if any(path.is_socket() for path in self.kubelet.socket_dir.iterdir()):
                break
            self.plugin.wait(_LOOK_S)
        return self.plugin.wait(self.deadlines.settle)

    # Sockets

    def sockets(self) -> list[Path]:
        """Return the sockets that the plugin has registered with the present kubelet."""
        endpoints = {each.request.endpoint: None for each in self.kubelet.tap.current}
        return [self.kubelet.socket_dir / endpoint for endpoint in endpoints if endpoint]

    def _how_far(self, after: int) -> str:
        found = self.registrations()[after:]
        if not found:
            return "it does not register"
        if found[-1].answer is None:
            return "its registration is not finished"
        if found[-1].answer:
            return f"its registration is refused ({found[-1].answer})"
        return "it lists no healthy device" if found[-1].is_open else "its stream ends"


def is_refused(path: Path) -> bool:
    """Tell whether a socket is there and nobody listens on it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED


def healthy_in(registration: Registration | None) -> list[DeviceId]:
    """Return the ids of the healthy devices that a registration lists."""
    devices = () if registration is None else registration.devices
    return list(dict.fromkeys(each.id for each in devices if each.health == HEALTHY))
