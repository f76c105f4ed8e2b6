"""What a kubelet counts: the counters of its metrics, fed from its records where these tell (S11).

One per kubelet process; a restart begins at 0. Names and form are the wire's.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.machine import TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.pods import PodUid
from simulator.core.records import AdmissionDecided, EventEmitted, Record, TopologyMerged
from simulator.core.refusals import TOPOLOGY_AFFINITY_ERROR, UNEXPECTED_ADMISSION_ERROR

_NAME_MAX: Final = 317
"""Longest name of an extended resource: 253 characters, a slash and 63 (S1.15)."""
_NAMES_MAX: Final = 1_000
_FURTHER_NAMES: Final = "(others)"
_OUT_OF: Final = "OutOf"
_OUT_OF_EXTENDED: Final = "OutOfExtendedResources"
_OTHER: Final = "Other"
_COUNTED_BY_NAME: Final = frozenset(
    {
        UNEXPECTED_ADMISSION_ERROR,
        TOPOLOGY_AFFINITY_ERROR,
        "OutOfcpu",
        "OutOfmemory",
        "OutOfephemeral-storage",
        "OutOfpods",
    }
)


def counted_reason(reason: str) -> str:
    """Return the label under which a refusal is counted: its reason, or what stands for many."""
    if reason in _COUNTED_BY_NAME:
        return reason
    return _OUT_OF_EXTENDED if reason.startswith(_OUT_OF) else _OTHER


class KubeletCounts:
    """The counters of one kubelet process.

    Attributes:
        registrations: Register calls by the resource they named, refused ones too; not those of the
            plugin watcher (S1.38). Names beyond the first thousand are counted together.
        requests, errors: PodResources calls by API version and method.
        admissions, admission_errors: Of the topology manager; it counts no errors under `none`.
        aligned, misaligned: What the policy single-numa-node has put on one node, or could not, by
            scope; both empty under other policies.
        rejections: Refused pods by reason, whoever refused them; None up to 1.31.
    """

    def __init__(self, behavior: Behavior, topology: TopologyOptions) -> None:
        self.registrations: Counter[str] = Counter()
        self.requests: Counter[tuple[str, str]] = Counter()
        self.errors: Counter[tuple[str, str]] = Counter()
        self.admissions = 0
        self.admission_errors = 0
        self.aligned: Counter[TopologyScope] = Counter()
        self.misaligned: Counter[TopologyScope] = Counter()
        self.rejections: Counter[str] | None = Counter() if behavior.rejections_counted else None
        self._topology = topology
        self._merges: Counter[PodUid] = Counter()
        if topology.policy is not TopologyPolicy.NONE:
            for scope in TopologyScope:
                self.aligned[scope] = self.misaligned[scope] = 0

    def registration_requested(self, resource: str) -> None:
        """Count a Register call; what it names is not looked at yet, so it is bounded here."""
        name = resource[:_NAME_MAX]
        if name not in self.registrations and len(self.registrations) >= _NAMES_MAX:
            name = _FURTHER_NAMES
        self.registrations[name] += 1

    def take(self, record: Record) -> None:
        """Count what a record of this kubelet's node tells."""
        if isinstance(record, TopologyMerged):
            self._merges[record.pod] += 1
        elif isinstance(record, AdmissionDecided):
            self._decided(record)
        elif isinstance(record, EventEmitted):
            self._event(record)

    def _decided(self, record: AdmissionDecided) -> None:
        self.admissions += 1
        merges = self._merges.pop(record.pod, 0)
        if self._topology.policy is TopologyPolicy.NONE:
            return
        if not record.admitted:
            self.admission_errors += 1
        if self._topology.policy is not TopologyPolicy.SINGLE_NUMA_NODE:
            return
        scope = self._topology.scope
        if record.admitted:
            self.aligned[scope] += merges
        else:
            if scope is TopologyScope.CONTAINER:
                # Each hint but the last one was followed by an allocation that went well.
                self.aligned[scope] += max(0, merges - 1)
            self.misaligned[scope] += record.reason == TOPOLOGY_AFFINITY_ERROR

    def _event(self, record: EventEmitted) -> None:
        """Count a refusal by the event that tells of it: there is one for each (S12.8)."""
        if self.rejections is None or record.severity != "Warning" or record.pod is None:
            return
        label = counted_reason(record.reason)
        if label != _OTHER:
            self.rejections[label] += 1
