"""Properties of the checkpoint codec: round trips of values and bytes, and mutated files."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of, read_bindings
from simulator.core.checkpoint.differences import differences
from simulator.core.checkpoint.findings import findings
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, EntryDevices
from simulator.core.devices import DeviceId, NumaNode, device_ids
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.errors import CheckpointError, CorruptCheckpointError
from tests.cli.running import rebind

FORMATS = list(CheckpointFormat)
RECORDED = Path(__file__).parent.parent / "golden" / "data"
SEED_SIZE_MAX = 4_000

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
id_lists = st.none() | st.lists(texts.map(DeviceId), max_size=3).map(tuple)
nodes = st.integers(-(2**63), 2**63 - 1).map(NumaNode) | st.sampled_from(
    [NumaNode(-1), NumaNode(0), NumaNode(2), NumaNode(10)]
)


def entries(form: CheckpointFormat) -> st.SearchStrategy[CheckpointEntry]:
    devices: st.SearchStrategy[EntryDevices] = id_lists
    if form is CheckpointFormat.V2:
        devices = st.none() | st.dictionaries(nodes, id_lists, max_size=3)
    return st.builds(
        CheckpointEntry,
        pod=texts.map(PodUid),
        container=texts.map(ContainerName),
        resource=texts.map(ResourceName),
        devices=devices,
        response=st.none() | st.binary(max_size=5),
    )


def checkpoints(form: CheckpointFormat) -> st.SearchStrategy[Checkpoint]:
    return st.builds(
        Checkpoint,
        format=st.just(form),
        entries=st.none() | st.lists(entries(form), max_size=3).map(tuple),
        registered=st.none() | st.dictionaries(texts.map(ResourceName), id_lists, max_size=3),
    )


@given(st.sampled_from(FORMATS).flatmap(checkpoints), st.booleans())
def test_what_is_written_is_read_back(checkpoint: Checkpoint, legacy: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    content = render(checkpoint, legacy_escapes=legacy)

    again = parse(content, {checkpoint.format})

    assert again == checkpoint
    assert render(again, legacy_escapes=legacy) == content


@given(st.sampled_from(FORMATS).flatmap(checkpoints))
def test_a_written_file_is_recognised_and_differs_from_nothing(checkpoint: Checkpoint) -> None:
    inspection = inspect(render(checkpoint))

    assert inspection.is_valid
    assert (inspection.checkpoint.entries or ()) == (checkpoint.entries or ())
    assert not differences(checkpoint, checkpoint)


@given(st.sampled_from(FORMATS).flatmap(checkpoints))
def test_the_bindings_of_a_file_survive_the_next_write(checkpoint: Checkpoint) -> None:
    """Recordings: `roundtrip_pod_devices_equal`."""
    bindings = read_bindings(checkpoint, lenient=True).bindings

    written = checkpoint_of(bindings, (), checkpoint.format)
    again = read_bindings(parse(render(written), {checkpoint.format}), lenient=True)

    assert not again.skipped
    assert not again.repeated
    assert [held(binding) for binding in again.bindings] == [held(binding) for binding in bindings]


def held(binding: DeviceBinding) -> tuple[object, ...]:
    """Return what must survive; a list of an older format is written sorted, each id once."""
    ids = device_ids(binding.devices)
    return binding.pod, binding.container, binding.resource, ids, binding.response


@cache
def seeds() -> tuple[bytes, ...]:
    """Return the small recorded files, good and damaged."""
    files = [path for path in sorted(RECORDED.rglob("*.json")) if "expect" not in path.name]
    contents = [path.read_bytes() for path in files if path.stat().st_size <= SEED_SIZE_MAX]
    return tuple(content for content in contents if content)


JUNK = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"[[[[", b"\xff", b"\xef\xbb\xbf", b"\x00"),
    *(b'"Data":', b'"Checksum":', b'"PodDeviceEntries":[{}],', b"NaN", b"01", b"1.", b"\n"),
)
VALUES = (
    *(b"null", b"true", b"[]", b"{}", b"0", b"-1", b"1e9", b"1.5", b"9" * 25, b'""', b'"x"'),
    *(
        b'{"0":null}',
        b'{"a":[]}',
        b'["a",null]',
        b'"Cv//"',
        b'"\\ud800"',
        b'"\\u0000\\b<"',
        b'"\xff"',
    ),
)
PART = re.compile(rb'("[^"]*")(?P<key>:?)|-?\d+|null|\[[^\[\]]*\]')


def mutated(seed: int) -> bytes:
    """Return a recorded file with a few changes, the same for the same seed.

    Half of the files stay JSON: values are replaced, keys are renamed or repeated. The other half
    is cut, spliced and filled with junk.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    content = bytearray(chance.choice(seeds()))
    change = _change_value if chance.random() < 0.5 else _change_bytes
    for _ in range(chance.randint(1, 3)):
        change(content, chance)
    return bytes(content)


