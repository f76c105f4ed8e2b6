"""The strategy `bind-resource` (P3): devices in the pod's spec before the pod starts, no file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.api_calls import (
    ApiRefused,
    ApiUnavailable,
    AwaitEcho,
    BindDevices,
    DeviceBindingsListed,
)
from simulator.core.calls import AllocateCall, AllocateReply, CallFailed
from simulator.core.instants import Duration
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod
from simulator.core.records import DevicesBound
from simulator.core.refusals import ADMITTED
from tests.core.driving import GPU, MAIN, NIC, Rig, container, device, ids, pod
from tests.core.persistence.api_server import Server, restart


@pytest.fixture
def server() -> Server:
    return Server()


def rig_of(
    server: Server,
    *,
    waits_for_echo: bool = False,
    per_container: bool = False,
    bulk: bool = False,
) -> Rig:
    rig = Rig(
        persistence=lambda _: BindResourcePersistence(
            waits_for_echo=waits_for_echo, per_container=per_container, bulk=bulk
        ),
        on_api=server.answer,
    )
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    return rig


def start(rig: Rig, started: Pod, name: ContainerName = MAIN) -> str:
    return rig.run(rig.manager.run_options(started, name)).error


def test_devices_are_bound_between_admission_and_the_first_container(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 2}))

    assert rig.admit(created).admitted
    assert server.calls == []
    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    assert server.named(created) == ids("g0", "g1")
    assert [type(call) for call in server.calls] == [BindDevices]
    assert rig.file is None
    assert rig.writes == []


def test_a_pod_life_costs_one_call(server: Server) -> None:
    """§3.1: P3 has one API write for each pod, whatever its containers do later."""
    rig = rig_of(server)
    created = server.create(pod("p1", container("a", {GPU: 1}), container("b", {GPU: 1})))
    assert rig.admit(created).admitted

    rig.run(rig.manager.api.before_start(created))
    for name in ("a", "b", "a", "b"):
        assert start(rig, created, ContainerName(name)) == ""
        assert start(rig, server.seen(created), ContainerName(name)) == ""
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    assert len(server.calls) == 1


def test_one_call_for_each_container_with_devices(server: Server) -> None:
    """§1.1: a verb of the container costs one call per device-using container."""
    rig = rig_of(server, per_container=True)
    created = server.create(
        pod(
            "p1",
            container("a", {GPU: 1}),
            container("b", {}),
            container("c", {GPU: 2}),
        )
    )
    assert rig.admit(created).admitted

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    named = [
        [each.container for each in call.bindings]
        for call in server.calls
        if isinstance(call, BindDevices)
    ]
    assert named == [["a"], ["c"]]
    assert server.named(created, ContainerName("c")) == ids("g1", "g2")


def test_a_pod_without_devices_costs_nothing(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {}))
    assert rig.admit(created).admitted

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED
    assert server.calls == []


def test_a_pod_that_waits_for_its_echo_asks_for_the_revision_of_its_write(server: Server) -> None:
    rig = rig_of(server, waits_for_echo=True)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    [bind, echo] = server.calls
    assert isinstance(bind, BindDevices)
    assert isinstance(echo, AwaitEcho)
    assert echo.revision == 2


def test_an_echo_that_cannot_be_awaited_is_awaited_again(server: Server) -> None:
    rig = rig_of(server, waits_for_echo=True)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda call: (
        ApiUnavailable("watch closed") if isinstance(call, AwaitEcho) else server.answer(call)
    )

    assert rig.run(rig.manager.api.before_start(created)).message == "watch closed"

    rig.on_api = server.answer
    assert rig.run(rig.manager.api.before_start(created)).admitted


def test_calls_may_be_put_into_one_request(server: Server) -> None:
    rig = rig_of(server, bulk=True)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)

    rig.run(rig.manager.api.before_start(created))

    [call] = server.calls
    assert isinstance(call, BindDevices)
    assert call.bulk


def test_without_the_api_a_pod_waits_and_keeps_its_devices(server: Server) -> None:
    """§3.3: while the API is out, P3 blocks pods that were delivered already."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.is_down = True

    answer = rig.run(rig.manager.api.before_start(created))

    assert (answer.admitted, answer.retry, answer.message) == (False, True, "connection refused")
    assert start(rig, created) == "connection refused"
    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g0"}
    server.is_down = False
    assert rig.run(rig.manager.api.before_start(created)).admitted


