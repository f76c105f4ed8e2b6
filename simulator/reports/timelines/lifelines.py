"""The lanes of a machine, of its kubelet and of its device plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.core import records
from simulator.core.devices import Device
from simulator.core.instants import Instant
from simulator.core.plurals import counted
from simulator.core.resources import ResourceName
from simulator.reports.timelines.lanes import Lane, LaneKind, Numbered, State, Track

_MACHINE_STOPS: Final = frozenset({"reboot", "power cut", "recreated"})
"""Causes of a kubelet's end that end the machine's boot too."""

_ENDS: Final = {"crashed": State.CRASHED, "failed to start": State.FAILED}
"""How a kubelet ended when it was not stopped in order."""


def machine_lane(node: str, of_node: Iterable[Numbered]) -> Lane:
    """Return when the machine was up, boot by boot."""
    track = Track()
    boots: dict[str, int] = {}
    for index, stamped in of_node:
        match stamped.record:
            case records.KubeletStarted(boot_id=boot):
                number = boots.setdefault(boot, len(boots) + 1)
                track.turn(State.UP, index, stamped.at, f"boot {number}")
            case records.KubeletStopped(cause=cause) if cause in _MACHINE_STOPS:
                track.turn(State.DOWN, index, stamped.at, cause)
            case _:
                pass
    return Lane(LaneKind.NODE, node, node, tuple(track.done()))


def kubelet_lane(node: str, of_node: Iterable[Numbered]) -> Lane:
    """Return when the kubelet ran, and in which version."""
    track = Track()
    version = ""
    for index, stamped in of_node:
        match stamped.record:
            case records.KubeletStarted():
                version = stamped.record.version
                track.turn(State.STARTING, index, stamped.at, version)
            case records.ManagerStarted():
                track.turn(State.UP, index, stamped.at, version)
            case records.KubeletStartFailed():
                track.turn(State.FAILED, index, stamped.at, "failed to start")
            case records.KubeletStopped(cause=cause):
                track.turn(_ENDS.get(cause, State.STOPPED), index, stamped.at, cause)
            case _:
                pass
    return Lane(LaneKind.KUBELET, node, "kubelet", tuple(track.done()))


def plugin_lanes(node: str, of_node: Iterable[Numbered]) -> Iterator[Lane]:
    """Iterate over the plugins by resource: when each was connected, away, or gone."""
    plugins: dict[ResourceName, Track] = {}
    for index, stamped in of_node:
        at = stamped.at
        match stamped.record:
            case records.PluginRegistered(resource=resource):
                _of(plugins, resource).turn(State.CONNECTED, index, at, "registered")
            case records.DevicesListed(resource=resource, devices=devices):
                _of(plugins, resource).turn(State.CONNECTED, index, at, _health(devices))
            case records.PluginDisconnected(resource=resource):
                _of(plugins, resource).turn(State.GRACE, index, at, "stream ended")
            case records.ResourceExpired(resource=resource):
                _of(plugins, resource).turn(State.GONE, index, at, "removed")
            case records.ManagerStarted(registered=registered):
                _restart(plugins, registered, index, at)
            case records.KubeletStopped():
                for track in plugins.values():
                    track.turn(State.GONE, index, at, "no kubelet")
            case _:
                pass
    for resource, track in plugins.items():
        yield Lane(LaneKind.PLUGIN, node, str(resource), tuple(track.done()))


def _of(plugins: dict[ResourceName, Track], resource: ResourceName) -> Track:
    return plugins.setdefault(resource, Track())


def _restart(
    plugins: dict[ResourceName, Track],
    registered: Iterable[ResourceName],
    index: int,
    at: Instant,
) -> None:
    """Give the restored resources their grace period (S2.8); nothing is known of the others."""
    restored = tuple(registered)
    for resource in restored:
        _of(plugins, resource).turn(State.GRACE, index, at, "restored")
    for resource, track in plugins.items():
        if resource not in restored:
            track.turn(State.GONE, index, at, "unknown to the kubelet")


def _health(devices: tuple[Device, ...]) -> str:
    healthy = sum(device.is_healthy for device in devices)
    count = counted(len(devices), "device")
    return count if healthy == len(devices) else f"{healthy} of {count} healthy"
