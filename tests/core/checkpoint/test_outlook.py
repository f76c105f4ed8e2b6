"""The words about a kubelet's next start; tests/engine/test_outlook.py shows that they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.outlook import outlook, sentences, summary
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding

GPU = ResourceName("example.com/gpu")
UNDECODABLE = b"\xff"


def a_file(
    form: CheckpointFormat, pods: Iterable[str] = ("u1",), response: bytes = b""
) -> tuple[bytes, Checkpoint]:
    bindings = [
        DeviceBinding(
            PodUid(pod), ContainerName("app"), GPU, {NumaNode(0): (DeviceId(f"g-{pod}"),)}, response
        )
        for pod in pods
    ]
    checkpoint = checkpoint_of(bindings, [(GPU, [DeviceId("g0")])], form)
    return render(checkpoint), checkpoint


V1 = a_file(CheckpointFormat.V1)
V2 = a_file(CheckpointFormat.V2, ("u1", "u2"))
BROKEN = b"{", None


def said(file: tuple[bytes, Checkpoint | None], kubelet: str | Behavior) -> str:
    behavior = behavior_for(kubelet) if isinstance(kubelet, str) else kubelet
    return "\n".join(sentences(outlook(*file, behavior)))


@pytest.mark.parametrize(
    ("version", "at_restart", "after_reboot"),
    [
        ("1.24", "with the remembered devices.", "whether these are still there or not (R02)."),
        (
            "1.27.2",
            "it refuses the 2 pods that it has records of when",
            "it refuses them otherwise",
        ),
        ("1.28", "as long as their containers run", "it refuses them otherwise"),
        ("trust-checkpoint", "with the remembered devices.", "whether these are still there"),
    ],
)
def test_readmission_is_told_by_version(version: str, at_restart: str, after_reboot: str) -> None:
    """S5.4."""
    lines = said(V2, version).splitlines()

    (restart,) = [line for line in lines if line.startswith("At a kubelet restart")]
    (reboot,) = [line for line in lines if line.startswith("After a reboot")]
    assert at_restart in restart
    assert after_reboot in reboot


def test_the_old_instance_is_named_where_it_may_be_looked_up() -> None:
    """S5.6, R04: until 1.34.6."""
    assert "may pass for not running" in said(V2, "1.34.6")
    assert "may pass for not running" not in said(V2, "1.34.7")


def test_v1_ids_are_put_under_node_0_by_kubelets_that_know_nodes() -> None:
    """S4.15."""
    assert "under NUMA node 0" in said(V1, "1.22.5")
    assert "under NUMA node 0" not in said(V1, "1.19")


def test_a_format_that_is_not_read_is_told_with_those_that_read_it() -> None:
    """S4.15: the gap of 1.20 to 1.22, and 1.30."""
    for version in ("1.20.13", "1.30"):
        text = said(V1, version)

        assert "It loses 1 entry of 1 pod" in text
        assert (
            "Files of this format are read by 1.10 to 1.19, 1.20.14 to 1.20.x, "
            "1.21.8 to 1.21.x, 1.22.5 to 1.29."
        ) in text


def test_the_format_before_1_10_was_read_before_1_10() -> None:
    """Field report F09: 1.9 wrote it; nothing that came after reads it."""
    text = said(a_file(CheckpointFormat.BARE), "1.10")

    assert "Files of this format are read by 1.9 and before, and by no kubelet since." in text


def test_a_single_pod_is_not_spoken_of_as_many() -> None:
    one = said(V1, "1.25")
    two = said(V2, "1.25")

    assert "of this pod " in one
    assert "admits the pod that it has records of" in one
    assert "of these pods " in two
    assert "admits the 2 pods that it has records of" in two


def test_a_damaged_file_loses_what_nobody_can_tell() -> None:
    text = said(BROKEN, "1.36.2")

    assert "It cannot read the file: unexpected end of JSON input." in text
    assert "It loses" not in text
    assert "It does not know any resource until the plugin registers" in text
    assert "the file stays as it is till then" in text
    assert summary(outlook(*BROKEN, behavior_for("1.36.2"))) == (
        "cannot read it and starts without any record: unexpected end of JSON input"
    )


def test_a_wrong_checksum_is_not_told_as_a_wrong_format() -> None:
    content, checkpoint = V2
    text = said((content.replace(b"g-u1", b"g-u3"), checkpoint), "1.36.2")

    assert "checkpoint is corrupted" in text
    assert "It loses 2 entries of 2 pods" in text
    assert "Files of this format" not in text


def test_what_cannot_be_decoded_is_left_out_and_lost() -> None:
    """S4.13."""
    expected = outlook(*a_file(CheckpointFormat.V2, response=UNDECODABLE), behavior_for("1.36.2"))

    assert summary(expected) == "restores 0 entries, leaves 1 out"
    assert "It leaves out pod u1, container app, example.com/gpu" in "\n".join(sentences(expected))
    assert expected.lost == ()


@pytest.mark.parametrize(
    ("response", "loses"), [(b"\x0b\x0c", "1.32.10"), (b"\x0a\x03\x0a\x01\xff", "1.36.2")]
)
def test_what_one_kubelet_cannot_decode_and_another_can_is_lost_for_it(
    response: bytes, loses: str
) -> None:
    """1.32.10 list: groups are skipped since 1.36, and text that is no UTF-8 is refused."""
    file = a_file(CheckpointFormat.V2, response=response)

    for version in ("1.32.10", "1.36.2"):
        expected = outlook(*file, behavior_for(version))
        assert len(expected.skipped) == (version == loses)
        assert len(expected.restored) == (version != loses)


def test_a_node_is_zeroed_in_spite_of_its_file_from_1_11_to_1_14() -> None:
    """S2.16."""
    assert "extended resources to 0" in said(BROKEN, "1.14")
    assert "keeps the capacity" in said(BROKEN, "1.15")
    assert "keeps the capacity" in said(BROKEN, "1.10")


def test_1_19_writes_at_every_admission_and_in_v1() -> None:
    """R50, S4.3."""
    text = said(V1, "1.19")

    assert "at the next admission of any pod" in text
    assert "in format V1 (S4.10)" in text
    assert "That form is read by" not in text


def test_a_file_that_is_written_in_another_format_next_names_its_readers() -> None:
    assert "That form is read by 1.20 and later" in said(V1, "1.25")


def test_an_empty_file_of_a_new_node_says_little() -> None:
    file = render(empty := Checkpoint(CheckpointFormat.V2, None, {})), empty

    assert said(file, "1.36.2").splitlines() == [
        "It reads the file and restores 0 entries of 0 pods.",
        "It writes the file next when a plugin first reports its devices, in format V2 (S4.10).",
    ]


def test_an_entry_without_devices_has_none_in_use() -> None:
    empty = DeviceBinding(PodUid("u1"), ContainerName("app"), GPU, {}, b"")
    checkpoint = checkpoint_of([empty], [], CheckpointFormat.V2)

    assert "in use" not in said((render(checkpoint), checkpoint), "1.36.2")


def test_a_behavior_of_ones_own_is_told_as_well() -> None:
    behavior = replace(behavior_for("1.36.2"), checkpoint_at_every_admission=True)

    assert "at the next admission of any pod" in said(V2, behavior)
