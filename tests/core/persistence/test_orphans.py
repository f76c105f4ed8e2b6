"""DeviceBinding objects that nobody needs any more (P5): they go, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.api_calls import (
    ApiRefused,
    ApiUnavailable,
    GetDeviceBinding,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.devices import NO_NUMA_NODE
from simulator.core.pods import Pod
from simulator.core.refusals import ADMITTED
from tests.core.driving import GPU, Rig, ids, pod
from tests.core.persistence.api_server import Server, flush, restart
from tests.core.persistence.binding_objects import NODE, kinds, object_of, rig_of, said, started


@pytest.fixture
def server() -> Server:
    return Server()


def test_of_a_pod_that_ends_while_its_object_is_written_the_object_is_removed(
    server: Server,
) -> None:
    """W5: else it would be an orphan."""
    rig = rig_of(server, synchronous=False)
    started(rig, server, "p1")
    flushing = rig.manager.api.flush()
    call = next(flushing)
    assert isinstance(call, PutDeviceBinding)
    reply = server.answer(call)
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    removal = flushing.send(reply)
    assert isinstance(removal, RemoveDeviceBinding)

    with pytest.raises(StopIteration):
        flushing.send(server.answer(removal))

    assert said(server) == {}
    assert not rig.manager.api.is_owed


def test_an_object_of_an_earlier_pod_of_that_name_is_removed(server: Server) -> None:
    """W7: its `spec.podUID` is another one."""
    rig = rig_of(server)
    object_of(server, "name-p1", "p0", "g3")

    started(rig, server, "p1")

    assert kinds(server) == [
        PutDeviceBinding,
        GetDeviceBinding,
        RemoveDeviceBinding,
        PutDeviceBinding,
    ]
    assert said(server) == {"p1": ("g0",)}


def test_an_object_in_the_way_that_may_not_be_removed_lets_the_pod_wait(server: Server) -> None:
    rig = rig_of(server)
    object_of(server, "name-p1", "p0", "g3")
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    rig.on_api = lambda call: (
        ApiRefused(403, "Forbidden", "not yours")
        if isinstance(call, RemoveDeviceBinding)
        else server.answer(call)
    )

    answer = rig.run(rig.manager.api.before_start(created))

    assert (answer.retry, answer.message) == (True, "not yours")


def test_objects_of_pods_that_are_gone_are_removed_after_the_start(server: Server) -> None:
    """An orphan holds no device, and goes."""
    rig = rig_of(server)
    old = started(rig, server, "p1")
    server.delete(old)
    restart(rig, server)
    assert rig.manager.snapshot().bindings == ()
    assert rig.manager.api.is_owed
    server.is_down = True
    assert not flush(rig)
    server.is_down = False

    assert flush(rig)

    assert said(server) == {}


def test_an_orphan_that_is_gone_already_is_forgotten(server: Server) -> None:
    rig = rig_of(server)
    old = started(rig, server, "p1")
    server.delete(old)
    restart(rig, server)
    [made] = server.devices.objects()
    server.devices.answer(RemoveDeviceBinding(made.pod, made.revision))

    assert flush(rig)
    assert not rig.manager.api.is_owed


@pytest.mark.parametrize("loses", [True, False])
def test_an_object_that_may_have_been_written_goes_with_its_pod(
    server: Server, *, loses: bool
) -> None:
    """W6, then W5: nobody knows whether the object is there when the pod is released."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.loses, server.is_down = int(loses), not loses
    assert rig.run(rig.manager.api.before_start(created)).retry
    server.is_down = False
    assert len(server.devices.objects()) == int(loses)
    server.taken()
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    assert flush(rig)

    assert kinds(server) == [GetDeviceBinding, *[RemoveDeviceBinding] * loses]
    assert said(server) == {}
    assert not rig.manager.api.is_owed


