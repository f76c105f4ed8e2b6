"""Simulated plugins: late, hanging, failing, two for one resource (S1, S3.12 to S3.18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.calls import AllocateCall, AllocateReply, PluginCall
from simulator.core.devices import UNHEALTHY, DeviceId
from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import (
    ContainerChanged,
    KubeletPanicked,
    KubeletStarted,
    PluginCalled,
    PluginDisconnected,
    PluginRegistered,
    RegistrationRefused,
)
from simulator.core.resources import ResourceName
from simulator.engine.actions import (
    BreakStream,
    CrashPlugin,
    CreatePod,
    HangPlugin,
    RebootNode,
    ReportDevices,
    RestartContainer,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
)
from simulator.engine.plugin_answers import allocate_answer
from simulator.engine.spec import PluginLatency
from simulator.engine.timeline import Timeline
from simulator.engine.virtual.plugin import Plugin
from tests.engine.runs import (
    GPU,
    NODE,
    Run,
    a_plugin,
    a_spec,
    container,
    devices,
    pod,
    seconds,
    with_plugin,
)

COUNTS_4_4 = ((("example.com/gpu", 4),), (("example.com/gpu", 4),))
COUNTS_4_0 = ((("example.com/gpu", 4),), (("example.com/gpu", 0),))
COUNTS_0_0 = ((("example.com/gpu", 0),), (("example.com/gpu", 0),))

PREFERRED_FAILED = (
    "device plugin GetPreferredAllocation rpc failed with err: "
    "rpc error: code = Unknown desc = no idea"
)


def counts(run: Run) -> tuple[object, object]:
    node = run.simulation.node(NODE)
    return node.capacity, node.allocatable


def test_a_plugin_registers_and_lists_its_devices() -> None:
    run = Run(a_spec())
    assert not run.simulation.plugin("gpu").registered
    run.do(StartPlugin("gpu"))

    assert run.simulation.plugin("gpu").registered
    assert counts(run) == COUNTS_4_4


def test_starting_a_registered_plugin_again_does_nothing() -> None:
    run = Run(a_spec())
    run.do(StartPlugin("gpu"))
    run.do(StartPlugin("gpu"))

    assert len(run.records(PluginRegistered)) == 1


def test_a_plugin_that_starts_while_no_kubelet_runs_registers_when_one_does() -> None:
    run = Run(with_plugin(a_spec(), reregister_after=None))
    run.begin(RestartKubelet(NODE, seconds(10)))
    run.wait(1)
    run.begin(StartPlugin("gpu"))
    run.wait(5)
    assert not run.simulation.plugin("gpu").registered
    run.wait(10)

    assert run.simulation.plugin("gpu").registered


def test_a_plugin_registers_again_after_its_socket_was_removed() -> None:
    """S1.10."""
    run = Run(with_plugin(a_spec(), reregister_after=seconds(5)))
    run.do(StartPlugin("gpu"))
    restarted = run.simulation.now
    run.do(RestartKubelet(NODE))
    assert counts(run) == COUNTS_0_0
    run.wait(10)
    again = [at for at, _ in run.stamped(PluginRegistered, restarted)]

    assert len(again) == 1
    assert again[0] - restarted == pytest.approx(5 * SECOND, abs=SECOND / 10)
    assert counts(run) == COUNTS_4_4


def test_two_restarts_in_a_row_give_one_registration() -> None:
    run = Run(with_plugin(a_spec(), reregister_after=seconds(5)))
    run.do(StartPlugin("gpu"))
    before = run.simulation.now
    run.do(RestartKubelet(NODE))
    run.wait(3)
    run.do(RestartKubelet(NODE))
    run.wait(10)

    assert len(run.records(PluginRegistered, before)) == 1


def test_a_stopped_plugin_leaves_capacity_and_no_allocatable() -> None:
    """S2.6, S2.12."""
    run = Run(a_spec())
    run.do(StartPlugin("gpu"))
    run.do(StopPlugin("gpu"))

    assert counts(run) == COUNTS_4_0
    assert not run.simulation.plugin("gpu").registered


def test_a_broken_stream_is_not_opened_again_by_anybody() -> None:
    """R17, R18: the kubelet does not dial again, the plugin does not notice."""
    run = Run(a_spec())
    run.do(StartPlugin("gpu"))
    run.do(BreakStream("gpu"))
    run.wait(60)
    assert counts(run) == COUNTS_4_0
    assert len(run.records(PluginRegistered)) == 1
    run.do(StartPlugin("gpu"))

    assert counts(run) == COUNTS_4_4


def test_a_crashed_plugin_comes_back_after_its_time() -> None:
    run = Run(a_spec())
    run.do(StartPlugin("gpu"))
    run.do(CrashPlugin("gpu", seconds(24)))
    run.wait(23)
    assert counts(run) == COUNTS_4_0
    run.wait(2)

    assert counts(run) == COUNTS_4_4


def test_a_crashed_plugin_without_a_restart_stays_away() -> None:
    run = Run(a_spec())
    run.do(StartPlugin("gpu"))
    run.do(CrashPlugin("gpu"))
    run.wait(100)

    assert counts(run) == COUNTS_4_0


def test_a_crash_during_a_call_fails_the_call() -> None:
    """S3.12: the raw text of gRPC is the cause."""
    slow = PluginLatency(allocate=seconds(2))
    run = Run(with_plugin(a_spec(pod("trainer")), latency=slow))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.do(CrashPlugin("gpu"))
    run.wait(1)

    assert run.pod("trainer").message == (
        "Pod was rejected: Allocate failed due to rpc error: code = Unavailable desc = "
        "error reading from server: EOF, which is unexpected"
    )


def test_a_hanging_plugin_blocks_all_admission_until_it_answers() -> None:
    """S1.28, issue 117435."""
    run = Run(a_spec(pod("first"), pod("second", container(count=0))))
    run.do(StartPlugin("gpu"))
    run.do(HangPlugin("gpu", seconds(30)))
    run.begin(CreatePod("first"))
    run.begin(CreatePod("second"))
    run.wait(29)
    assert [run.pod(name).phase for name in ("first", "second")] == ["Pending", "Pending"]
    run.wait(2)

    assert [run.pod(name).phase for name in ("first", "second")] == ["Running", "Running"]


def test_a_plugin_that_hangs_for_good_never_answers_a_call_under_way() -> None:
    slow = PluginLatency(allocate=seconds(2))
    run = Run(with_plugin(a_spec(pod("trainer")), latency=slow))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.do(HangPlugin("gpu"))
    run.wait(600)
    assert run.pod("trainer").phase == "Pending"
    run.do(StopPlugin("gpu"))
    run.wait(1)

    assert run.pod("trainer").phase == "Failed"


def test_pre_start_is_waited_for_half_a_minute_and_tried_again() -> None:
    """S1.26, S3.25: the one call with a limit; the late answer to it is nobody's."""
    spec = with_plugin(
        a_spec(pod("trainer")),
        pre_start_required=True,
        latency=PluginLatency(pre_start=seconds(45)),
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    began = run.do(CreatePod("trainer"))
    waiting = (
        "CreateContainerConfigError: device plugin PreStartContainer rpc failed with err: "
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    )
    run.wait(45)

    changes = list(run.stamped(ContainerChanged))
    assert [change.message for _, change in changes] == [waiting, waiting]
    assert seconds(30) <= began <= seconds(31)
    assert changes[1][0] - changes[0][0] == seconds(40)
    assert run.pod("trainer").phase == "Pending"


def test_allocate_is_given_up_after_a_limit_that_no_kubelet_has() -> None:
    """R82: with it the pods behind need not wait for longer."""
    hanging = with_plugin(
        a_spec(pod("trainer"), pod("web", container("app", 0))),
        latency=PluginLatency(allocate=seconds(60)),
    )
    run = Run(replace(hanging, plugin_call_timeout=seconds(10)))
    run.do(StartPlugin("gpu"))
    started = run.begin(CreatePod("trainer"))
    admitted = run.do(CreatePod("web"))
    run.wait(60)

    assert seconds(10) <= admitted <= seconds(11)
    assert run.simulation.completed_at(started) is not None
    assert run.pod("trainer").message == (
        "Pod was rejected: Allocate failed due to rpc error: code = DeadlineExceeded "
        "desc = context deadline exceeded, which is unexpected"
    )
    assert run.pod("trainer").devices == ()
    assert run.pod("web").phase == "Running"


def test_a_later_hang_is_not_ended_by_the_end_of_an_earlier_one() -> None:
    run = Run(a_spec(pod("trainer")))
    run.do(StartPlugin("gpu"))
    run.do(HangPlugin("gpu", seconds(5)))
    run.do(HangPlugin("gpu", seconds(20)))
    run.begin(CreatePod("trainer"))
    run.wait(10)
    assert run.pod("trainer").phase == "Pending"
    run.wait(11)

    assert run.pod("trainer").phase == "Running"


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        (
            {"fail_allocate": "out of memory"},
            "rpc error: code = Unknown desc = out of memory",
        ),
        ({"empty_allocate": True}, "no containers return in allocation response "),
        (
            {"fail_preferred": "no idea", "preferred_allocation": True},
            PREFERRED_FAILED,
        ),
    ],
)
def test_a_failing_plugin_refuses_the_pod(changes: dict[str, object], cause: str) -> None:
    """S3.12, S3.13, steps K and L."""
    run = Run(with_plugin(a_spec(pod("trainer")), **changes))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))

    assert run.pod("trainer").message == (
        f"Pod was rejected: Allocate failed due to {cause}, which is unexpected"
    )


