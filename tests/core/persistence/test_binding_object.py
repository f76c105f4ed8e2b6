"""The strategy `binding-object` (P5): one DeviceBinding per pod, no file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.api_calls import (
    ApiCall,
    ApiRefused,
    ApiReply,
    ApiStored,
    ApiUnavailable,
    DeviceBindingsListed,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.calls import AllocateCall
from simulator.core.records import DevicesBound
from simulator.core.refusals import ADMITTED
from tests.core.driving import GPU, MAIN, NIC, device, ids, pod
from tests.core.persistence.api_server import Server, flush, restart
from tests.core.persistence.binding_objects import kinds, object_of, rig_of, said, started


@pytest.fixture
def server() -> Server:
    return Server()


def test_the_object_is_there_before_the_pod_starts(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 2}))
    assert rig.admit(created).admitted
    assert server.calls == []

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    assert kinds(server) == [PutDeviceBinding]
    assert said(server) == {"p1": ("g0", "g1")}
    assert not rig.manager.api.is_owed
    assert rig.writes == []


def test_a_pod_life_costs_a_creation_and_a_removal(server: Server) -> None:
    """§3.1: P5 has two to three API writes for each pod."""
    rig = rig_of(server)
    created = started(rig, server, "p1")
    for _ in range(2):
        assert rig.run(rig.manager.run_options(created, MAIN)).error == ""
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    assert rig.manager.api.is_owed
    assert rig.manager.api.flush_period == 0

    assert flush(rig)

    assert kinds(server) == [PutDeviceBinding, RemoveDeviceBinding]
    assert said(server) == {}
    assert not rig.manager.api.is_owed


def test_devices_that_come_at_a_containers_start_are_an_update(server: Server) -> None:
    """§3.1: 0 to 1 update. S3.23: the resource was unknown at admission."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1, NIC: 1}))
    rig.admit(created)
    rig.run(rig.manager.api.before_start(created))
    rig.plug(NIC, "n0")

    assert rig.run(rig.manager.run_options(created, MAIN)).error == ""

    assert kinds(server) == [PutDeviceBinding, PutDeviceBinding]
    assert said(server) == {"p1": ("g0", "n0")}


def test_an_object_that_follows_holds_nobody_up(server: Server) -> None:
    rig = rig_of(server, synchronous=False)
    server.is_down = True
    created = started(rig, server, "p1")
    assert server.calls == []
    assert rig.run(rig.manager.run_options(created, MAIN)).error == ""

    assert not flush(rig)
    assert rig.manager.api.is_owed
    server.is_down = False
    assert flush(rig)

    assert said(server) == {"p1": ("g0",)}
    assert not rig.manager.api.is_owed


def test_an_object_that_follows_is_not_written_for_a_pod_that_ended(server: Server) -> None:
    rig = rig_of(server, synchronous=False)
    started(rig, server, "p1")
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    assert flush(rig)
    assert server.calls == []


def test_an_object_that_follows_is_not_written_for_a_pod_that_is_refused(server: Server) -> None:
    rig = rig_of(server, synchronous=False)
    created = started(rig, server, "p1")
    rig.manager.disconnect(GPU)
    assert not rig.admit(created).admitted

    assert not rig.manager.api.is_owed


def test_devices_that_come_while_the_object_is_written_are_written_next(server: Server) -> None:
    rig = rig_of(server, synchronous=False)
    created = server.create(pod("p1", {GPU: 1, NIC: 1}))
    rig.admit(created)
    flushing = rig.manager.api.flush()
    call = next(flushing)
    assert isinstance(call, PutDeviceBinding)
    rig.plug(NIC, "n0")
    rig.run(rig.manager.run_options(created, MAIN))
    with pytest.raises(StopIteration):
        flushing.send(server.answer(call))
    assert rig.manager.api.is_owed

    assert flush(rig)

    assert said(server) == {"p1": ("g0", "n0")}


def test_an_object_that_was_written_meanwhile_costs_nothing_more(server: Server) -> None:
    rig = rig_of(server, synchronous=False)
    created = started(rig, server, "p1")
    flush(rig)
    server.taken()
    rig.admit(created)

    assert not rig.manager.api.is_owed


