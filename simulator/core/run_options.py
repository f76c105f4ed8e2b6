"""What a container is started with: the merged AllocateResponses of its resources (S10).

The first setting of a key wins and a different later one is dropped, which the kubelet only logs;
here it is a value.

Kubelet: deviceRunContainerOptions (devicemanager/pod_devices.go). Differs: resources are merged by
name and not in random order, so that conflicting settings have one outcome (S10.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class DeviceRunContainerOptions:
    """The device manager's part of a container's settings; the pod's own come after it (S10.8).

    Attributes:
        envs, annotations: Name to value.
        mounts, devices: One for each path in the container.
        cdi_devices: Fully qualified CDI names.
    """

    envs: Mapping[str, str]
    mounts: tuple[Mount, ...]
    devices: tuple[DeviceSpec, ...]
    annotations: Mapping[str, str]
    cdi_devices: tuple[str, ...]


class Setting(Enum):
    """A kind of setting; the value is what the kubelet logs about a conflict (S10.2 to S10.5)."""

    ENV = "Environment variable has conflicting setting"
    DEVICE = "Container device has conflicting mapping host devices"
    MOUNT = "Container mount has conflicting mapping host mounts"
    ANNOTATION = "Annotation has conflicting setting"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two responses set one key differently; the first one stays.

    Attributes:
        key: Name of the variable or annotation, or path in the container.
        kept, dropped: Values, or host paths.
        resource: Whose setting was dropped.
    """

    setting: Setting
    key: str
    kept: str
    dropped: str
    resource: ResourceName


@dataclass(frozen=True, slots=True)
class MergedOptions:
    """The merge and the conflicts it met, in order."""

    options: DeviceRunContainerOptions
    conflicts: tuple[Conflict, ...]


@dataclass(slots=True)
class _Merge:
    """A merge under way: first come, first served, by key."""

    envs: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, Mount] = field(default_factory=dict)
    devices: dict[str, DeviceSpec] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    cdi_devices: dict[str, None] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, resource: ResourceName, response: AllocateResponse) -> None:
        for name, value in sorted(response.envs.items()):
            self._compare(resource, Setting.ENV, name, self.envs.setdefault(name, value), value)
        for device in response.devices:
            path = device.container_path
            kept = self.devices.setdefault(path, device).host_path
            self._compare(resource, Setting.DEVICE, path, kept, device.host_path)
        for mount in response.mounts:
            path = mount.container_path
            kept = self.mounts.setdefault(path, mount).host_path
            self._compare(resource, Setting.MOUNT, path, kept, mount.host_path)
        for name, value in sorted(response.annotations.items()):
            kept = self.annotations.setdefault(name, value)
            self._compare(resource, Setting.ANNOTATION, name, kept, value)
        self.cdi_devices.update(dict.fromkeys(response.cdi_devices))

    def _compare(
        self, resource: ResourceName, setting: Setting, key: str, kept: str, offered: str
    ) -> None:
        if kept != offered:
            self.conflicts.append(Conflict(setting, key, kept, offered, resource))


def merge_responses(
    responses: Iterable[tuple[ResourceName, AllocateResponse]],
) -> MergedOptions:
    """Merge the responses of all resources of one container, by resource name.

    A device with the same host path but other permissions, and a mount with another `read_only`,
    is dropped without a conflict, as the kubelet does (S10.3, S10.4).
    """
    merge = _Merge()
    for resource, response in sorted(responses, key=lambda pair: pair[0]):
        merge.add(resource, response)
    options = DeviceRunContainerOptions(
        envs=merge.envs,
        mounts=tuple(merge.mounts.values()),
        devices=tuple(merge.devices.values()),
        annotations=merge.annotations,
        cdi_devices=tuple(merge.cdi_devices),
    )
    return MergedOptions(options, tuple(merge.conflicts))
