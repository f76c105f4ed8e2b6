import pytest

from simulator.core.registration import (
    RegisterRequest,
    accept_registration,
    oversize,
    registration_health,
)
from simulator.core.switches import behavior_for
from simulator.errors import InvalidResourceNameError, UnsupportedVersionError


def test_a_well_formed_request_names_its_resource() -> None:
    assert accept_registration(version="v1beta1", resource_name="a.com/gpu") == "a.com/gpu"


def test_texts_of_any_length_are_not_looked_at() -> None:
    """Issue 4 D: everything is bounded."""
    most = "x" * 4_096

    assert oversize(RegisterRequest(most, version=most, endpoint=most)) == ""
    assert oversize(RegisterRequest("a", endpoint=most + "x")) == (
        "the endpoint has 4097 characters, at most 4096 are taken"
    )
    assert oversize(RegisterRequest(most + "x")).startswith("the resource name has 4097 ")


@pytest.mark.parametrize("version", ["v1alpha", "", "v1", "v1beta2"])
def test_another_version_is_refused_before_the_name_is_looked_at(version: str) -> None:
    """S1.12.2."""
    with pytest.raises(UnsupportedVersionError) as refused:
        accept_registration(version=version, resource_name="gpu")

    assert str(refused.value) == (
        f'requested API version "{version}" is not supported by kubelet. '
        'Supported version is ["v1beta1"]'
    )


@pytest.mark.parametrize(
    "name", ["gpu", "kubernetes.io/gpu", "requests.foo/x", "A.com/gpu", "a.com/b/c", ""]
)
def test_a_name_that_is_no_extended_resource_is_refused(name: str) -> None:
    """S1.12.3, S1.15."""
    with pytest.raises(InvalidResourceNameError) as refused:
        accept_registration(version="v1beta1", resource_name=name)

    assert str(refused.value) == f'the ResourceName "{name}" is invalid'


@pytest.mark.parametrize(
    ("version", "serving", "failed", "healthy"),
    [
        ("1.36.2", True, False, True),
        ("1.36.2", False, True, False),
        ("1.36.2", False, False, True),
        ("1.32.10", False, False, False),
        ("1.32.10", True, False, True),
    ],
)
def test_the_registration_server_is_unhealthy_when_it_has_ended_or_until_it_has_begun(
    version: str, *, serving: bool, failed: bool, healthy: bool
) -> None:
    """S1.11; 1.32.10 list: up to 1.35 the check fails before the start."""
    text = (
        "device registration error: device plugin registration gRPC server failed and no device "
        "plugins can register"
    )

    found = registration_health(behavior_for(version), serving=serving, failed=failed)
    assert found == ("" if healthy else text)