def _change_value(content: bytearray, chance: random.Random) -> None:
    parts = list(PART.finditer(content))
    keys = [part for part in parts if part["key"]]
    values = [part for part in parts if not part["key"]]
    if keys and chance.random() < 0.3:
        key = chance.choice(keys)
        old = bytes(key[1])
        content[key.start(1) : key.end(1)] = chance.choice(
            (old.lower(), old.upper(), b'"New"', old + b":null," + old, chance.choice(keys)[1])
        )
    elif values:
        value = chance.choice(values)
        alike = [each for each in VALUES if each[:1] == value[0][:1]]
        content[value.start() : value.end()] = chance.choice(
            alike if alike and chance.random() < 0.8 else VALUES
        )


def _change_bytes(content: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(content) + 1)
    length = chance.choice((0, 1, 1, 2, 8, 100))
    change = chance.randrange(5)
    if change == 0:
        content[at : at + length] = b""
    elif change == 1:
        content[at:at] = content[at : at + length]
    elif change == 2:
        content[at : at + length] = chance.choice(JUNK)
    elif change == 3:
        content[at : at + 1] = bytes([chance.randrange(256)])
    else:
        other = chance.choice(seeds())
        content[at:] = other[chance.randrange(len(other)) :]


def readings(content: bytes) -> Iterator[Checkpoint]:
    """Read a file in every way; nothing but a `CheckpointError` may come out."""
    for formats in ({CheckpointFormat.V2}, {CheckpointFormat.V1}, set(FORMATS)):
        try:
            yield parse(content, formats)
        except CorruptCheckpointError as error:
            stated = b'"Checksum":%d' % error.found
            repaired = content.replace(stated, b'"Checksum":%d' % error.computed)
            if len(formats) == 1 and content.count(b"Checksum") == 1 and repaired != content:
                yield parse(repaired, formats)
        except CheckpointError:
            pass
    try:
        inspection = inspect(content)
    except CheckpointError:
        return
    yield inspection.checkpoint


def check_mutated(seed: int, folder: Path) -> int:
    """Check one mutated file; return how many ways there were to read it."""
    content = mutated(seed)
    read = 0
    for checkpoint in readings(content):
        read += 1
        findings(checkpoint, content)
        again = parse(render(checkpoint, legacy_escapes=bool(seed % 2)), {checkpoint.format})
        assert again == checkpoint
        assert not differences(checkpoint, again)
    if seed % 25 == 0:
        path = folder / "mutated"
        path.write_bytes(content)
        for arguments in (("show", "-o", "json"), ("show", "-o", "wide"), ("verify",)):
            finished = rebind("checkpoint", *arguments, str(path))
            assert finished.code in {0, 1, 2}, finished.stderr
    return read


def test_a_mutated_file_never_raises_anything_but_the_declared_errors(tmp_path: Path) -> None:
    read = [check_mutated(seed, tmp_path) for seed in range(400)]

    # Both outcomes must occur often, or the mutations prove little.
    assert 100 < sum(map(bool, read)) < 350


@pytest.mark.soak
def test_twenty_thousand_mutated_files_never_raise_anything_but_the_declared_errors(
    tmp_path: Path,
) -> None:
    for seed in range(1_000, 21_000):
        check_mutated(seed, tmp_path)
