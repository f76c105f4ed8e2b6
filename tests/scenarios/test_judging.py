"""When rows are judged, and what is seen of each subject."""

from __future__ import annotations

import pytest

from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import replay
from simulator.assembly.worlds import simulated
from simulator.core.instants import SECOND
from simulator.errors import ScenarioError
from simulator.reports.results import Cell, ScenarioResult, Verdict
from tests.scenarios.writing import SCENARIO, parse

STEPS = SCENARIO[SCENARIO.index("  steps:") : SCENARIO.index("  expect:")]
HEAD = SCENARIO[: SCENARIO.index("  steps:")].replace(
    'kubeletVersions: ["1.24.0", "1.36.2"]', 'kubeletVersions: ["1.36.2"]'
)


def run(*rows: str, steps: str = STEPS, persistence: str = "[checkpoint]") -> ScenarioResult:
    """Replay a scenario with these rows."""
    head = HEAD.replace("persistence: [checkpoint, database]", f"persistence: {persistence}")
    expect = "".join(f"  - {{{row}}}\n" for row in rows)
    return replay(parse(f"{head}{steps}  expect:\n{expect}"), Narrowing(), simulated)


def cell(row: str, *, steps: str = STEPS) -> Cell:
    [found] = run(row, steps=steps).rows
    return found.cells[0]


def verdict(row: str, *, steps: str = STEPS) -> Verdict:
    return cell(row, steps=steps).verdict


def test_a_row_holds_at_the_first_instant_at_which_all_its_keys_are_true() -> None:
    found = cell("after: plugin-up, within: 3s, pod: trainer, phase: Running")

    assert found.verdict is Verdict.HELD
    assert 1 * SECOND < found.at < 2 * SECOND


def test_a_row_that_is_not_true_by_its_deadline_is_broken_with_what_was_seen() -> None:
    found = cell("after: plugin-up, within: 500ms, pod: trainer, phase: Running")

    assert (found.verdict, found.at) == (Verdict.BROKEN, 500 * 10**6 + first_list_at())
    assert found.text() == "absent"
    assert [(fact.key, fact.expected, fact.holds) for fact in found.facts] == [
        ("phase", "Running", False)
    ]


def first_list_at() -> int:
    [found] = run("after: plugin-up, node: node-a, allocatable: {example.com/gpu: 4}").rows
    return found.cells[0].at


def test_without_within_a_row_is_judged_when_its_step_is_done() -> None:
    assert verdict("after: admit, pod: trainer, phase: Running") is Verdict.HELD
    assert verdict("at: 1s, pod: trainer, phase: Running") is Verdict.BROKEN


def test_what_is_true_too_early_is_judged_at_the_deadline() -> None:
    """No call has been made when the row begins; one has been when it ends."""
    found = cell("after: plugin-up, within: 3s, plugin: gpu, calls: {Allocate: 0}")

    assert found.verdict is Verdict.BROKEN
    assert found.text() == "1 Allocate"


def test_calls_count_from_the_beginning_of_the_step() -> None:
    """The Allocate call is made before the step is done."""
    assert verdict("after: admit, pod: trainer, pluginCalls: 1") is Verdict.HELD
    assert verdict("after: reboot, pod: trainer, pluginCalls: 0") is Verdict.HELD


def test_records_are_looked_for_from_the_beginning_of_the_step() -> None:
    row = "after: reboot, record: {type: AdmissionDecided, where: {admitted: false}, count: 1}"

    assert verdict(row) is Verdict.HELD
    assert verdict("after: reboot, record: {type: PluginRegistered}") is Verdict.BROKEN
    assert verdict("always: true, record: {type: KubeletStarted, count: 2}") is Verdict.HELD


def test_a_records_lists_are_compared_with_lists() -> None:
    devices = "where: {rpc: Allocate, devices: [gpu-0, gpu-1]}"

    assert verdict(f"after: admit, record: {{type: PluginCalled, {devices}}}") is Verdict.HELD


