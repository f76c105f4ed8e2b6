"""Two readers of one format: the core's own and the generated classes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.core import allocate_response
from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin

TEXTS = st.text(max_size=12)


def responses(entries_max: int) -> st.SearchStrategy[AllocateResponse]:
    entries = st.dictionaries(TEXTS, TEXTS, max_size=entries_max)
    return st.builds(
        AllocateResponse,
        envs=entries,
        mounts=st.lists(st.builds(Mount, TEXTS, TEXTS, st.booleans()), max_size=3).map(tuple),
        devices=st.lists(st.builds(DeviceSpec, TEXTS, TEXTS, TEXTS), max_size=3).map(tuple),
        annotations=entries,
        cdi_devices=st.lists(TEXTS, max_size=3).map(tuple),
    )


RESPONSES = responses(4)


def generated_message(response: AllocateResponse) -> device_plugin.ContainerAllocateResponse:
    return device_plugin.ContainerAllocateResponse(
        envs=response.envs,
        mounts=[
            device_plugin.Mount(
                container_path=mount.container_path,
                host_path=mount.host_path,
                read_only=mount.read_only,
            )
            for mount in response.mounts
        ],
        devices=[
            device_plugin.DeviceSpec(
                container_path=device.container_path,
                host_path=device.host_path,
                permissions=device.permissions,
            )
            for device in response.devices
        ],
        annotations=response.annotations,
        cdi_devices=[device_plugin.CDIDevice(name=name) for name in response.cdi_devices],
    )


@given(responses(entries_max=1))
def test_both_write_the_same_bytes(response: AllocateResponse) -> None:
    """Maps of one entry: the order of more is nobody's promise, and not that of Go (S4.2)."""
    generated = generated_message(response).SerializeToString()

    assert generated == allocate_response.encode(response)


@given(RESPONSES)
def test_the_core_reads_what_the_generated_classes_write(response: AllocateResponse) -> None:
    generated = generated_message(response).SerializeToString()

    assert allocate_response.decode(generated) == response
    assert allocate_response.is_decodable(generated)


@given(RESPONSES)
def test_the_generated_classes_read_what_the_core_writes(response: AllocateResponse) -> None:
    read = device_plugin.ContainerAllocateResponse.FromString(allocate_response.encode(response))

    assert read == generated_message(response)


@given(st.lists(RESPONSES, max_size=3))
def test_the_core_splits_the_answer_for_several_containers(answers: list[AllocateResponse]) -> None:
    outer = device_plugin.AllocateResponse(
        container_responses=[generated_message(answer) for answer in answers]
    )

    parts = allocate_response.container_responses(outer.SerializeToString())

    assert [allocate_response.decode(part) for part in parts] == answers