def test_a_lost_reply_is_asked_for_again_with_the_same_content(server: Server) -> None:
    """W6: the server must accept equal content."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.loses = 1

    assert rig.run(rig.manager.api.before_start(created)).retry
    assert rig.run(rig.manager.api.before_start(created)).admitted

    [first, second] = server.calls
    assert first == second


def test_a_lost_reply_needs_no_call_when_the_watch_shows_the_write(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.loses = 1
    assert rig.run(rig.manager.api.before_start(created)).retry

    assert rig.run(rig.manager.api.before_start(server.seen(created))).admitted

    assert len(server.calls) == 1


def test_a_pod_whose_spec_has_other_devices_fails_with_the_servers_text(server: Server) -> None:
    """W9: somebody else has bound the pod meanwhile."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.name_devices(created, "g3")

    answer = rig.run(rig.manager.api.before_start(created))

    assert not answer.admitted
    assert not answer.retry
    assert answer.reason == "UnexpectedAdmissionError"
    assert answer.message.startswith(
        "Allocate failed due to the API server refused the pod's devices: "
        'container "main" of pod "name-p1" is bound to other devices'
    )
    [record] = [one for one in rig.manager.take_records() if isinstance(one, DevicesBound)]
    assert record.held == ()
    assert record.error
    assert start(rig, created).startswith("the API server refused the pod's devices: ")


@pytest.mark.parametrize("code", [401, 403])
def test_a_pod_waits_while_its_kubelet_is_forbidden_to_bind_it(server: Server, code: int) -> None:
    """Kubernetes' components wait for rules and tokens; no pod fails of them."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda _: ApiRefused(code, "Forbidden", "no rule allows it yet")
    answer = rig.run(rig.manager.api.before_start(created))
    assert (answer.retry, answer.message) == (True, "no rule allows it yet")
    rig.on_api = server.answer

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    assert server.named(created) == ids("g0")


def test_of_a_pod_that_is_gone_nothing_is_bound(server: Server) -> None:
    """The watch has not told yet; until it does the pod waits."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.delete(created)

    answer = rig.run(rig.manager.api.before_start(created))

    assert (answer.retry, answer.message) == (True, 'pods "name-p1" not found')


