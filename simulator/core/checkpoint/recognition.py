"""What a file is, when nobody says which kubelet wrote it: for people, not for kubelets.

The formats are told apart by their shape; where the shape leaves a choice, the checksum decides.
Checkpoints of other kubelet components, which people feed in by mistake, are called by their name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.decode import decode
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.go_json import loads
from simulator.core.checkpoint.json_values import JsonValue
from simulator.core.checkpoint.values import Checkpoint
from simulator.errors import (
    ForeignCheckpointError,
    UnknownCheckpointVersionError,
)

_Members = Mapping[str, JsonValue]

_OWN_KEYS: Final = frozenset({"data", "checksum"})
_BARE_KEYS: Final = frozenset({"poddeviceentries", "registereddevices"})


@dataclass(frozen=True, slots=True)
class Inspection:
    """A device-manager checkpoint, valid or not.

    Attributes:
        found: The checksum in the file (0 when it states none); None for a bare file.
        computed: The checksum of the content; None for a bare file.
    """

    checkpoint: Checkpoint
    found: int | None
    computed: int | None

    @property
    def is_valid(self) -> bool:
        """Whether a kubelet of the format's time accepts the file."""
        return self.found == self.computed


def inspect(content: bytes) -> Inspection:
    """Find out the format of a device-manager checkpoint and read it.

    Raises:
        CheckpointSyntaxError: Not JSON.
        CheckpointTypeError: Almost a checkpoint, but of a wrong type somewhere.
        ForeignCheckpointError: The checkpoint of another component; the message names it.
        UnknownCheckpointVersionError: JSON that no kubelet component is known to write.
    """
    value = loads(content)
    if value is not None:
        _refuse_others(value)
    first, *others = _formats(value)
    best = _inspected(value, first)
    for form in others:
        other = best if best.is_valid else _inspected(value, form)
        best = other if other.is_valid else best
    return best


def _inspected(value: JsonValue, form: CheckpointFormat) -> Inspection:
    checkpoint, found = decode(value, form)
    if form is CheckpointFormat.BARE:
        return Inspection(checkpoint, None, None)
    return Inspection(checkpoint, found, checksum(dump(checkpoint)))


def _formats(value: JsonValue) -> tuple[CheckpointFormat, ...]:
    """Return the formats that the shape allows, the likeliest first."""
    members = _members(value)
    if "data" not in members and not _BARE_KEYS.isdisjoint(members):
        return (CheckpointFormat.BARE,)
    entries = _members(members.get("data")).get("poddeviceentries")
    kinds = {
        type(_members(entry).get("deviceids"))
        for entry in (entries if isinstance(entries, list) else ())
    }
    if list in kinds and tuple not in kinds:
        return (CheckpointFormat.V1,)
    if tuple in kinds or not kinds:
        return (CheckpointFormat.V2,)
    return (CheckpointFormat.V2, CheckpointFormat.V1)


def _members(value: JsonValue) -> dict[str, JsonValue]:
    """Return an object's members by the lower case form of their names; the last one counts."""
    return {name.lower(): member for name, member in value} if isinstance(value, tuple) else {}


def _refuse_others(value: JsonValue) -> None:
    if not isinstance(value, tuple):
        kind = "a list" if isinstance(value, list) else "a single value"
        message = f"not a device-manager checkpoint but {kind}"
        raise UnknownCheckpointVersionError(message)
    members = dict(value)
    for name, is_such in _FOREIGN.items():
        if is_such(members):
            message = f"not a device-manager checkpoint but {name}"
            raise ForeignCheckpointError(message)
    folded = {key.lower() for key in members}
    if members and folded.isdisjoint(_OWN_KEYS | _BARE_KEYS):
        keys = ", ".join(sorted(members)[:3])
        message = f"not a device-manager checkpoint but JSON with other keys ({keys})"
        raise UnknownCheckpointVersionError(message)


def _has(*keys: str) -> Callable[[_Members], bool]:
    return lambda members: members.keys() >= {*keys}


def _is_dra(members: _Members) -> bool:
    data = members.get("Data")
    if isinstance(data, str):
        return "DRACheckpoint" in data or "ClaimInfo" in data
    return members.keys() >= {"version", "checksum"} and not isinstance(
        members.get("entries"), tuple
    )


def _is_pod_allocation(members: _Members) -> bool:
    return isinstance(members.get("data"), str) or "allocationEntries" in members


_FOREIGN: Final[Mapping[str, Callable[[_Members], bool]]] = {
    "cpu_manager_state, the CPU manager's state": _has("policyName", "defaultCpuSet"),
    "memory_manager_state, the memory manager's state": _has("policyName", "machineState"),
    "a dockershim sandbox checkpoint": _has("version", "name", "namespace", "data"),
    "dra_manager_state, the DRA manager's state": _is_dra,
    "allocated_pods_state or pod_status_manager_state, the kubelet's pod resource state": (
        _is_pod_allocation
    ),
    "graceful_node_shutdown_state, the shutdown manager's state": _has("startTime", "endTime"),
    "a checkpoint of a single pod": _has("Pod", "Checksum"),
}
"""Files of other components by the members that they always have (field-reports F12)."""
