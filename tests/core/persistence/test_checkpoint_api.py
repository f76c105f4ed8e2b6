"""The strategy `checkpoint+api` (P2): the file counts, the pods' specs follow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiCall,
    ApiRefused,
    ApiReply,
    ApiStored,
    BindDevices,
    BindManyDevices,
    DeviceBindingsListed,
)
from simulator.core.calls import AllocateCall
from simulator.core.devices import device_ids
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.pods import ContainerName
from simulator.core.records import DevicesBound, DevicesReleased, StatesDiffer, StateWritten
from tests.core.driving import GPU, MAIN, NIC, Rig, container, ids, pod
from tests.core.persistence.api_server import Server, flush, restart


@pytest.fixture
def server() -> Server:
    return Server()


def rig_of(server: Server, *, bulk: bool = False) -> Rig:
    rig = Rig(
        persistence=lambda behavior: CheckpointApiPersistence(
            behavior, flush_period=Duration(SECOND), bulk=bulk
        ),
        on_api=server.answer,
    )
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    return rig


def bound_pods(server: Server) -> list[str]:
    return [call.pod.uid for call in server.taken() if isinstance(call, BindDevices)]


def test_the_file_is_written_at_once_and_the_spec_at_the_next_flush(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    writes = len(rig.writes)

    assert rig.admit(created).admitted
    assert rig.run(rig.manager.api.before_start(created)).admitted

    assert len(rig.writes) == writes + 1
    assert server.calls == []
    assert rig.manager.api.is_owed
    assert rig.manager.api.flush_period == SECOND
    assert flush(rig)
    assert server.named(created) == ids("g0")
    assert not rig.manager.api.is_owed


def test_records_call_the_file_by_its_name(server: Server) -> None:
    rig = rig_of(server)

    targets = {each.target for each in rig.manager.take_records() if isinstance(each, StateWritten)}

    assert targets == {"checkpoint"}
    assert rig.start().source == "checkpoint"


def test_dirty_pods_are_flushed_in_order_with_one_write_each(server: Server) -> None:
    """§3.1: at most one write per dirty pod and flush."""
    rig = rig_of(server)
    for uid, containers in (("p2", (container("a", {GPU: 1}), container("b", {GPU: 1}))),):
        rig.admit(server.create(pod(uid, *containers)))
    rig.admit(server.create(pod("p1", {GPU: 1})))
    rig.admit(server.create(pod("p3", {})))

    assert flush(rig)
    assert bound_pods(server) == ["p2", "p1"]
    assert flush(rig)
    assert server.calls == []


def test_a_flush_can_be_one_request_for_all_pods(server: Server) -> None:
    rig = rig_of(server, bulk=True)
    first = server.create(pod("p1", {GPU: 1}))
    second = server.create(pod("p2", {GPU: 1}))
    rig.admit(first)
    rig.admit(second)
    server.is_down = True
    assert not flush(rig)
    server.is_down = False

    assert flush(rig)

    assert [type(call) for call in server.calls] == [BindManyDevices, BindManyDevices]
    assert (server.named(first), server.named(second)) == (ids("g0"), ids("g1"))
    assert flush(rig)
    assert len(server.calls) == 2


def test_while_the_api_is_out_pods_start_and_stay_dirty(server: Server) -> None:
    """§3.3: P2 starts pods that were delivered already."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    other = server.create(pod("p2", {GPU: 1}))
    server.is_down = True
    rig.admit(created)
    rig.admit(other)

    assert rig.run(rig.manager.run_options(created, MAIN)).error == ""
    assert not flush(rig)
    assert len(server.calls) == 1
    server.is_down = False
    server.taken()
    assert flush(rig)
    assert bound_pods(server) == ["p1", "p2"]


def test_a_pod_that_ends_before_the_flush_is_not_written(server: Server) -> None:
    rig = rig_of(server)
    rig.admit(server.create(pod("p1", {GPU: 1})))
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    assert not rig.manager.api.is_owed
    assert flush(rig)
    assert server.calls == []