def test_a_record_names_a_pod_by_its_name_and_numa_nodes_by_text() -> None:
    """What has NUMA nodes as keys is a map in the file, whose keys are always text (S2.2)."""

    def allocated(pod: str, devices: str) -> Verdict:
        where = f"where: {{pod: {pod}, devices: {devices}}}"
        return verdict(f"after: admit, record: {{type: DevicesAllocated, {where}, count: 1}}")

    assert allocated("trainer", '{"0": [gpu-0], "1": [gpu-1]}') is Verdict.HELD
    assert allocated("trainer", "{0: [gpu-0], 1: [gpu-1]}") is Verdict.HELD
    assert allocated("another", "{0: [gpu-0], 1: [gpu-1]}") is Verdict.BROKEN
    assert allocated("trainer", "{0: [gpu-0], 1: [gpu-2]}") is Verdict.BROKEN
    assert allocated("trainer", "{0: [gpu-0]}") is Verdict.BROKEN


def test_a_record_names_several_pods_by_their_names() -> None:
    steps = (
        "  steps:\n"
        "  - {name: plugin-up, startPlugin: {name: gpu}}\n"
        "  - {name: admit, createPod: {name: trainer, node: node-a}}\n"
        "  - {name: delete, deletePod: {name: trainer, force: true}}\n"
        "  - {name: again, createPod: {name: trainer, node: node-a}}\n"
    )
    released = "after: again, record: {type: DevicesReleased, where: {pods: [%s]}}"

    assert verdict(released % "trainer", steps=steps) is Verdict.HELD
    assert verdict(released % "trainer, trainer", steps=steps) is Verdict.BROKEN


def test_an_event_is_found_by_reason_pod_and_message() -> None:
    reason = "event: {reason: UnexpectedAdmissionError, pod: trainer"
    message = "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices"

    assert verdict(f"after: reboot, {reason}}}") is Verdict.HELD
    assert verdict(f"after: admit, {reason}}}") is Verdict.BROKEN
    found = cell(f'after: reboot, {reason}, message: "x"}}')
    assert found.verdict is Verdict.BROKEN
    assert message in found.text()


def test_a_node_is_seen_through_its_device_manager_and_through_its_object() -> None:
    manager = "node: node-a, capacity: {example.com/gpu: 4}, allocatable: {example.com/gpu: 4}"
    status = "node: node-a, nodeStatus: {allocatable: {example.com/gpu: %d}}"

    assert verdict(f"after: admit, {manager}") is Verdict.HELD
    assert verdict(f"after: admit, {status % 4}") is Verdict.BROKEN


def test_a_node_object_lags_behind_the_device_manager() -> None:
    """Node status is computed every 10 s (S2.15)."""
    steps = "  steps:\n  - {name: plugin-up, at: 0s, startPlugin: {name: gpu}}\n"
    row = "node: node-a, nodeStatus: {capacity: {example.com/gpu: 4}}"

    assert verdict(f"at: 9s, {row}", steps=steps) is Verdict.BROKEN
    assert verdict(f"after: plugin-up, within: 11s, {row}", steps=steps) is Verdict.HELD


def test_what_pod_resources_names_is_what_the_plugin_lists_as_healthy_used_or_not() -> None:
    """S8.10; nothing after a start until the plugin has sent its list."""
    four = "node: node-a, podResources: {allocatable: {example.com/gpu: 4}}"

    assert verdict(f"after: plugin-up, {four}") is Verdict.HELD
    assert verdict(f"after: admit, {four}") is Verdict.HELD
    found = cell(f"after: reboot, {four}")
    assert (found.verdict, found.text()) == (Verdict.BROKEN, "no devices")


def test_holdings_are_those_of_the_durable_state() -> None:
    held = "holdings: {example.com/gpu: {gpu-0: trainer, gpu-1: trainer}}"

    for persistence in ("[checkpoint]", "[database]"):
        rows = run(f"after: admit, {held}", persistence=persistence).rows
        assert rows[0].cells[0].verdict is Verdict.HELD
        assert rows[0].cells[0].text() == "gpu-0=trainer gpu-1=trainer"


