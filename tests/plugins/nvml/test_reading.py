"""What the plugin reads out of NVML, /sys and /proc; the machine is the stub's."""

from __future__ import annotations

import pytest

from plugins.nvml.gpus import Inventory
from plugins.nvml.library import opened
from plugins.nvml.reading import read_inventory
from simulator.errors import HardwareError
from tests.plugins.nvml.stub import Stub, gpu, mig


def read(stub: Stub) -> Inventory:
    with opened():
        return read_inventory(stub.host_root)


def test_every_gpu_is_known_by_its_uuid_and_its_device_node(stub: Stub) -> None:
    inventory = read(stub)

    assert [one.uuid for one in inventory.gpus] == [gpu(index) for index in range(8)]
    assert [one.minor for one in inventory.gpus] == [0, 1, 2, 3, 4, 5, 6, None]
    assert [one.bus_id for one in inventory.gpus][:2] == ["0000:10:00.0", "0000:11:00.0"]


def test_a_lost_gpu_is_listed_as_lost_and_the_others_are_not(stub: Stub) -> None:
    assert [one.index for one in read(stub).gpus if one.is_lost] == [7]


def test_a_gpu_without_a_uuid_stands_in_nobodys_way(stub: Stub) -> None:
    """R84: one lost GPU made all others unusable."""
    stub.says("nameless 3")

    inventory = read(stub)

    assert inventory.unnamed == (3,)
    assert [one.index for one in inventory.gpus] == [0, 1, 2, 4, 5, 6, 7]


def test_mig_devices_have_profiles_and_instances(stub: Stub) -> None:
    gpu_1 = read(stub).gpus[1]

    assert gpu_1.mig_enabled
    assert [(one.uuid, one.profile, one.gpu_instance) for one in gpu_1.mig_devices] == [
        (mig(1, 0), "1g.5gb", 7),
        (mig(1, 1), "1g.5gb", 8),
        (mig(1, 2), "3g.20gb", 9),
    ]


def test_an_older_driver_leaves_the_profile_to_be_counted(stub: Stub) -> None:
    stub.says("old", "mig 1 1g.5gb 1c.3g.20gb 7g.40gb")

    profiles = [one.profile for one in read(stub).gpus[1].mig_devices]

    assert profiles == ["1g.5gb", "1c.3g.20gb", "7g.40gb"]


def test_mig_device_nodes_are_found_in_proc(stub: Stub) -> None:
    minors = "gpu1/gi7/access 12\ngpu1/gi7/ci0/access 13\ngpu1/gi8/access 21\nconfig 1\n"
    stub.has_file("/proc/driver/nvidia-caps/mig-minors", minors)

    nodes = [one.capabilities for one in read(stub).gpus[1].mig_devices]

    assert nodes == [
        ("/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"),
        ("/dev/nvidia-caps/nvidia-cap21",),
        (),
    ]


def test_the_numa_node_is_the_one_in_sys(stub: Stub) -> None:
    stub.has_file("/sys/bus/pci/devices/0000:10:00.0/numa_node", "3\n")
    stub.has_file("/sys/bus/pci/devices/0000:12:00.0/numa_node", "-1\n")

    gpus = read(stub).gpus

    assert gpus[0].numa_node == 3
    assert gpus[2].numa_node is None, "-1 says that the machine knows none"


def test_without_sys_the_numa_node_is_the_one_that_nvml_names(stub: Stub) -> None:
    assert [one.numa_node for one in read(stub).gpus] == [0, 0, 0, 0, 1, 1, 1, None]


def test_where_nobody_names_a_numa_node_there_is_none(stub: Stub) -> None:
    stub.says("old")

    assert {one.numa_node for one in read(stub).gpus} == {None}


def test_more_nvlinks_are_closer_than_fewer_and_any_closer_than_none(stub: Stub) -> None:
    closeness = read(stub).closeness

    assert closeness[0, 1] > closeness[0, 2] > closeness[0, 4]
    assert closeness[0, 2] == closeness[1, 3]
    assert not [pair for pair in closeness if 7 in pair], "a lost GPU has no neighbors"


def test_a_driver_that_knows_no_neighbors_says_nothing_of_pairs(stub: Stub) -> None:
    stub.says("old")

    assert read(stub).closeness == {}


def test_only_the_control_nodes_that_exist_are_given_to_containers(stub: Stub) -> None:
    stub.has_file("/dev/nvidiactl")
    stub.has_file("/dev/nvidia-uvm")

    assert read(stub).control_nodes == ("/dev/nvidiactl", "/dev/nvidia-uvm")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (9, "asked NVML for this machine's GPUs: the NVIDIA driver is not loaded; load it"),
        (18, "the library and the loaded driver have different versions; reboot"),
        (4, "this user may not open the driver; check who may read and write /dev/nvidiactl"),
        (15, "asked NVML for this machine's GPUs: it answered: GPU is lost (NVML error 15)"),
    ],
)
def test_a_driver_that_cannot_be_used_says_what_to_do(stub: Stub, number: int, said: str) -> None:
    stub.says(f"init {number}")

    with pytest.raises(HardwareError) as refused:
        read(stub)

    assert said in str(refused.value)


def test_a_machine_without_gpus_has_an_empty_inventory(stub: Stub) -> None:
    stub.says("count 0")

    assert read(stub).gpus == ()
