"""A run as a timeline: what the lanes say, for runs whose story is known."""

from __future__ import annotations

from functools import cache

from scenarios.builtin import find_file
from scenarios.loading.loaded import load_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import replay
from scenarios.schema.variants import parse_persistence
from simulator.assembly.worlds import simulated
from simulator.core import records
from simulator.core.devices import Device, DeviceId
from simulator.core.instants import Instant, format_duration
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import Record, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.reports.results import Column, RunResult, ScenarioResult
from simulator.reports.timelines.lanes import Lane, LaneKind, State, TickKind
from simulator.reports.timelines.timeline import Timeline, timeline

NODE = NodeName("node-a")
GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
G0, G1 = DeviceId("g0"), DeviceId("g1")
MAIN, SIDE = ContainerName("main"), ContainerName("side")
A, B = PodUid("uid-a"), PodUid("uid-b")


def made(*happened: tuple[int, Record]) -> Timeline:
    """Return the timeline of records at instants."""
    return timeline_of(*(Stamped(Instant(at), NODE, record) for at, record in happened))


def timeline_of(*stamped: Stamped) -> Timeline:
    """Return the timeline of records."""
    run = RunResult(Column("1.36.2", "database"), 0, stamped)
    return timeline(ScenarioResult("made", "", "", "", (run,), ()), 0)


@cache
def replayed(name: str, version: str, persistence: str) -> Timeline:
    """Return the timeline of one run of a built-in scenario."""
    [loaded] = load_scenarios(find_file(name), {})
    narrowing = Narrowing((version,), (parse_persistence(persistence),), None)
    return timeline(replay(loaded, narrowing, simulated), 0)


def lane(line: Timeline, kind: LaneKind, name: str) -> Lane:
    [found] = [one for one in line.lanes if (one.kind, one.name) == (kind, name)]
    return found


def told(line: Timeline, kind: LaneKind, name: str) -> list[str]:
    """Return the bars of a lane in words."""
    return [
        f"{bar.state.value} {format_duration(bar.since)} to "
        f"{'the end' if bar.until is None else format_duration(bar.until)}: {bar.label}"
        for bar in lane(line, kind, name).bars
    ]


def test_a_reboot_is_seen_in_the_lanes_of_node_kubelet_and_plugin() -> None:
    line = replayed("reboot-pod-before-plugin", "1.27.2", "database")

    assert told(line, LaneKind.NODE, "node-a") == [
        "up 0s to 5s: boot 1",
        "down 5s to 1m35s: reboot",
        "up 1m35s to the end: boot 2",
    ]
    assert told(line, LaneKind.KUBELET, "kubelet") == [
        "starting 0s to 2.1ms: 1.27.2",
        "up 2.1ms to 5s: 1.27.2",
        "stopped 5s to 1m35s: reboot",
        "starting 1m35s to 1m35.0021s: 1.27.2",
        "up 1m35.0021s to the end: 1.27.2",
    ]
    assert told(line, LaneKind.PLUGIN, "example.com/gpu")[1:4] == [
        "connected 5.1ms to 5s: 4 devices",
        "gone 5s to 1m35.0021s: no kubelet",
        "in grace 1m35.0021s to 1m55.2052s: restored",
    ]


def test_a_pod_keeps_its_devices_over_a_reboot_and_fails_with_them() -> None:
    """Recorded from the allocation on (S3.14), in use only while its container runs (R03)."""
    line = replayed("reboot-pod-before-plugin", "1.27.2", "database")

    assert told(line, LaneKind.DEVICE, "example.com/gpu gpu-0") == [
        "held 1.007s to the end: trainer/main",
        "in use 1.0581s to 5s: trainer/main",
    ]
    assert told(line, LaneKind.CONTAINER, "trainer/main") == [
        "pending 1s to 1.0581s: pending",
        "running 1.0581s to 5s: running",
        "exited 5s to 1m35.2132s: reboot",
        "failed 1m35.2132s to the end: UnexpectedAdmissionError",
    ]
    ticks = lane(line, LaneKind.CONTAINER, "trainer/main").ticks
    assert [tick.kind for tick in ticks] == [TickKind.DONE, TickKind.FAILED]


def test_lost_records_show_one_device_in_use_by_two_pods() -> None:
    line = replayed("state-file-damaged", "1.24.0", "checkpoint")

    assert told(line, LaneKind.DEVICE, "example.com/gpu gpu-0") == [
        "held 1.007s to 25.0001s: trainer/main",
        "in use 1.05807s to the end: trainer/main",
        "held 36.007s to the end: second/main",
        "in use 36.05807s to the end: second/main",
    ]
    assert [bar.row for bar in lane(line, LaneKind.DEVICE, "example.com/gpu gpu-0").bars] == [
        0, 0, 1, 1,
    ]  # fmt: skip
    marks = [f"{mark.kind.value} {mark.label}" for mark in line.marks]
    assert "fault checkpointFile" in marks
    assert "violation I1" in marks
    assert "step admit-second" in marks