def test_a_plugin_is_asked_for_its_preference_and_before_every_start() -> None:
    """S1.25, S1.26."""
    run = Run(
        with_plugin(a_spec(pod("trainer")), preferred_allocation=True, pre_start_required=True)
    )
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    assert run.simulation.plugin("gpu").calls == (
        ("Allocate", 1),
        ("GetPreferredAllocation", 1),
        ("PreStartContainer", 1),
    )
    assert run.pod("trainer").plugin_calls == 1
    run.do(RestartContainer("trainer", "app"))

    assert run.simulation.plugin("gpu").calls == (("PreStartContainer", 1),)
    assert run.pod("trainer").plugin_calls == 0


def test_a_plugin_may_prefer_the_same_devices_whatever_it_is_asked() -> None:
    """One is held and one is not there: both are passed over, and others fill up (S3.18, R85)."""
    spec = with_plugin(
        a_spec(pod("first"), pod("second", container("app", 2))),
        preferred_allocation=True,
        preferred=(DeviceId("g2"), DeviceId("g9")),
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("first"))
    run.do(CreatePod("second"))

    assert run.pod("first").device_ids == ((GPU, ("g2",)),)
    assert run.pod("second").device_ids == ((GPU, ("g0", "g1")),)


def test_a_failing_pre_start_leaves_the_container_waiting_and_is_tried_again() -> None:
    """S3.22.1, S3.25."""
    run = Run(with_plugin(a_spec(pod("trainer")), pre_start_required=True, fail_pre_start="busy"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    waiting = (
        "CreateContainerConfigError: device plugin PreStartContainer rpc failed with err: "
        "rpc error: code = Unknown desc = busy"
    )
    assert run.pod("trainer").waiting == waiting
    run.wait(25)

    assert [each.message for each in run.records(ContainerChanged)] == [waiting] * 3
    assert run.pod("trainer").phase == "Pending"


def test_a_report_of_other_devices_takes_the_place_of_the_list() -> None:
    """S1.17, S9.6: and a change of health syncs the pod that holds the device."""
    run = Run(a_spec(pod("trainer")))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(ReportDevices("gpu", devices(2, health=UNHEALTHY)))
    run.wait(1)

    assert counts(run) == ((("example.com/gpu", 2),), (("example.com/gpu", 0),))
    assert run.pod("trainer").phase == "Running"


def test_a_report_without_a_stream_is_remembered_for_the_next_one() -> None:
    run = Run(a_spec())
    run.do(ReportDevices("gpu", devices(2)))
    run.do(StartPlugin("gpu"))

    assert counts(run) == ((("example.com/gpu", 2),), (("example.com/gpu", 2),))


def test_hardware_may_be_another_after_a_reboot() -> None:
    run = Run(with_plugin(a_spec(), devices_after_reboot=devices(3, "h")))
    run.do(StartPlugin("gpu"))
    run.do(RebootNode(NODE))
    run.do(StartPlugin("gpu"))

    assert counts(run) == ((("example.com/gpu", 3),), (("example.com/gpu", 3),))


def test_the_end_of_an_old_instance_disconnects_the_new_one() -> None:
    """S1.22, X7, R122: capacity 2, allocatable 0; messages of the new one are not received."""
    spec = with_plugin(a_spec(), devices=devices(2))
    spec = replace(spec, plugins=(*spec.plugins, a_plugin("newer", 2)))
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(StartPlugin("newer"))
    assert counts(run) == ((("example.com/gpu", 2),), (("example.com/gpu", 2),))
    run.do(StopPlugin("gpu"))

    assert counts(run) == ((("example.com/gpu", 2),), (("example.com/gpu", 0),))
    assert len(run.records(PluginDisconnected)) == 1
    assert not run.simulation.plugin("newer").registered

    run.do(ReportDevices("newer", devices(2)))

    assert counts(run) == ((("example.com/gpu", 2),), (("example.com/gpu", 0),))


def test_an_invalid_resource_name_is_refused() -> None:
    """S1.12.3, S1.15."""
    run = Run(with_plugin(a_spec(), resource=ResourceName("gpu")))
    run.do(StartPlugin("gpu"))

    assert run.records(RegistrationRefused) == [
        RegistrationRefused("gpu", 'the ResourceName "gpu" is invalid')
    ]


def test_a_device_that_vanishes_during_allocate_crashes_the_newest_kubelet() -> None:
    """S3.14, X16: the service manager starts it again, and the pod is admitted after that."""
    slow = PluginLatency(allocate=seconds(2))
    run = Run(with_plugin(a_spec(pod("trainer")), latency=slow))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.do(ReportDevices("gpu", devices(4, "h")))
    run.wait(5)
    assert [each.rule for each in run.records(KubeletPanicked)] == ["S3.14"]
    assert not run.simulation.node(NODE).up
    run.wait(30)

    assert len(run.records(KubeletStarted)) == 2
    assert run.simulation.node(NODE).up


def test_a_call_to_a_plugin_whose_process_is_gone_is_refused() -> None:
    run = Run(a_spec(pod("trainer")))
    run.do(CreatePod("trainer"))

    assert run.pod("trainer").devices == ()
    assert run.records(PluginCalled) == []


def test_the_answer_to_allocate_depends_on_the_ids_alone() -> None:
    ids = (DeviceId("g1"), DeviceId("g0"))
    call = AllocateCall(GPU, ids, PodUid("u"), ContainerName("c"))
    same = replace(call, devices=ids[::-1], pod=PodUid("v"))

    assert allocate_answer(call, with_envs=True) == allocate_answer(same, with_envs=True)
    assert b"EXAMPLE_COM_GPU" in allocate_answer(call, with_envs=True)
    assert b"EXAMPLE_COM_GPU" not in allocate_answer(call, with_envs=False)
    assert b"/dev/g0" in allocate_answer(call, with_envs=False)
    assert AllocateReply(None) != AllocateReply(b"")


def test_options_that_fail_refuse_the_registration_where_they_are_asked_for() -> None:
    """S1.12.6; up to 1.24 the options of the request are used and nobody asks."""
    broken = {
        version: Run(with_plugin(a_spec(version=version), fail_options="no driver"))
        for version in ("1.24.17", "1.25.0")
    }
    for run in broken.values():
        run.do(StartPlugin("gpu"))
    before, since = broken.values()

    assert before.simulation.plugin("gpu").registered
    assert not since.simulation.plugin("gpu").registered
    assert [refusal.message for refusal in since.records(RegistrationRefused)] == [
        "failed to get device plugin options: rpc error: code = Unknown desc = no driver"
    ]
    assert counts(since) == ((), ())


def test_a_stream_that_ends_before_its_first_list_leaves_a_resource_of_nothing() -> None:
    """S2.6: only its set of unhealthy devices is there (S2.9); the Node object shows 0 and 0."""
    run = Run(with_plugin(a_spec(), fail_list=True))
    run.do(StartPlugin("gpu"))
    run.wait(60)
    node = run.simulation.node(NODE)

    assert counts(run) == ((("example.com/gpu", 0),), ())
    assert (node.status_capacity, node.status_allocatable) == COUNTS_0_0
    assert len(run.records(PluginRegistered)) == 1
    assert not run.simulation.plugin("gpu").registered


def test_a_plugin_takes_as_long_as_somebody_else_says() -> None:
    """Beside its spec, a driver may give each call a latency of its own."""
    taken: list[PluginCall] = []

    def latency(call: PluginCall) -> Duration:
        taken.append(call)
        return seconds(3)

    answers: list[Instant] = []
    timeline = Timeline()
    plugin = Plugin(a_plugin(), timeline, lambda: None, latency)
    plugin.start()
    call = AllocateCall(GPU, (DeviceId("g0"),), PodUid("u"), ContainerName("app"))
    plugin.call(call, lambda _: answers.append(timeline.now()))
    while timeline.next_at() is not None:
        timeline.step()

    assert taken == [call]
    assert answers == [Instant(seconds(3))]