def test_another_pod_of_that_name_is_not_bound(server: Server) -> None:
    """W7: a pod that was created anew is another pod."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.delete(created)
    again = server.create(replace(pod("p2", {GPU: 1}), name=created.name))

    answer = rig.run(rig.manager.api.before_start(created))

    assert answer.retry
    assert "UID in precondition: p1, UID in object meta: p2" in answer.message
    assert server.named(again) is None


def test_the_ids_come_with_the_pods_after_a_restart(server: Server) -> None:
    """§3.3: containers run on with their ids, and none of these is given to anybody else."""
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 2}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""
    rig.plug(GPU, "g0", "g1", "g2", "g3")

    assert rig.admit(server.seen(old)).admitted
    assert rig.admit(server.create(pod("p2", {GPU: 2}))).admitted

    assert rig.manager.devices_of(old.uid, MAIN)[GPU].keys() == {"g0", "g1"}
    assert [call.devices for call in rig.calls if isinstance(call, AllocateCall)] == [
        ids("g2", "g3")
    ]


def test_before_its_plugin_is_back_a_resource_has_no_devices_rather_than_no_name(
    server: Server,
) -> None:
    """§3.3, the note: without the registered devices capacity would be absent, not 0 (S2.8)."""
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""

    assert rig.manager.capacity().total == {GPU: 0}


def test_a_plugin_that_was_back_first_keeps_its_devices(server: Server) -> None:
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    rig.start(sources_ready=False)
    rig.plug(GPU, "g0", "g1")

    rig.run(rig.manager.api.pods_listed(server.listed()))

    assert rig.manager.capacity().allocatable == {GPU: 2}


def test_a_container_that_starts_again_has_its_plugin_asked_again(server: Server) -> None:
    """k/k#52678: the response was lost with the process; a container that runs needs none."""
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""
    rig.plug(GPU, device("g0", nodes=[1]))
    assert rig.admit(server.seen(old)).admitted
    assert rig.calls == []

    assert start(rig, server.seen(old)) == ""

    assert rig.calls == [AllocateCall(GPU, ids("g0"), old.uid, MAIN)]
    result = rig.run(rig.manager.run_options(server.seen(old), MAIN))
    assert result.options is not None
    assert result.options.envs == {"IDS": "g0"}
    assert rig.manager.devices_of(old.uid, MAIN)[GPU] == {"g0": (1,)}
    assert len(rig.calls) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (CallFailed("rpc error: no"), "rpc error: no"),
        (AllocateReply(None), "no containers return in allocation response "),
    ],
)
def test_a_container_waits_for_the_answer_of_its_plugin(
    server: Server, reply: CallFailed | AllocateReply, error: str
) -> None:
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""
    rig.plug(GPU, "g0")
    rig.admit(server.seen(old))
    rig.on_allocate = lambda _: reply

    assert start(rig, server.seen(old)) == error
    assert rig.manager.devices_of(old.uid, MAIN)[GPU].keys() == {"g0"}


def test_a_plugin_that_is_away_cannot_be_asked_again(server: Server) -> None:
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""
    rig.admit(server.seen(old))

    assert start(rig, server.seen(old)) == (
        "previously allocated devices are no longer healthy; "
        "cannot allocate unhealthy devices example.com/gpu"
    )


def test_a_pod_that_ends_while_its_plugin_is_asked_again_gets_nothing(server: Server) -> None:
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    rig.run(rig.manager.api.before_start(old))
    assert restart(rig, server, old) == ""
    rig.plug(GPU, "g0")
    rig.admit(server.seen(old))
    rig.facts.sources_ready = True
    decision = rig.manager.run_options(server.seen(old), MAIN)
    next(decision)
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    with pytest.raises(StopIteration) as ended:
        decision.send(AllocateReply(b""))

    assert ended.value.value.error.startswith("no devices found allocated in local cache")


def test_a_resource_whose_plugin_never_came_back_cannot_be_asked_for(server: Server) -> None:
    """After the grace period the endpoint is gone (S2.10), the record stays."""
    rig = rig_of(server)
    named = Container(MAIN, (), compute_devices=((NIC, ids("n0")),))
    old = server.create(replace(pod("p1", {}), containers=(named,)))
    assert restart(rig, server, old) == ""
    rig.admit(old)
    rig.pass_time(Duration(rig.behavior.endpoint_grace_period + 1))
    assert NIC in rig.run(rig.manager.expire_endpoints())

    assert start(rig, old) == "endpoint not found in cache for a registered resource: " + NIC


def test_of_two_specs_that_name_one_device_the_first_has_it(server: Server) -> None:
    """The server of revision 1 cannot see that two pods of a node name the same device (§1.1)."""
    rig = rig_of(server)
    first = server.name_devices(server.create(pod("p1", {GPU: 1})), "g0")
    second = server.name_devices(server.create(pod("p2", {GPU: 1})), "g0")
    assert restart(rig, server) == ""
    rig.plug(GPU, "g0", "g1")

    assert rig.admit(first).admitted
    refused = rig.admit(second)

    assert "g0 of example.com/gpu, assigned in the pod's spec, is held by pod p1" in refused.message


def test_a_static_pod_has_nothing_that_could_be_bound(server: Server) -> None:
    """§3.3: a mirror pod cannot carry the binding."""
    rig = rig_of(server)
    static = replace(pod("p1", {GPU: 1}), static=True)
    assert rig.admit(static).admitted

    assert rig.run(rig.manager.api.before_start(static)) == ADMITTED
    assert server.calls == []


