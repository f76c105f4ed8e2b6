"""Table 5.4 of kubelet-behaviour.md: restart and reboot, plugin away and back, by version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.actions import CreatePod, RebootNode, RestartKubelet, StartPlugin
from tests.engine.runs import NODE, Run, a_spec, pod, seconds, with_plugin

NO_HEALTHY = (
    "Allocate failed due to no healthy devices present; "
    "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
)
ADMITTED = ("Running", "", 0)
PREFIXES = {
    "1.19.16": "Pod ",
    "1.24.0": "Pod ",
    "1.27.2": "Pod was rejected: ",
    "1.31.4": "Pod was rejected: ",
    "1.36.2": "Pod was rejected: ",
}


def disturbed(version: str, *, reboot: bool, plugin_first: bool) -> tuple[str, str, int]:
    """Phase, message and Allocate calls of a pod with devices after a restart or reboot."""
    back = seconds(0.05 if plugin_first else 30)
    spec = with_plugin(
        a_spec(pod("trainer"), version=version), reregister_after=back, starts_after_boot=back
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(RebootNode(NODE, seconds(10)) if reboot else RestartKubelet(NODE))
    calls = run.pod("trainer").plugin_calls
    run.wait(2)
    observed = run.pod("trainer")
    return observed.phase, observed.message, calls


@pytest.mark.parametrize("version", list(PREFIXES))
def test_a_restart_with_the_plugin_first_disturbs_nobody(version: str) -> None:
    assert disturbed(version, reboot=False, plugin_first=True) == ADMITTED


@pytest.mark.parametrize("version", list(PREFIXES))
def test_a_reboot_with_the_plugin_first_disturbs_nobody(version: str) -> None:
    assert disturbed(version, reboot=True, plugin_first=True) == ADMITTED


@pytest.mark.parametrize("version", ["1.19.16", "1.24.0", "1.31.4", "1.36.2"])
def test_a_restart_with_a_late_plugin_keeps_running_pods(version: str) -> None:
    assert disturbed(version, reboot=False, plugin_first=False) == ADMITTED


def test_a_restart_of_1_27_2_with_a_late_plugin_fails_running_pods() -> None:
    """R01."""
    message = f"Pod was rejected: {NO_HEALTHY}"

    assert disturbed("1.27.2", reboot=False, plugin_first=False) == ("Failed", message, 0)


@pytest.mark.parametrize("version", ["1.19.16", "1.24.0"])
def test_old_kubelets_admit_on_stale_devices_after_a_reboot(version: str) -> None:
    """R02."""
    assert disturbed(version, reboot=True, plugin_first=False) == ADMITTED


@pytest.mark.parametrize("version", ["1.27.2", "1.31.4", "1.36.2"])
def test_newer_kubelets_fail_pods_after_a_reboot_with_a_late_plugin(version: str) -> None:
    message = f"Pod was rejected: {NO_HEALTHY}"

    assert disturbed(version, reboot=True, plugin_first=False) == ("Failed", message, 0)


def test_the_same_run_twice_gives_the_same_records() -> None:
    def records() -> list[object]:
        run = Run(replace(a_spec(pod("trainer")), choice="random", seed=3))
        run.do(StartPlugin("gpu"))
        run.do(CreatePod("trainer"))
        run.do(RestartKubelet(NODE))
        return list(run.all_records())

    assert records() == records()
