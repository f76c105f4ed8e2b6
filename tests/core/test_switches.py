"""The switch table against the oracle (S5.4, appendix C and E, details 1 to 5)."""

from dataclasses import fields
from typing import NamedTuple

import pytest

from simulator.core.behavior import (
    Behavior,
    CheckpointFormat,
    DisconnectMatch,
    ExtendedResourceReset,
    HintNodes,
    RunningCheck,
    ServedMethod,
    VanishedDevice,
)
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import NumaNode
from simulator.core.facts import ContainerInstance
from simulator.core.pods import PodUid
from simulator.core.switches import SWITCHES, behavior_for, profile_of, profiles
from simulator.core.transitions import DeviceBinding
from simulator.errors import ConfigError
from tests.core.driving import GPU, MAIN, Rig, ids, pod

POD = pod("p1", {GPU: 2})
RUNNING = ContainerInstance(POD.uid, MAIN, "id-1", running=True)
NO_HEALTHY = "no healthy devices present; cannot allocate unhealthy devices example.com/gpu"


def test_the_defaults_are_those_of_1_36_2() -> None:
    assert behavior_for("1.36.2") == Behavior()
    assert behavior_for("v1.36.2") == Behavior()


def test_every_field_but_version_and_note_has_a_row_in_the_same_order() -> None:
    rows = [switch.name for switch in SWITCHES]

    assert ["version", "note", *rows] == [field.name for field in fields(Behavior)]
    assert all(switch.source and switch.meaning for switch in SWITCHES)
    assert all(change.source for switch in SWITCHES for change in switch.changes)


