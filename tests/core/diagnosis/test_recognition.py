"""Which entry a message belongs to, and which kubelets say it."""

from __future__ import annotations

import dataclasses

import pytest

from simulator.core import refusals
from simulator.core.behavior import Behavior, CheckpointFormat, ReadmissionHealthCheck
from simulator.core.checkpoint.parse import parse
from simulator.core.diagnosis.field_reports import FIELD_REPORTS
from simulator.core.diagnosis.readings import TEXT_SIZE_MAX
from simulator.core.diagnosis.recognition import CATALOGUE, recognize
from simulator.core.diagnosis.texts import NumberBlank, said
from simulator.core.node_resources import admit_by_account
from simulator.core.refusals import (
    AllocateFailed,
    HeldByOtherPod,
    NoHealthyDevices,
    NoTopologyLocality,
    PreferredAllocationFailed,
    RecordedDevicesUnhealthy,
    Refusal,
    refused,
)
from simulator.core.registration import accept_registration
from simulator.core.releases import spans, spans_text, turning_points
from simulator.core.resources import ResourceName
from simulator.core.run_options import Setting
from simulator.core.switches import behavior_for
from simulator.errors import CheckpointError, RegistrationError

EVERY = "every kubelet since 1.10"
NEW_STATUS = "Pod was rejected: Allocate failed due to {}, which is unexpected"
OLD_STATUS = "Pod Allocate failed due to {}, which is unexpected"
EVENT = "Allocate failed due to {}, which is unexpected"
SINCE_1_18 = "1.18 and later"
CHECKED = "1.25.10 to 1.25.x, 1.26.5 to 1.26.x, 1.27.2 and later"

REFUSALS = [
    kind
    for kind in vars(refusals).values()
    if isinstance(kind, type) and issubclass(kind, Refusal) and kind is not Refusal
]

ZERO_HIDDEN = [
    '{"ID":"MIG-0","health":"Healthy","topology":{"nodes":[{}]}}',
    '"topology": {"nodes": [ {"ID": "6"}, {} ]}',
    'ID:"MIG-0" health:"Healthy" topology:{nodes:{}}',
    'ID:"MIG-0" health:"Healthy" topology:<nodes:<> >',
]

