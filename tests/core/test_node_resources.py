import pytest

from simulator.core.behavior import ExtendedResourceReset
from simulator.core.node_resources import (
    admit_by_account,
    counted_requests,
    resets_extended_resources,
)
from simulator.core.refusals import ADMITTED
from simulator.core.resources import ResourceName
from tests.core.driving import GPU, NIC

FOO = ResourceName("foo.com/bar")


@pytest.mark.parametrize(
    ("allocatable", "claimed", "counted"),
    [
        ({FOO: 5}, (), {FOO: 1}),
        ({FOO: 0}, (), {FOO: 1}),
        ({}, (), {}),
        ({FOO: 5}, (FOO,), {}),
    ],
)
def test_requests_that_the_node_accounts_for__TestRemoveMissingExtendedResources(
    allocatable: dict[ResourceName, int],
    claimed: tuple[ResourceName, ...],
    counted: dict[ResourceName, int],
) -> None:
    assert counted_requests({FOO: 1}, allocatable=allocatable, claimed=claimed) == counted


@pytest.mark.parametrize(
    ("reset", "files", "resets"),
    [
        (ExtendedResourceReset.WITHOUT_CHECKPOINT, ["kubelet_internal_checkpoint"], False),
        (ExtendedResourceReset.WITHOUT_CHECKPOINT, ["kubelet.sock"], False),
        (ExtendedResourceReset.WITHOUT_CHECKPOINT, [], True),
        (ExtendedResourceReset.WITHOUT_CHECKPOINT, [".kubelet_internal_checkpoint1"], True),
        (ExtendedResourceReset.ALWAYS, ["kubelet_internal_checkpoint"], True),
        (ExtendedResourceReset.NEVER, [], False),
    ],
)
def test_a_listed_file_prevents_the_reset__TestResetExtendedResource(
    reset: ExtendedResourceReset, files: list[str], *, resets: bool
) -> None:
    """X11: with the registration socket there and no checkpoint nothing is reset."""
    assert resets_extended_resources(reset, files) is resets


def test_a_pod_that_does_not_fit_is_out_of_its_resource() -> None:
    """S13.3."""
    refused = admit_by_account({GPU: 2, NIC: 1}, used={GPU: 3}, allocatable={GPU: 4, NIC: 1})

    assert not refused.admitted
    assert refused.reason == "OutOfexample.com/gpu"
    assert refused.message == (
        "Node didn't have enough resource: example.com/gpu, requested: 2, used: 3, capacity: 4"
    )
    assert admit_by_account({GPU: 1}, used={GPU: 3}, allocatable={GPU: 4}) == ADMITTED
