import pytest

from simulator.core.kubelet_version import KubeletVersion, parse_version
from simulator.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.27.2", KubeletVersion(27, 2)),
        ("v1.31.3+k3s1", KubeletVersion(31, 3)),
        ("1.36.0-rc.1", KubeletVersion(36, 0)),
        ("v1.27.3-gke.100", KubeletVersion(27, 3)),
        ("1.27.16-eks-a737599", KubeletVersion(27, 16)),
        ("v1.29.6+rke2r1", KubeletVersion(29, 6)),
    ],
)
def test_a_version_is_read_as_releases_and_distributions_write_it(
    text: str, version: KubeletVersion
) -> None:
    assert parse_version(text) == version


def test_a_minor_version_alone_stands_for_its_newest_patch() -> None:
    assert parse_version("1.25") > parse_version("1.25.16")
    assert parse_version("1.25") < parse_version("1.26.0")
    assert str(parse_version("1.25")) == "1.25"
    assert str(parse_version("v1.25.3+k3s1")) == "1.25.3"


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.", "1.x", "2.0.0", "0.27.2", "1.27.", "1.27.2.3", "banana", "1.027.2", "1.27-rc.1",
     "1.27.2 ", " 1.27.2", "1.27.2-", "1.٣.2", "1.27.2\n", "1" * 500],
)  # fmt: skip
def test_nonsense_is_refused_in_one_line_that_says_what_to_write(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_version(text)

    message = str(refused.value)
    assert "is not a kubelet version; write one such as 1.36.2" in message
    assert "\n" not in message
    assert len(message) < 160
