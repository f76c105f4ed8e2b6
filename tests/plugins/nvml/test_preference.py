"""Which devices go well together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from plugins.nvml.gpus import Gpu, Inventory, MigDevice, Pair
from plugins.nvml.preference import Preference
from plugins.nvml.resources import Unit, ids_of
from simulator.core.devices import DeviceId, NumaNode


def machine(
    count: int, *, replicas: int = 1, numa: Sequence[int] = (), near: dict[Pair, int] | None = None
) -> Preference:
    gpus = [
        Gpu(index, f"GPU-{index}", numa_node=NumaNode(numa[index]) if numa else None)
        for index in range(count)
    ]
    units = [Unit(gpu, None, ids_of(gpu.uuid, replicas)) for gpu in gpus]
    return Preference(units, Inventory(tuple(gpus), near or {}))


def ids(*names: str | int) -> list[DeviceId]:
    return [DeviceId(name if isinstance(name, str) else f"GPU-{name}") for name in names]


def choose(
    by: Preference, available: Sequence[DeviceId], size: int, must: Sequence[DeviceId] = ()
) -> list[str]:
    return list(by.choose(available, must, size))


PAIRS = {(0, 1): 200, (2, 3): 200, (0, 2): 100, (0, 3): 100, (1, 2): 100, (1, 3): 100}


def test_gpus_with_most_links_between_them_are_taken_together() -> None:
    by = machine(8, near={(5, 6): 200, (1, 2): 100})

    assert choose(by, ids(0, 1, 2, 5, 6), 2) == ids(5, 6)


def test_one_gpu_is_taken_from_where_it_tears_no_pair_apart() -> None:
    by = machine(4, near=PAIRS)

    assert choose(by, ids(0, 1, 3), 1) == ids(3)


def test_without_links_gpus_of_one_numa_node_are_taken_together() -> None:
    by = machine(4, numa=(0, 1, 0, 1))

    assert choose(by, ids(0, 1, 3), 2) == ids(1, 3)


def test_what_must_be_included_comes_first_and_draws_its_neighbors() -> None:
    by = machine(4, near=PAIRS)

    assert choose(by, ids(0, 1, 2, 3), 2, must=ids(3)) == ids(3, 2)


def test_without_any_knowledge_the_machine_s_order_decides() -> None:
    assert choose(machine(4), ids(3, 1, 2), 2) == ids(1, 2)


def test_shares_come_from_the_gpus_that_are_used_least() -> None:
    by = machine(2, replicas=3)
    free = ids("GPU-0::2", "GPU-1::0", "GPU-1::1", "GPU-1::2")

    assert choose(by, free, 1) == ids("GPU-1::0")


def test_eight_shares_of_eight_gpus_are_on_eight_gpus() -> None:
    """R85: they were on five, since any eight ids were taken."""
    by = machine(8, replicas=10)
    free = [
        DeviceId(f"GPU-{gpu}::{share}") for gpu in range(8) for share in range(gpu, 10)
    ]  # The first GPU is used least, the last one most.

    chosen = choose(by, free, 8)

    assert len({id_.partition("::")[0] for id_ in chosen}) == 8


def test_a_container_that_has_a_share_gets_the_next_one_elsewhere() -> None:
    by = machine(2, replicas=2)
    free = ids("GPU-0::0", "GPU-0::1", "GPU-1::0", "GPU-1::1")

    assert choose(by, free, 2, must=ids("GPU-0::0")) == ids("GPU-0::0", "GPU-1::0")


def test_mig_devices_are_spread_over_gpus() -> None:
    units = []
    for index in range(2):
        for place in range(3):
            mig = MigDevice(f"MIG-{index}{place}", "1g.5gb", place, 0)
            gpu = Gpu(index, f"GPU-{index}", mig_enabled=True, mig_devices=(mig,))
            units.append(Unit(gpu, mig, ids_of(mig.uuid, 1)))
    by = Preference(units, Inventory(()))

    assert choose(by, ids("MIG-01", "MIG-02", "MIG-10", "MIG-11", "MIG-12"), 1) == ["MIG-10"]
    assert choose(by, ids("MIG-01", "MIG-02", "MIG-10", "MIG-11"), 2) == ["MIG-01", "MIG-10"]


def test_fewer_devices_than_asked_for_are_all_of_them() -> None:
    assert choose(machine(4), ids(2, 1), 3) == ids(1, 2)


def test_ids_that_are_not_the_plugin_s_are_not_chosen() -> None:
    by = machine(2)

    assert choose(by, ids("GPU-9", 1), 1) == ids(1)
    assert choose(by, ids("GPU-9", 1), 2, must=ids("GPU-9")) == ids("GPU-9", 1)


def test_nothing_asked_for_is_nothing_chosen() -> None:
    assert choose(machine(2), ids(0, 1), 0) == []
    assert choose(machine(2), ids(0, 1), 1, must=ids(0)) == ids(0)


@given(
    count=st.integers(2, 7),
    replicas=st.integers(1, 3),
    data=st.data(),
)
def test_a_choice_is_of_the_size_asked_for_and_of_free_devices(
    count: int, replicas: int, data: st.DataObject
) -> None:
    everything = [id_ for gpu in range(count) for id_ in ids_of(f"GPU-{gpu}", replicas)]
    free = data.draw(st.lists(st.sampled_from(everything), unique=True, min_size=1))
    must = free[: data.draw(st.integers(0, len(free)))]
    size = data.draw(st.integers(len(must), len(free)))
    near = {pair: data.draw(st.integers(0, 3)) for pair in combinations(range(count), 2)}
    by = machine(count, replicas=replicas, near=near)

    chosen = choose(by, free, size, must=must)

    assert len(set(chosen)) == len(chosen) == size
    assert set(must) <= set(chosen) <= set(free)
    assert choose(by, list(reversed(free)), size, must=must) == chosen


@given(free=st.sets(st.integers(0, 7), min_size=1), data=st.data())
def test_on_a_machine_of_two_boards_the_closest_set_is_found(
    free: set[int], data: st.DataObject
) -> None:
    """The naive model looks at every set."""
    near = {(a, b): 100 if a // 4 == b // 4 else 10 for a, b in combinations(range(8), 2)}
    size = data.draw(st.integers(1, len(free)))

    chosen = choose(machine(8, near=near), ids(*sorted(free)), size)

    def closeness(gpus: Sequence[int]) -> int:
        return sum(near[pair] for pair in combinations(sorted(gpus), 2))

    found = closeness([int(id_.removeprefix("GPU-")) for id_ in chosen])
    assert found == max(closeness(gpus) for gpus in combinations(sorted(free), size))
