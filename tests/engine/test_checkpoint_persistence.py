"""The persistence `checkpoint` on the simulated disk: power, space, crashes between steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.pods import ContainerKind
from simulator.core.records import InvariantViolated, ManagerStarted, StateWritten
from simulator.engine.actions import (
    CrashKubelet,
    CreatePod,
    DiskFull,
    Loss,
    PowerCut,
    RecreateNode,
    ReportDevices,
    RestartKubelet,
    SlowDisk,
    StartPlugin,
    UpgradeKubelet,
    When,
)
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching
from tests.engine.runs import NODE, Run, a_spec, container, devices, pod, seconds, with_plugin

STEPS = ["write", "fsync", "rename"]


def checkpoint_spec(
    *names: str, dir_fsync: bool = False, version: str = "1.36.2"
) -> SimulationSpec:
    spec = a_spec(*(pod(name) for name in names or ("trainer",)), version=version)
    options = (("dirFsync", True),) if dir_fsync else ()
    return with_plugin(
        replace(spec, persistence_options=options),
        reregister_after=seconds(0.01),
        starts_after_boot=seconds(0.01),
    )


def started(spec: SimulationSpec, *names: str, faults: tuple[Fault, ...] = ()) -> Run:
    run = Run(spec, faults=faults, watching=Watching(effects=True))
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def held(run: Run) -> list[str]:
    return [each.device for each in run.simulation.holdings(NODE)]


def lost(run: Run) -> bool:
    return "acknowledged" in {each.invariant for each in run.records(InvariantViolated)}


def test_a_write_is_a_temporary_file_an_fsync_and_a_rename() -> None:
    """S4.9."""
    run = started(checkpoint_spec(), "trainer")
    ops = [effect.op for effect in run.simulation.effects if effect.target == CHECKPOINT_FILE_NAME]

    assert ops == [Op.READ, *[Op.WRITE, Op.FSYNC, Op.RENAME] * 2]
    assert run.simulation.effect_count >= len(ops)


def test_the_knob_dir_fsync_adds_a_step() -> None:
    run = started(checkpoint_spec(dir_fsync=True), "trainer")
    ops = [effect.op for effect in run.simulation.effects if effect.target == CHECKPOINT_FILE_NAME]

    assert ops == [Op.READ, *[Op.WRITE, Op.FSYNC, Op.RENAME, Op.DIR_FSYNC] * 2]


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("effect", STEPS)
def test_a_power_cut_at_a_step_leaves_a_whole_file(effect: str, when: When) -> None:
    for loss in Loss:
        run = started(checkpoint_spec("a", "b"), "a")
        run.wait(60)
        run.begin(PowerCut(NODE, seconds(1000), effect=effect, when=when, loss=loss))
        run.begin(CreatePod("b"))
        run.wait(5)
        found = run.simulation.checkpoint(NODE)

        assert found.valid
        assert held(run) in (["g0"], ["g0", "g1"])
        assert not lost(run)
        if (effect, when) != ("rename", When.AFTER):
            assert held(run) == ["g0"]


def test_a_rename_without_directory_fsync_may_vanish_with_what_was_acknowledged() -> None:
    """W10: the pod was admitted, its record is gone."""
    run = started(checkpoint_spec("a", "b"), "a")
    run.wait(60)
    run.do(CreatePod("b"))
    run.begin(PowerCut(NODE, seconds(1000)))

    assert held(run) == ["g0"]
    assert lost(run)


def test_with_the_directory_fsync_nothing_acknowledged_is_lost() -> None:
    run = started(checkpoint_spec("a", "b", dir_fsync=True), "a")
    run.wait(60)
    run.do(CreatePod("b"))
    run.begin(PowerCut(NODE, seconds(1000)))

    assert held(run) == ["g0", "g1"]
    assert not lost(run)


def test_a_lost_rename_is_mended_by_time() -> None:
    run = started(checkpoint_spec("a"), "a")
    run.wait(31)
    run.begin(PowerCut(NODE, seconds(1000)))

    assert held(run) == ["g0"]
    assert not lost(run)


def test_a_pod_whose_record_was_lost_gets_devices_anew() -> None:
    run = started(checkpoint_spec("a", "b"), "a")
    run.wait(60)
    run.do(CreatePod("b"))
    run.do(PowerCut(NODE, seconds(5)))
    run.wait(5)

    assert [run.pod(name).phase for name in ("a", "b")] == ["Running", "Running"]
    assert [run.pod(name).plugin_calls for name in ("a", "b")] == [0, 1]
    assert held(run) == ["g0", "g1"]


def test_a_full_disk_refuses_admission_and_the_entry_stays_in_memory() -> None:
    """S3.15: and S4.9: the temporary file is removed."""
    run = started(checkpoint_spec())
    run.do(DiskFull(NODE))
    run.do(CreatePod("trainer"))

    assert run.pod("trainer").message == (
        "Pod was rejected: Allocate failed due to failed to write checkpoint file "
        '"kubelet_internal_checkpoint": no space left on device, which is unexpected'
    )
    assert run.pod("trainer").devices == (("example.com/gpu", 1),)
    assert held(run) == []


def test_a_full_disk_does_not_matter_to_pods_that_need_no_write() -> None:
    """A pod that is admitted again with its old devices writes nothing (1.20 and later, R50)."""
    run = started(checkpoint_spec(), "trainer")
    run.do(DiskFull(NODE))
    run.do(RestartKubelet(NODE))
    run.wait(2)

    assert run.pod("trainer").phase == "Running"


def test_1_19_refuses_every_pod_while_the_disk_is_full() -> None:
    """R50: it writes the checkpoint at every admission."""
    run = started(checkpoint_spec(version="1.19.16"), "trainer")
    run.do(DiskFull(NODE))
    run.do(RestartKubelet(NODE))
    run.wait(2)

    assert run.pod("trainer").phase == "Failed"
    assert "no space left on device" in run.pod("trainer").message


def test_after_the_disk_has_room_again_pods_are_admitted() -> None:
    run = started(checkpoint_spec("a", "b"))
    run.do(DiskFull(NODE, seconds(10)))
    run.do(CreatePod("a"))
    run.wait(11)
    run.do(CreatePod("b"))

    assert [run.pod(name).phase for name in ("a", "b")] == ["Failed", "Running"]


def test_writes_take_longer_on_a_slow_disk() -> None:
    run = started(checkpoint_spec("a", "b"))
    began = run.simulation.now
    plain = run.do(CreatePod("a")) - began
    run.do(SlowDisk(NODE, seconds(2), seconds(100)))
    began = run.simulation.now
    slow = run.do(CreatePod("b")) - began

    assert slow - plain == seconds(2)

    run.wait(200)
    began = run.simulation.now
    run.do(ReportDevices("gpu", devices(4)))
    run.wait(1)
    written = [at for at, _ in run.stamped(StateWritten, began)]

    assert written[0] - began < seconds(1)


def test_two_writes_follow_one_another() -> None:
    """The checkpoint manager's lock: the later content is there in the end."""
    run = started(checkpoint_spec())
    run.do(SlowDisk(NODE, seconds(1)))
    run.begin(ReportDevices("gpu", devices(3)))
    run.begin(ReportDevices("gpu", devices(2)))
    run.wait(5)

    assert [each.cause for each in run.records(StateWritten)] == ["devices"] * 3
    run.do(RestartKubelet(NODE))
    assert run.simulation.checkpoint(NODE).valid


