"""Extended resource names (S1.15)."""

import pytest

from simulator.core.resources import is_extended_resource_name


@pytest.mark.parametrize(
    "name",
    [
        "example.com/gpu",
        "a/b",
        "vendor.com/GPU_1.x-y",
        "x" * 63 + "/" + "y" * 63,
        ".".join(["a" * 61] * 3 + ["a" * 58]) + "/gpu",
    ],
)
def test_an_extended_resource_name_is_accepted(name: str) -> None:
    assert is_extended_resource_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "gpu",
        "kubernetes.io/gpu",
        "x.kubernetes.io/gpu",
        "requests.foo/x",
        "A.com/gpu",
        "a.com/b/c",
        "a.com/",
        "/gpu",
        "a.com/-gpu",
        "a.com/gpu-",
        "a..com/gpu",
        "a.com/" + "y" * 64,
        # 253 characters are allowed with `requests.` in front, so 245 are one too many.
        ".".join(["a" * 61] * 3 + ["a" * 59]) + "/gpu",
        "a.com/g\n",
    ],
)
def test_any_other_name_is_refused(name: str) -> None:
    assert not is_extended_resource_name(name)