def test_devices_that_come_at_a_containers_start_are_bound_before_it(server: Server) -> None:
    """S3.23: the resource was unknown when the pod was admitted."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1, NIC: 1}))
    rig.admit(created)
    rig.run(rig.manager.api.before_start(created))
    rig.plug(NIC, "n0")

    assert start(rig, created) == ""

    named = server.seen(created).containers[0].compute_devices
    assert named == ((GPU, ids("g0")), (NIC, ids("n0")))


def test_a_binding_takes_no_other_reply(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    binding = rig.manager.api.before_start(created)
    next(binding)

    with pytest.raises(TypeError, match="cannot be answered with"):
        binding.send(DeviceBindingsListed(()))


# Devices that were assigned beforehand (claim 9)


def assigned(server: Server, *named: str) -> Pod:
    return server.name_devices(server.create(pod("p9", {GPU: len(named)})), *named)


def test_assigned_devices_are_given_to_their_pod(server: Server) -> None:
    rig = rig_of(server)
    created = assigned(server, "g3", "g1")

    assert rig.admit(created).admitted
    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g1", "g3"}
    assert rig.calls == [AllocateCall(GPU, ids("g1", "g3"), created.uid, MAIN)]
    assert server.calls == []


def test_an_assigned_device_that_another_pod_has_refuses_the_pod(server: Server) -> None:
    rig = rig_of(server)
    rig.admit(server.create(pod("p1", {GPU: 1})))

    assert refusal_of(rig, assigned(server, "g0")) == (
        "device g0 of example.com/gpu, assigned in the pod's spec, is held by pod p1"
    )


def test_an_assigned_device_that_is_reserved_refuses_the_pod(server: Server) -> None:
    rig = rig_of(server)
    rig.facts.active_pods.add(other := server.create(pod("p1", {GPU: 1})))
    under_way = rig.manager.admit(other)
    next(under_way)

    assert refusal_of(rig, assigned(server, "g0")) == (
        "device g0 of example.com/gpu, assigned in the pod's spec, "
        "is held by an allocation under way"
    )


def test_an_assigned_device_that_the_node_has_not_refuses_the_pod(server: Server) -> None:
    assert refusal_of(rig_of(server), assigned(server, "g7")) == (
        "device g7 of example.com/gpu, assigned in the pod's spec, is not on this node"
    )


def test_an_assigned_device_that_is_unhealthy_refuses_the_pod(server: Server) -> None:
    rig = rig_of(server)
    rig.report(GPU, "g0", device("g1", "Unhealthy"))

    assert refusal_of(rig, assigned(server, "g1")) == (
        "device g1 of example.com/gpu, assigned in the pod's spec, is unhealthy"
    )


def test_a_spec_that_assigns_too_few_devices_refuses_the_pod(server: Server) -> None:
    """A server that does not check lets it through; the kubelet does not."""
    short = Container(MAIN, ((GPU, 2),), compute_devices=((GPU, ids("g0")),))

    assert refusal_of(rig_of(server), pod("p9", short)) == (
        "the pod's spec assigns 1 devices of example.com/gpu, its limit is 2"
    )


def test_an_assigned_device_may_be_the_one_of_an_init_container(server: Server) -> None:
    """S3.2: devices of a plain init container are the pod's to share."""
    first = Container(
        ContainerName("setup"), ((GPU, 1),), ContainerKind.INIT, compute_devices=((GPU, ids("g2")),)
    )
    main = Container(MAIN, ((GPU, 1),), compute_devices=((GPU, ids("g2")),))
    rig = rig_of(server)

    assert rig.admit(pod("p9", first, main)).admitted


def refusal_of(rig: Rig, refused: Pod) -> str:
    admission = rig.admit(refused)
    assert not admission.admitted
    before, after = "Allocate failed due to ", ", which is unexpected"
    assert admission.message.startswith(before)
    assert admission.message.endswith(after)
    return admission.message.removeprefix(before).removesuffix(after)
