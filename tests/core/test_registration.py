import pytest

from simulator.core.registration import accept_registration
from simulator.errors import InvalidResourceNameError, UnsupportedVersionError


def test_a_well_formed_request_names_its_resource() -> None:
    assert accept_registration(version="v1beta1", resource_name="a.com/gpu") == "a.com/gpu"


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