def test_a_pod_that_ends_during_the_flush_is_left_out(server: Server) -> None:
    rig = rig_of(server)
    rig.admit(server.create(pod("p1", {GPU: 1})))
    rig.admit(server.create(pod("p2", {GPU: 1})))
    flushing = rig.manager.api.flush()
    first = next(flushing)
    assert isinstance(first, BindDevices)
    rig.end("p1")
    rig.end("p2")
    rig.run(rig.manager.release_inactive())

    with pytest.raises(StopIteration) as ended:
        flushing.send(ApiStored(7))

    assert ended.value.value
    assert not rig.manager.api.is_owed


def test_devices_that_come_during_the_flush_are_flushed_next(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1, NIC: 1}))
    rig.admit(created)
    flushing = rig.manager.api.flush()
    first = next(flushing)
    assert isinstance(first, BindDevices)
    rig.plug(NIC, "n0")
    rig.run(rig.manager.run_options(created, MAIN))

    with pytest.raises(StopIteration):
        flushing.send(server.answer(first))

    assert rig.manager.api.is_owed
    assert flush(rig)
    assert dict(server.seen(created).containers[0].compute_devices) == {
        GPU: ids("g0"),
        NIC: ids("n0"),
    }


def test_what_was_refused_for_good_is_not_asked_for_again(server: Server) -> None:
    """W11: the file wins; a spec that differs stays as it is, and the record says so."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.name_devices(created, "g3")
    rig.manager.take_records()

    assert flush(rig)
    assert flush(rig)

    assert len(server.calls) == 1
    assert server.named(created) == ids("g3")
    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g0"}
    [record] = [each for each in rig.manager.take_records() if isinstance(each, DevicesBound)]
    assert "is bound to other devices" in record.error


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize("bulk", [True, False])
def test_what_the_kubelet_is_forbidden_stays_owed(server: Server, code: int, *, bulk: bool) -> None:
    """It says nothing of the devices; others behind it are written all the same."""
    rig = rig_of(server, bulk=bulk)
    first = server.create(pod("p1", {GPU: 1}))
    second = server.create(pod("p2", {GPU: 1}))
    rig.admit(first)
    rig.admit(second)
    refusal = ApiRefused(code, "Forbidden", "no rule allows it yet")

    def strict(call: ApiCall) -> ApiReply:
        if isinstance(call, BindManyDevices):
            return ApiAnsweredEach(tuple(_one(strict(each)) for each in call.requests))
        is_first = isinstance(call, BindDevices) and call.pod.uid == first.uid
        return refusal if is_first else server.answer(call)

    rig.on_api = strict
    assert not flush(rig)
    assert (server.named(first), server.named(second)) == (None, ids("g1"))
    rig.on_api = server.answer

    assert flush(rig)

    assert server.named(first) == ids("g0")
    assert not rig.manager.api.is_owed


def _one(reply: ApiReply) -> ApiStored | ApiRefused:
    assert isinstance(reply, ApiStored | ApiRefused)
    return reply


def test_a_forbidden_pod_that_went_meanwhile_is_owed_nothing(server: Server) -> None:
    rig = rig_of(server)
    rig.admit(server.create(pod("p1", {GPU: 1})))
    flushing = rig.manager.api.flush()
    next(flushing)
    rig.end("p1")
    rig.run(rig.manager.release_inactive())

    with pytest.raises(StopIteration) as ended:
        flushing.send(ApiRefused(403, "Forbidden", "no rule allows it yet"))

    assert ended.value.value
    assert not rig.manager.api.is_owed


def test_a_pod_that_is_refused_after_its_admission_is_not_written(server: Server) -> None:
    """S5.8: other handlers come after the device manager; nobody is to read what never was (I4)."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)

    rig.manager.api.owe_nothing(created.uid)

    assert flush(rig)
    assert server.calls == []
    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g0"}