def test_without_the_api_a_pod_waits(server: Server) -> None:
    """§3.3: P5s is blocked."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.is_down = True

    answer = rig.run(rig.manager.api.before_start(created))

    assert (answer.retry, answer.message) == (True, "connection refused")


def test_a_lost_reply_ends_with_the_object_that_is_there(server: Server) -> None:
    """W6: AlreadyExists with the same UID and content is success."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.loses = 1
    assert rig.run(rig.manager.api.before_start(created)).retry

    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED

    assert kinds(server) == [PutDeviceBinding, PutDeviceBinding, GetDeviceBinding]
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    assert flush(rig)
    assert said(server) == {}


def test_what_somebody_else_wrote_is_replaced(server: Server) -> None:
    """W9: the node decides what its pods have."""
    rig = rig_of(server)
    object_of(server, "name-p1", "p1", "g3")

    started(rig, server, "p1")

    assert kinds(server) == [PutDeviceBinding, GetDeviceBinding, PutDeviceBinding]
    assert said(server) == {"p1": ("g0",)}


def test_an_object_that_was_removed_by_somebody_else_is_created_again(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1, NIC: 1}))
    rig.admit(created)
    rig.run(rig.manager.api.before_start(created))
    [made] = server.devices.objects()
    server.devices.answer(RemoveDeviceBinding(made.pod, made.revision))
    rig.plug(NIC, "n0")

    assert rig.run(rig.manager.run_options(created, MAIN)).error == ""

    assert said(server) == {"p1": ("g0", "n0")}


@pytest.mark.parametrize("missing", [GetDeviceBinding, RemoveDeviceBinding])
def test_an_outage_in_the_middle_lets_the_pod_wait(
    server: Server, missing: type[GetDeviceBinding | RemoveDeviceBinding]
) -> None:
    rig = rig_of(server)
    object_of(server, "name-p1", "p0", "g3")
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda call: (
        ApiUnavailable("timeout") if isinstance(call, missing) else server.answer(call)
    )

    assert rig.run(rig.manager.api.before_start(created)).message == "timeout"


def test_an_object_that_never_stands_still_lets_the_pod_wait(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)

    def restless(call: ApiCall) -> ApiReply:
        if isinstance(call, PutDeviceBinding):
            return ApiRefused(409, "Conflict", "the object has been modified")
        return DeviceBindingsListed(())

    rig.on_api = restless

    answer = rig.run(rig.manager.api.before_start(created))

    assert (answer.retry, answer.message) == (
        True,
        'DeviceBinding "name-p1" is changed again and again',
    )


def test_a_server_without_the_kind_is_asked_again(server: Server) -> None:
    """Claim 52: the definition of the objects may not be installed, or not yet."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    missing = "the server could not find the requested resource"
    rig.on_api = lambda _: ApiRefused(404, "NotFound", missing)

    answer = rig.run(rig.manager.api.before_start(created))
    assert (answer.retry, answer.message) == (True, missing)

    rig.on_api = server.answer
    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED


@pytest.mark.parametrize("synchronous", [True, False])
def test_what_the_server_finds_invalid_is_told_and_never_asked_again(
    server: Server, *, synchronous: bool
) -> None:
    rig = rig_of(server, synchronous=synchronous)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda _: ApiRefused(422, "Invalid", "spec.containers is wrong")

    if synchronous:
        answer = rig.run(rig.manager.api.before_start(created))
        assert answer.reason == "UnexpectedAdmissionError"
        told = "the API server refused the pod's devices: spec.containers is wrong"
        assert told in answer.message
    else:
        assert flush(rig)
        assert not rig.manager.api.is_owed
    [record] = [each for each in rig.manager.take_records() if isinstance(each, DevicesBound)]
    assert (record.target, record.error) == ("devicebinding", "spec.containers is wrong")


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize("synchronous", [True, False])
def test_what_the_kubelet_is_forbidden_is_asked_again(
    server: Server, code: int, *, synchronous: bool
) -> None:
    """Kubernetes' components wait for rules and tokens; no pod fails of them."""
    rig = rig_of(server, synchronous=synchronous)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda _: ApiRefused(code, "Forbidden", "no rule allows it yet")

    if synchronous:
        answer = rig.run(rig.manager.api.before_start(created))
        assert (answer.retry, answer.message) == (True, "no rule allows it yet")
        rig.on_api = server.answer
        assert rig.run(rig.manager.api.before_start(created)) == ADMITTED
    else:
        assert not flush(rig)
        rig.on_api = server.answer
        assert flush(rig)
    assert said(server) == {"p1": ("g0",)}


