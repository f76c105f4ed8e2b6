"""The incremental renderer gives the bytes of the plain one, whatever happened before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.incremental import CheckpointRenderer
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("a.example.com/nic")

uids = st.sampled_from([PodUid(f"uid-{number}") for number in range(4)])
bindings = st.builds(
    DeviceBinding,
    pod=uids,
    container=st.sampled_from([ContainerName("main"), ContainerName("<init>&")]),
    resource=st.sampled_from([GPU, NIC]),
    devices=st.dictionaries(
        st.sampled_from([NumaNode(-1), NumaNode(0), NumaNode(2), NumaNode(10)]),
        st.lists(st.sampled_from([DeviceId("d0"), DeviceId("d1\b"), DeviceId("é")])).map(tuple),
        max_size=3,
    ),
    response=st.none() | st.binary(max_size=4),
)
registered = st.lists(
    st.tuples(st.sampled_from([GPU, NIC]), st.lists(st.just(DeviceId("d0")), max_size=2)),
    max_size=2,
    unique_by=lambda item: item[0],
)
edits = st.lists(st.lists(bindings, max_size=3) | uids, max_size=12)


@given(
    edits=edits,
    registered=registered,
    form=st.sampled_from([CheckpointFormat.V1, CheckpointFormat.V2]),
    legacy_escapes=st.booleans(),
)
def test_incremental_rendering_equals_plain_rendering_after_any_edits(
    edits: list[list[DeviceBinding] | PodUid],
    registered: list[tuple[ResourceName, list[DeviceId]]],
    form: CheckpointFormat,
    legacy_escapes: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    renderer = CheckpointRenderer(form, legacy_escapes=legacy_escapes)
    held: dict[tuple[PodUid, ContainerName, ResourceName], DeviceBinding] = {}

    for edit in edits:
        if isinstance(edit, str):
            renderer.remove_pods([edit])
            held = {key: binding for key, binding in held.items() if binding.pod != edit}
        else:
            renderer.put(edit)
            held |= {(each.pod, each.container, each.resource): each for each in edit}
        expected = render(
            checkpoint_of(held.values(), registered, form), legacy_escapes=legacy_escapes
        )

        assert renderer.render(registered) == expected


def test_a_renderer_without_entries_writes_null() -> None:
    """S4.2: PodDeviceEntries is null, not [], without entries; this is vector A3."""
    renderer = CheckpointRenderer(CheckpointFormat.V2)
    devices = {NumaNode(-1): (DeviceId("g0"),)}
    renderer.put([DeviceBinding(PodUid("u"), ContainerName("c"), GPU, devices, b"")])

    renderer.remove_pods([PodUid("u")])

    assert renderer.render([(GPU, [])]) == (
        b'{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"example.com/gpu":[]}},'
        b'"Checksum":2838580107}'
    )


def test_changed_registered_devices_are_written() -> None:
    renderer = CheckpointRenderer(CheckpointFormat.V2)
    before = renderer.render([(GPU, [DeviceId("g0")])])

    after = renderer.render([(GPU, [DeviceId("g0"), DeviceId("g1")])])

    assert b'{"example.com/gpu":["g0"]}' in before
    assert b'{"example.com/gpu":["g0","g1"]}' in after
