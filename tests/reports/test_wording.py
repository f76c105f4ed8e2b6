"""Every record has its words."""

from __future__ import annotations

import json

import pytest

from simulator.core import records
from simulator.core.devices import NO_NUMA_NODE, Device, DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import Record
from simulator.core.records.kinds import RECORD_KINDS
from simulator.core.resources import ResourceName
from simulator.reports.trace import record_fields
from simulator.reports.wording import words

GPU = ResourceName("example.com/gpu")
MAIN = ContainerName("main")
UID = PodUid("u1")
G0, G1 = DeviceId("g0"), DeviceId("g1")
NAMES = {"u1": "trainer"}

SENTENCES: list[tuple[Record, str]] = [
    (records.ManagerStarted("checkpoint", 3), "from checkpoint, 3 device bindings"),
    (
        records.ManagerStarted("nothing", 0, skipped=1, error="checkpoint is corrupted"),
        "from nothing, 0 device bindings, 1 entry skipped, error: checkpoint is corrupted",
    ),
    (records.PluginRegistered(GPU), "example.com/gpu"),
    (records.RegistrationRefused("gpu", "invalid"), "gpu: invalid"),
    (
        records.ListTooLarge(GPU, 60_000, 4_680_000, 4_194_304, 53_773),
        "example.com/gpu 60000 devices, 4680000 bytes, 4194304 can be received, 53773 would fit",
    ),
    (
        records.ListTooLarge(GPU, 0, 90_000_000, 4_194_304, 0),
        "example.com/gpu many devices, 90000000 bytes, 4194304 can be received, 0 would fit",
    ),
    (records.PluginDisconnected(GPU), "example.com/gpu"),
    (
        records.DevicesListed(GPU, (Device(G0), Device(G1, "Unhealthy"))),
        "example.com/gpu 2 devices, unhealthy: g1",
    ),
    (records.ResourceExpired(GPU), "example.com/gpu"),
    (
        records.PluginCalled("Allocate", GPU, UID, MAIN, (G0,), "boom"),
        "Allocate trainer/main example.com/gpu g0, error: boom",
    ),
    (
        records.DevicesAllocated(UID, MAIN, GPU, {NumaNode(1): (G1,), NO_NUMA_NODE: (G0,)}),
        "trainer/main example.com/gpu g0, numa 1: g1",
    ),
    (
        records.TopologyMerged(
            UID,
            MAIN,
            ((GPU, (((NumaNode(0),), True), ((NumaNode(0), NumaNode(1)), False))), (GPU, None)),
            (NumaNode(0),),
            preferred=True,
        ),
        "trainer/main hints example.com/gpu 0! 0,1; example.com/gpu any; merged 0!",
    ),
    (
        records.TopologyMerged(UID, None, ((GPU, ()),), None, preferred=False),
        "trainer hints example.com/gpu none; merged any",
    ),
    (records.DevicesReleased((UID, PodUid("u2"))), "trainer, u2"),
    (records.ReservationLeaked(GPU, (G0,), "S3.13"), "example.com/gpu g0 (S3.13)"),
    (records.HealthUpdated((UID,)), "trainer"),
    (
        records.StateWritten("checkpoint", "allocation", 12),
        "checkpoint for allocation, 12 bytes",
    ),
    (
        records.StateWritten("database", "admission", 1, "full"),
        "database for admission, 1 change, error: full",
    ),
    (
        records.DevicesBound("resourcebinding", UID, ((UID, MAIN, GPU, (G0,)),)),
        "resourcebinding of trainer: main example.com/gpu g0",
    ),
    (
        records.DevicesBound("devicebinding", UID),
        "devicebinding of trainer: removed",
    ),
    (
        records.DevicesBound("resourcebinding", UID, error="not found"),
        "resourcebinding of trainer refused: not found",
    ),
    (
        records.StatesDiffer("checkpoint", "1 binding only in the file (u/main example.com/gpu)"),
        "1 binding only in the file (u/main example.com/gpu); checkpoint counts",
    ),
    (
        records.MigrationStep("database", "the file is set aside"),
        "database: the file is set aside",
    ),
    (
        records.MigrationStep("imported", "", "the file is damaged"),
        "imported: not reached: the file is damaged",
    ),
    (records.KubeletPanicked("S7.7", "no g0"), "no g0 (S7.7)"),
    (records.AdmissionDecided(UID, admitted=True), "trainer admitted"),
    (
        records.AdmissionDecided(UID, admitted=False, reason="R", message="M"),
        "trainer refused, R: M",
    ),
    (
        records.AdmissionDecided(UID, admitted=False, reason="R", message="M", waiting=True),
        "trainer waits, R: M",
    ),
    (records.StepDone("admit"), "admit"),
    (records.KubeletStarted("1.36.2", "b1"), "1.36.2, boot id b1"),
    (records.KubeletStopped("reboot"), "reboot"),
    (records.KubeletStartFailed("damaged"), "damaged"),
    (records.PodPhaseChanged(UID, "trainer", "Failed", "R", "M"), "trainer Failed, R: M"),
    (records.PodNotCreated(UID, "trainer", "R", "M"), "trainer, R: M"),
    (records.PodDeleted(UID, "trainer"), "trainer"),
    (
        records.ContainerChanged(UID, MAIN, "running", devices=((GPU, (G0, G1)),)),
        "trainer/main running with example.com/gpu g0 g1",
    ),
    (records.ContainerChanged(UID, MAIN, "killed", "stopped"), "trainer/main killed: stopped"),
    (
        records.NodeStatusReported(((GPU, 4),), ()),
        "capacity example.com/gpu 4; allocatable none",
    ),
    (records.EventEmitted("Warning", "R", "M", UID), "Warning R trainer: M"),
    (records.EventEmitted("Normal", "R", "M"), "Normal R: M"),
    (records.FaultInjected("diskFull"), "diskFull"),
    (records.InvariantViolated("I1", "g0 twice"), "I1: g0 twice"),
    (records.InvariantViolated("I5", "x", by_kubelet=True), "I5 by the kubelet: x"),
]


@pytest.mark.parametrize(("record", "expected"), SENTENCES)
def test_a_record_reads_as_a_line(record: Record, expected: str) -> None:
    assert words(record, NAMES) == expected


def test_every_type_of_record_has_words_and_json() -> None:
    assert {type(record) for record, _ in SENTENCES} == set(RECORD_KINDS.values())
    assert all(json.dumps(record_fields(record)) for record, _ in SENTENCES)


def test_a_record_without_words_is_a_defect() -> None:
    with pytest.raises(TypeError, match=r"Record of .* has no wording"):
        words(Record(), NAMES)
