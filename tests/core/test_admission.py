"""How containers get their devices, and why not (S3, S13).

What a refused admission leaves behind stands in tests/recovery/test_refused_admission.py.
"""

from dataclasses import replace

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import (
    AllocateReply,
    CallFailed,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
)
from simulator.core.devices import NO_NUMA_NODE
from simulator.core.instants import MINUTE, Duration
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.panics import KubeletPanic
from simulator.core.pods import ContainerKind, ContainerName, PodUid
from simulator.core.records import (
    AdmissionDecided,
    DevicesAllocated,
    PluginCalled,
    StateWritten,
    TopologyMerged,
)
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, MAIN, NIC, Rig, container, device, ids, pod

CPU = ResourceName("cpu")
INIT, SIDECAR = ContainerKind.INIT, ContainerKind.SIDECAR


def expire(rig: Rig, resource: ResourceName = GPU) -> None:
    """Let the grace period of a resource's plugin pass."""
    rig.manager.disconnect(resource)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())


def test_what_an_admission_does_is_recorded_in_order() -> None:
    rig = Rig()
    rig.plug(GPU, "g0", "g1", preferred=True)
    rig.manager.take_records()

    rig.admit(pod("p1", {GPU: 1, CPU: 4}))

    uid = PodUid("p1")
    assert rig.file is not None
    assert rig.manager.take_records() == [
        PluginCalled("GetPreferredAllocation", GPU, uid, MAIN, ()),
        PluginCalled("Allocate", GPU, uid, MAIN, ids("g0")),
        DevicesAllocated(uid, MAIN, GPU, {NO_NUMA_NODE: ids("g0")}),
        StateWritten("checkpoint", "allocation", len(rig.file)),
        AdmissionDecided(uid, admitted=True, held=((uid, MAIN, GPU, ids("g0")),)),
    ]


def test_a_changed_request_is_refused_even_while_running() -> None:
    """Step A."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))

    assert rig.admit(pod("p1", {GPU: 2})).message == rig.message(
        'pod "p1" container "main" changed request for resource "example.com/gpu" from 1 to 2'
    )


def test_a_limit_of_0_is_refused_while_nothing_is_healthy() -> None:
    """Step D, X13."""
    rig = Rig()
    rig.plug(GPU, "g0")
    assert rig.admit(pod("p1", {GPU: 0})).admitted

    rig.manager.disconnect(GPU)
    assert rig.admit(pod("p2", {GPU: 0})).message == rig.message(
        "no healthy devices present; cannot allocate unhealthy devices example.com/gpu"
    )


def test_before_1_25_10_nothing_healthy_is_just_too_few() -> None:
    """1.20.2/DIFFERENCES 2 and 3: an empty set remains, so the resource stays known."""
    rig = Rig(behavior=behavior_for("1.24"))
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)

    assert rig.admit(pod("p1", {GPU: 0})).admitted
    assert rig.admit(pod("p2", {GPU: 2})).message == rig.message(
        "requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 0"
    )
    assert rig.allocated() == []


@pytest.mark.parametrize(
    ("version", "words"), [("1.24", "can't allocate"), ("1.36.2", "cannot allocate")]
)
def test_the_words_for_an_unregistered_resource_changed(version: str, words: str) -> None:
    """1.20.2/DIFFERENCES 4."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))
    expire(rig)

    assert rig.admit(pod("p2", {GPU: 1})).message == rig.message(
        f"{words} unregistered device example.com/gpu"
    )


def test_requested_in_the_message_is_what_is_still_needed() -> None:
    """Step I: one of three is reused from the init container."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    created = pod("p1", container("init", {GPU: 1}, INIT), container("app", {GPU: 3}))

    assert rig.admit(created).message == rig.message(
        "requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1"
    )


def test_a_device_of_an_init_container_is_reused_although_it_is_unhealthy_by_now() -> None:
    """Step H: the health of reusable ids is not checked."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.meanwhile = lambda: rig.report(GPU, device("g0", "Unhealthy"), "g1")

    assert rig.admit(
        pod("p1", container("init", {GPU: 1}, INIT), container("app", {GPU: 1}))
    ).admitted
    assert rig.held("p1", "app") == ["g0"]


def test_before_1_29_a_sidecar_hands_its_devices_on_like_any_init_container() -> None:
    """R42, PR 120461."""
    created = pod("p1", container("side", {GPU: 1}, SIDECAR), container("app", {GPU: 1}))
    old, new = Rig(behavior=behavior_for("1.28.3")), Rig(behavior=behavior_for("1.29.0"))
    for rig in (old, new):
        rig.plug(GPU, "g0", "g1")
        assert rig.admit(created).admitted

    assert (old.held("p1", "side"), old.held("p1", "app")) == (["g0"], ["g0"])
    assert (new.held("p1", "side"), new.held("p1", "app")) == (["g0"], ["g1"])


