"""Messages as people paste them, and messages of others that use the same words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest

from simulator.core.diagnosis.recognition import is_wrapped, recognize
from simulator.core.releases import spans, spans_text

MESSAGES = [
    # S3, steps A to L
    (
        (
            'pod "7d41b0c9-3e5f" container "app" changed request for resource "example.com/gpu" '
            "from 2 to 4"
        ),
        "requestChanged",
    ),
    ("cannot allocate unregistered device example.com/gpu", "resourceUnregistered"),
    ("can't allocate unregistered device example.com/gpu", "resourceUnregistered"),
    (
        "no healthy devices present; cannot allocate unhealthy devices example.com/gpu",
        "noHealthyDevices",
    ),
    (
        (
            "previously allocated devices are no longer healthy; cannot allocate unhealthy devices "
            "nvidia.com/GA102GL_A10"
        ),
        "recordedDevicesUnhealthy",
    ),
    (
        "requested number of devices unavailable for rdma/ib. Requested: 2, Available: 0",
        "devicesUnavailable",
    ),
    (
        "unexpectedly allocated less resources than required. Requested: 4, Got: 3",
        "allocatedTooFew",
    ),
    # S3.10 to S3.18
    ("unknown Device Plugin example.com/gpu", "endpointUnknown"),
    (
        "endpoint not found in cache for a registered resource: example.com/gpu",
        "endpointNotCached",
    ),
    ("rpc error: code = Unknown desc = no such device id", "pluginCallFailed"),
    (
        "rpc error: code = Unavailable desc = error reading from server: EOF",
        "pluginCallFailed",
    ),
    (
        (
            "no containers return in allocation response "
            "&AllocateResponse{ContainerResponses:[]*ContainerAllocateResponse{},}"
        ),
        "emptyAllocateResponse",
    ),
    (
        (
            'failed to write checkpoint file "kubelet_internal_checkpoint": mkdir '
            "/var/lib/kubelet/device-plugins: no space left on device"
        ),
        "checkpointNotWritten",
    ),
    (
        (
            "device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown "
            "desc = error getting list of preferred allocation devices"
        ),
        "preferredAllocationFailed",
    ),
    # S3.22, S1.27
    (
        (
            "device plugin PreStartContainer rpc failed with err: rpc error: "
            "code = DeadlineExceeded desc = context deadline exceeded"
        ),
        "preStartFailed",
    ),
    (
        (
            "no devices found allocated in local cache for pod 7d41b0c9, container app, resource "
            "example.com/gpu"
        ),
        "noRecordedDevices",
    ),
    (
        (
            "endpoint &{0xc0004b2000 /var/lib/kubelet/device-plugins/gpu.sock example.com/gpu "
            "{13 2 0x7} {0 0} 0x1} has been stopped"
        ),
        "endpointStopped",
    ),
]


def _escaped(text: str) -> str:
    return text.replace('"', '\\"')


def wrapped(text: str) -> Iterator[str]:
    """Yield what stands on a screen when this is the error of an admission (S13.1, S5.9)."""
    event = f"Allocate failed due to {text}, which is unexpected"
    status = f"Pod was rejected: {event}"
    yield event
    yield status
    yield f"Pod {event}"
    yield f"  Warning  UnexpectedAdmissionError  3m12s (x2 over 4m)  kubelet  {event}"
    yield f"3m12s       Warning   UnexpectedAdmissionError   pod/trainer-0   {event}"
    yield f"Message:      {status}"
    yield f"(combined from similar events): {event}"
    yield (
        'I1130 16:01:02.123456    1234 kubelet.go:2437] "Admission denied" podUID="7d41b0c9" '
        f'pod="research/trainer-0" reason="UnexpectedAdmissionError" message="{_escaped(event)}"'
    )
    yield f'E1130 16:01:02.1    1234 manager.go:450] "Failed to allocate" err="{_escaped(text)}"'
    yield f"Error: {text}"
    yield f'"message": "{_escaped(status)}",'
    yield event.lower()
    yield event.upper()
    # Word processors and chats change quotes.
    yield status.replace(' "', " \u201c").replace('"', "\u201d").replace("'", "\u2019")
    # YAML: single and double quotes, folded.
    quoted = textwrap.wrap(status.replace("'", "''"), 70)
    yield "  message: '" + "\n    ".join(quoted) + "'"
    quoted = textwrap.wrap(_escaped(status), 70)
    yield '  message: "' + "\n    ".join(quoted) + '"'
    # A terminal breaks inside words.
    for columns in (31, 40, 60):
        yield "\n".join(status[at : at + columns] for at in range(0, len(status), columns))
        yield "\n    ".join(status[at : at + columns] for at in range(0, len(status), columns))


@pytest.mark.parametrize(("message", "key"), MESSAGES)
def test_a_message_is_known_wherever_it_was_copied_from(message: str, key: str) -> None:
    for text in wrapped(message):
        found = recognize(text)
        assert found, text
        assert found[0].known.key == key, text


def test_a_break_does_not_change_the_versions() -> None:
    """S13.1: the status begins so since 1.26; step D stands before step F since PR 116376."""
    text = (
        "Pod was rejected: Allocate failed due to no healthy dev\n"
        "ices present; cannot allocate unhealthy devices a.io/gp\n"
        "u, which is unexpected"
    )
    (found,) = recognize(text)

    assert found.values == {"resource": "a.io/gpu"}
    assert spans_text(spans(found.says)) == "1.26.5 to 1.26.x, 1.27.2 and later"


@pytest.mark.parametrize(
    "message",
    [
        # images
        (
            'Failed to pull image "nvcr.io/nvidia/k8s-device-plugin:v9": rpc error: '
            "code = NotFound desc = failed to pull and unpack image: not found"
        ),
        "rpc error: code = NotFound desc = failed to pull and unpack image: not found",
        'Failed to pull image "a": write /var/lib/containerd/tmp: no space left on device',
        # volumes
        'MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = no',
        (
            'AttachVolume.Attach failed for volume "pvc-2" : rpc error: code = Unavailable desc = '
            'connection error: desc = "dial unix /var/lib/kubelet/plugins/x/csi.sock: connect: '
            'connection refused"'
        ),
        "mount: /mnt: unknown device type",
        # runtime, network, probes
        (
            "rpc error: code = Unknown desc = failed to create containerd task: OCI runtime create "
            'failed: exec: "foo": executable file not found in $PATH'
        ),
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network",
        (
            "rpc error: code = Unavailable desc = dial unix /run/containerd/containerd.sock: "
            "connect: no such file or directory"
        ),
        "rpc error: code = NotFound desc = an error occurred when try to find container: not found",
        "Readiness probe failed: dial tcp 10.1.2.3:8080: connect: connection refused",
        "grpc: received message larger than max (16777300 vs. 16777216)",
        # claims, scheduling, eviction, other refusals
        (
            "Failed to prepare dynamic resources: NodePrepareResources failed for claim "
            "default/gpu: rpc error: code = Unknown desc = boom"
        ),
        "0/3 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: present}.",
        "0/2 nodes are available: 2 cannot allocate all claims.",
        "0/3 nodes are available: 1 Insufficient memory, 2 Insufficient hugepages-2Mi.",
        "The node was low on resource: ephemeral-storage. Container app was using 5Gi.",
        "OOMKilled",
        "Back-off restarting failed container app in pod trainer-0_research(7d41)",
        "Pod was rejected: Predicate NodeAffinity failed",
        "Pod was rejected: The node had condition: [DiskPressure].",
        "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
        "error unmarshaling webhook response: invalid character '<' looking for beginning of value",
        "the Pod endpoint foo has been stopped",
    ],
)
def test_what_others_say_in_the_same_words_is_not_known(message: str) -> None:
    assert recognize(message) == ()


@pytest.mark.parametrize(
    "error",
    [
        "not enough cpus available to satisfy request: requested=8, available=3",
        (
            "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough "
            "memory is available"
        ),
    ],
)
def test_an_admission_error_of_another_manager_is_only_known_as_such(error: str) -> None:
    text = f"Pod was rejected: Allocate failed due to {error}, which is unexpected"

    assert recognize(text) == ()
    assert is_wrapped(text)


@pytest.mark.parametrize(
    "line",
    [
        (
            "could not restore state from checkpoint: checkpoint is corrupted, please drain "
            'this node and delete the CPU manager checkpoint file "cpu_manager_state"'
        ),
        "[memorymanager] could not restore state from checkpoint: checkpoint is corrupted",
        "failed to get checkpoint dra_manager_state: json: cannot unmarshal number into Go struct",
    ],
)
def test_another_managers_file_is_not_taken_for_the_device_managers(line: str) -> None:
    """R56, R111: those kubelets do not start; the device manager goes on (S4.12)."""
    (found,) = recognize(line)

    assert found.known.key == "otherManagersFile"
    assert "keep the kubelet from starting" in found.known.why
    assert "Drain the node before anything is deleted" in found.known.advice[1]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        (
            (
                "Could not register device plugin: rpc error: code = Unknown desc = the "
                'ResourceName "gpu" is invalid'
            ),
            ["registrationName"],
        ),
        (
            (
                "could not register: rpc error: code = Unknown desc = failed to dial device "
                "plugin: context deadline exceeded"
            ),
            ["registrationDial"],
        ),
        (
            (
                "listAndWatch ended unexpectedly for device plugin nvidia.com/gpu with error rpc "
                "error: code = Unavailable desc = transport is closing"
            ),
            ["streamEnded", "pluginUnreachable"],
        ),
        ("unexpected: healthyDevices and endpoints became out of sync", ["endpointsOutOfSync"]),
        (
            "failed to set devices mapping: lstat /dev/ttyUSB0: no such file or directory",
            ["runtimeRefusesDevice"],
        ),
    ],
)
def test_lines_of_logs_belong_to_the_call_that_failed(line: str, keys: list[str]) -> None:
    """S1.12: an error of Register reaches the plugin as its own call's, and blames no pod."""
    assert [each.known.key for each in recognize(line)] == keys


@pytest.mark.parametrize(
    "line",
    [
        "Reason:           UnexpectedAdmissionError",
        "trainer-0   0/1     UnexpectedAdmissionError   0          5m12s",
        "research   trainer-0   0/1   UnexpectedAdmissionError   0   5m   <none>   n0",
        "trainer-0   0/1     OutOfexample.com/gpu   2 (5m ago)   5m12s",
    ],
)
def test_a_reason_is_known_where_kubectl_shows_no_message(line: str) -> None:
    assert [each.known.key for each in recognize(line)] == ["reasonAlone"]