def test_a_file_may_know_containers_that_the_spec_does_not(server: Server) -> None:
    """An operator's file, or that of another pod with this UID: there is nothing to write."""
    rig = rig_of(server)
    old = server.create(pod("p1", container("old", {GPU: 1})))
    rig.admit(old)
    flush(rig)
    server.delete(old)
    renamed = server.create(pod("p1", container("renamed", {GPU: 1})))

    assert restart(rig, server, renamed) == ""
    rig.plug(GPU, "g0", "g1")
    rig.facts.sources_ready = True
    rig.admit(renamed)

    assert flush(rig)
    assert server.named(renamed, ContainerName("renamed")) == ids("g1")
    assert not rig.manager.api.is_owed


def test_an_outdated_file_gives_way_to_what_the_api_says_of_pods_that_are_there(
    server: Server,
) -> None:
    """W10, W11: the file's last write was lost with the power, after the flush."""
    rig = rig_of(server)
    gone = server.create(pod("p1", {GPU: 1}))
    rig.admit(gone)
    flush(rig)
    outdated = rig.file
    server.delete(gone)
    rig.end("p1")
    there = server.create(pod("p2", {GPU: 1}))
    rig.admit(there)
    flush(rig)
    rig.file = outdated
    rig.manager.take_records()

    assert restart(rig, server) == ""

    bindings = rig.manager.snapshot().bindings
    assert [(each.pod, device_ids(each.devices)) for each in bindings] == [("p2", ids("g0"))]
    [repair] = rig.writes
    assert b'"PodUID":"p1"' not in repair
    [record] = [each for each in rig.manager.take_records() if isinstance(each, DevicesReleased)]
    assert record.pods == ("p1",)
    rig.plug(GPU, "g0", "g1")
    assert rig.admit(server.seen(there)).admitted


def test_a_static_pod_keeps_what_the_spec_of_another_pod_names(server: Server) -> None:
    """S5.3: it comes before the LIST and is there, although no LIST has it."""
    rig = rig_of(server)
    static = replace(pod("s1", {GPU: 1}), static=True)
    rig.admit(static)
    named = server.name_devices(server.create(pod("p1", {GPU: 1})), "g0")

    assert rig.run(rig.manager.api.pods_listed(server.listed())) == ""

    assert rig.manager.devices_of(static.uid, MAIN)[GPU].keys() == {"g0"}
    assert rig.manager.devices_of(named.uid, MAIN) == {}


