"""What each persistence adds to a pod's life, counted, against persistence-designs 3.1.

The facts are typed from that table; a pod has two containers with devices. What is counted is what
is there beyond the same run with the checkpoint file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import pytest

from simulator.core.instants import Duration
from simulator.core.persistence.choosing import OptionValue
from simulator.core.records import ContainerChanged, PodPhaseChanged, StateWritten
from simulator.engine.actions import CreatePod, DeletePod, StartPlugin
from simulator.engine.latencies import API_REQUEST, WATCH_DELAY
from store.memory.store import MemoryStore
from tests.engine.runs import NODE, Run, a_spec, container, pod

Options = tuple[tuple[str, OptionValue], ...]
ECHO: Options = (("waitForEcho", True),)
PER_CONTAINER: Options = (("perContainer", True),)
ASYNCHRONOUS: Options = (("synchronous", False),)


@dataclass(frozen=True)
class Life:
    """What a pod's life took.

    Attributes:
        calls: Requests of its kubelet about pods and device bindings, by verb and kind.
        file_writes: Checkpoint writes by cause.
        commits: Commits by cause.
        before_start: From the pod's creation to its first container.
    """

    calls: Counter[str]
    file_writes: Counter[str]
    commits: Counter[str]
    before_start: Duration


@cache
def life(persistence: str, options: Options = ()) -> Life:
    """Let a pod start, run and go; then another one asks for devices, which frees its own."""
    pods = pod("a", container("x"), container("y")), pod("b", container("x", 0))
    spec = replace(a_spec(*pods, persistence=persistence), persistence_options=options)
    run = Run(spec, store_factory=lambda _: MemoryStore())
    run.do(StartPlugin("gpu"))
    run.wait(15)
    node = run.simulation.nodes[NODE]
    begun = run.simulation.now
    node.api_calls.clear()
    run.do(CreatePod("a"))
    run.wait(20)
    run.do(DeletePod("a"))
    run.wait(20)
    assert node.kubelet is not None
    node.kubelet.driver.run_store(node.kubelet.manager.release_inactive(), lambda _: None)
    run.wait(20)
    created = next(at for at, _ in run.stamped(PodPhaseChanged, begun))
    running = next(at for at, _ in run.stamped(ContainerChanged, begun))
    written = run.records(StateWritten, begun)
    return Life(
        calls=Counter({name: n for name, n in node.api_calls.items() if is_counted(name)}),
        file_writes=Counter(each.cause for each in written if each.target == "checkpoint"),
        commits=Counter(each.cause for each in written if each.target == "database"),
        before_start=Duration(running - created),
    )


def is_counted(name: str) -> bool:
    return not any(kind in name for kind in ("nodes", "leases", "events"))


def added(persistence: str, options: Options = ()) -> dict[str, int]:
    """Return the calls beyond those with the file alone."""
    calls, usual = life(persistence, options).calls, life("checkpoint").calls
    names = sorted(calls.keys() | usual.keys())
    return {name: calls[name] - usual[name] for name in names if calls[name] != usual[name]}


@pytest.mark.parametrize(
    ("persistence", "options", "calls"),
    [
        ("database", (), {}),
        ("checkpoint", (), {}),
        # At most one for each dirty pod and flush, normally one.
        ("checkpoint+api", (), {"POST pods/resourcebinding": 1}),
        ("checkpoint+api", (("bulkBind", True),), {"POST resourcebindings": 1}),
        # One; P3c one for each container with devices.
        ("bind-resource", (), {"POST pods/resourcebinding": 1}),
        ("bind-resource", ECHO, {"POST pods/resourcebinding": 1}),
        ("bind-resource", PER_CONTAINER, {"POST pods/resourcebinding": 2}),
        # None, if merged into a patch that is due anyway.
        ("pod-status", (), {}),
        # Creation, none or one update, deletion: two to three.
        ("binding-object", (), {"PUT devicebindings": 1, "DELETE devicebindings": 1}),
        ("binding-object", ASYNCHRONOUS, {"PUT devicebindings": 1, "DELETE devicebindings": 1}),
    ],
)
def test_api_calls_of_a_pods_life(
    persistence: str, options: Options, calls: dict[str, int]
) -> None:
    """Columns "API writes / pod life" and "extra reads": no persistence reads for a pod."""
    assert added(persistence, options) == calls


def test_the_baseline_is_that_of_a_pod_without_devices() -> None:
    """Each status sync is GET and PATCH; the last one is followed by the deletion (S12.4)."""
    calls = life("checkpoint").calls

    assert calls["DELETE pods"] == 1
    assert calls["GET pods"] >= calls["PATCH pods/status"] >= 2


@pytest.mark.parametrize(
    ("persistence", "writes"),
    [
        # One for each container with devices, and one more for each change of the device list.
        ("checkpoint", {"allocation": 2}),
        ("checkpoint+api", {"allocation": 2}),
        ("pod-status", {"allocation": 2}),
        ("database", {}),
        ("bind-resource", {}),
        ("binding-object", {}),
    ],
)
def test_file_writes_of_a_pods_life(persistence: str, writes: dict[str, int]) -> None:
    assert dict(life(persistence).file_writes) == writes


def test_the_database_commits_once_for_an_admitted_pod_and_once_for_its_release() -> None:
    """One durable commit for each admitted pod."""
    assert dict(life("database").commits) == {"admission": 1, "release": 1}


def test_the_critical_path_before_a_containers_start() -> None:
    """Last column: fsync with a file; limiter and round trip, and the watch's echo in P3w; none.

    Allocate comes before it under all. With nothing else to do the limiter holds nothing back.
    """
    nothing = life("binding-object", ASYNCHRONOUS).before_start
    file = life("checkpoint").before_start

    assert file > nothing
    assert life("checkpoint+api").before_start == file
    assert life("pod-status").before_start == file
    assert life("bind-resource").before_start == nothing + API_REQUEST
    assert life("bind-resource", ECHO).before_start == nothing + API_REQUEST + WATCH_DELAY
    assert life("bind-resource", PER_CONTAINER).before_start == nothing + 2 * API_REQUEST
    assert life("binding-object").before_start == nothing + API_REQUEST


def test_a_start_reads_the_objects_of_its_node_once() -> None:
    """The list of DeviceBindings beside that of pods; specs come with the pods."""
    lists: dict[str, int] = {}
    for persistence in ("checkpoint+api", "bind-resource", "pod-status", "binding-object"):
        run = Run(a_spec(pod("a"), persistence=persistence))
        run.do(StartPlugin("gpu"))
        node = run.simulation.nodes[NODE]
        node.api_calls.clear()
        node.restart_kubelet(Duration(0))
        run.wait(5)
        lists[persistence] = sum(n for name, n in node.api_calls.items() if "devicebind" in name)

    assert lists == {"checkpoint+api": 0, "bind-resource": 0, "pod-status": 0, "binding-object": 1}
