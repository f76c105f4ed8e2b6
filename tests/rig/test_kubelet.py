"""A live kubelet in the hands of plain code."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from simulator.core.allocate_response import DeviceSpec
from simulator.core.devices import UNHEALTHY, Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.engine.spec import PluginLatency
from simulator.errors import ConfigError, ScenarioError
from simulator.namespaces import why_refused
from simulator.rig.outcomes import KubeletPanickedError, NotInTimeError, PodRefusedError
from tests.rig.rigs import GPU, PLUGIN, a_kubelet, a_plugin


def test_a_container_is_started_with_what_the_plugin_answered() -> None:
    with a_plugin() as (kubelet, _):
        container = kubelet.allocate(GPU, 2)

        assert container.devices == {GPU: ("gpu-0", "gpu-1")}
        assert container.device_nodes == (
            DeviceSpec("/dev/gpu-0", "/dev/gpu-0", "rw"),
            DeviceSpec("/dev/gpu-1", "/dev/gpu-1", "rw"),
        )
        assert container.envs == {"EXAMPLE_COM_GPU": "gpu-0,gpu-1"}
        [listed] = kubelet.pod_resources()
        assert [entry.ids for entry in listed.containers[0].devices] == [("gpu-0",), ("gpu-1",)]
        assert kubelet.phase(container) == "Running"
        kubelet.delete(container)
        assert kubelet.phase(container) == "Deleted"
        assert len(kubelet.allocate(GPU, 4).devices[GPU]) == 4


def test_a_refusal_is_an_error_with_the_kubelets_words() -> None:
    """S3.9, S13: requested number of devices unavailable."""
    with a_plugin() as (kubelet, _):
        with pytest.raises(PodRefusedError) as caught:
            kubelet.allocate(GPU, 5, pod="greedy")

        assert (caught.value.pod, caught.value.reason) == ("greedy", "UnexpectedAdmissionError")
        assert "Requested: 5, Available: 4" in caught.value.message
        assert [event.reason for event in kubelet.events] == ["UnexpectedAdmissionError"]


def test_unhealthy_devices_are_not_allocatable_and_the_wait_says_what_is() -> None:
    with a_plugin() as (kubelet, plugin):
        first, *others = PLUGIN.devices
        plugin.report(Device(first.id, UNHEALTHY), *others)
        kubelet.wait_allocatable(GPU, 3)
        assert kubelet.capacity == {GPU: 4}
        with pytest.raises(NotInTimeError) as caught:
            kubelet.wait_allocatable(GPU, 4, timeout=0.05)

        assert "allocatable: 3 example.com/gpu; capacity: 4 example.com/gpu" in str(caught.value)
        assert "registration of 'example.com/gpu': accepted" in str(caught.value)


def test_a_restart_removes_the_plugins_socket_and_the_plugin_registers_again() -> None:
    """S1.9, S1.10."""
    with a_plugin() as (kubelet, _):
        before = (kubelet.socket_dir / "gpu.sock").stat().st_mtime_ns
        container = kubelet.allocate(GPU)
        kubelet.restart()
        kubelet.wait_registered(GPU)

        assert (kubelet.socket_dir / "gpu.sock").stat().st_mtime_ns != before
        assert [each.kubelet for each in kubelet.registrations] == [1, 2]
        assert kubelet.phase(container) == "Running"


def test_a_broken_stream_makes_the_devices_unhealthy_and_time_drops_the_resource() -> None:
    """S2.6, S2.10: 5 minutes without its plugin, and the resource is gone."""
    with a_plugin() as (kubelet, plugin):
        plugin.stop()
        kubelet.wait_allocatable(GPU, 0)
        assert kubelet.capacity == {GPU: 4}
        kubelet.advance("5m1s")

        assert kubelet.capacity == {}


def test_a_stream_that_is_broken_from_here_is_not_the_plugins_doing() -> None:
    with a_plugin() as (kubelet, _):
        kubelet.break_stream(GPU)
        kubelet.wait_until(lambda: len(kubelet.registrations) == 2)

        assert [each.ended_by_plugin for each in kubelet.registrations] == [False, False]


def test_a_reboot_ends_containers_and_a_crash_does_not() -> None:
    """S5.6: containers outlive their kubelet, not their machine."""
    with a_plugin() as (kubelet, plugin):
        container = kubelet.allocate(GPU)
        kubelet.crash()
        kubelet.wait_registered(GPU)
        assert kubelet.phase(container) == "Running"
        plugin.stop()
        kubelet.reboot()
        kubelet.wait_phase(container, "Failed")
        with pytest.raises(NotInTimeError, match=r"was not Running within .* but Failed"):
            kubelet.wait_phase(container, "Running", timeout=0.05)


def test_a_plugin_that_does_not_answer_is_told_by_name() -> None:
    """R82, S1.24: Allocate has no time-out."""
    slow = PluginLatency(allocate=MINUTE)
    with a_plugin(latency=slow) as (kubelet, plugin):
        with suppress(NotInTimeError):
            kubelet.allocate(GPU, timeout=0.2)
        kubelet.wait_until(lambda: bool(kubelet.calls))  # A busy machine may ask it only then.
        with pytest.raises(NotInTimeError, match=r"Allocate has not been answered for \d+\.\ds"):
            kubelet.allocate(GPU, timeout=0.05)
        plugin.stop()


def test_a_panic_of_the_kubelet_is_told() -> None:
    """S3.14: the device has vanished while the plugin was asked."""
    answering = PluginLatency(allocate=Duration(2 * SECOND))
    with a_plugin(latency=answering) as (kubelet, plugin):

        def report() -> None:
            kubelet.wait_until(lambda: bool(kubelet.tap.calls))
            plugin.report(Device(DeviceId("other"), UNHEALTHY))

        reporter = threading.Thread(target=report)
        reporter.start()
        with pytest.raises(KubeletPanickedError, match=r"S3\.14"):
            kubelet.allocate(GPU)
        reporter.join()


def test_calls_and_what_was_asked_can_be_looked_at() -> None:
    with a_plugin(preferred_allocation=True, pre_start_required=True) as (kubelet, _):
        kubelet.allocate(GPU)

        assert [type(each.call).__name__ for each in kubelet.calls] == [
            "PreferredAllocationCall",
            "AllocateCall",
            "PreStartContainerCall",
        ]
        [registration] = kubelet.registrations
        assert registration.request.endpoint == "gpu.sock"
        assert registration.options == PluginOptions(
            pre_start_required=True, preferred_allocation=True
        )


def test_what_is_not_there_is_said() -> None:
    with a_kubelet(persistence="database") as (kubelet, _):
        with pytest.raises(ScenarioError, match='there is no pod "absent"'):
            kubelet.delete("absent")
        with pytest.raises(ValueError, match="5"):
            kubelet.advance("5 minutes")
        with pytest.raises(ValueError, match="soon"):
            kubelet.wait_registered(GPU, timeout="soon")
    with pytest.raises(ConfigError, match="this node has ended"):
        kubelet.allocate(GPU)
    assert not kubelet.directory.exists()


def test_a_plugin_process_is_ended_with_the_node_and_started_again_by_a_reboot(
    tmp_path: Path,
) -> None:
    program = "import pathlib, sys, time; print('begun', flush=True); time.sleep(60)"
    with a_kubelet() as (kubelet, _):
        process = kubelet.run(sys.executable, "-c", program, environment={"A": "1"})
        kubelet.wait_until(lambda: process.output == "begun")
        first = process.pid
        kubelet.reboot()
        kubelet.wait_until(lambda: process.output == "begun\nbegun")
        assert process.pid != first
        with pytest.raises(NotInTimeError, match=r"runs, saying: begun begun"):
            kubelet.wait_registered(GPU, timeout="50ms")
        with pytest.raises(OSError, match=r"cannot run .*/absent: No such file"):
            kubelet.run(tmp_path / "absent")

    assert process.code is not None


def test_a_plugin_that_has_exited_is_told_with_the_last_lines_that_it_said() -> None:
    lines = "[print(f'line {n:03}', flush=True) for n in range(99)]"
    program = f"import sys; {lines}; sys.exit('no device')"
    with a_kubelet() as (kubelet, _):
        process = kubelet.run(sys.executable, "-c", program)
        process.wait(60)
        with pytest.raises(NotInTimeError) as caught:
            kubelet.wait_allocatable(GPU, 4, timeout="50ms")

    told = str(caught.value)
    assert "4 of example.com/gpu were not allocatable within 0.05s; allocatable: nothing" in told
    assert "has exited with 1, saying: …line 067 line 068" in told
    assert told.endswith("line 098 no device")


def test_a_plugin_with_the_kubelets_path_built_in_runs_in_its_place() -> None:
    with a_kubelet() as (kubelet, _):
        if refusal := why_refused():
            pytest.skip(refusal)
        process = kubelet.run("ls", "/var/lib/kubelet/device-plugins", in_namespace=True)

        assert (process.wait(60), process.output) == (0, "kubelet.sock")
