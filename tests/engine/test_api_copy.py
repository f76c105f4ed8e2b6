"""A copy of a real server's pods: only watches change it, and only forward."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.devices import DeviceId
from simulator.core.instants import SECOND, Duration
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.records import EventEmitted, PodDeleted, PodPhaseChanged, Record
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_copy import ApiCopy, SeenPod
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.spec import PodSpec
from simulator.engine.timeline import Timeline

GPU = ResourceName("example.com/gpu")
NODE = NodeName("n0")


class Writer:
    """Notes what is asked of the server."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def create(self, pod: ApiPod) -> None:
        self.asked.append(f"create {pod.pod.name}")

    def bind(self, pod: ApiPod, node: NodeName) -> None:
        self.asked.append(f"bind {pod.pod.name} {node}")

    def delete(self, pod: ApiPod, *, force: bool) -> None:
        self.asked.append(f"delete {pod.pod.name} {force}")

    def leave_waiting(self, pod: ApiPod, event: EventEmitted) -> None:
        self.asked.append(f"{event.reason} {pod.pod.name}")


def a_pod(uid: str = "u1") -> Pod:
    return Pod(PodUid(uid), "a", containers=(Container(ContainerName("main"), ((GPU, 1),)),))


def seen(revision: int, **changes: object) -> SeenPod:
    base = SeenPod(
        a_pod(),
        NODE,
        "Always",
        Duration(SECOND),
        PodStatus(),
        (),
        deleting=False,
        revision=revision,
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # fields of a SeenPod


class Copied:
    """An API server that is a copy, and what its watchers and kubelet are told."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.records: list[Record] = []
        self.api = ApiServer(self.timeline, lambda _, record: self.records.append(record))
        self.writer = Writer()
        self.api.writer = self.writer
        self.api.watch_delay = Duration(0)
        self.copy = ApiCopy(self.api)
        self.told: list[int] = []
        self.api.connect(NODE, self._kubelet)

    def _kubelet(self, uid: PodUid) -> None:
        pod = self.api.pod(uid)
        self.told.append(0 if pod is None else pod.revision)

    def settle(self) -> None:
        while self.timeline.next_at() is not None:
            self.timeline.step()


def test_what_is_done_to_pods_goes_to_the_server_and_changes_nothing_here() -> None:
    world = Copied()
    world.copy.saw(seen(5))
    pod = world.api.pod(PodUid("u1"))
    assert pod is not None
    world.api.create(ApiPod(pod.spec, a_pod("u2")))
    world.api.bind(pod, NODE)
    world.api.leave_waiting(pod, EventEmitted("Warning", "FailedScheduling", "no room"))
    world.api.mark_deleting(pod)
    world.api.remove(pod.uid)
    world.api.remove(PodUid("unknown"))

    assert world.writer.asked == [
        "create a",
        "bind a n0",
        "FailedScheduling a",
        "delete a False",
        "delete a True",
    ]
    assert not pod.deleting
    assert world.api.pods() == [pod]
    assert pod.revision == 5


def test_the_kubelet_is_told_of_each_state_once_with_the_servers_revision() -> None:
    world = Copied()
    running = PodStatus("Running", taken_up=True)
    for state in (seen(5), seen(5), seen(7, status=running), seen(6), seen(7, status=running)):
        world.copy.saw(state)
        world.settle()

    assert world.told == [5, 7]
    phases = [each.phase for each in world.records if isinstance(each, PodPhaseChanged)]
    assert phases == ["Pending", "Running"]


def test_a_list_is_the_truth_also_when_its_revisions_are_lower() -> None:
    """A cluster was set back to a backup; only watches can be behind what is known."""
    world = Copied()
    running = PodStatus("Running", taken_up=True)
    world.copy.saw(seen(90, status=running))
    for state in (seen(7), seen(7)):
        world.copy.saw(state, is_list=True)
        world.settle()
    world.copy.saw(seen(6, status=running))
    world.copy.saw(seen(8, status=running))
    world.settle()

    phases = [each.phase for each in world.records if isinstance(each, PodPhaseChanged)]
    assert phases == ["Running", "Pending", "Running"]
    assert world.told[-2:] == [7, 8]


def test_a_pod_that_is_created_by_this_world_is_the_one_that_the_watch_shows() -> None:
    world = Copied()
    spec = PodSpec("a", a_pod(""), node=NODE, termination_grace=Duration(7 * SECOND))
    pod = ApiPod(spec, a_pod("not-yet"), NODE)
    world.copy.await_pod(pod)

    assert world.copy.saw(seen(9)) is pod
    assert pod.uid == "u1"
    assert pod.spec is spec
    assert world.api.pod_named("a") is pod


def test_a_pod_that_was_refused_is_not_awaited_any_more() -> None:
    world = Copied()
    pod = ApiPod(PodSpec("a", a_pod("")), a_pod("x"))
    world.copy.await_pod(pod)
    world.copy.await_no_more(pod)

    assert world.copy.saw(seen(9)) is not pod


def test_devices_deletion_and_binding_are_taken_over() -> None:
    world = Copied()
    pod = world.copy.saw(seen(1, node=None))
    assert world.api.pods(NODE) == []
    [container] = a_pod().containers
    bound = replace(container, compute_devices=((GPU, (DeviceId("g0"),)),))
    world.copy.saw(seen(2, pod=replace(a_pod(), containers=(bound,))))
    world.copy.saw(
        seen(
            3,
            pod=replace(a_pod(), containers=(bound,)),
            deleting=True,
            termination=Duration(0),
        )
    )

    assert world.api.pods(NODE) == [pod]
    assert pod.pod.containers[0].bound_to(GPU) == ("g0",)
    assert pod.deleting
    assert pod.spec.termination_grace == 0


def test_after_a_list_only_what_it_names_is_there() -> None:
    world = Copied()
    world.copy.saw(seen(1))
    other = world.copy.saw(seen(2, pod=replace(a_pod("u2"), name="b"), node=NodeName("n1")))
    world.copy.keep_only([], lambda pod: pod.node == NODE)
    world.copy.gone(PodUid("u1"))
    world.settle()

    assert world.api.pods() == [other]
    assert [each for each in world.records if isinstance(each, PodDeleted)] == [
        PodDeleted(PodUid("u1"), "a")
    ]
    assert world.told[-1] == 0