def test_after_a_restart_pods_have_what_their_objects_say(server: Server) -> None:
    """§3.3: K if the API is up; the plugin is asked again where a container starts again."""
    rig = rig_of(server)
    old = started(rig, server, "p1", 2)
    assert restart(rig, server, old) == ""
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    server.taken()

    assert rig.admit(old).admitted
    other = started(rig, server, "p2")

    assert rig.manager.devices_of(old.uid, MAIN)[GPU].keys() == {"g0", "g1"}
    assert rig.manager.devices_of(other.uid, MAIN)[GPU].keys() == {"g2"}
    assert kinds(server) == [PutDeviceBinding]
    rig.calls.clear()
    assert rig.run(rig.manager.run_options(old, MAIN)).error == ""
    assert rig.calls == [AllocateCall(GPU, ids("g0", "g1"), old.uid, MAIN)]
    assert server.calls == []


def test_numa_nodes_stand_in_the_object(server: Server) -> None:
    """Details 27: `numaNodes[]`; unlike a pod's spec it brings them back."""
    rig = rig_of(server)
    rig.report(GPU, device("g0", nodes=[1]))
    old = started(rig, server, "p1")

    restart(rig, server, old)

    assert rig.manager.devices_of(old.uid, MAIN)[GPU] == {"g0": (1,)}


def test_nothing_is_admitted_before_both_lists_are_there(server: Server) -> None:
    """§3.3: objects arrive apart from the pods."""
    rig = rig_of(server)
    old = started(rig, server, "p1")
    server.is_down = True
    assert restart(rig, server, old) == "connection refused"

    server.is_down = False
    assert rig.run(rig.manager.api.pods_listed(server.listed())) == ""
    assert isinstance(server.calls[-1], ListDeviceBindings)


def test_no_object_follows_a_pod_that_is_refused_after_its_admission(server: Server) -> None:
    """S5.8: other handlers come after the device manager; nobody is to read what never was (I4)."""
    rig = rig_of(server, synchronous=False)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)

    rig.manager.api.owe_nothing(created.uid)

    assert flush(rig)
    assert server.calls == []


def test_an_object_whose_devices_another_pod_has_is_replaced(server: Server) -> None:
    rig = rig_of(server)
    first = server.create(pod("p1", {GPU: 1}))
    second = server.create(pod("p2", {GPU: 1}))
    object_of(server, first.name, "p1", "g0")
    object_of(server, second.name, "p2", "g0")
    restart(rig, server, first, second)
    rig.plug(GPU, "g0", "g1")
    rig.facts.sources_ready = True

    rig.admit(first)
    rig.admit(second)
    rig.run(rig.manager.api.before_start(second))

    assert said(server) == {"p1": ("g0",), "p2": ("g1",)}


def test_a_second_list_changes_nothing(server: Server) -> None:
    rig = rig_of(server)
    old = started(rig, server, "p1")
    restart(rig, server, old)
    before = rig.manager.snapshot().bindings

    rig.run(rig.manager.api.pods_listed(server.listed()))

    assert rig.manager.snapshot().bindings == before


def test_a_static_pod_has_no_object(server: Server) -> None:
    rig = rig_of(server)
    static = replace(pod("p1", {GPU: 1}), static=True)
    rig.admit(static)

    assert rig.run(rig.manager.api.before_start(static)) == ADMITTED
    assert server.calls == []


def test_a_write_takes_no_other_reply(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    writing = rig.manager.api.before_start(created)
    next(writing)

    with pytest.raises(TypeError, match="cannot be answered with"):
        writing.send(DeviceBindingsListed(()))


def test_a_list_and_a_removal_take_no_other_reply(server: Server) -> None:
    rig = rig_of(server)
    listing = rig.manager.api.pods_listed([])
    next(listing)
    with pytest.raises(TypeError, match="cannot be answered with"):
        listing.send(ApiStored(1))

    server.delete(started(rig, server, "p1"))
    restart(rig, server)
    removing = rig.manager.api.flush()
    next(removing)
    with pytest.raises(TypeError, match="cannot be answered with"):
        removing.send(DeviceBindingsListed(()))