@pytest.mark.parametrize(("version", "crashes"), [("1.25", True), ("1.26.0", False)])
def test_reuse_into_a_set_that_is_not_there_crashed(version: str, *, crashes: bool) -> None:
    """1.20.2/DIFFERENCES 9, PR 113021: the record was collected, the reusable ids were not."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0")
    created = pod("p1", container("init", {GPU: 1}, INIT), container("app", {GPU: 1}))
    rig.facts.active_pods.add(created)
    rig.run(rig.manager.allocate(created, ContainerName("init")))
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    if crashes:
        with pytest.raises(KubeletPanic, match=r"S3\.17"):
            rig.run(rig.manager.allocate(created, ContainerName("app")))
    else:
        assert rig.run(rig.manager.allocate(created, ContainerName("app"))) == ""


def test_a_preference_outside_the_candidates_is_ignored_and_topped_up() -> None:
    """S3.18."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1", "g2", "g3", preferred=True)
    rig.admit(pod("p0", {GPU: 1}))
    rig.on_preferred = lambda _: PreferredAllocationReply(ids("bogus", "g0", "g3"))

    assert rig.admit(pod("p1", {GPU: 2})).admitted
    assert rig.held("p1") == ["g1", "g3"]


def test_the_plugin_is_asked_with_what_is_already_chosen() -> None:
    """S1.25."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1", "g2", preferred=True)
    rig.admit(pod("p1", container("init", {GPU: 1}, INIT), container("app", {GPU: 2})))

    asked = [call for call in rig.calls if isinstance(call, PreferredAllocationCall)]
    assert (asked[1].available, asked[1].must_include, asked[1].size) == (
        ids("g0", "g1", "g2"),
        ids("g0"),
        2,
    )


def test_a_resource_with_devices_but_without_endpoint_is_refused() -> None:
    """S3.18: an old stream goes on delivering after the resource was removed (S1.23)."""
    rig = Rig()
    rig.report(GPU, "g0")

    assert rig.admit(pod("p1", {GPU: 1})).message == rig.message(
        "endpoint not found in cache for a registered resource: example.com/gpu"
    )


@pytest.mark.parametrize("reservations", Reservations)
def test_an_endpoint_lost_between_two_containers_is_an_unknown_plugin(
    reservations: Reservations,
) -> None:
    """S3.10: the second container reuses, so nobody asks for a preference before."""
    rig = Rig(reservations=reservations)
    rig.plug(GPU, "g0")

    def lose() -> None:
        expire(rig)
        rig.report(GPU, "g0")

    rig.meanwhile = lose
    refused = rig.admit(pod("p1", container("init", {GPU: 1}, INIT), container("app", {GPU: 1})))

    assert refused.message == rig.message("unknown Device Plugin example.com/gpu")
    assert rig.manager.violations() == []


@pytest.mark.parametrize(
    ("reservations", "outcome"),
    [
        (Reservations.UPSTREAM, ""),
        (
            Reservations.TRANSACTIONAL,
            "unexpectedly allocated less resources than required. Requested: 2, Got: 1",
        ),
    ],
)
def test_devices_that_fall_ill_while_the_plugin_is_asked(
    reservations: Reservations, outcome: str
) -> None:
    """The kubelet takes what it found before it dropped its lock (S3.18); Rebind looks again."""
    rig = Rig(reservations=reservations)
    rig.plug(GPU, "g0", "g1", preferred=True)
    rig.meanwhile = lambda: rig.report(GPU, "g0", device("g1", "Unhealthy"))

    admission = rig.admit(pod("p1", {GPU: 2}))

    assert admission.message == (rig.message(outcome) if outcome else "")
    assert rig.manager.violations() == []


@pytest.mark.parametrize(
    ("version", "recorded"),
    [("1.36.2", None), ("1.32.10", {-1: ids("g0")}), ("1.20.2", {0: ids("g0")})],
)
def test_a_device_that_vanishes_during_its_allocation(
    version: str, recorded: dict[int, object] | None
) -> None:
    """S3.14, X16: a crash in 1.36.2, a device without topology before."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, device("g0", nodes=[1]))
    rig.meanwhile = lambda: rig.report(GPU, device("g1", nodes=[1]))

    if recorded is None:
        with pytest.raises(KubeletPanic, match=r"S3\.14"):
            rig.admit(pod("p1", {GPU: 1}))
    else:
        assert rig.admit(pod("p1", {GPU: 1})).admitted
        assert rig.manager.bindings_of(PodUid("p1"))[0].devices == recorded


