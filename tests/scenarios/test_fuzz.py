"""Damaged files of scenarios and profiles raise the declared errors and no others."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.profiles.disturbances import disturbances
from benchmarks.profiles.estimate import estimated
from benchmarks.profiles.loading import parse_profiles
from benchmarks.profiles.schedule import arrivals
from scenarios.loading.loaded import parse_scenarios
from simulator.errors import ManifestError, ProfileError, ScenarioError
from tests.benchmarks.profiles.writing import PROFILE
from tests.scenarios.writing import SCENARIO

ODD = (
    "null", "~", "true", "-1", "1e999", "9" * 30, '"', "'", "{", "}", "[", "]", ": ", "- ", "&a ",
    "*a", "!!binary ", "<<: *a", "\t", "\x00", "\u2028", "\ud7ff", "${", "${A}", "${A:-1}", "$${",
    "? ", "| ", "> ", "#", "%YAML 1.1\n", "---\n", "...\n", "kind: List\n", "0s", ">=", "é" * 300,
)  # fmt: skip


def mutated(text: str, chance: random.Random) -> bytes:
    """Return `text` with one to four places damaged."""
    for _ in range(chance.randint(1, 4)):
        words = text.split(" ")
        place = chance.randrange(len(text))
        match chance.randrange(6):
            case 0:
                text = text[:place] + chance.choice(ODD) + text[place:]
            case 1:
                text = text[:place] + text[place + chance.randint(1, 30) :]
            case 2:
                index = chance.randrange(len(words))
                words[index] = chance.choice(ODD)
                text = " ".join(words)
            case 3:
                index = chance.randrange(len(words))
                words[index] = chance.choice(words)
                text = " ".join(words)
            case 4:
                lines = text.splitlines(keepends=True)
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
                text = "".join(lines)
            case _:
                lines = text.splitlines(keepends=True)
                index = chance.randrange(len(lines))
                lines[index] = " " * chance.randrange(4) + lines[index].lstrip()
                text = "".join(lines)
        text = text or " "
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    if chance.random() < 0.1:
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def read_scenarios(content: bytes) -> None:
    """Read scenarios; `ScenarioError` and `ManifestError` are declared."""
    parse_scenarios(content, Path("fuzzed.yaml"), {})


def read_profiles(content: bytes) -> None:
    """Read profiles, and begin what is made of them."""
    for loaded in parse_profiles(content, "fuzzed.yaml", {}):
        profile = loaded.profile
        estimated(profile, profile.combinations())
        for phase in profile.phases:
            deque(islice(arrivals(profile, phase, saturation=100), 100))
            disturbances(profile, phase)


def outcome(read: Callable[[bytes], None], content: bytes) -> str:
    """Return what reading says, `valid` or the message of a declared error."""
    try:
        read(content)
    except (ScenarioError, ManifestError, ProfileError) as error:
        return error.reason
    return "valid"


def run(read: Callable[[bytes], None], first: int, count: int) -> set[str]:
    text = SCENARIO if read is read_scenarios else PROFILE
    chances = (random.Random(seed) for seed in range(first, first + count))  # noqa: S311 - no secret
    return {outcome(read, mutated(text, chance)) for chance in chances}


@pytest.mark.parametrize("read", [read_scenarios, read_profiles])
def test_a_damaged_file_raises_only_declared_errors(read: Callable[[bytes], None]) -> None:
    outcomes = run(read, 0, 400)

    assert "valid" in outcomes
    assert len(outcomes) > 50
    assert all(len(reason.splitlines()) == 1 for reason in outcomes)


@pytest.mark.soak
@pytest.mark.parametrize("read", [read_scenarios, read_profiles])
def test_20_000_damaged_files_raise_only_declared_errors(read: Callable[[bytes], None]) -> None:
    outcomes = run(read, 1_000, 20_000)

    assert len(outcomes) > 500
    assert all(len(reason.splitlines()) == 1 for reason in outcomes)