def test_a_checkpoint_file_is_seen_with_its_entries() -> None:
    assert verdict("after: admit, checkpoint: {exists: true, valid: true, entries: 1}") is (
        Verdict.HELD
    )
    steps = STEPS.replace(
        "rebootNode: {name: node-a, downtime: 1m30s}",
        "checkpointFile: {node: node-a, action: corrupt}",
    )
    damaged = cell("after: reboot, checkpoint: {valid: true}", steps=steps)
    assert (damaged.verdict, damaged.text()) == (Verdict.BROKEN, "damaged")
    gone = steps.replace("corrupt", "delete")
    assert cell("after: reboot, checkpoint: {exists: true}", steps=gone).text() == "no file"


def test_a_plugin_is_registered_or_not() -> None:
    assert verdict("after: admit, plugin: gpu, registered: true") is Verdict.HELD
    assert verdict("after: reboot, plugin: gpu, registered: false") is Verdict.HELD


def test_a_step_that_is_never_done_breaks_the_rows_that_wait_for_it() -> None:
    steps = STEPS.replace(
        "  - {name: admit,",
        "  - {name: hang, at: 500ms, hangPlugin: {name: gpu}}\n  - {name: admit,",
    ).replace("  - {name: reboot, at: 5s, rebootNode: {name: node-a, downtime: 1m30s}}\n", "")
    found = cell("after: admit, pod: trainer, phase: Running", steps=steps)

    assert found.verdict is Verdict.BROKEN
    assert found.problem == 'the step "admit" was never done'


@pytest.mark.parametrize(
    "slow",
    ["advance: {duration: 30h}", "rebootNode: {downtime: 30h}", "restartKubelet: {downtime: 30h}"],
)
def test_a_step_is_given_the_time_that_it_names(slow: str) -> None:
    steps = (
        f"  steps:\n  - {{name: slow, {slow}}}\n  - {{name: then, startPlugin: {{name: gpu}}}}\n"
    )

    assert verdict("after: then, plugin: gpu, registered: true", steps=steps) is Verdict.HELD


def test_a_run_that_would_go_on_for_too_long_is_refused_at_its_step() -> None:
    steps = (
        "  steps:\n  - {name: one, advance: {duration: 1h}}\n"
        "  - {name: two, delay: 720h, advance: {duration: 1s}}\n"
    )

    with pytest.raises(ScenarioError) as caught:
        run("always: true, invariants: all", steps=steps)

    assert str(caught.value) == (
        'example.yaml:22:5: spec.steps[1]: the step "two" would go on until 721h0m0s of virtual '
        "time; a run lasts 720h0m0s at most"
    )


def test_thousands_of_steps_are_no_burden() -> None:
    lines = [f"  - {{name: s{index}, advance: {{duration: 1s}}}}\n" for index in range(3_000)]
    steps = "".join(["  steps:\n", *lines])

    assert cell("after: s2999, plugin: gpu, registered: false", steps=steps).at == 3_000 * SECOND


def test_a_step_that_cannot_be_done_is_told_at_its_place() -> None:
    steps = "  steps:\n  - {name: early, deletePod: {name: trainer}}\n"

    with pytest.raises(ScenarioError) as caught:
        run("always: true, invariants: all", steps=steps)

    assert str(caught.value) == (
        'example.yaml:21:5: spec.steps[0]: the step "early" cannot be done: there is no pod '
        '"trainer" at this time; create it in an earlier step'
    )


def test_steps_follow_one_another_unless_they_say_when() -> None:
    steps = (
        "  steps:\n"
        "  - {name: plugin-up, startPlugin: {name: gpu}}\n"
        "  - {name: admit, delay: 2s, createPod: {name: trainer, node: node-a}}\n"
        "  - {name: again, after: plugin-up, delay: 1s, advance: {duration: 0s}}\n"
    )
    [row] = run("always: true, invariants: all", steps=steps).rows

    assert row.cells[0].verdict is Verdict.HELD
    result = run("after: again, pod: trainer, phase: Running", steps=steps)
    assert result.rows[0].cells[0].text() == "absent"