def test_numa_nodes_are_those_of_the_list_after_the_call() -> None:
    """S3.14."""
    rig = Rig()
    rig.plug(GPU, device("g0", nodes=[0]))
    rig.meanwhile = lambda: rig.report(GPU, device("g0", nodes=[1, 2]))
    rig.admit(pod("p1", {GPU: 1}))

    assert rig.manager.devices_of(PodUid("p1"), MAIN) == {GPU: {"g0": (1, 2)}}


def test_a_failed_write_refuses_but_the_binding_stays_and_the_next_write_has_it() -> None:
    """S3.15."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.write_error = "no space left on device"

    refused = rig.admit(pod("p1", {GPU: 1}))

    assert refused.message == rig.message(
        'failed to write checkpoint file "kubelet_internal_checkpoint": no space left on device'
    )
    assert rig.held("p1") == ["g0"]
    rig.write_error = ""
    rig.report(GPU, "g0", "g1")
    assert b'"PodUID":"p1"' in rig.writes[-1]


def test_up_to_1_19_a_full_disk_refuses_every_pod() -> None:
    """R50: the file was written for containers without devices too."""
    created = pod("p1", {CPU: 1})
    old, new = Rig(behavior=behavior_for("1.19")), Rig(behavior=behavior_for("1.20.0"))
    for rig in (old, new):
        rig.write_error = "no space left on device"

    assert not old.admit(created).admitted
    assert new.admit(created).admitted


def test_topology_refuses_with_its_own_reason() -> None:
    """S13.2."""
    rig = Rig(
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.SINGLE_NUMA_NODE),
    )
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]))

    refused = rig.admit(pod("p1", {GPU: 2}))

    assert refused.reason == "TopologyAffinityError"
    assert refused.message == "Resources cannot be allocated with Topology locality"
    assert rig.calls == []


def test_in_pod_scope_all_containers_get_the_pods_hint() -> None:
    """S7.12."""
    rig = Rig(
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.RESTRICTED, scope=TopologyScope.POD),
    )
    rig.plug(GPU, *(device(f"g{number}", nodes=[number % 2]) for number in range(4)))
    created = pod("p1", container("one", {GPU: 1}), container("two", {GPU: 1}))
    rig.admit(pod("p0", {GPU: 1}))
    rig.manager.take_records()

    assert rig.admit(created).admitted
    merged = [each for each in rig.manager.take_records() if isinstance(each, TopologyMerged)]
    assert [(each.container, each.affinity, each.preferred) for each in merged] == [
        (None, (1,), True)
    ]
    for name in ("one", "two"):
        hint = rig.manager.affinity(created.uid, ContainerName(name))
        assert hint is not None
        assert hint.affinity == (1,)
    assert rig.held("p1", "one") + rig.held("p1", "two") == ["g1", "g3"]

    rig.manager.forget_containers(created.uid)
    assert rig.manager.affinity(created.uid, ContainerName("one")) is None


def test_a_pod_scope_refusal_comes_before_any_allocation() -> None:
    rig = Rig(
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.SINGLE_NUMA_NODE, scope=TopologyScope.POD),
    )
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]))
    created = pod("p1", container("one", {GPU: 1}), container("two", {GPU: 1}))

    assert rig.admit(created).reason == "TopologyAffinityError"
    assert rig.calls == []


# Container start (S3.22 to S3.26)


def test_a_restarted_container_gets_the_cached_answer_whatever_the_health() -> None:
    """S3.25."""
    rig = Rig()
    rig.plug(GPU, "g0")
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    rig.manager.disconnect(GPU)
    calls = len(rig.calls)

    result = rig.run(rig.manager.run_options(created, MAIN))

    assert result.error == ""
    assert result.options is not None
    assert dict(result.options.envs) == {"IDS": "g0"}
    assert len(rig.calls) == calls


def test_a_restart_fails_when_the_plugin_was_away_too_long() -> None:
    """S3.22.1, X14."""
    rig = Rig()
    rig.plug(GPU, "g0")
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    expire(rig)

    assert rig.run(rig.manager.run_options(created, MAIN)).error == (
        "endpoint not found in cache for a registered resource: example.com/gpu"
    )


def test_after_a_kubelet_restart_pre_start_is_skipped_until_the_plugin_is_back() -> None:
    """S3.26."""
    rig = Rig()
    rig.plug(GPU, "g0", pre_start=True)
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    rig.start()
    rig.calls.clear()

    assert rig.run(rig.manager.run_options(created, MAIN)).error == ""
    assert rig.calls == []

    rig.plug(GPU, "g0", pre_start=True)
    rig.run(rig.manager.run_options(created, MAIN))
    assert len(rig.calls) == 1


def test_a_failed_pre_start_fails_the_start() -> None:
    rig = Rig(on_pre_start=lambda _: CallFailed("rpc error: code = Unknown desc = busy"))
    rig.plug(GPU, "g0", pre_start=True)
    created = pod("p1", {GPU: 1})
    rig.admit(created)

    assert rig.run(rig.manager.run_options(created, MAIN)).error == (
        "device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = busy"
    )


def test_a_pod_admitted_without_devices_gets_them_at_its_start() -> None:
    """S3.22.3, S3.23, X9: the plugin registered in between."""
    rig = Rig()
    created = pod("p1", {GPU: 1})
    assert rig.admit(created).admitted
    rig.plug(GPU, "g0")

    result = rig.run(rig.manager.run_options(created, MAIN))

    assert result.options is not None
    assert rig.held("p1") == ["g0"]
    assert rig.file is not None
    assert b'"PodUID":"p1"' in rig.file


def test_with_pre_start_such_a_start_fails() -> None:
    """S3.22.1."""
    rig = Rig()
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    rig.plug(GPU, "g0", pre_start=True)

    assert rig.run(rig.manager.run_options(created, MAIN)).error == (
        "no devices found allocated in local cache for pod p1, container main, "
        "resource example.com/gpu"
    )


@pytest.mark.parametrize("reservations", Reservations)
def test_a_failed_allocation_at_the_start_is_the_starts_error(reservations: Reservations) -> None:
    rig = Rig(reservations=reservations)
    created = pod("p1", {GPU: 2, NIC: 1})
    rig.admit(created)
    rig.plug(GPU, "g0", "g1")
    rig.plug(NIC, "n0")
    rig.write_error = "input/output error"

    result = rig.run(rig.manager.run_options(created, MAIN))

    assert result.options is None
    assert result.error.endswith(": input/output error")
    kept = ["g0", "g1"] if reservations is Reservations.UPSTREAM else []
    assert rig.held("p1") == kept


@pytest.mark.parametrize(("version", "calls"), [("1.24", 1), ("1.25.0", 0)])
def test_only_old_kubelets_allocate_at_the_start_of_an_inactive_pod(
    version: str, calls: int
) -> None:
    """S3.22.2, 1.20.2/DIFFERENCES 17."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0")
    rig.run(rig.manager.run_options(pod("gone", {GPU: 1}), MAIN))

    assert len(rig.calls) == calls