def test_a_refused_pod_keeps_devices_with_the_file_and_not_with_the_database() -> None:
    """S3.18: the file's kubelet lets go of them at the next allocation."""
    name = "admission-fails-in-second-container"
    kept = replayed(name, "1.24.0", "checkpoint")
    dropped = replayed(name, "1.24.0", "database")

    assert told(kept, LaneKind.DEVICE, "example.com/gpu gpu-1")[0] == (
        "held 15.007s to 15.04507s: worker/compute"
    )
    assert told(dropped, LaneKind.DEVICE, "example.com/gpu gpu-1")[0] == (
        "held 15.007s to 15.009s: worker/compute"
    )


def test_what_ran_before_the_run_is_in_use_from_its_start() -> None:
    """One device in two pods of one file (R79): both run until the reboot."""
    line = replayed("two-holders-in-one-file", "1.24.0", "checkpoint")
    bars = lane(line, LaneKind.DEVICE, "example.com/gpu gpu-1").bars

    assert [(bar.label, bar.row) for bar in bars if bar.since == 0] == [
        ("notebook-1/main", 0),
        ("notebook-2/main", 1),
    ]
    assert {bar.state for bar in bars if bar.since == 0} == {State.IN_USE}


def test_an_expectation_stands_where_it_was_judged() -> None:
    line = replayed("reboot-pod-before-plugin", "1.27.2", "database")

    assert [format_duration(one.at) for one in line.judged][:2] == ["1.0681s", "1m35.2132s"]
    assert {one.at for one in line.judged} <= set(line.instants())


def test_a_container_runs_on_although_its_pod_has_failed() -> None:
    line = made(
        (0, records.PodPhaseChanged(A, "a", "Pending")),
        (1, records.ContainerChanged(A, MAIN, "running")),
        (5, records.PodPhaseChanged(A, "a", "Failed", "Refused")),
        (9, records.ContainerChanged(A, MAIN, "killed", "stopped")),
        (12, records.PodDeleted(A, "a")),
    )

    assert told(line, LaneKind.CONTAINER, "a/main") == [
        "pending 0s to 1ns: pending",
        "running 1ns to 9ns: running",
        "failed 9ns to 12ns: Refused",
    ]


def test_a_pod_without_containers_has_a_lane_itself() -> None:
    line = made(
        (0, records.PodPhaseChanged(A, "a", "Pending")),
        (3, records.PodPhaseChanged(A, "a", "Failed", "OutOfcpu")),
    )

    assert told(line, LaneKind.CONTAINER, "a") == [
        "pending 0s to 3ns: pending",
        "failed 3ns to the end: OutOfcpu",
    ]


def test_a_second_pod_of_the_same_name_has_a_number() -> None:
    line = made(
        (0, records.PodPhaseChanged(A, "web-0", "Pending")),
        (1, records.PodDeleted(A, "web-0")),
        (2, records.PodPhaseChanged(B, "web-0", "Pending")),
    )

    assert [one.name for one in line.lanes] == ["web-0", "web-0 (2)"]


def test_what_is_said_of_a_pod_before_it_has_a_node_stands_on_its_node() -> None:
    nowhere = NodeName("")
    line = timeline_of(
        Stamped(Instant(0), nowhere, records.PodPhaseChanged(A, "a", "Pending")),
        Stamped(Instant(1), nowhere, records.PodPhaseChanged(B, "b", "Pending")),
        Stamped(Instant(2), NODE, records.ContainerChanged(A, MAIN, "running")),
        Stamped(Instant(3), nowhere, records.PodDeleted(A, "a")),
    )

    assert [(one.node, one.name) for one in line.lanes] == [("node-a", "a/main"), ("", "b")]
    assert told(line, LaneKind.CONTAINER, "a/main")[0] == "pending 0s to 2ns: pending"


def test_a_waiting_container_says_why() -> None:
    line = made(
        (0, records.ContainerChanged(A, MAIN, "waiting", "CreateContainerConfigError: x")),
        (5, records.ContainerChanged(A, MAIN, "running")),
    )

    assert told(line, LaneKind.CONTAINER, "uid-a/main") == [
        "waiting 0s to 5ns: CreateContainerConfigError: x",
        "running 5ns to the end: running",
    ]


def test_a_pod_that_waits_is_neither_admitted_nor_refused() -> None:
    line = made((0, records.AdmissionDecided(A, admitted=False, waiting=True)))

    assert [tick.kind for tick in lane(line, LaneKind.CONTAINER, "uid-a").ticks] == [TickKind.WAITS]


def test_what_a_kubelet_restores_is_held_from_its_start() -> None:
    held = ((A, MAIN, GPU, (G0,)), (A, SIDE, GPU, (G0, G1)))
    line = made(
        (0, records.KubeletStarted("1.36.2", "b")),
        (2, records.ManagerStarted("checkpoint", 2, held=held, registered=(GPU,))),
        (7, records.DevicesReleased((A,))),
    )

    assert told(line, LaneKind.DEVICE, "example.com/gpu g0") == ["held 2ns to 7ns: uid-a/main,side"]
    assert told(line, LaneKind.DEVICE, "example.com/gpu g1") == ["held 2ns to 7ns: uid-a/side"]
    assert told(line, LaneKind.PLUGIN, "example.com/gpu") == ["in grace 2ns to the end: restored"]