def test_a_pod_created_anew_with_the_same_name_is_not_written(server: Server) -> None:
    """§3.3, last row: dropped by the check of the UID."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.delete(created)
    again = server.create(replace(pod("p2", {GPU: 1}), name=created.name))

    assert flush(rig)

    assert server.named(again) is None
    assert not rig.manager.api.is_owed


def test_after_a_start_the_dirty_pods_are_those_that_the_api_lacks(server: Server) -> None:
    rig = rig_of(server)
    flushed = server.create(pod("p1", {GPU: 1}))
    rig.admit(flushed)
    flush(rig)
    unflushed = server.create(pod("p2", {GPU: 1}))
    rig.admit(unflushed)
    server.taken()

    assert restart(rig, server, flushed, unflushed) == ""
    for each in server.listed():
        rig.admit(each)
    flush(rig)

    assert bound_pods(server) == ["p2"]


def test_a_pod_that_is_refused_is_not_dirty(server: Server) -> None:
    rig = rig_of(server)
    held = server.create(pod("p1", {GPU: 1}))
    rig.admit(held)
    assert restart(rig, server) == ""
    assert not rig.admit(held).admitted
    assert not rig.manager.api.is_owed


def test_a_dirty_pod_that_is_refused_later_is_dirty_no_more(server: Server) -> None:
    rig = rig_of(server)
    waiting = server.create(pod("p1", {GPU: 1}))
    rig.admit(waiting)
    rig.manager.disconnect(GPU)

    assert not rig.admit(waiting).admitted
    assert not rig.manager.api.is_owed


def test_a_damaged_file_is_repaired_from_the_api(server: Server) -> None:
    """§3.3: P2 repairs from the API; the file lists the devices again, with no response."""
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 2}))
    rig.admit(old)
    flush(rig)
    rig.file = b"{"
    rig.manager.take_records()

    assert restart(rig, server, old) == ""

    [repair] = rig.writes
    assert b'"PodUID":"p1"' in repair
    assert b'"AllocResp":null' in repair
    assert b'"RegisteredDevices":{"example.com/gpu":[]}' in repair
    assert rig.manager.devices_of(old.uid, MAIN)[GPU].keys() == {"g0", "g1"}
    [record] = [each for each in rig.manager.take_records() if isinstance(each, StatesDiffer)]
    assert record == StatesDiffer("api", "1 device bindings stand in pod specs only")


def test_what_was_not_flushed_is_lost_with_the_file(server: Server) -> None:
    """W4: disk loss between two flushes is the danger of P2."""
    rig = rig_of(server)
    flushed = server.create(pod("p1", {GPU: 1}))
    rig.admit(flushed)
    flush(rig)
    rig.admit(server.create(pod("p2", {GPU: 1})))
    rig.file = None

    assert restart(rig, server, *server.listed()) == ""

    assert {each.pod for each in rig.manager.snapshot().bindings} == {"p1"}


def test_a_repaired_record_has_its_plugin_asked_again_also_after_another_restart(
    server: Server,
) -> None:
    """Null in the file is no empty response: a kubelet that dies between loses nothing."""
    rig = rig_of(server)
    old = server.create(pod("p1", {GPU: 1}))
    rig.admit(old)
    flush(rig)
    rig.file = None
    assert restart(rig, server, old) == ""
    assert restart(rig, server, old) == ""
    assert rig.writes == []
    rig.plug(GPU, "g0")
    rig.admit(server.seen(old))
    rig.writes.clear()

    result = rig.run(rig.manager.run_options(server.seen(old), MAIN))

    assert rig.calls == [AllocateCall(GPU, ids("g0"), old.uid, MAIN)]
    assert result.options is not None
    assert result.options.envs == {"IDS": "g0"}
    assert len(rig.writes) == 1
    assert restart(rig, server, old) == ""
    rig.plug(GPU, "g0")
    rig.admit(server.seen(old))
    rig.run(rig.manager.run_options(server.seen(old), MAIN))
    assert rig.calls == []


def test_the_file_counts_where_the_api_says_something_else(server: Server) -> None:
    """W11."""
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    server.name_devices(created, "g3")

    assert restart(rig, server, created) == ""

    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g0"}
    assert rig.writes == []


def test_an_intact_file_is_not_written_for_the_list(server: Server) -> None:
    rig = rig_of(server)
    created = server.create(pod("p1", {GPU: 1}))
    rig.admit(created)
    flush(rig)

    assert restart(rig, server, created) == ""

    assert rig.writes == []


def test_assigned_devices_are_given_to_their_pod(server: Server) -> None:
    rig = rig_of(server)
    created = server.name_devices(server.create(pod("p1", {GPU: 1})), "g2")

    assert rig.admit(created).admitted

    assert rig.manager.devices_of(created.uid, MAIN)[GPU].keys() == {"g2"}
    assert not rig.manager.api.is_owed


@pytest.mark.parametrize("bulk", [True, False])
def test_a_flush_takes_no_other_reply(server: Server, *, bulk: bool) -> None:
    rig = rig_of(server, bulk=bulk)
    rig.admit(server.create(pod("p1", {GPU: 1})))
    flushing = rig.manager.api.flush()
    next(flushing)

    with pytest.raises(TypeError, match="cannot be answered with"):
        flushing.send(DeviceBindingsListed(()))