@pytest.mark.parametrize(("version", "fails"), [("1.24", True), ("1.25.0", False)])
def test_a_limit_of_0_fails_at_the_start_in_old_kubelets(version: str, *, fails: bool) -> None:
    """R124, 1.20.2/DIFFERENCES 18."""
    rig = Rig(behavior=behavior_for(version))
    rig.plug(GPU, "g0", pre_start=True)
    created = pod("p1", {GPU: 0})
    rig.admit(created)

    error = rig.run(rig.manager.run_options(created, MAIN)).error
    assert ("no devices found allocated in local cache" in error) is fails


def test_a_device_plugin_resource_that_nobody_knows_is_no_matter_at_the_start() -> None:
    rig = Rig()
    created = pod("p1", {CPU: 1, GPU: 1})
    rig.admit(created)

    result = rig.run(rig.manager.run_options(created, MAIN))
    assert (result.options, result.error) == (None, "")


def test_a_reply_of_another_kind_is_a_drivers_mistake() -> None:
    def answer(call: object) -> PluginReply:
        del call
        return PreStartContainerReply()

    rig = Rig(on_allocate=answer)
    rig.plug(GPU, "g0")

    with pytest.raises(TypeError, match=r"AllocateCall.*cannot be answered with PreStart"):
        rig.admit(pod("p1", {GPU: 1}))


def test_an_unknown_container_is_a_drivers_mistake() -> None:
    with pytest.raises(KeyError, match="pod p1 has no container 'other'"):
        pod("p1", {GPU: 1}).container_named(ContainerName("other"))


@pytest.mark.parametrize(
    ("dumped", "dump"),
    [
        (False, ""),
        (True, "&AllocateResponse{ContainerResponses:[]*ContainerAllocateResponse{},}"),
    ],
)
def test_an_empty_answer_is_printed_as_go_prints_it(*, dumped: bool, dump: str) -> None:
    """S3.13, 1.32.10/DIFFERENCES 4."""
    rig = Rig(
        behavior=replace(Behavior(), dumped_empty_response=dumped),
        on_allocate=lambda _: AllocateReply(None),
    )
    rig.plug(GPU, "g0")

    assert rig.admit(pod("p1", {GPU: 1})).message == rig.message(
        f"no containers return in allocation response {dump}"
    )
