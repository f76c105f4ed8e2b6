"""What Rebind's own plugins answer, simulated and on a socket."""

from __future__ import annotations

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.devices import DeviceId
from simulator.core.plugin_answers import AnswerParts, first_offered, granted
from simulator.core.resources import ResourceName

GPU = ResourceName("example.com/gpu")


def ids(*texts: str) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(text) for text in texts)


def test_an_answer_has_a_variable_and_a_node_for_each_device() -> None:
    assert granted(GPU, ids("g1", "g0"), AnswerParts()) == AllocateResponse(
        envs={"EXAMPLE_COM_GPU": "g0,g1"},
        devices=(DeviceSpec("/dev/g0", "/dev/g0", "rw"), DeviceSpec("/dev/g1", "/dev/g1", "rw")),
    )


def test_an_answer_may_have_everything_that_the_api_knows() -> None:
    parts = AnswerParts(
        envs=False, device_nodes=False, mounts=True, annotations=True, cdi_devices=True
    )

    assert granted(GPU, ids("g1", "g0"), parts) == AllocateResponse(
        mounts=(
            Mount("/var/lib/gpu/g0", "/var/lib/gpu/g0", read_only=True),
            Mount("/var/lib/gpu/g1", "/var/lib/gpu/g1", read_only=True),
        ),
        annotations={"example.com/gpu-devices": "g0,g1"},
        cdi_devices=("example.com/gpu=g0", "example.com/gpu=g1"),
    )


def test_the_first_devices_on_offer_follow_those_that_are_chosen_already() -> None:
    assert first_offered(ids("g0", "g1", "g2"), ids("g2"), 2) == ids("g2", "g0")
    assert first_offered(ids("g0", "g1"), (), -1) == ()  # The API does not rule it out (S1.4).
