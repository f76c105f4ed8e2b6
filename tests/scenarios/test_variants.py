"""Persistences and their options, as scenarios and the command line write them."""

from __future__ import annotations

import pytest

from scenarios.schema.variants import Persistence, parse_persistence
from scenarios.schema.writing import written_persistence
from simulator.core.instants import MILLISECOND, SECOND, Duration
from tests.scenarios.test_schema import error
from tests.scenarios.writing import edited, parse

PERIOD = Persistence("checkpoint+api", (("bulkBind", True), ("flushPeriod", Duration(250_000_000))))


def test_a_time_is_written_as_a_duration() -> None:
    assert parse_persistence("checkpoint+api:flushPeriod=250ms+bulkBind") == PERIOD
    assert (
        parse_persistence({"checkpoint+api": {"flushPeriod": "250ms", "bulkBind": True}}) == PERIOD
    )
    assert PERIOD.label == "checkpoint+api bulkBind flushPeriod=250ms"
    assert written_persistence(PERIOD) == {
        "checkpoint+api": {"bulkBind": True, "flushPeriod": "250ms"}
    }
    assert dict(PERIOD.options)["flushPeriod"] == 250 * MILLISECOND


@pytest.mark.parametrize("value", ["soon", "-1s", True, 5])
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="flushPeriod: DURATION"):
        parse_persistence({"checkpoint+api": {"flushPeriod": value}})


def test_a_switch_takes_no_duration() -> None:
    with pytest.raises(ValueError, match=r"synchronous: true\|false"):
        parse_persistence({"binding-object": {"synchronous": "1s"}})


def test_an_option_that_is_not_given_has_its_default() -> None:
    """Details 22; an object is synchronous and a copy flushed each second unless they say else."""
    plain, late = (
        parse_persistence("binding-object"),
        parse_persistence("binding-object:synchronous=false"),
    )

    assert parse_persistence("binding-object:synchronous=true").includes(plain)
    assert not late.includes(plain)
    assert plain.includes(late)
    assert late.label == "binding-object synchronous=false"
    assert parse_persistence("checkpoint+api:flushPeriod=1s").includes(
        Persistence("checkpoint+api", (("flushPeriod", Duration(SECOND)),))
    )
    assert parse_persistence("checkpoint+api:flushPeriod=1s").includes(
        Persistence("checkpoint+api")
    )


def test_devices_that_a_step_assigns_are_of_a_resource() -> None:
    wrong = "createPod: {name: trainer, node: node-a, computeDevices: {main: {gpu: [g0]}}}"

    assert error(edited("createPod: {name: trainer, node: node-a}", wrong)) == (
        "example.yaml:22:92: spec.steps[1].createPod.computeDevices.main.gpu: "
        '"gpu" is not an extended resource name such as example.com/gpu'
    )


def test_a_step_of_another_persistence_is_left_out() -> None:
    done = "createPod: {name: trainer, node: node-a}"
    scenario = parse(edited(done, f"persistence: [database], {done}")).scenario
    [_, step, *_] = scenario.spec.steps

    assert [step.is_done_under(each) for each in scenario.spec.persistence] == [False, True]
