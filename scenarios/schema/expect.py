"""What a scenario expects: one row, about one subject, with when and for which combinations."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic.alias_generators import to_camel

from scenarios.files.phrases import found, nearest
from scenarios.schema.fields import (
    DeviceIdText,
    GoDuration,
    Items,
    Model,
    Name,
    Resource,
    Versions,
    Wording,
)
from scenarios.schema.variants import PersistenceVariant
from simulator.core.instants import Duration
from simulator.core.invariant_names import INVARIANTS
from simulator.core.records.kinds import RECORD_KINDS

ReadmissionName = Literal["upstream", "pinned", "reassign", "wait"]
RpcName = Literal["Allocate", "GetPreferredAllocation", "PreStartContainer"]
Count = Annotated[int, Field(ge=0)]
RECORD_TYPES = tuple(sorted(RECORD_KINDS))


def _record_type(value: object) -> str:
    if value not in RECORD_TYPES:
        reason = f"{found(value)} is not a type of record{nearest(str(value), RECORD_TYPES)}"
        raise ValueError(reason)
    return str(value)


RecordType = Annotated[
    str,
    BeforeValidator(_record_type),
    Wording("type of record", RECORD_TYPES),
]


class NodeStatus(Model):
    """The Node object, up to 10 s behind the device manager (S2.15)."""

    capacity: dict[Resource, Count] | None = None
    """Devices by resource."""
    allocatable: dict[Resource, Count] | None = None
    """Devices by resource."""


class PodResources(Model):
    """The answers of the kubelet's PodResources API."""

    allocatable: dict[Resource, Count]
    """Number of devices that GetAllocatableResources names, used or not (S8.10)."""


class CheckpointState(Model):
    """The node's checkpoint file."""

    exists: bool | None = None
    """Whether there is one."""
    valid: bool | None = None
    """Whether it can be read and its checksum is right."""
    entries: Count | None = None
    """Number of pod device entries."""


class RecordMatch(Model):
    """Records of the run, looked for from the start of the step named by `after`."""

    type: RecordType
    """Type of the record."""
    where: dict[str, object] = Field(default_factory=dict)
    """Fields that must have these values, written in camelCase; a pod by its name or its uid."""
    count: Count | None = None
    """How many there must be at the deadline; left out: at least one."""

    @model_validator(mode="after")
    def _names_fields_of_the_record(self) -> Self:
        allowed = [to_camel(field.name) for field in fields(RECORD_KINDS[self.type])]
        for key in self.where:
            if key not in allowed:
                reason = f'a {self.type} has no field "{key[:60]}"{nearest(key, allowed)}'
                raise ValueError(reason)
        return self


class EventMatch(Model):
    """A Kubernetes event, looked for from the start of the step named by `after`."""

    reason: str
    """Its reason."""
    message: str | None = None
    """Its whole message."""
    pod: Name | None = None
    """The pod it is about."""


class InvariantsBroken(Model):
    """Invariants that this scenario shows to be broken.

    What the kubelet breaks by its own decision, whatever keeps its records, is shown and does not
    count.
    """

    broken: Annotated[Items[str], Wording("list of names", tuple(INVARIANTS))] = Field(
        description="Exactly these, by name. "
        + "; ".join(f"{name}: {meaning}" for name, meaning in INVARIANTS.items())
        + "."
    )


def _invariants(value: object) -> object:
    if value in ("all", None):
        return value
    names = value.get("broken") if isinstance(value, dict) and len(value) == 1 else None
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        for name in names:
            if name not in INVARIANTS:
                reason = f"there is no invariant {found(name)}{nearest(name, INVARIANTS)}"
                raise ValueError(reason)
        return InvariantsBroken(broken=tuple(names))
    reason = f"wants all, or a map with broken: [I1, …], found {found(value)}"
    raise ValueError(reason)


