"""What stands in a `Trace` (details 24), for `rebind explain trace`: its header and its records.

The records themselves are `simulator.core.records`; what their fields mean is said there or, where
it is the same for all records, here.
"""

from __future__ import annotations

import re
from dataclasses import fields
from inspect import cleandoc
from typing import Final, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from scenarios.schema.fields import ApiVersion, Items, Manifest, Model
from scenarios.schema.outline import Entry, Kind
from simulator.core.records.kinds import RECORD_KINDS


class TraceMetadata(Model):
    """Where a trace comes from."""

    name: str
    """The scenario's name."""


class TraceSpec(Model):
    """What was run."""

    kubelet_version: str
    """The kubelet's version at the start."""
    persistence: str
    """Where records of devices were kept, with the options that were given."""
    readmission: str
    """What became of pods whose devices were not there."""
    seed: int
    """Start of every random stream of the run."""
    nodes: Items[str]
    """The nodes, sorted."""
    started: str
    """The instant from which `t` counts."""
    recording: Manifest = Field(default_factory=dict)
    """How a live run began: only what `rebind serve --record` wrote has this, and beside the
    records lines for all that reached the run from outside, so that it can be replayed."""


class Trace(Model):
    """The records of a run as JSON Lines: a header with these keys, then a line for each record.

    `rebind replay -o trace` prints one for each run, `rebind serve --record` writes one.
    """

    api_version: ApiVersion
    """`rebind.internal/v1alpha1`."""
    kind: Literal["Trace"]
    """`Trace`."""
    metadata: TraceMetadata
    """Where it comes from."""
    spec: TraceSpec
    """What was run."""


_EVERY_LINE: Final = (
    Entry("t", Kind("duration"), "Virtual time since the start.", required=True, default=""),
    Entry(
        "node",
        Kind("name"),
        "The node where it happened; empty for what concerns the cluster.",
        required=True,
        default="",
    ),
    Entry("type", Kind("text"), "The record's type.", required=True, default=""),
)
_MEANINGS: Final = {
    "admitted": "Whether the pod was admitted.",
    "affinity": "The merged hint's NUMA nodes; null for any.",
    "allocatable": "Allocatable devices by resource.",
    "bootId": "The boot id of the machine.",
    "capacity": "Devices by resource.",
    "container": "The container's name.",
    "detail": "More about it.",
    "devices": "The ids of the devices.",
    "fault": "The step's or fault's name.",
    "message": "The text that people see.",
    "name": "The pod's name.",
    "phase": "The pod's phase.",
    "pod": "The pod's uid.",
    "pods": "The pods' uids.",
    "preferred": "Whether no smaller set of nodes could ever do.",
    "reason": "The reason, one word.",
    "resource": "The resource.",
    "rule": "The rule's id.",
    "severity": "`Normal` or `Warning`.",
    "step": "The step's name.",
    "version": "The kubelet's version.",
    "waiting": "Whether the pod is asked again when its plugin is back.",
}
"""What fields mean about which their records say nothing."""
_KINDS: Final = {
    "str": "text",
    "int": "whole number",
    "bool": "true or false",
    "ResourceName": "resource name",
    "PodUid": "uid",
    "PodUid | None": "uid",
    "ContainerName": "name",
    "ContainerName | None": "name",
    "DevicesPerNuma": "map of NUMA node to list of device ids",
    "tuple[Device, ...]": "list of id, health and topology",
    "tuple[DeviceId, ...]": "list of device ids",
    "tuple[HeldRecord, ...]": "list of pod, container, resource and devices",
    "tuple[NumaNode, ...] | None": "list of NUMA nodes",
    "tuple[PodUid, ...]": "list of uids",
    "tuple[ResourceName, ...]": "list of resource names",
    "tuple[tuple[ResourceName, int], ...]": "list of resource name and whole number",
    "tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...]": (
        "list of resource name and list of device ids"
    ),
    "tuple[tuple[ResourceName, tuple[HintRecord, ...] | None], ...]": (
        "list of resource name and list of NUMA nodes and true or false"
    ),
}
_NAMED: Final = re.compile(r"^    (?P<names>[a-z_, ]+): (?P<text>.+(?:\n {8,}.+)*)", re.MULTILINE)


def record_entry(name: str) -> Entry:
    """Return what a type of record says."""
    text = cleandoc(RECORD_KINDS[name].__doc__ or "").partition("\n\n")[0]
    return Entry(name, Kind("record"), " ".join(text.split()), required=False, default="")


def record_entries(name: str) -> dict[str, Entry]:
    """Return the keys of a record's line."""
    kind = RECORD_KINDS[name]
    own = _attributes(cleandoc(kind.__doc__ or ""))
    keys = list(_EVERY_LINE)
    for one in fields(kind):
        key = to_camel(one.name)
        text = own.get(one.name) or _MEANINGS[key]
        keys.append(Entry(key, Kind(_KINDS[str(one.type)]), text, required=True, default=""))
    return {entry.key: entry for entry in keys}


def _attributes(doc: str) -> dict[str, str]:
    """Return what a docstring says about fields by name."""
    found: dict[str, str] = {}
    for match in _NAMED.finditer(doc.partition("Attributes:\n")[2]):
        for name in match["names"].split(", "):
            found[name] = " ".join(match["text"].replace("None", "null").split())
    return found