FREQUENT = [
    # 1 to 12: refusals and starts (S3)
    (
        NEW_STATUS.format(
            "no healthy devices present; cannot allocate unhealthy devices example.com/gpu"
        ),
        "S3 step D",
        "1.26.5 to 1.26.x, 1.27.2 and later",
    ),
    (
        OLD_STATUS.format(
            "no healthy devices present; cannot allocate unhealthy devices example.com/gpu"
        ),
        "S3 step D",
        "1.25.10 to 1.25.x",
    ),
    (
        EVENT.format(
            "previously allocated devices are no longer healthy; "
            "cannot allocate unhealthy devices nvidia.com/gpu"
        ),
        "S3 step E",
        CHECKED,
    ),
    (
        EVENT.format(
            "requested number of devices unavailable for nvidia.com/mig-1g.5gb. "
            "Requested: 2, Available: 0"
        ),
        "S3 step I",
        SINCE_1_18,
    ),
    (
        NEW_STATUS.format("cannot allocate unregistered device squat.ai/zigbee"),
        "S3 step C",
        "1.26.5 to 1.26.x, 1.27.2 and later",
    ),
    (
        EVENT.format("can't allocate unregistered device squat.ai/zigbee"),
        "S3 step C",
        "1.18 to 1.25.9, 1.26.0 to 1.26.4, 1.27.0 to 1.27.1",
    ),
    (
        EVENT.format(
            'pod "7d41b0c9" container "app" changed request for resource "example.com/gpu" '
            "from 1 to 2"
        ),
        "S3 step A",
        SINCE_1_18,
    ),
    (EVENT.format("unknown Device Plugin rdma/ib"), "S3.10", SINCE_1_18),
    (
        EVENT.format("rpc error: code = Unknown desc = Unable to claim slot"),
        "S3.12",
        SINCE_1_18,
    ),
    (EVENT.format("no containers return in allocation response "), "S3.13", "1.36 and later"),
    (
        EVENT.format(
            "no containers return in allocation response "
            "&AllocateResponse{ContainerResponses:[]*ContainerAllocateResponse{},}"
        ),
        "S3.13",
        "1.18 to 1.35",
    ),
    (
        EVENT.format(
            'failed to write checkpoint file "kubelet_internal_checkpoint": '
            "open .012345678: no space left on device"
        ),
        "S3.15",
        SINCE_1_18,
    ),
    (
        EVENT.format(
            "device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown "
            "desc = error retrieving list of preferred allocations"
        ),
        "S3.18",
        "1.19 and later",
    ),
    (
        "Error: endpoint not found in cache for a registered resource: example.com/gpu",
        "S3.22.1",
        EVERY,
    ),
    (
        ("no devices found allocated in local cache for pod 7d41b0c9, container app, "
        "resource example.com/gpu"),
        "S3.22.1",
        EVERY,
    ),
    (
        ("device plugin PreStartContainer rpc failed with err: rpc error: code = DeadlineExceeded "
        "desc = context deadline exceeded"),
        "S3.22.1",
        EVERY,
    ),
    # 16 to 18: the other refusals (S13)
    (
        "Pod was rejected: Resources cannot be allocated with Topology locality",
        "S13.2",
        "1.26 and later",
    ),
    (
        "Pod Node didn't have enough resource: example.com/gpu, requested: 2, used: 7, capacity: 8",
        "S13.3",
        "1.10 to 1.25",
    ),
    (
        EVENT.format("unexpectedly allocated less resources than required. Requested: 4, Got: 3"),
        "S3 steps K, L",
        SINCE_1_18,
    ),
    # 19 to 25: logs and what the reports quote
    ('E0302 manager.go:597] "Failed" err="checkpoint is corrupted"', "S4.12", EVERY),
    ("failed to read checkpoint: checkpoint is not found", "S4.12", EVERY),
    (
        ("json: cannot unmarshal array into Go struct field PodDevicesEntry.Data.PodDeviceEntries."
        "DeviceIDs of type checkpoint.DevicesPerNUMA"),
        "S4.15",
        EVERY,
    ),
    ('"ListAndWatch ended unexpectedly for device plugin" resource="rdma/ib"', "S1.22", EVERY),
    ("endpoint &{rdma/ib /var/lib/x.sock {0 0}} has been stopped", "S1.27", EVERY),
    (
        ("rpc error: code = ResourceExhausted desc = grpc: received message larger than max "
        "(6464720 vs. 4194304)"),
        "S3.12",
        EVERY,
    ),
    ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "S2.12", EVERY),
    ('the ResourceName "gpu" is invalid', "S1.12.3", EVERY),
    (
        "failed to get device plugin options: rpc error: code = Unimplemented",
        "S1.12.6",
        "1.25 and later",
    ),
    ("Update plugin resources failed due to unknown Device Plugin a.io/b, which is unexpected.",
     "S3.10", "1.10 to 1.17"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "rule", "versions"), FREQUENT)
def test_the_frequent_messages_have_their_rule_and_versions(
    message: str, rule: str, versions: str
) -> None:
    first = recognize(message)[0]

    assert first.known.rules[0] == rule
    assert spans_text(spans(first.says)) == versions


@pytest.mark.parametrize(
    "message",
    [
        "the flux capacitor of example.com/gpu is out of alignment",
        "Pod was rejected: the flux capacitor is out of alignment",
        "Allocate failed due to a flux, which is unexpected",
        "no healthy device",
        "unknown Device",
        "json: cannot be read",
        "Failed to create pod sandbox: invalid character 'x' looking for beginning of value",
        "",
    ],
)
def test_what_fits_no_entry_is_not_known(message: str) -> None:
    assert recognize(message) == ()


def _example(kind: type[Refusal]) -> Refusal:
    """Make a refusal with values as they come."""
    texts = {"resource": "vendor.com/x-Y.z", "pod": "uid-1", "container": "main"}
    free = "rpc error: code = Unknown desc = out of memory"
    if kind is HeldByOtherPod:
        free = "device gpu-7 of vendor.com/gpu is held by pod uid-2"
    assert dataclasses.is_dataclass(kind)
    return kind(
        **{
            field.name: 7 if field.type == "int" else texts.get(field.name, free)
            for field in dataclasses.fields(kind)
        }
    )


@pytest.mark.parametrize("kind", REFUSALS)
def test_every_refusal_that_the_product_has_is_known_in_every_version(kind: type[Refusal]) -> None:
    refusal = _example(kind)
    for version, behavior in turning_points():
        event = refused(refusal, behavior).message
        status = f"{behavior.rejected_status_prefix}{event}"
        for text in (event, status, refusal.text(behavior)):
            found = recognize(text)
            assert found, f"{version}: {text}"
            assert found[0].start == 0


def _cannot_say(refusal: Refusal, behavior: Behavior) -> bool:
    """Tell whether a version has no step that could end in this refusal (S5.3, S1.7)."""
    if isinstance(refusal, NoTopologyLocality):
        return behavior.device_topology_known is False  # table 5.4: since 1.16
    if isinstance(refusal, NoHealthyDevices | RecordedDevicesUnhealthy):
        return behavior.readmission_health_check is ReadmissionHealthCheck.ABSENT
    return (
        isinstance(refusal, PreferredAllocationFailed) and not behavior.preferred_allocation_known
    )


