"""Allocation under a stored hint: the other half of topology_hints_test.go (S3.17 to S3.19)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from simulator.core.allocation import devices_to_allocate
from simulator.core.calls import PreferredAllocationCall, PreferredAllocationReply
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.endpoints import PluginOptions
from simulator.core.manager_state import ContainerRequest, ManagerState
from simulator.core.pods import ContainerName
from simulator.core.transitions import DeviceBinding
from tests.core.bare_state import bare_state
from tests.core.driving import GPU, MAIN, pod
from tests.core.hint_notation import devices, hint, ids

INIT = ContainerName("init")
OTHER = pod("other", {GPU: 1})


def span(first: int, last: int, node: int) -> str:
    """Return `Dev<first>` to `Dev<last>`, all on `node`."""
    return " ".join(f"Dev{number}@{node}" for number in range(first, last + 1))


def named(*numbers: int) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(f"Dev{number}") for number in numbers)


def state_with(listed: str, mask: str, *, preferred: bool) -> ManagerState:
    """Return a device manager's state: devices listed, nothing bound, a hint stored."""
    state = bare_state()
    state.inventory.connect(GPU, PluginOptions(preferred_allocation=preferred))
    state.pool(GPU).fold(tuple(devices(listed).values()), state.behavior)
    state.hints[POD.uid] = {MAIN: hint(f"{mask}P")}
    return state


POD = pod("p", {GPU: 1})


@dataclass(frozen=True)
class Allocation:
    """What was chosen and what the plugin was asked."""

    chosen: tuple[DeviceId, ...]
    asked: tuple[PreferredAllocationCall, ...]


def allocate(state: ManagerState, count: int, prefers: Sequence[DeviceId] = ()) -> Allocation:
    decision = devices_to_allocate(state, ContainerRequest(POD, MAIN, GPU, count))
    asked: list[PreferredAllocationCall] = []
    chosen: object = None
    try:
        call = next(decision)
        while True:
            assert isinstance(call, PreferredAllocationCall)
            asked.append(call)
            call = decision.send(PreferredAllocationReply(tuple(prefers)))
    except StopIteration as stop:
        chosen = stop.value
    assert isinstance(chosen, tuple)
    return Allocation(chosen, tuple(asked))


def bind(
    state: ManagerState, uid_of: str, container: ContainerName, numbers: Sequence[int]
) -> None:
    """Have a container hold devices, without their topology."""
    held = {NumaNode(-1): named(*numbers)}
    owner = {"p": POD, "other": OTHER}[uid_of]
    state.facts.active_pods.add(owner)
    binding = DeviceBinding(owner.uid, container, GPU, held, b"")
    state.pod_devices.insert(binding, state.facts.active_pods)


TWO_EACH = " ".join(span(3 * node, 3 * node + 1, node) for node in range(4))
HALVES = f"{span(0, 99, 0)} {span(100, 199, 1)}"
FEW_AND_MANY = f"{span(0, 2, 0)} {span(3, 99, 1)}"


@pytest.mark.parametrize(
    ("case", "listed", "mask", "count", "per_node"),
    [
        ("no alignment", "Dev1 Dev2", "{0,1}", 1, {}),
        ("partial", "Dev1 Dev2@1", "{1}", 1, {1: 1}),
        ("socket 0", "Dev1@0 Dev2@1", "{0}", 1, {0: 1}),
        ("socket 1", "Dev1@0 Dev2@1", "{1}", 1, {1: 1}),
        ("request 2, socket 0", "Dev1@0 Dev2@1 Dev3@0 Dev4@1", "{0}", 2, {0: 2}),
        ("request 2, socket 1", "Dev1@0 Dev2@1 Dev3@0 Dev4@1", "{1}", 2, {1: 2}),
        ("request 4, prefer 0", f"{span(0, 2, 0)} {span(3, 5, 1)}", "{0}", 4, {0: 3, 1: 1}),
        ("request 4, prefer 1", f"{span(0, 2, 0)} {span(3, 5, 1)}", "{1}", 4, {0: 1, 1: 3}),
        ("multisocket", TWO_EACH, "{1,3}", 4, {1: 2, 3: 2}),
    ],
)
def test_topology_aligned_allocation(
    case: str, listed: str, mask: str, count: int, per_node: dict[int, int]
) -> None:
    """TestTopologyAlignedAllocation without a preference of the plugin."""
    found = allocate(state_with(listed, mask, preferred=False), count)

    assert len(found.chosen) == count, case
    assert per_node == nodes_of(found.chosen, listed), case
    assert found.asked == ()