class Expectation(Model):
    """One row of expectations.

    A row is judged at every instant from its beginning to its deadline and holds as soon as all of
    its keys are true together. With `pluginCalls`, `calls`, `unchanged`, `sameDevices`, `show`, or
    a `record` with a `count`, which could be true too early, it is judged once, at the deadline.
    What was so before the step, as a phase Running before a reboot, is true at once by itself: put
    one of those keys beside it, or give `at`.
    """

    after: Name | None = None
    """The step from whose completion the row counts."""
    at: GoDuration | None = None
    """Virtual time from which the row counts."""
    within: GoDuration = Duration(0)
    """Time until the deadline."""
    always: bool = False
    """Whether the row speaks of the whole run."""
    kubelet_versions: Annotated[Items[Versions], Field(min_length=1)] | None = None
    """Versions or ranges for which the row is meant; left out: all."""
    persistence: Annotated[Items[PersistenceVariant], Field(min_length=1)] | None = None
    """Persistences for which the row is meant; left out: all."""
    readmission: Annotated[Items[ReadmissionName], Field(min_length=1)] | None = None
    """Readmission policies for which the row is meant; left out: all."""
    pod: Name | None = None
    """Subject: a pod."""
    phase: Literal["Pending", "Running", "Succeeded", "Failed", "Deleted"] | None = None
    """The pod's phase in the API; the one from before a restart stays until a new one comes."""
    reason: str | None = None
    """The reason in the pod's status."""
    message: str | None = None
    """The whole message in the pod's status."""
    devices: dict[Resource, Count] | None = None
    """Number of devices that the node's records give to the pod."""
    device_ids: Annotated[dict[Resource, Items[DeviceIdText]] | None, Field(alias="deviceIDs")] = (
        None
    )
    """Ids of the devices that the node's records give to the pod."""
    unchanged: bool | None = None
    """Whether the pod's containers are the same processes with the same devices as before."""
    same_devices: bool | None = None
    """Whether the node's records give the pod what they did before the last restart or reboot.

    A pod that has ended is shown as `released`, or `not released` while they still hold its
    devices.
    """
    plugin_calls: Count | None = None
    """Allocate calls for the pod since the step named by `after` began."""
    node: Name | None = None
    """Subject: a node; may be left out when the scenario has only one."""
    capacity: dict[Resource, Count] | None = None
    """The device manager's capacity."""
    allocatable: dict[Resource, Count] | None = None
    """The device manager's allocatable devices."""
    node_status: NodeStatus | None = None
    """The Node object's figures."""
    pod_resources: PodResources | None = None
    """What the PodResources API answers."""
    holdings: dict[Resource, dict[DeviceIdText, Name]] | None = None
    """Which pod holds which device according to the durable state; complete for a resource."""
    checkpoint: CheckpointState | None = None
    """The checkpoint file."""
    plugin: Name | None = None
    """Subject: a plugin."""
    calls: dict[RpcName, Count] | None = None
    """Calls to the plugin since the step named by `after` began."""
    registered: bool | None = None
    """Whether the plugin is registered."""
    record: RecordMatch | None = None
    """Subject: a record of the run."""
    event: EventMatch | None = None
    """Subject: a Kubernetes event."""
    invariants: Annotated[
        InvariantsBroken | Literal["all"] | None, BeforeValidator(_invariants)
    ] = None
    """Subject: what must always hold; `all`, or the ones that are broken here."""

    show: Annotated[Items[str], Wording("list of keys of the subject")] = ()
    """Keys of a pod, node or plugin that are only shown, as they are at the deadline."""

    @classmethod
    def alias(cls, field: str) -> str:
        """Return a field's key in the file."""
        return str(cls.model_fields[field].alias)

    def shown(self) -> tuple[str, ...]:
        """Return the fields that `show` names."""
        keys = KEYS.get(self.subject(), ())
        return tuple(key for key in keys if self.alias(key) in self.show)

    def subject(self) -> str:
        """Return the subject's key: pod, node, plugin, record, event or invariants."""
        return self._subjects()[0]

    def _subjects(self) -> list[str]:
        named = ("pod", "plugin", "record", "event", "invariants")
        found_ones = [name for name in named if getattr(self, name) is not None]
        if self.node is not None or any(getattr(self, key) is not None for key in KEYS["node"]):
            found_ones.append("node")
        return found_ones

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        subjects = self._subjects()
        if len(subjects) != 1:
            named = ", ".join(subjects) or "none"
            reason = f"wants one subject of {', '.join(SUBJECTS)}; found {named}"
            raise ValueError(reason)
        for subject, keys in KEYS.items():
            for key in keys:
                if subject != subjects[0] and getattr(self, key) is not None:
                    reason = f'"{self.alias(key)}" needs "{subject}: NAME" in the same row'
                    raise ValueError(reason)
        known = [self.alias(key) for key in KEYS.get(subjects[0], ())]
        for name in self.show:
            if name not in known:
                reason = f'"{name[:60]}" is no key of a {subjects[0]} to show{nearest(name, known)}'
                raise ValueError(reason)
        if (
            subjects[0] in KEYS
            and not self.show
            and not any(getattr(self, key) is not None for key in KEYS[subjects[0]])
        ):
            allowed = ", ".join(self.alias(key) for key in KEYS[subjects[0]])
            reason = f"says nothing about its {subjects[0]}; give one of {allowed}"
            raise ValueError(reason)
        times = [self.after is not None, self.at is not None, self.always]
        if sum(times) != 1:
            reason = 'wants one of "after", "at" and "always: true"'
            raise ValueError(reason)
        return self


SUBJECTS = ("pod", "node", "plugin", "record", "event", "invariants")
KEYS = {
    "pod": (
        "phase", "reason", "message", "devices", "device_ids", "unchanged", "same_devices",
        "plugin_calls",
    ),
    "node": ("capacity", "allocatable", "node_status", "pod_resources", "holdings", "checkpoint"),
    "plugin": ("calls", "registered"),
}  # fmt: skip