def test_a_version_is_among_those_that_say_what_it_can_say() -> None:
    examples = [_example(kind) for kind in REFUSALS]
    for _, behavior in turning_points():
        for refusal in examples:
            says = recognize(refused(refusal, behavior).message)[0].says(behavior)
            assert says is not _cannot_say(refusal, behavior)


def test_values_are_read_out_of_a_message() -> None:
    (found,) = recognize(
        'pod "u1" container "app" changed request for resource "a.io/gpu" from 2 to 4'
    )

    assert found.values == {
        "uid": "u1",
        "container": "app",
        "resource": "a.io/gpu",
        "recorded": "2",
        "requested": "4",
    }


def test_what_lies_inside_a_known_error_is_told_too() -> None:
    """R64, R62: the preference failed because the message was too large."""
    found = recognize(
        "device plugin GetPreferredAllocation rpc failed with err: rpc error: code = "
        "ResourceExhausted desc = grpc: received message larger than max (20181048 vs 4194304)"
    )

    assert [each.known.key for each in found] == ["preferredAllocationFailed", "messageTooLarge"]
    assert found[1].values == {"size": "20181048", "limit": "4194304"}


def test_a_log_line_with_escaped_quotes_is_read() -> None:
    line = 'err="failed to write checkpoint file \\"kubelet_internal_checkpoint\\": read-only"'

    assert [each.known.key for each in recognize(line)] == ["checkpointNotWritten"]


def test_an_event_of_pod_scope_is_not_taken_for_an_old_status() -> None:
    """S13.2: 1.36 says `Pod Scope …`, and up to 1.25 a status began with `Pod `."""
    (found,) = recognize("Pod Scope Resources cannot be allocated with Topology locality")

    assert spans_text(spans(found.says)) == "1.16 and later"


def test_only_the_beginning_of_an_enormous_text_is_looked_at() -> None:
    assert recognize("x" * TEXT_SIZE_MAX + "checkpoint is corrupted") == ()


@pytest.mark.parametrize("setting", Setting)
def test_conflicts_of_settings_are_known(setting: Setting) -> None:
    assert [each.known.key for each in recognize(setting.value)] == ["settingsInConflict"]


@pytest.mark.parametrize(
    ("version", "name", "key"),
    [
        ("v1alpha", "a.io/gpu", "registrationVersion"),
        ("v1beta1", "kubernetes.io/gpu", "registrationName"),
        ("v1beta1", "", "registrationName"),
    ],
)
def test_refused_registrations_are_known(version: str, name: str, key: str) -> None:
    with pytest.raises(RegistrationError) as refusal:
        accept_registration(version=version, resource_name=name)

    assert [each.known.key for each in recognize(str(refusal.value))] == [key]


def test_the_nodes_account_is_known() -> None:
    gpu = ResourceName("a.io/gpu")
    answer = admit_by_account({gpu: 2}, used={gpu: 7}, allocatable={gpu: 8})

    (found,) = recognize(answer.message)
    assert answer.reason == "OutOfa.io/gpu"
    assert found.known.key == "outOfResource"
    assert found.values == {
        "resource": "a.io/gpu",
        "requested": "2",
        "used": "7",
        "capacity": "8",
    }


