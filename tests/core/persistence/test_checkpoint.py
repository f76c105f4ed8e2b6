"""The strategy `checkpoint`: when the file is written, and what a start makes of it (S4)."""

import pytest

from simulator.core.behavior import Behavior, CheckpointFormat, Reservations
from simulator.core.calls import CallFailed, ReadCheckpoint, StateLoaded, Stored, StoreFailed
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MINUTE, Duration
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import ManagerStarted, StateWritten
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName, NodeState
from tests.core.driving import GPU, MAIN, NIC, Rig, allocate_ids, container, device, pod
from tests.core.persistence.views import View

EMPTY = b'{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}'
"""Vector A1."""


def pods_in(content: bytes | None, behavior: Behavior | None = None) -> list[str]:
    """Return the uids that a file has entries for."""
    assert content is not None
    read = parse(content, (behavior or Behavior()).checkpoints_read)
    return [binding.pod for binding in read_bindings(read, lenient=True).bindings]


def causes(rig: Rig) -> list[str]:
    """Return why the file was written, in order."""
    records = rig.manager.take_records()
    return [each.cause for each in records if isinstance(each, StateWritten)]


def test_the_strategy_has_the_name_of_the_flag() -> None:
    assert CheckpointPersistence(Behavior()).name == "checkpoint"


def test_the_file_is_written_when_the_kubelet_writes_it_and_never_else() -> None:
    """S4.10."""
    rig = Rig()
    rig.manager.register(GPU, PluginOptions())
    assert causes(rig) == []

    rig.report(GPU, "g0", "g1")
    assert causes(rig) == ["devices"]

    rig.admit(pod("p1", container("one", {GPU: 1, NIC: 1}), container("two", {GPU: 1})))
    assert causes(rig) == ["allocation", "allocation"]

    rig.admit(pod("p2", {GPU: 1}))
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    rig.manager.disconnect(GPU)
    assert causes(rig) == []

    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())
    assert causes(rig) == ["removal"]


def test_entries_of_dead_pods_stay_until_the_next_write() -> None:
    """S4.10, issue 137010."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    assert pods_in(rig.file) == ["p1"]

    rig.report(GPU, "g0")
    assert pods_in(rig.file) == []


def test_two_resources_of_a_container_are_one_write() -> None:
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.plug(NIC, "n0")
    written = len(rig.writes)
    rig.admit(pod("p1", {GPU: 1, NIC: 1}))

    assert len(rig.writes) == written + 1
    assert pods_in(rig.file) == ["p1", "p1"]


def test_what_a_failed_second_resource_left_is_in_the_next_file() -> None:
    """S3.16: the binding of the first resource is in memory, so the next write has it."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.plug(NIC, "n0")
    rig.on_allocate = lambda call: (
        CallFailed("rpc error") if call.resource == NIC else allocate_ids(call)
    )
    rig.admit(pod("p1", {GPU: 1, NIC: 1}))
    assert pods_in(rig.file) == []

    rig.report(NIC, "n0")
    assert pods_in(rig.file) == ["p1"]


def test_a_refused_admission_is_taken_out_of_the_file_again() -> None:
    """Under `reservations: transactional`."""
    rig = Rig(reservations=Reservations.TRANSACTIONAL)
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))
    causes(rig)

    refused = pod("p2", container("one", {GPU: 1}), container("two", {GPU: 1}))
    assert not rig.admit(refused).admitted
    assert causes(rig) == ["allocation", "refusal"]
    assert pods_in(rig.file) == ["p1"]


@pytest.mark.parametrize(
    ("version", "form"),
    [
        ("1.19", CheckpointFormat.V1),
        ("1.20.0", CheckpointFormat.V2),
        ("1.36.2", CheckpointFormat.V2),
    ],
)
def test_the_file_has_the_versions_format(version: str, form: CheckpointFormat) -> None:
    """S4.2, S4.3."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, device("g0", nodes=[1]))
    rig.admit(pod("p1", {GPU: 1}))

    assert rig.file is not None
    entries = {
        CheckpointFormat.V1: b'"DeviceIDs":["g0"]',
        CheckpointFormat.V2: b'"DeviceIDs":{"1":["g0"]}',
    }
    assert entries[form] in rig.file
    assert rig.start().source == "checkpoint"
    assert rig.held("p1") == ["g0"]


def test_without_a_file_the_kubelet_starts_empty_and_writes_nothing() -> None:
    """S4.12."""
    rig = Rig()

    assert rig.manager.take_records() == [ManagerStarted(source="nothing", bindings=0)]
    assert rig.file is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (EMPTY.replace(b"3467439661", b"1"), "checkpoint is corrupted"),
        (EMPTY[:-5], "unexpected end of JSON input"),
        (b"", "unexpected end of JSON input"),
    ],
)
def test_a_damaged_file_means_an_empty_start_and_stays_until_the_next_write(
    content: bytes, words: str
) -> None:
    """S4.12, X9."""
    rig = Rig(file=content)

    restored = rig.start()

    assert (restored.source, restored.error, restored.fatal) == ("nothing", words, False)
    assert rig.file == content
    assert rig.admit(pod("p1", {GPU: 1})).admitted
    assert rig.calls == []
    rig.plug(GPU, "g0")
    assert pods_in(rig.file) == []


def test_an_unreadable_file_means_an_empty_start() -> None:
    loading = CheckpointPersistence(Behavior()).load(View())
    assert next(loading) == ReadCheckpoint()

    with pytest.raises(StopIteration) as stopped:
        loading.send(StoreFailed("input/output error"))

    assert stopped.value.value.error == "input/output error"
    assert not stopped.value.value.fatal


def test_a_reply_of_another_kind_is_a_drivers_mistake() -> None:
    strategy = CheckpointPersistence(Behavior())
    loading = strategy.load(View())
    next(loading)
    with pytest.raises(TypeError, match="a checkpoint read cannot be answered with Stored"):
        loading.send(Stored())

    writing = strategy.on_devices_changed(View(), GPU, ())
    next(writing)
    state = NodeState(NodeName("n0"), 0, bindings=(), registered=())
    with pytest.raises(TypeError, match="a checkpoint write cannot be answered with StateLoaded"):
        writing.send(StateLoaded(state))


def test_the_restored_container_is_started_with_the_answer_of_before() -> None:
    """S5.20."""
    rig = Rig()
    rig.plug(GPU, "g0")
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    rig.start()

    result = rig.run(rig.manager.run_options(created, MAIN))
    assert result.options is not None
    assert dict(result.options.envs) == {"IDS": "g0"}
    assert rig.manager.devices_of(PodUid("p1"), ContainerName("main")) == {GPU: {"g0": None}}
