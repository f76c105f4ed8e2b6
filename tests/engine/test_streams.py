from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.engine.streams import RandomChoices, RandomStreams

GPU = ResourceName("example.com/gpu")
POD = PodUid("u1")
APP = ContainerName("app")
IDS = tuple(DeviceId(f"g{number}") for number in range(8))


def test_a_stream_depends_on_seed_and_name_alone() -> None:
    one, other = RandomStreams(1), RandomStreams(1)
    one.stream("noise").random()

    assert one.stream("devices").random() == other.stream("devices").random()
    assert one.number("devices") != one.number("noise")
    assert one.number("devices") != RandomStreams(2).number("devices")


def test_a_stream_goes_on_where_it_was_left() -> None:
    streams = RandomStreams(1)
    first = streams.stream("devices").random()

    assert streams.stream("devices").random() != first


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_hash_randomization_changes_nothing(hash_seed: str) -> None:
    program = (
        "from simulator.engine.streams import RandomStreams\n"
        "print([RandomStreams(3).stream(n).randrange(10**9) for n in ('a', 'b')])"
    )
    drawn = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert drawn.strip() == str([RandomStreams(3).stream(n).randrange(10**9) for n in ("a", "b")])


def test_random_choices_are_valid_ones() -> None:
    choices = RandomChoices(RandomStreams(5).stream("choices"))
    resources = [ResourceName("b.io/x"), GPU]
    taken = choices.take(IDS, 3, pod=POD, container=APP, resource=GPU)

    assert len(set(taken)) == 3
    assert set(taken) <= set(IDS)
    assert sorted(choices.order_resources(POD, APP, resources)) == sorted(resources)
    assert choices.pick_instance(POD, APP, GPU, [("c1", True), ("c2", False)]) in {0, 1}


def test_random_choices_reach_every_device_and_instance() -> None:
    choices = RandomChoices(RandomStreams(5).stream("choices"))
    taken = {choices.take(IDS, 1, pod=POD, container=APP, resource=GPU)[0] for _ in range(200)}
    picked = {choices.pick_instance(POD, APP, GPU, [("a", True), ("b", False)]) for _ in range(50)}

    assert taken == set(IDS)
    assert picked == {0, 1}
