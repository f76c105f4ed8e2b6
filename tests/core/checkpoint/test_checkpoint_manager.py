"""TestCheckpointManager (checkpoint_manager_test.go): what concerns the content."""

from __future__ import annotations

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of, read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.errors import CorruptCheckpointError

V2 = CheckpointFormat.V2
RESOURCE = ResourceName("example.com/gpu")
BINDING = DeviceBinding(
    PodUid("u1"), ContainerName("c"), RESOURCE, {NumaNode(-1): (DeviceId("g0"),)}, b""
)


def test_checkpoint_manager_writes_and_reads_back() -> None:
    content = render(checkpoint_of([BINDING], [(RESOURCE, [DeviceId("g0")])], V2))

    checkpoint = parse(content, {V2})

    assert read_bindings(checkpoint, lenient=True).bindings == (BINDING,)
    assert checkpoint.registered == {RESOURCE: (DeviceId("g0"),)}


@pytest.mark.parametrize(
    "content",
    [
        b'{"Version":"v1","Name":"pod1","Data":{"PortMappings":[{"ContainerPort":80}]},"Checksum":1}',
        b'{"version":"v1","name":"a","data":{"port_mappings":null},"checksum":3467439661}',
        b'{"Version":"v1","Checksum":3467439661}',
    ],
)
def test_checkpoint_manager_calls_data_of_another_shape_corrupted(content: bytes) -> None:
    """Unknown members are ignored, so what is left is empty and its checksum is another one."""
    with pytest.raises(CorruptCheckpointError, match=r"^checkpoint is corrupted$"):
        parse(content, {V2})
