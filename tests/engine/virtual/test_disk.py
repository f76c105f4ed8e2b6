"""The disk against a naive enumeration of what a power cut may leave."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.node_resources import listed_files
from simulator.engine.actions import Loss
from simulator.engine.storage_faults import NO_SPACE
from simulator.engine.streams import RandomStreams
from simulator.engine.virtual.disk import WRITEBACK, Disk

TARGET = "kubelet_internal_checkpoint"
TEMPORARY = ".kubelet_internal_checkpoint1"
WRITE_STEPS = [
    ("write", TEMPORARY, "new"),
    ("fsync", TEMPORARY, ""),
    ("rename", TEMPORARY, TARGET),
    ("dirFsync", "", ""),
]


class Ticking:
    def __init__(self) -> None:
        self.at = 0

    def now(self) -> Instant:
        return Instant(self.at)


def a_disk(clock: Ticking | None = None) -> Disk:
    return Disk((clock or Ticking()).now)


def contents(disk: Disk) -> dict[str, bytes]:
    return {name: disk.read(name) or b"" for name in disk.names()}


def perform(disk: Disk, operation: tuple[str, str, str]) -> None:
    kind, name, argument = operation
    if kind == "write":
        disk.write(name, argument.encode())
    elif kind == "fsync":
        disk.fsync(name)
    elif kind == "rename":
        disk.rename(name, argument)
    elif kind == "remove":
        disk.remove(name)
    else:
        disk.fsync_directory()


def outcomes_of_the_checkpoint(steps: int) -> set[bytes | None]:
    seen = set()
    for loss in Loss:
        for seed in range(60):
            disk = a_disk()
            disk.put(TARGET, b"old")
            for step in WRITE_STEPS[:steps]:
                perform(disk, step)
            disk.cut_power(loss, RandomStreams(seed).stream("power cut"))
            seen.add(disk.read(TARGET))
    return seen


def test_before_the_rename_a_power_cut_leaves_the_whole_old_file() -> None:
    assert outcomes_of_the_checkpoint(0) == {b"old"}
    assert outcomes_of_the_checkpoint(1) == {b"old"}
    assert outcomes_of_the_checkpoint(2) == {b"old"}


def test_a_rename_without_a_directory_fsync_may_vanish() -> None:
    assert outcomes_of_the_checkpoint(3) == {b"old", b"new"}


def test_a_rename_followed_by_a_directory_fsync_stays() -> None:
    assert outcomes_of_the_checkpoint(4) == {b"new"}


def test_an_unsynced_file_that_was_renamed_over_another_may_be_torn() -> None:
    seen = set()
    for seed in range(300):
        disk = a_disk()
        disk.put(TARGET, b"old")
        disk.write(TEMPORARY, b"new")
        disk.rename(TEMPORARY, TARGET)
        disk.cut_power(Loss.RANDOM, RandomStreams(seed).stream("power cut"))
        seen.add(disk.read(TARGET))

    assert seen == {b"old", b"", b"n", b"ne", b"new"}


def test_the_next_fsync_makes_an_earlier_rename_durable() -> None:
    disk = a_disk()
    disk.put(TARGET, b"old")
    disk.write(TEMPORARY, b"new")
    disk.fsync(TEMPORARY)
    disk.rename(TEMPORARY, TARGET)
    disk.write("other", b"")
    disk.fsync("other")
    disk.cut_power(Loss.ALL, RandomStreams(0).stream("power cut"))

    assert disk.read(TARGET) == b"new"


def test_after_the_writeback_time_nothing_is_lost() -> None:
    clock = Ticking()
    disk = a_disk(clock)
    disk.write(TARGET, b"new")
    clock.at = WRITEBACK
    disk.cut_power(Loss.ALL, RandomStreams(0).stream("power cut"))

    assert disk.read(TARGET) == b"new"


def test_files_are_written_read_listed_and_removed__TestFileStore() -> None:
    """Dot files, which writes leave behind when they are cut, are not listed."""
    disk = a_disk()
    disk.put("file1", b"data1")
    disk.put("file2", b"data2")
    disk.put(TEMPORARY, b"half")
    assert listed_files(disk.names()) == ["file1", "file2"]
    assert disk.read("file1") == b"data1"

    disk.put("file1", b"data3")
    assert disk.read("file1") == b"data3"

    disk.remove("file1")
    assert disk.read("file1") is None
    assert listed_files(disk.names()) == ["file2"]


def test_a_full_disk_refuses_content_and_keeps_what_is_there() -> None:
    disk = a_disk()
    disk.put(TARGET, b"old")
    disk.full = True

    assert disk.write(TARGET, b"new") == NO_SPACE
    assert disk.write(TEMPORARY, b"new") == NO_SPACE
    assert contents(disk) == {TARGET: b"old", TEMPORARY: b""}


def test_steps_on_a_missing_file_say_so_and_change_nothing() -> None:
    disk = a_disk()

    assert disk.fsync("none") == "no such file or directory"
    assert disk.rename("none", TARGET) == "no such file or directory"
    disk.remove("none")
    assert disk.names() == []
    assert disk.read("none") is None


def test_an_fsync_takes_the_added_time_longer() -> None:
    disk = a_disk()
    before = disk.fsync_latency
    disk.added_fsync = Duration(SECOND)

    assert disk.fsync_latency == before + SECOND


# The naive model: every directory change is remembered, every possible cut is enumerated.


@dataclass
class NaiveFile:
    synced: bytes = b""
    latest: bytes = b""
    latest_at: int = 0
    dirty: bool = True

    def possible(self, now: int) -> set[bytes]:
        if not self.dirty or now - self.latest_at >= WRITEBACK:
            return {self.latest}
        return {self.synced} | {self.latest[:size] for size in range(len(self.latest) + 1)}


@dataclass
class NaiveDisk:
    """Files by number; `history` holds every state of the directory with its time."""

    files: list[NaiveFile] = field(default_factory=list)
    history: list[tuple[int, dict[str, int]]] = field(default_factory=lambda: [(-WRITEBACK, {})])
    synced_upto: int = 0

    def apply(self, now: int, operation: tuple[str, str, str]) -> None:
        kind, name, argument = operation
        names = dict(self.history[-1][1])
        if kind == "write":
            if name not in names:
                self.files.append(NaiveFile(latest_at=now))
                names[name] = len(self.files) - 1
                self.history.append((now, names))
            file = self.files[names[name]]
            file.latest, file.latest_at, file.dirty = argument.encode(), now, True
        elif kind == "fsync" and name in names:
            file = self.files[names[name]]
            file.synced, file.dirty = file.latest, False
            self.synced_upto = len(self.history) - 1
        elif kind == "rename" and name in names:
            number = names.pop(name)
            names[argument] = number
            self.history.append((now, names))
        elif kind == "remove" and name in names:
            del names[name]
            self.history.append((now, names))
        elif kind == "dirFsync":
            self.synced_upto = len(self.history) - 1

    def is_possible(self, now: int, found: dict[str, bytes]) -> bool:
        return any(
            set(names) == set(found)
            and all(
                found[name] in self.files[number].possible(now) for name, number in names.items()
            )
            for names in self.directories(now)
        )

    def directories(self, now: int) -> list[dict[str, int]]:
        oldest = self.synced_upto
        for index, (at, _) in enumerate(self.history):
            if now - at >= WRITEBACK:
                oldest = max(oldest, index)
        return [names for _, names in self.history[oldest:]]


NAMES = st.sampled_from(["a", "b", TARGET])
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, SECOND, 20 * SECOND]),
        st.one_of(
            st.tuples(st.just("write"), NAMES, st.sampled_from(["", "x", "yz", "123"])),
            st.tuples(st.just("fsync"), NAMES, st.just("")),
            st.tuples(st.just("rename"), NAMES, NAMES),
            st.tuples(st.just("remove"), NAMES, st.just("")),
            st.tuples(st.just("dirFsync"), st.just(""), st.just("")),
        ),
    ),
    max_size=12,
)


@given(OPERATIONS, st.sampled_from(Loss), st.integers(0, 5))
def test_a_power_cut_leaves_only_what_the_naive_model_allows(
    operations: list[tuple[int, tuple[str, str, str]]], loss: Loss, seed: int
) -> None:
    clock, naive = Ticking(), NaiveDisk()
    disk = a_disk(clock)
    for wait, operation in operations:
        clock.at += wait
        perform(disk, operation)
        naive.apply(clock.at, operation)
    before = contents(disk)
    disk.cut_power(loss, RandomStreams(seed).stream("power cut"))
    after = contents(disk)

    assert naive.is_possible(clock.at, after)
    if loss is Loss.NONE:
        assert after == before
    if loss is Loss.ALL:
        oldest = naive.directories(clock.at)[0]
        assert set(after) == set(oldest)


@given(OPERATIONS)
def test_a_second_power_cut_finds_nothing_more_to_take(
    operations: list[tuple[int, tuple[str, str, str]]],
) -> None:
    clock = Ticking()
    disk = a_disk(clock)
    for wait, operation in operations:
        clock.at += wait
        perform(disk, operation)
    disk.cut_power(Loss.ALL, RandomStreams(0).stream("power cut"))
    left = contents(disk)
    disk.cut_power(Loss.ALL, RandomStreams(0).stream("power cut"))

    assert contents(disk) == left
