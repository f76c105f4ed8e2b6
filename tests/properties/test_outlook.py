"""What `checkpoint verify` foretells of any file, against a device manager that starts with it."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.outlook import Outlook, outlook, sentences
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, EntryDevices
from simulator.core.devices import DeviceId, NumaNode, device_ids
from simulator.core.facts import ContainerInstance, KubeletFacts
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.errors import CheckpointError
from tests.core.driving import Rig

VERSIONS = (
    *("1.10", "1.13", "1.18", "1.19.16", "1.20.2", "1.20.14", "1.22.4", "1.22.5", "1.23"),
    *("1.25.9", "1.25.10", "1.25.14", "1.26.4", "1.27.2", "1.27.6", "1.29", "1.30", "1.32.10"),
    *("1.34.6", "1.35.4", "1.36.2", "trust-checkpoint"),
)
RESOURCES = tuple(map(ResourceName, ("example.com/gpu", "rdma/ib")))
DEVICES = st.lists(st.sampled_from([DeviceId(f"d{number}") for number in range(5)]), max_size=3)
NODES = st.sampled_from(list(map(NumaNode, (-1, 0, 1))))
RESPONSES = st.sampled_from([None, b"", b"\x0a\x04\x0a\x00\x12\x00", b"\xff", b"\x0a\x05ab"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Draw a file: of any format, with entries that repeat and share ids, whole or damaged."""
    form = draw(st.sampled_from(CheckpointFormat))
    entries = []
    for _ in range(draw(st.integers(0, 4))):
        devices: EntryDevices
        if form is CheckpointFormat.V2:
            devices = {
                node: tuple(ids) for node, ids in draw(st.dictionaries(NODES, DEVICES)).items()
            }
        else:
            devices = tuple(draw(DEVICES))
        entries.append(
            CheckpointEntry(
                PodUid(draw(st.sampled_from(["u0", "u1", "u2"]))),
                ContainerName(draw(st.sampled_from(["app", "side"]))),
                draw(st.sampled_from(RESOURCES)),
                devices,
                draw(RESPONSES),
            )
        )
    registered = {
        resource: tuple(ids)
        for resource, ids in draw(st.dictionaries(st.sampled_from(RESOURCES), DEVICES)).items()
    }
    content = render(Checkpoint(form, tuple(entries) or None, registered))
    damage = draw(st.sampled_from(["none", "none", "none", "cut", "flip", "tail"]))
    at = draw(st.integers(0, len(content) - 1))
    if damage == "cut":
        return content[:at]
    if damage == "flip":
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    return content + b'"]}}' if damage == "tail" else content


def foretold(content: bytes, version: str) -> Outlook:
    checkpoint = None
    with contextlib.suppress(CheckpointError):
        checkpoint = inspect(content).checkpoint
    return outlook(content, checkpoint, behavior_for(version))


def pods_of(said: Outlook) -> list[Pod]:
    """Return the pods of the records, each asking for what it holds."""
    limits: dict[PodUid, dict[ContainerName, dict[ResourceName, int]]] = {}
    for each in said.restored:
        containers = limits.setdefault(each.pod, {})
        count = len(device_ids(each.devices))
        containers.setdefault(each.container, {})[each.resource] = count
    return [
        Pod(
            uid,
            str(uid),
            containers=tuple(
                Container(name, tuple(wants.items())) for name, wants in containers.items()
            ),
        )
        for uid, containers in limits.items()
    ]


def started(content: bytes, version: str, *, running: bool) -> tuple[Rig, list[Pod]]:
    said = foretold(content, version)
    pods = pods_of(said)
    rig = Rig(behavior_for(version), facts=KubeletFacts(sources_ready=False))
    rig.file = content
    instances = [
        ContainerInstance(pod.uid, container.name, f"{pod.uid}/{container.name}", running=True)
        for pod in pods
        for container in pod.containers
        if running
    ]
    restored = rig.start(*instances)
    assert restored.error == said.error
    assert len(restored.bindings) == len(said.restored)
    for pod in pods:
        rig.facts.active_pods[pod.uid] = pod
    return rig, pods


@given(files(), st.sampled_from(VERSIONS))
def test_what_a_kubelet_remembers_and_what_it_writes_is_what_was_said(
    content: bytes, version: str
) -> None:
    """S2.8, S4.12, S4.13."""
    said = foretold(content, version)
    rig, _ = started(content, version, running=False)

    for binding in said.restored:
        held = rig.manager.devices_of(binding.pod, binding.container)
        assert set(held[binding.resource]) == set(device_ids(binding.devices))
        if said.numa_is_assumed:
            nodes = {node for each in held[binding.resource].values() for node in each or (None,)}
            assert nodes <= {NumaNode(0)}
    capacity = rig.manager.capacity()
    assert set(capacity.total) == set(said.registered)
    assert not any(capacity.total.values())
    assert rig.writes == []


@given(files(), st.sampled_from(VERSIONS))
def test_running_pods_are_admitted_or_refused_as_was_said(content: bytes, version: str) -> None:
    """Table 5.4, column KR np."""
    said = foretold(content, version)
    rig, pods = started(content, version, running=True)

    for pod in pods:
        assert rig.run(rig.manager.admit(pod)).admitted is not said.refuses_running_pods, pod


@given(files(), st.sampled_from(VERSIONS))
def test_pods_are_admitted_or_refused_after_a_reboot_as_was_said(
    content: bytes, version: str
) -> None:
    """Table 5.4, column RB np."""
    said = foretold(content, version)
    rig, pods = started(content, version, running=False)

    for pod in pods:
        assert rig.run(rig.manager.admit(pod)).admitted is not said.refuses_after_reboot, pod


@given(files(), st.sampled_from(VERSIONS))
def test_the_words_have_the_numbers_of_the_facts(content: bytes, version: str) -> None:
    said = foretold(content, version)
    text = "\n".join(sentences(said))

    assert ("It cannot read the file" in text) is bool(said.error)
    assert text.count("It leaves out pod") == len(said.skipped)
    if said.error and said.lost:
        assert f"It loses {len(said.lost)} entr" in text
