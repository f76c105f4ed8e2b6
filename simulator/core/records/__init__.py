"""What happened, as typed values.

Transcript, verdict table, history, logs and reports are views of these records. A record says what
a reader of a node's log would want to know, in the kubelet's words, and nothing about how it will
be shown. Drivers stamp each record with time and node (`Stamped`).

`manager` has what a device manager tells, `cluster` what happens around it.
"""

from simulator.core.records.cluster import (
    ContainerChanged,
    EventEmitted,
    FaultInjected,
    InvariantViolated,
    KubeletStarted,
    KubeletStartFailed,
    KubeletStopped,
    NodeStatusReported,
    PodDeleted,
    PodNotCreated,
    PodPhaseChanged,
    StepDone,
)
from simulator.core.records.manager import (
    AdmissionDecided,
    DevicesAllocated,
    DevicesBound,
    DevicesListed,
    DevicesReleased,
    HealthUpdated,
    HeldRecord,
    HintRecord,
    KubeletPanicked,
    ListTooLarge,
    ManagerStarted,
    MigrationStep,
    PluginCalled,
    PluginDisconnected,
    PluginRegistered,
    RegistrationRefused,
    ReservationLeaked,
    ResourceExpired,
    StatesDiffer,
    StateWritten,
    TopologyMerged,
)
from simulator.core.records.record import Record, Stamped

__all__ = [
    "AdmissionDecided",
    "ContainerChanged",
    "DevicesAllocated",
    "DevicesBound",
    "DevicesListed",
    "DevicesReleased",
    "EventEmitted",
    "FaultInjected",
    "HealthUpdated",
    "HeldRecord",
    "HintRecord",
    "InvariantViolated",
    "KubeletPanicked",
    "KubeletStartFailed",
    "KubeletStarted",
    "KubeletStopped",
    "ListTooLarge",
    "ManagerStarted",
    "MigrationStep",
    "NodeStatusReported",
    "PluginCalled",
    "PluginDisconnected",
    "PluginRegistered",
    "PodDeleted",
    "PodNotCreated",
    "PodPhaseChanged",
    "Record",
    "RegistrationRefused",
    "ReservationLeaked",
    "ResourceExpired",
    "Stamped",
    "StateWritten",
    "StatesDiffer",
    "StepDone",
    "TopologyMerged",
]