@pytest.mark.parametrize(
    ("content", "form", "key"),
    [
        (b"", CheckpointFormat.V2, "checkpointSyntax"),
        (b"{", CheckpointFormat.V2, "checkpointSyntax"),
        (b"\xef\xbb\xbf{}", CheckpointFormat.V2, "checkpointSyntax"),
        (b'{"Checksum":0}x', CheckpointFormat.V2, "checkpointSyntax"),
        (b"{nope", CheckpointFormat.V2, "checkpointSyntax"),
        (b'{"Checksum":tru', CheckpointFormat.V2, "checkpointSyntax"),
        (b'{"Checksum":txx}', CheckpointFormat.V2, "checkpointSyntax"),
        (b'{"Checksum":1}', CheckpointFormat.V2, "checkpointCorrupted"),
        (
            b'{"Data":{"PodDeviceEntries":[{"DeviceIDs":["d0"]}]},"Checksum":1}',
            CheckpointFormat.V2,
            "checkpointFormat",
        ),
        (
            b'{"Data":{"PodDeviceEntries":[{"DeviceIDs":{"0":["d0"]}}]},"Checksum":1}',
            CheckpointFormat.V1,
            "checkpointFormat",
        ),
        (b'{"Data":7}', CheckpointFormat.V2, "checkpointFormat"),
    ],
)
def test_what_a_reader_says_about_a_damaged_file_is_known(
    content: bytes, form: CheckpointFormat, key: str
) -> None:
    with pytest.raises(CheckpointError) as error:
        parse(content, {form})

    assert [each.known.key for each in recognize(str(error.value))] == [key]


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("unsupported on machines with more than 8 NUMA Nodes", "tooManyNumaNodes"),
        ("failed to dial device plugin: context deadline exceeded", "registrationDial"),
        ("RegisterPlugin error -- no handler registered for plugin type: X", "pluginWatcher"),
        (
            (
                "device registration error: device plugin registration gRPC server failed and no "
                "device plugins can register"
            ),
            "registrationServer",
        ),
        ("Node n0 has been rebooted, boot id: 3d1c", "nodeRebooted"),
        ('"Container not present in the initial running set" podUID="u"', "notInRunningSet"),
        (
            (
                '"Continue after failing to read checkpoint file. '
                'Device allocation info may NOT be up-to-date"'
            ),
            "continuedWithoutCheckpoint",
        ),
        ("rejected by rate limit", "podResourcesRateLimit"),
        ("PodResources API Get method disabled", "podResourcesGetDisabled"),
        ("device update channel is full", "healthUpdateDropped"),
        ("pod trainer in namespace research not found", "podResourcesPodNotFound"),
        ("UnexpectedAdmissionError", "reasonAlone"),
        ("OutOfexample.com/gpu", "reasonAlone"),
        ("TopologyAffinityError", "topologyAffinity"),
        ("device number not matched", "deviceNumberNotMatched"),
        ("exec: argument list too long", "runtimeRefusesDevice"),
        ("device error: GPU-1f0a: unknown device", "runtimeRefusesDevice"),
        ("database is locked", "databaseLocked"),
        (
            "panic: assignment to entry in nil map goroutine 1 k8s.io/kubelet/cm/devicemanager",
            "deviceManagerPanic",
        ),
        ("dial unix /x/gpu.sock: connect: connection refused", "pluginUnreachable"),
        *((text, "numaNodeZeroHidden") for text in ZERO_HIDDEN),  # R104
    ],
)
def test_phrases_of_the_reports_are_known(message: str, key: str) -> None:
    assert [each.known.key for each in recognize(message)] == [key]


@pytest.mark.parametrize(
    "message",
    [
        '{"ID":"MIG-0","health":"Healthy","topology":{"nodes":[{"ID":"6"}]}}',
        '{"ID":"MIG-0","health":"Healthy"}',
        'ID:"MIG-0" health:"Healthy" topology:<nodes:<ID:4 > >',
    ],
)
def test_numa_nodes_that_are_printed_or_are_none_are_no_hidden_zero(message: str) -> None:
    assert recognize(message) == ()


def test_the_options_call_belongs_to_kubelets_that_make_it() -> None:
    says = recognize("failed to get device plugin options: x")[0].says

    assert not says(behavior_for("1.24.0"))
    assert says(behavior_for("1.25.0"))


def test_entries_have_names_of_their_own_rules_advice_and_reports_that_exist() -> None:
    keys = [known.key for known in CATALOGUE]

    assert len(keys) == len(set(keys))
    for known in CATALOGUE:
        assert known.rules
        assert known.advice
        assert known.texts
        assert set(known.reports) <= FIELD_REPORTS.keys(), known.key


def test_sentences_use_only_blanks_that_every_text_of_the_entry_has() -> None:
    for known in CATALOGUE:
        for text in known.texts:
            values = dict.fromkeys(text.pattern.groupindex, "x")
            for sentence in (known.means, known.why, *known.advice):
                assert "{" not in sentence.format_map(values), known.key


def test_an_entry_says_that_some_kubelet_says_it() -> None:
    for known in CATALOGUE:
        for text in known.texts:
            assert spans(text.says), known.key
        for point in known.points:
            assert spans(point.holds), point.text


def test_a_blank_that_comes_twice_must_be_filled_alike() -> None:
    number = NumberBlank("number")
    text = said(f"{number} of {number}")

    assert text.find("3 of 3") is not None
    assert text.find("3 of 4") is None


def test_an_allocate_error_keeps_the_plugins_words() -> None:
    refusal = AllocateFailed("rpc error: code = Unknown desc = out of memory")
    (found,) = recognize(refused(refusal, behavior_for("1.36.2")).message)

    assert found.values == {"word": "Unknown", "message": "out of memory"}