def crashed(effect: Op, nth: int, when: When) -> Run:
    fault = Fault(FaultKind.CRASH, effect, nth=nth, when=when, duration=seconds(1))
    run = started(checkpoint_spec(), faults=(fault,))
    run.begin(CreatePod("trainer"))
    run.wait(15)
    return run


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("effect", [Op.WRITE, Op.FSYNC, Op.RENAME, Op.ALLOCATE, Op.STATUS_PATCH])
def test_a_crash_around_any_step_of_an_admission_adds_no_violation(effect: Op, when: When) -> None:
    nth = 2 if effect in {Op.WRITE, Op.FSYNC, Op.RENAME} else 1
    run = crashed(effect, nth, when)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").devices == (("example.com/gpu", 1),)
    assert run.records(InvariantViolated) == []


def test_a_crash_leaves_a_temporary_file_which_old_kubelets_remove() -> None:
    """S1.9, S4.9: 1.36 skips what is no socket, 1.32 deletes it."""
    left = {}
    for version in ("1.32.10", "1.36.2"):
        run = crashed_version(version)
        run.do(UpgradeKubelet(NODE, version))
        left[version] = temporary_files(run)

    assert left == {"1.32.10": 0, "1.36.2": 1}


def crashed_version(version: str) -> Run:
    fault = Fault(FaultKind.CRASH, Op.FSYNC, nth=2, duration=seconds(1000))
    run = started(checkpoint_spec(version=version), faults=(fault,))
    run.begin(CreatePod("trainer"))
    run.wait(5)
    assert temporary_files(run) == 1
    return run


def temporary_files(run: Run) -> int:
    names = run.simulation.files(NODE)
    return sum(name.startswith(f".{CHECKPOINT_FILE_NAME}") for name in names)


def test_a_write_that_fails_by_a_fault_is_reported() -> None:
    fault = Fault(FaultKind.ERROR, Op.RENAME, nth=2, message="input/output error")
    run = started(checkpoint_spec(), "trainer", faults=(fault,))

    assert "input/output error" in run.pod("trainer").message
    assert temporary_files(run) == 0


def test_a_read_that_fails_starts_empty() -> None:
    """S4.12."""
    fault = Fault(FaultKind.ERROR, Op.READ, nth=2)
    run = started(checkpoint_spec(), "trainer", faults=(fault,))
    run.do(RestartKubelet(NODE))

    assert run.records(ManagerStarted)[-1].source == "nothing"
    assert run.records(ManagerStarted)[-1].error == "input/output error"


def test_a_write_that_hangs_blocks_admission() -> None:
    fault = Fault(FaultKind.HANG, Op.FSYNC, nth=2)
    run = started(checkpoint_spec("a", "b"), faults=(fault,))
    run.begin(CreatePod("a"))
    run.begin(CreatePod("b"))
    run.wait(600)

    assert [run.pod(name).phase for name in ("a", "b")] == ["Pending", "Pending"]


def test_a_recreated_node_starts_without_a_file() -> None:
    run = started(checkpoint_spec(), "trainer")
    run.do(RecreateNode(NODE))
    run.wait(1)

    assert run.records(ManagerStarted)[-1].source == "nothing"
    assert run.pod("trainer").phase == "Running"
    assert not lost(run)


def test_a_crash_in_the_middle_of_the_first_batch_starts_it_anew() -> None:
    run = started(checkpoint_spec("a", "b"), "a", "b")
    run.begin(RestartKubelet(NODE))
    run.wait(0.1)
    run.do(CrashKubelet(NODE))
    run.wait(1)

    assert [run.pod(name).phase for name in ("a", "b")] == ["Running", "Running"]
    assert run.pod("a").unchanged


def test_devices_of_an_init_container_and_its_app_are_two_entries() -> None:
    spec = a_spec(pod("trainer", container("setup", 1, ContainerKind.INIT), container("app", 1)))
    run = started(spec, "trainer")

    assert run.simulation.checkpoint(NODE).entries == 2
    assert held(run) == ["g0"]