@pytest.mark.parametrize("loses", [True, False])
def test_an_object_that_is_written_as_its_pod_goes_is_removed_though_nobody_was_told(
    server: Server, *, loses: bool
) -> None:
    """W5 and W6 at once: the pod is released while the request is on its way."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    starting = rig.manager.api.before_start(created)
    call = next(starting)
    assert isinstance(call, PutDeviceBinding)
    if loses:
        server.answer(call)
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    with pytest.raises(StopIteration):
        starting.send(ApiUnavailable("timeout"))

    assert flush(rig)

    assert said(server) == {}
    assert not rig.manager.api.is_owed


def test_of_a_pod_that_goes_before_its_turn_no_object_is_written(server: Server) -> None:
    """W5."""
    rig = rig_of(server, synchronous=False)
    started(rig, server, "p1")
    started(rig, server, "p2")
    flushing = rig.manager.api.flush()
    first = next(flushing)
    assert isinstance(first, PutDeviceBinding)
    rig.end("p2")
    rig.run(rig.manager.release_inactive())

    with pytest.raises(StopIteration):
        flushing.send(server.answer(first))

    assert said(server) == {"p1": ("g0",)}
    assert not rig.manager.api.is_owed


def released(rig: Rig, server: Server, uid: str) -> Pod:
    """Let a pod start and go; its object is owed to be removed."""
    gone = started(rig, server, uid)
    server.delete(gone)
    rig.end(uid)
    rig.run(rig.manager.release_inactive())
    server.taken()
    return gone


def test_an_orphan_that_somebody_has_labeled_is_removed_all_the_same(server: Server) -> None:
    """Only its revision is another one."""
    rig = rig_of(server)
    released(rig, server, "p1")
    [made] = server.devices.objects()
    server.devices.answer(PutDeviceBinding(NODE, made.pod, made.bindings, made.revision))

    assert flush(rig)

    assert kinds(server) == [RemoveDeviceBinding, GetDeviceBinding, RemoveDeviceBinding]
    assert said(server) == {}


def test_what_another_kubelet_has_written_for_the_pod_stays(server: Server) -> None:
    """W9: two kubelets of one node name; the other one's pod may run."""
    rig = rig_of(server)
    released(rig, server, "p1")
    [made] = server.devices.objects()
    [binding] = made.bindings
    others = replace(binding, devices={NO_NUMA_NODE: ids("g3")})
    server.devices.answer(PutDeviceBinding(NODE, made.pod, (others,), made.revision))

    assert flush(rig)

    assert said(server) == {"p1": ("g3",)}
    assert not rig.manager.api.is_owed


def test_what_another_pod_has_under_an_orphans_name_stays(server: Server) -> None:
    """W7."""
    rig = rig_of(server)
    gone = released(rig, server, "p1")
    [made] = server.devices.objects()
    server.devices.answer(RemoveDeviceBinding(made.pod, made.revision))
    object_of(server, gone.name, "p2", "g3")

    assert flush(rig)

    assert said(server) == {"p2": ("g3",)}
    assert not rig.manager.api.is_owed


@pytest.mark.parametrize(
    "refusal",
    [
        ApiRefused(403, "Forbidden", "no rule allows it yet"),
        ApiRefused(409, "Conflict", "the object has been modified"),
    ],
)
def test_an_orphan_that_cannot_be_removed_yet_is_still_owed(
    server: Server, refusal: ApiRefused
) -> None:
    rig = rig_of(server)
    released(rig, server, "p1")
    rig.on_api = lambda call: (
        refusal if isinstance(call, RemoveDeviceBinding) else server.answer(call)
    )
    assert not flush(rig)
    assert rig.manager.api.is_owed
    rig.on_api = server.answer

    assert flush(rig)

    assert said(server) == {}


def test_an_outage_while_an_orphan_is_looked_at_leaves_it_owed(server: Server) -> None:
    rig = rig_of(server)
    released(rig, server, "p1")
    [made] = server.devices.objects()
    server.devices.answer(PutDeviceBinding(NODE, made.pod, made.bindings, made.revision))
    rig.on_api = lambda call: (
        ApiUnavailable("timeout") if isinstance(call, GetDeviceBinding) else server.answer(call)
    )
    assert not flush(rig)
    rig.on_api = server.answer

    assert flush(rig)

    assert said(server) == {}


def test_an_orphan_that_was_in_the_way_is_removed_once(server: Server) -> None:
    rig = rig_of(server)
    old = started(rig, server, "p1")
    server.delete(old)
    restart(rig, server)
    rig.plug(GPU, "g0")
    again = server.create(replace(pod("p2", {GPU: 1}), name=old.name))
    rig.admit(again)

    assert rig.run(rig.manager.api.before_start(again)) == ADMITTED

    assert not rig.manager.api.is_owed
    assert said(server) == {"p2": ("g0",)}
