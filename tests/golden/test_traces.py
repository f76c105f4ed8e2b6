"""The traces that came with the project: the device manager must do every step as recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.finding import find
from tests.golden.trace_reading import Json
from tests.golden.traces import check_trace

DATA = Path(__file__).parent / "data"
VERSION = "1.36.2"
TRACES = sorted(DATA.rglob("*.jsonl"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_trace_is_replayed_without_difference(path: Path) -> None:
    recording = next(find([path]))
    result = check_trace(path, recording.version)

    assert result.differences == ()
    assert result.steps > 0


def first_step(op: str, wanted: Callable[[Json], object]) -> tuple[Path, int]:
    """Return a trace and the number of the first step of a kind that has what a test alters."""
    for path in (path for path in TRACES if VERSION in path.parts):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:]):
            step = json.loads(line)
            if step["op"] == op and wanted(step):
                return path, number
    message = f"no trace has such a step: {op}"
    raise LookupError(message)


def alter_outcome(step: Json) -> None:
    step["out"]["admit"] = not step["out"]["admit"]


def alter_call(step: Json) -> None:
    step["plugin_calls"][-1]["devices"].append("another")


def forget_call(step: Json) -> None:
    del step["plugin_calls"][-1]


def invent_call(step: Json) -> None:
    step["plugin_calls"].append(dict(step["plugin_calls"][-1]))


def alter_tier(step: Json) -> None:
    step["choices"][0]["tiers"][-1].append("another")


def alter_choice(step: Json) -> None:
    step["choices"][0]["chosen"] = ["another"]


def alter_later_tier(step: Json) -> None:
    step["choices"][0]["tiers"][0].append("another")


def alter_tier_names(step: Json) -> None:
    step["choices"][0]["tier_names"].reverse()


def alter_path(step: Json) -> None:
    step["choices"][0]["path"] += "?"


def alter_freedom(step: Json) -> None:
    step["choices"][0]["free_choice"] ^= True


def forget_choice(step: Json) -> None:
    step["choices"].clear()


def invent_choice(step: Json) -> None:
    step["choices"].append(dict(step["choices"][0], container="another"))


def invent_key_of_choice(step: Json) -> None:
    step["choices"][0]["another"] = 1


def invent_key_of_call(step: Json) -> None:
    step["plugin_calls"][0]["another"] = 1


def invent_key(step: Json) -> None:
    step["another"] = 1  # type: ignore[index]  # a recording is read-only but here


def alter_panic(step: Json) -> None:
    step["out"]["panic"] += "?"


def alter_stopped(step: Json) -> None:
    step["out"]["stopped_endpoint_resource"] += "?"


def alter_number(step: Json) -> None:
    step["step"] += 1  # type: ignore[index]  # a recording is read-only but here


def alter_hint(step: Json) -> None:
    next(iter(next(iter(step["hints"].values())).values()))[0]["preferred"] ^= True


def alter_affinity(step: Json) -> None:
    next(iter(step["affinity"].values()))["preferred"] ^= True


def alter_updates(step: Json) -> None:
    step["health_updates"].clear()


def alter_writes(step: Json) -> None:
    step["state"]["checkpoint_writes_in_step"] += 1


def alter_file(step: Json) -> None:
    step["state"]["checkpoint_registered"] = {}


def alter_allocated(step: Json) -> None:
    step["state"]["allocated"]["vendor.com/another"] = []


def allocates(step: Json) -> bool:
    choices = step.get("choices", ())
    return bool(step.get("plugin_calls")) and all(each["chosen"] for each in choices)


def panics(step: Json) -> bool:
    return "panic" in step["out"]


def has_stopped(step: Json) -> bool:
    return "stopped_endpoint_resource" in step["out"]


def has_hints(step: Json) -> bool:
    return any(found for each in step.get("hints", {}).values() for found in each.values())


@pytest.mark.parametrize(
    ("op", "wanted", "alter", "named"),
    [
        ("admit", allocates, alter_outcome, "out.admit: recorded False, here True"),
        ("admit", allocates, alter_call, "plugin_calls.devices: recorded"),
        ("admit", allocates, forget_call, "plugin_calls: recorded nothing, here AllocateCall"),
        ("admit", allocates, invent_call, "plugin_calls: not made: "),
        ("admit", allocates, alter_tier, ": recorded tier "),
        ("admit", allocates, alter_choice, ": recorded choice ['another'], here"),
        ("admit", allocates, alter_later_tier, ": recorded tiers "),
        ("admit", allocates, alter_tier_names, ": recorded tier_names "),
        ("admit", allocates, alter_path, ": recorded path "),
        ("admit", allocates, alter_freedom, ": recorded free_choice "),
        ("admit", allocates, forget_choice, "choices: "),
        ("admit", allocates, invent_choice, "choices.another."),
        ("admit", allocates, invent_key_of_choice, ": recorded another, here not checked"),
        ("admit", allocates, invent_key_of_call, "plugin_calls.another: not checked"),
        ("admit", allocates, invent_key, "another: recorded, but not checked"),
        ("allocate", panics, alter_panic, "out.panic: recorded "),
        ("admit", has_stopped, alter_stopped, "out.stopped_endpoint_resource: recorded "),
        ("admit", has_hints, alter_hint, "hints."),
        ("admit", has_hints, alter_affinity, "affinity."),
        ("devices", lambda step: step.get("health_updates"), alter_updates, "health_updates"),
        ("devices", bool, alter_writes, "state.checkpoint_writes_in_step: recorded 2, here 1"),
        ("devices", bool, alter_file, "state.checkpoint_registered."),
        ("devices", bool, alter_allocated, "state.allocated.vendor.com/another: recorded []"),
    ],
)
def test_what_differs_from_the_recording_is_named_with_its_step(
    tmp_path: Path,
    op: str,
    wanted: Callable[[Json], object],
    alter: Callable[[Json], None],
    named: str,
) -> None:
    path, number = first_step(op, wanted)
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    step = json.loads(lines[number])
    alter(step)
    altered = tmp_path / path.name
    altered.write_text("\n".join([header, *lines[:number], json.dumps(step)]), encoding="utf-8")

    differences = check_trace(altered, VERSION).differences

    assert any(line.startswith(f"step {number} {op}: ") and named in line for line in differences)


def test_steps_that_are_missing_or_out_of_place_are_differences(tmp_path: Path) -> None:
    header, first, second, *rest = TRACES[0].read_text(encoding="utf-8").splitlines()
    cut, swapped = tmp_path / "cut.jsonl", tmp_path / "swapped.jsonl"
    cut.write_text(f"{header}\n{first}\n{second}", encoding="utf-8")
    swapped.write_text("\n".join([header, second, first, *rest]), encoding="utf-8")

    recorded = json.loads(header)["steps"]

    assert check_trace(cut, VERSION).differences == (f"header: steps {recorded}, here 2",)
    assert "step 1 stands in the place of step 0" in check_trace(swapped, VERSION).differences


def test_a_look_at_the_runtime_that_differs_is_a_difference(tmp_path: Path) -> None:
    """1.32.10/README: `running_checks` holds what was looked up, in the order of the calls."""
    path, number, step = next(
        (path, number, json.loads(line))
        for path in TRACES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
        if '"running_checks"' in line
    )
    check = step["running_checks"][0]
    altered = tmp_path / "altered.jsonl"
    for key in ("running", "random_outcome"):
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[number] = json.dumps({**step, "running_checks": [{**check, key: not check[key]}]})
        altered.write_text("\n".join(lines), encoding="utf-8")

        differences = check_trace(altered, "1.32.10").differences

        assert any(": running_checks: recorded " in line for line in differences), key