def nodes_of(chosen: Sequence[DeviceId], listed: str) -> dict[int, int]:
    known = devices(listed)
    return dict(Counter(node for one in chosen for node in known[one].numa_nodes))


@pytest.mark.parametrize(
    ("case", "listed", "mask", "prefers", "contains", "per_node"),
    [
        (
            "preferred aligned",
            HALVES,
            "{0}",
            "Dev0 Dev19 Dev83 Dev42 Dev77",
            "Dev0 Dev19 Dev83 Dev42 Dev77",
            {0: 5},
        ),
        (
            "unaligned ignored",
            HALVES,
            "{0}",
            "Dev0 Dev19 Dev83 Dev150 Dev186",
            "Dev0 Dev19 Dev83",
            {0: 5},
        ),
        (
            "bogus ignored",
            span(0, 99, 1),
            "{1}",
            "Dev0 Dev19 Dev83 bogus0 bogus1",
            "Dev0 Dev19 Dev83",
            {1: 5},
        ),
        (
            "multisocket preferred",
            FEW_AND_MANY,
            "{0}",
            "Dev0 Dev1 Dev2 Dev42 Dev83",
            "Dev0 Dev1 Dev2 Dev42 Dev83",
            {0: 3, 1: 2},
        ),
        (
            "multisocket and bogus",
            FEW_AND_MANY,
            "{0}",
            "Dev0 Dev1 Dev2 Dev42 bogus0",
            "Dev0 Dev1 Dev2 Dev42",
            {0: 3, 1: 2},
        ),
    ],
)
def test_topology_aligned_allocation_with_a_preference(  # noqa: PLR0913, PLR0917  a table's columns
    case: str, listed: str, mask: str, prefers: str, contains: str, per_node: dict[int, int]
) -> None:
    """TestTopologyAlignedAllocation, the cases in which the plugin prefers devices; request 5."""
    found = allocate(state_with(listed, mask, preferred=True), 5, prefers=ids(prefers))

    assert len(found.chosen) == 5, case
    assert set(ids(contains)) <= set(found.chosen), case
    assert per_node == nodes_of(found.chosen, listed), case
    assert len(found.asked) == 1


EIGHT = span(0, 7, 0)
FOUR_AND_FOUR = f"{span(0, 3, 0)} {span(4, 7, 1)}"


@pytest.mark.parametrize(
    ("listed", "reusable", "elsewhere", "count", "available", "must_include"),
    [
        (span(0, 3, 0), (), (), 1, (0, 1, 2, 3), ()),
        (EIGHT, (0, 5), (), 4, (0, 1, 2, 3, 4, 5, 6, 7), (0, 5)),
        (EIGHT, (0, 5), (4, 1), 4, (0, 2, 3, 5, 6, 7), (0, 5)),
        (FOUR_AND_FOUR, (1, 6), (), 6, (0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 3, 6)),
        (FOUR_AND_FOUR, (1, 6), (0, 7), 6, (1, 2, 3, 4, 5, 6), (1, 2, 3, 6)),
    ],
)
def test_get_preferred_allocation_parameters(  # noqa: PLR0913, PLR0917  a table's columns
    listed: str,
    reusable: tuple[int, ...],
    elsewhere: tuple[int, ...],
    count: int,
    available: tuple[int, ...],
    must_include: tuple[int, ...],
) -> None:
    """TestGetPreferredAllocationParameters: hint {0}P, no preference (S1.25, S3.18)."""
    state = state_with(listed, "{0}", preferred=True)
    if elsewhere:
        bind(state, "other", MAIN, elsewhere)
    state.reusable.begin(POD.uid)
    if reusable:
        bind(state, "p", INIT, reusable)
        state.reusable.add(POD.uid, state.pod_devices.of_container(POD.uid, INIT))

    found = allocate(state, count)

    assert found.asked == (
        PreferredAllocationCall(
            resource=GPU,
            available=named(*available),
            must_include=named(*must_include),
            size=count,
            pod=POD.uid,
            container=MAIN,
        ),
    )
    assert len(found.chosen) == count