def test_rows_for_different_combinations_of_one_thing_share_a_row_of_the_table() -> None:
    rows = (
        "after: admit, pod: trainer, persistence: [checkpoint], phase: Running",
        "after: admit, pod: trainer, persistence: [database], devices: {example.com/gpu: 2}",
        "after: admit, pod: trainer, phase: Running",
    )
    result = run(*rows, persistence="[checkpoint, database]")

    assert [row.title for row in result.rows] == ["after admit: pod trainer"] * 2
    assert [one.text() for one in result.rows[0].cells] == ["Running, 2 gpu"] * 2
    assert result.held == 4


def test_a_row_that_is_not_meant_for_a_combination_is_only_observed_there() -> None:
    row = "after: admit, pod: trainer, persistence: [checkpoint], phase: Failed"
    result = run(row, persistence="[checkpoint, database]")

    verdicts = [one.verdict for one in result.rows[0].cells]
    assert verdicts == [Verdict.BROKEN, Verdict.NOT_MEANT]
    assert result.rows[0].cells[1].text() == "Running"
    assert (result.held, result.broken) == (0, 1)


def test_rows_that_a_narrower_command_line_leaves_out_are_counted() -> None:
    text = SCENARIO.replace("pod: trainer, phase: Running}", "pod: trainer, kubeletVersions: "
                            '["1.24.0"], phase: Running}')  # fmt: skip
    result = replay(parse(text), Narrowing(versions=("1.36.2",)), simulated)

    assert result.skipped == 1
    assert [row.title for row in result.rows] == ["always: invariants"]


def test_broken_invariants_are_expected_by_name() -> None:
    steps = STEPS.replace(
        "rebootNode: {name: node-a, downtime: 1m30s}",
        "checkpointFile: {node: node-a, action: delete}",
    )

    assert verdict("always: true, invariants: all", steps=steps) is Verdict.BROKEN
    broken = "always: true, invariants: {broken: [I3, acknowledged]}"
    assert verdict(broken, steps=steps) is Verdict.HELD
    assert verdict(broken) is Verdict.BROKEN


def test_an_unknown_invariant_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ScenarioError, match=r'there is no invariant "I9"; .*I1, I2, I3, I4, I5'):
        verdict("always: true, invariants: {broken: [I9]}")


def test_the_same_seed_gives_the_same_records() -> None:
    first, second = (run("always: true, invariants: all") for _ in range(2))

    assert first.runs[0].records == second.runs[0].records


def test_what_is_only_shown_is_seen_at_the_deadline_and_counts_for_nothing() -> None:
    found = run("after: plugin-up, within: 3s, pod: trainer, show: [phase, deviceIDs]")

    assert (found.held, found.broken) == (0, 0)
    assert found.rows[0].only_shown
    assert found.rows[0].cells[0].text() == "Running, gpu-0 gpu-1"


def test_what_is_shown_beside_an_expectation_does_not_decide() -> None:
    found = cell("after: plugin-up, within: 3s, pod: trainer, phase: Running, show: [message]")

    assert found.verdict is Verdict.HELD
    assert [(fact.key, fact.expected) for fact in found.facts] == [
        ("phase", "Running"),
        ("message", None),
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"), [("true", Verdict.HELD), ("false", Verdict.BROKEN)]
)
def test_a_pod_with_a_record_keeps_its_devices_over_a_restart(
    wanted: str, expected: Verdict
) -> None:
    """Table 5.4, "KR p"."""
    steps = STEPS.replace("rebootNode: {name: node-a, downtime: 1m30s}", "restartKubelet: {}")
    row = f"after: reboot, within: 3s, pod: trainer, sameDevices: {wanted}"

    assert verdict(row, steps=steps) is expected


def test_a_pod_that_was_never_there_has_no_devices() -> None:
    assert cell("at: 10ms, pod: trainer, show: [sameDevices]").text() == "no devices"