@pytest.mark.parametrize("text", ["1.9", "1.9.11", "1.0.0"])
def test_a_kubelet_before_1_10_cannot_be_replayed(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is older than 1\.10, the oldest that can be replayed"):
        behavior_for(text)


def test_a_newer_version_behaves_like_the_newest_and_says_so() -> None:
    assert behavior_for("1.36").note == ""
    assert behavior_for("1.36.3").note == (
        "kubelet 1.36.3 is newer than 1.36.2, the newest known; it behaves like that"
    )
    assert behavior_for("1.41.0").note != ""
    assert behavior_for("1.41.0").running_check is RunningCheck.ANY
    assert behavior_for("1.37.0").disconnect_match is DisconnectMatch.OWN_ENDPOINT


def test_a_version_with_changes_of_its_own_says_which_profile_it_uses() -> None:
    assert behavior_for("1.40").note == (
        "kubelet 1.40 is newer than 1.36.2, the newest known; it behaves like that with what was "
        "merged since (profile 1.37.0)"
    )


@pytest.mark.parametrize(
    ("version", "profile"),
    [("1.25.12", "1.25.10"), ("1.27.6", "1.27.6"), ("v1.31.3+k3s1", "1.30.5"), ("1.24", "1.23.0"),
     ("1.36.0-rc.1", "1.36.0"), ("1.36.2", "1.36.0"), ("1.40", "1.37.0"), ("1.21.3", "1.21.0"),
     ("1.21.8", "1.21.8"), ("1.13.5", "1.11.0"), ("trust-checkpoint", "trust-checkpoint")],
)  # fmt: skip
def test_a_profile_is_named_by_the_first_release_that_has_it(version: str, profile: str) -> None:
    """Back-ports included (table 5.4)."""
    assert profile_of(behavior_for(version)) == profile


def test_the_first_and_the_last_profile_are_those_of_1_10_and_of_what_comes_after_1_36() -> None:
    names = list(profiles().values())

    assert (names[0], names[-1]) == ("1.10.0", "1.37.0")
    assert all(profile_of(behavior_for(name)) == name for name in names)


def test_trust_checkpoint_is_labelled_as_no_release() -> None:
    behavior = behavior_for("trust-checkpoint")

    assert behavior.trusts_checkpoint
    assert behavior.version == "trust-checkpoint"
    assert "no release" in behavior.note


# kubelet-behaviour.md 5.4: a pod with recorded devices is admitted again after a kubelet restart
# (KR) or a reboot (RB), with its plugin not yet back (np) or back (p).


class Readmitted(NamedTuple):
    """What happened to the pod: the message of its refusal, the ids it has, and Allocate calls."""

    message: str
    held: list[str]
    calls: int


def readmit(version: str, instance: ContainerInstance | None, *, plugged: bool) -> Readmitted:
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    rig.admit(POD)
    rig.start(*([] if instance is None else [instance]), sources_ready=False)
    if plugged:
        rig.plug(GPU, "g0", "g1", "g2", "g3")
    calls = len(rig.calls)
    admission = rig.admit(POD)
    return Readmitted(admission.message, rig.held("p1"), len(rig.calls) - calls)


KEPT = Readmitted("", ["g0", "g1"], 0)
FAILED = Readmitted(f"Allocate failed due to {NO_HEALTHY}, which is unexpected", ["g0", "g1"], 0)

ALWAYS_ADMITTED = [
    "1.10.0",
    "1.14",
    "1.15",
    "1.16",
    "1.17",
    "1.19",
    "1.20.0",
    "1.20.2",
    "1.22.1",
    "1.23",
    "1.24",
    "1.25.9",
    "1.26.4",
    "1.27.0",
    "1.27.1",
]
KILLED_BY_RESTART = ["1.25.10", "1.25.13", "1.26.5", "1.26.8", "1.27.2", "1.27.5"]
SPARED_WHILE_RUNNING = [
    "1.25.14",
    "1.25",
    "1.26.9",
    "1.27.6",
    "1.28.0",
    "1.31",
    "1.32.10",
    "1.33.1",
    "1.34.0",
    "1.34.7",
    "1.35.4",
    "1.36.0",
    "1.36.2",
]


@pytest.mark.parametrize("version", [*ALWAYS_ADMITTED, *SPARED_WHILE_RUNNING])
def test_a_running_pod_survives_a_kubelet_restart_without_its_plugin(version: str) -> None:
    assert readmit(version, RUNNING, plugged=False) == KEPT


@pytest.mark.parametrize("version", KILLED_BY_RESTART)
def test_a_running_pod_is_killed_by_a_kubelet_restart_without_its_plugin(version: str) -> None:
    """Issue 118559."""
    assert readmit(version, RUNNING, plugged=False) == FAILED


@pytest.mark.parametrize("version", ALWAYS_ADMITTED)
def test_after_a_reboot_without_plugin_the_pod_is_admitted_on_stale_devices(version: str) -> None:
    """Issues 67107 and 109595."""
    assert readmit(version, None, plugged=False) == KEPT


@pytest.mark.parametrize("version", [*KILLED_BY_RESTART, *SPARED_WHILE_RUNNING])
def test_after_a_reboot_without_plugin_the_pod_fails(version: str) -> None:
    assert readmit(version, None, plugged=False) == FAILED


@pytest.mark.parametrize("version", [*ALWAYS_ADMITTED, *KILLED_BY_RESTART, *SPARED_WHILE_RUNNING])
@pytest.mark.parametrize("instance", [RUNNING, None])
def test_with_its_plugin_back_the_pod_keeps_its_devices(
    version: str, instance: ContainerInstance | None
) -> None:
    assert readmit(version, instance, plugged=True) == KEPT


def v1_file() -> bytes:
    binding = DeviceBinding(POD.uid, MAIN, GPU, {NumaNode(0): ids("g0", "g1")}, b"")
    return render(checkpoint_of([binding], [(GPU, ids("g0", "g1"))], CheckpointFormat.V1))


@pytest.mark.parametrize("version", ["1.20.0", "1.20.13", "1.21.7", "1.22.4"])
def test_the_upgrade_to_1_20_loses_the_records_of_a_v1_file(version: str) -> None:
    """Issue 102880: the pod is admitted without a record, its devices count as free."""
    rig = Rig(behavior=behavior_for(version), file=v1_file())
    restored = rig.start(RUNNING, sources_ready=False)

    assert "cannot unmarshal array" in restored.error
    assert rig.admit(POD).admitted
    assert rig.held("p1") == []

    rig.facts.sources_ready = True
    rig.plug(GPU, "g0", "g1")

    assert rig.admit(pod("p2", {GPU: 2})).admitted
    assert rig.held("p2") == ["g0", "g1"]


@pytest.mark.parametrize("version", ["1.20.14", "1.21.8", "1.22.5", "1.23.0", "1.29.15"])
def test_later_patches_read_a_v1_file(version: str) -> None:
    rig = Rig(behavior=behavior_for(version), file=v1_file())

    assert rig.start(sources_ready=False).error == ""
    assert rig.held("p1") == ["g0", "g1"]


def test_from_1_30_on_a_v1_file_is_not_read_any_more() -> None:
    rig = Rig(behavior=behavior_for("1.30.0"), file=v1_file())

    assert rig.start(sources_ready=False).error != ""
    assert rig.held("p1") == []


@pytest.mark.parametrize(
    ("version", "admitted"),
    [("1.33.9", False), ("1.34.6", False), ("1.34.7", True), ("1.35.3", False), ("1.35.4", True),
     ("1.36.0", True)],
)  # fmt: skip
def test_an_exited_instance_hides_the_running_one_until_any_is_looked_at(
    version: str, *, admitted: bool
) -> None:
    """S5.6, issue 133451; the sorted choice is the harmful one (details 3)."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    exited = ContainerInstance(POD.uid, MAIN, "id-0", running=False)
    rig.start(RUNNING, exited, sources_ready=False)

    assert rig.admit(POD).admitted is admitted


@pytest.mark.parametrize(
    ("name", "value", "since", "before"),
    [
        # details 1: named minors
        ("contracted_unregistered_text", False, "1.25.10 1.26.5 1.27.2", "1.25.9 1.26.4 1.27.1"),
        ("legacy_json_escapes", False, "1.30.0", "1.29.15"),
        ("sidecar_devices_dedicated", True, "1.29.0", "1.28.9"),
        ("sidecars_in_pod_request", True, "1.29.0", "1.28.9"),
        # details 1: not named
        ("zero_limits_skipped_at_start", True, "1.25.0", "1.24"),
        ("inactive_pods_reallocated", False, "1.25.0", "1.24"),
        ("empty_topology_counts", False, "1.25.0", "1.24"),
        ("merge_needs_equal_masks", True, "1.25.0", "1.24"),
        ("node_order_is_arbitrary", False, "1.25.0", "1.24"),
        ("disconnect_match", DisconnectMatch.RESOURCE_NAME, "1.25.0 1.36.2", "1.24"),
        # details 4
        ("rejected_pods_become_active", True, "1.26.0", "1.25"),
        # appendix C
        ("plugin_directory_emptied", False, "1.36.0", "1.35.9"),
        ("hint_nodes", HintNodes.DEVICE_BEARING, "1.36.0", "1.35.9"),
        ("claimed_resources_skipped", True, "1.36.0", "1.35.9"),
        ("vanished_device", VanishedDevice.CRASH, "1.36.0", "1.35.9 1.32.10"),
        ("resource_health_in_status", True, "1.36.0", "1.35.9"),
        ("watched_plugins_retried", True, "1.36.0", "1.35.9"),
        ("pod_resources_active_pods_only", True, "1.34.0", "1.33.9"),
        ("pod_resources_get_served", ServedMethod.ON, "1.34.0", "1.33.9"),
        ("pod_resources_get_served", ServedMethod.OFF, "1.27.0 1.33.9", "1.26.9"),
        ("pod_resources_terminal_pods_hidden", True, "1.34.7 1.35.4 1.36.0", "1.34.6 1.35.3"),
        # appendix E
        ("checkpoint_at_every_admission", False, "1.20.0", "1.19"),
        ("topologyless_under_node_zero", True, "1.20.0 1.21.14", "1.19"),
        ("topologyless_under_node_zero", False, "1.22.0", "1.21.14"),
        ("pod_resources_releases", True, "1.20.0", "1.19"),
        # the table of field-reports.md, and the reports it names
        ("same_devices_ignored", False, "1.10.3 1.11.0", "1.10.0"),
        ("start_waits_for_plugin", True, "1.12.0 1.12.10", "1.11.0 1.13.0"),
        ("recorded_devices_hinted", True, "1.17.0", "1.16"),
        ("pod_resources_sidecars_listed", True, "1.29.0", "1.28"),
        # the rules themselves
        ("device_topology_known", True, "1.16.0", "1.15"),
        ("preferred_allocation_known", True, "1.19.0", "1.18"),
        ("cdi_devices_known", True, "1.28.0", "1.27"),
        ("cdi_devices_passed", True, "1.29.0", "1.28"),
        ("health_updates_by_resource", True, "1.37.0", "1.36"),
        ("rejections_counted", True, "1.32.0", "1.31"),
        ("pod_resources_versions", frozenset({"v1alpha1"}), "1.15.0 1.19", "1.14 1.20.0"),
        ("pod_resources_versions", frozenset({"v1alpha1", "v1"}), "1.20.0", "1.19"),
        ("pod_resources_allocatable_served", ServedMethod.ON, "1.23.0", "1.22"),
        ("pod_resources_allocatable_served", ServedMethod.OFF, "1.21.0 1.22", "1.20.15"),
        ("pod_resources_rate_limited", True, "1.27.0", "1.26"),
        ("pod_resources_entry_per_device", True, "1.25.0", "1.24"),
        ("registration_health_needs_start", False, "1.36.0", "1.35.9 1.32.10"),
        ("event_qps", 50, "1.27.0", "1.26"),
        ("event_burst", 100, "1.27.0", "1.26"),
        ("rejected_status_prefix", "Pod was rejected: ", "1.26.0", "1.25"),
        ("registered_options_used", False, "1.25.0", "1.24"),
        ("register_asynchronous", False, "1.25.0", "1.24"),
        ("unhealthy_devices_allocatable", False, "1.23.0", "1.22"),
        ("api_qps", 50, "1.27.0", "1.26"),
        ("api_burst", 100, "1.27.0", "1.26"),
        ("terminated_pods_readmitted", False, "1.28.14 1.29.9 1.30.5 1.31.1", "1.31.0"),
        ("extended_resource_reset", ExtendedResourceReset.ALWAYS, "1.11.0 1.14", "1.10.0"),
        ("extended_resource_reset", ExtendedResourceReset.WITHOUT_CHECKPOINT, "1.15.0", "1.14"),
        ("checkpoint_written", CheckpointFormat.V2, "1.20.0", "1.19"),
    ],
)  # fmt: skip
def test_a_switch_changes_at_the_release_that_is_named(
    name: str, value: object, since: str, before: str
) -> None:
    assert {getattr(behavior_for(version), name) for version in since.split()} == {value}
    assert value not in {getattr(behavior_for(version), name) for version in before.split()}


def test_a_completed_init_container_fails_its_running_pod() -> None:
    """S5.15, issues 124345 and 138446."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    rig.start(ContainerInstance(PodUid("p1"), MAIN, "id-1", running=False), sources_ready=False)

    assert rig.admit(POD).message == rig.message(NO_HEALTHY)
