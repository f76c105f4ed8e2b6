"""Files as devices: there or not is healthy or not.

A path that was written out is a device from the start, Unhealthy while it is missing. What a
pattern finds becomes a device when it is found, and stays one, so that a container's record never
names a device that the list does not have.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from plugins.files.patterns import FilePattern, device_id_of
from plugins.model import DevicePlugin, Sleep, sleep_really
from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId
from simulator.core.instants import Duration
from simulator.errors import PluginCallError


class FilesPlugin(DevicePlugin):
    """The files of one resource.

    Args:
        resource: The name that is registered.
        patterns: Which files they are.
        permissions: What a container may do with a device node: any of `r`, `w`, `m`. Other files
            are mounted, read-only without a `w`.
        shares: As how many devices each file is offered.
        poll: How often it is looked for them.
    """

    def __init__(  # noqa: PLR0913 - what a user can choose
        self,
        resource: str,
        patterns: Sequence[FilePattern],
        *,
        permissions: str,
        shares: int,
        poll: Duration,
        sleep: Sleep = sleep_really,
    ) -> None:
        super().__init__(resource, sleep=sleep)
        self._patterns = tuple(patterns)
        self._permissions = permissions
        self._shares = shares
        self._poll = poll
        self._there: dict[str, bool] = {
            pattern.pattern: False for pattern in patterns if pattern.is_literal
        }
        self.look()

    def look(self) -> bool:
        """Look for the files; returns whether anything has changed, and sends the list then."""
        found = {path for pattern in self._patterns for path in pattern.paths()}
        paths = dict.fromkeys([*self._there, *sorted(found)])
        there = {path: path in found for path in paths}
        if there == self._there:
            return False
        self._there = there
        self.report()
        return True

    @override
    def devices(self) -> Sequence[Device]:
        return tuple(
            Device(id_, HEALTHY if is_there else UNHEALTHY)
            for path, is_there in self._there.items()
            for id_ in self._ids(path)
        )

    @override
    async def run(self) -> None:
        while True:
            await self.sleep(self._poll)
            self.look()

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse:
        path_of = {id_: path for path in self._there for id_ in self._ids(path)}
        strange = sorted(set(devices) - set(path_of))
        if strange:
            reason = f"there is no device {strange[0]}"
            raise PluginCallError(reason)
        specs: list[DeviceSpec] = []
        mounts: list[Mount] = []
        for path in dict.fromkeys(path_of[id_] for id_ in sorted(devices)):
            if _is_device_node(path):
                specs.append(DeviceSpec(path, path, self._permissions))
            else:
                mounts.append(Mount(path, path, read_only="w" not in self._permissions))
        return AllocateResponse(devices=tuple(specs), mounts=tuple(mounts))

    def _ids(self, path: str) -> list[DeviceId]:
        id_ = device_id_of(path)
        if self._shares == 1:
            return [DeviceId(id_)]
        return [DeviceId(f"{id_}::{share}") for share in range(self._shares)]


def _is_device_node(path: str) -> bool:
    """Tell whether a path is a device node.

    Raises:
        PluginCallError: It cannot be looked at.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        reason = f"{path}: {error.strerror}"
        raise PluginCallError(reason) from error
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