def test_other_devices_of_the_same_resource_take_the_place_of_the_earlier_ones() -> None:
    line = made(
        (0, records.DevicesAllocated(A, MAIN, GPU, {})),
        (1, records.DevicesAllocated(A, SIDE, GPU, {-1: (G1,)})),  # type: ignore[dict-item]
        (2, records.DevicesAllocated(A, MAIN, GPU, {-1: (G0,)})),  # type: ignore[dict-item]
        (3, records.DevicesAllocated(A, MAIN, GPU, {-1: (G1,)})),  # type: ignore[dict-item]
    )

    assert told(line, LaneKind.DEVICE, "example.com/gpu g0") == ["held 2ns to 3ns: uid-a/main"]
    assert told(line, LaneKind.DEVICE, "example.com/gpu g1") == [
        "held 1ns to 3ns: uid-a/side",
        "held 3ns to the end: uid-a/side,main",
    ]


def test_unhealthy_and_vanished_devices_are_marked() -> None:
    line = made(
        (0, records.DevicesListed(GPU, (Device(G0), Device(G1)))),
        (3, records.DevicesListed(GPU, (Device(G0, "Unhealthy"),))),
        (6, records.DevicesListed(GPU, (Device(G0), Device(G1)))),
    )

    assert told(line, LaneKind.DEVICE, "example.com/gpu g0") == ["unhealthy 3ns to 6ns: unhealthy"]
    assert told(line, LaneKind.DEVICE, "example.com/gpu g1") == [
        "not listed 3ns to 6ns: not listed"
    ]
    assert [bar.label for bar in lane(line, LaneKind.PLUGIN, "example.com/gpu").bars] == [
        "2 devices", "0 of 1 device healthy", "2 devices",
    ]  # fmt: skip


def test_of_many_devices_only_those_with_something_to_tell_have_a_lane() -> None:
    many = tuple(Device(DeviceId(f"d{number}")) for number in range(100))
    line = made(
        (0, records.DevicesListed(GPU, many)),
        (1, records.DevicesAllocated(A, MAIN, GPU, {-1: (DeviceId("d42"),)})),  # type: ignore[dict-item]
    )

    few = made(
        (0, records.DevicesListed(GPU, (Device(G0), Device(G1)))),
        (0, records.DevicesListed(NIC, (Device(G0), Device(G1)))),
        (1, records.DevicesAllocated(A, MAIN, GPU, {-1: (G1,)})),  # type: ignore[dict-item]
    )

    def devices(line: Timeline) -> list[str]:
        return [one.name for one in line.lanes if one.kind is LaneKind.DEVICE]

    assert devices(line) == ["example.com/gpu d42"]
    assert devices(few) == ["example.com/gpu g0", "example.com/gpu g1"]


def test_a_stream_that_ends_begins_the_grace_period_and_the_end_of_it_is_told() -> None:
    line = made(
        (0, records.PluginRegistered(GPU)),
        (5, records.PluginDisconnected(GPU)),
        (9, records.ResourceExpired(GPU)),
    )

    assert told(line, LaneKind.PLUGIN, "example.com/gpu") == [
        "connected 0s to 5ns: registered",
        "in grace 5ns to 9ns: stream ended",
        "gone 9ns to the end: removed",
    ]


def test_a_kubelet_says_how_it_ended() -> None:
    line = made(
        (0, records.KubeletStarted("1.36.2", "b")),
        (1, records.ManagerStarted("nothing", 0)),
        (4, records.KubeletPanicked("S7.7", "no g0")),
        (4, records.KubeletStopped("crashed")),
        (6, records.KubeletStarted("1.36.2", "b")),
        (8, records.KubeletStartFailed("damaged")),
        (8, records.KubeletStopped("failed to start")),
    )

    states = [bar.state for bar in lane(line, LaneKind.KUBELET, "kubelet").bars]
    assert states == [State.STARTING, State.UP, State.CRASHED, State.STARTING, State.FAILED]
    assert [mark.label for mark in line.marks] == ["kubelet panic"]


def test_calls_and_writes_are_ticks_and_say_when_they_failed() -> None:
    line = made(
        (1, records.PluginCalled("Allocate", GPU, A, MAIN, (G0,))),
        (2, records.PluginCalled("Allocate", GPU, A, MAIN, (G0,), "boom")),
        (3, records.StateWritten("checkpoint", "allocation", 9)),
        (4, records.StateWritten("checkpoint", "allocation", 9, "full")),
    )

    for kind in (LaneKind.CALLS, LaneKind.WRITES):
        ticks = lane(line, kind, kind.value).ticks
        assert [tick.kind for tick in ticks] == [TickKind.DONE, TickKind.FAILED]
        assert [line.entries[tick.record].at for tick in ticks] == [tick.at for tick in ticks]
