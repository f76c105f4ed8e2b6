"""What a container gets for its GPUs."""

from __future__ import annotations

import pytest

from plugins.nvml.answers import AnswerOptions, Answers, Strategy
from plugins.nvml.gpus import Gpu, Inventory, MigDevice
from plugins.nvml.resources import Unit, ids_of
from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName
from simulator.errors import PluginCallError

CONTROL = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def answers(
    *units: Unit,
    strategies: tuple[Strategy, ...] = (Strategy.ENVVAR,),
    one_share_each: bool = False,
) -> Answers:
    inventory = Inventory(tuple(unit.gpu for unit in units), control_nodes=CONTROL)
    options = AnswerOptions(strategies=strategies, one_share_each=one_share_each)
    return Answers(ResourceName("nvidia.com/gpu"), units, inventory, options)


def whole(index: int, replicas: int = 1) -> Unit:
    uuid = f"GPU-{index}"
    return Unit(Gpu(index, uuid, minor=index), None, ids_of(uuid, replicas))


def allocate(by: Answers, *ids: str) -> AllocateResponse:
    return by.allocate([DeviceId(id_) for id_ in ids])


def paths(answer: AllocateResponse) -> list[str]:
    return [spec.host_path for spec in answer.devices]


def test_the_variable_names_the_gpus_in_the_machine_s_order() -> None:
    answer = allocate(answers(whole(0), whole(1), whole(2)), "GPU-2", "GPU-0")

    assert answer == AllocateResponse(envs={"NVIDIA_VISIBLE_DEVICES": "GPU-0,GPU-2"})


def test_a_gpu_is_named_once_however_many_shares_of_it_are_given() -> None:
    """R67: with 8,000 shares the variable became too long for a process."""
    shares = [f"GPU-0::{share}" for share in range(8_000)]

    answer = allocate(answers(whole(0, replicas=8_000)), *shares)

    assert answer.envs == {"NVIDIA_VISIBLE_DEVICES": "GPU-0"}


def test_device_nodes_are_the_gpus_and_those_that_all_need() -> None:
    answer = allocate(
        answers(whole(0), whole(1, replicas=2), strategies=(Strategy.DEVICE_SPECS,)),
        "GPU-0", "GPU-1::0", "GPU-1::1",
    )  # fmt: skip

    assert paths(answer) == ["/dev/nvidia0", "/dev/nvidia1", *CONTROL]
    assert {spec.permissions for spec in answer.devices} == {"rw"}
    assert [spec.container_path for spec in answer.devices] == paths(answer)
    assert answer.envs == {}


def test_a_mig_device_has_the_nodes_of_its_instances_too() -> None:
    caps = ("/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13")
    mig = MigDevice("MIG-a", "1g.5gb", 7, 0, caps)
    gpu = Gpu(1, "GPU-1", minor=1, mig_enabled=True, mig_devices=(mig,))
    unit = Unit(gpu, mig, ids_of("MIG-a", 1))

    answer = allocate(answers(unit, strategies=(Strategy.ENVVAR, Strategy.DEVICE_SPECS)), "MIG-a")

    assert paths(answer) == ["/dev/nvidia1", *caps, *CONTROL]
    assert answer.envs == {"NVIDIA_VISIBLE_DEVICES": "MIG-a"}


def test_a_gpu_whose_number_is_unknown_has_no_node_of_its_own() -> None:
    unit = Unit(Gpu(0, "GPU-0"), None, ids_of("GPU-0", 1))

    assert paths(allocate(answers(unit, strategies=(Strategy.DEVICE_SPECS,)), "GPU-0")) == [
        *CONTROL
    ]


def test_cdi_names_go_into_the_field_or_into_an_annotation() -> None:
    units = (whole(0), whole(1))

    in_field = allocate(answers(*units, strategies=(Strategy.CDI_CRI,)), "GPU-0", "GPU-1")
    annotated = allocate(answers(*units, strategies=(Strategy.CDI_ANNOTATIONS,)), "GPU-0", "GPU-1")

    names = ("nvidia.com/gpu=GPU-0", "nvidia.com/gpu=GPU-1")
    assert in_field == AllocateResponse(cdi_devices=names)
    assert annotated == AllocateResponse(
        annotations={"cdi.k8s.io/rebind-nvml_gpu": ",".join(names)}
    )


def test_an_id_of_another_plugin_is_refused() -> None:
    with pytest.raises(PluginCallError, match=r"GPU-9 of nvidia\.com/gpu, .* no device of it"):
        allocate(answers(whole(0)), "GPU-0", "GPU-9")


def test_more_than_one_share_can_be_refused() -> None:
    by = answers(whole(0, replicas=2), one_share_each=True)

    assert allocate(by, "GPU-0::1").envs == {"NVIDIA_VISIBLE_DEVICES": "GPU-0"}
    with pytest.raises(PluginCallError, match=r"asked for 2 of nvidia\.com/gpu, which are shares"):
        allocate(by, "GPU-0::0", "GPU-0::1")


def test_one_share_each_does_not_limit_whole_gpus() -> None:
    by = answers(whole(0), whole(1), one_share_each=True)

    assert allocate(by, "GPU-0", "GPU-1").envs == {"NVIDIA_VISIBLE_DEVICES": "GPU-0,GPU-1"}
