"""Pods survive their server."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.files.documents import Plain
from simulator.core.instants import Instant
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.spec import Controller, PodSpec
from simulator.errors import ServerError
from simulator.server.journal import Journal, read_journal
from simulator.server.kept import Kept, KeptWorkload
from tests.server.full_disk import file_sizes_up_to

POD = Pod(
    PodUid("uid-1"),
    "web-0",
    containers=(Container(ContainerName("main"), ((ResourceName("example.com/gpu"), 2),)),),
    created=Instant(5),
)
SPEC = PodSpec("web-0", POD, NodeName("n0"), Controller.REPLICA_SET)
MANIFEST: dict[str, Plain] = {"kind": "Pod", "metadata": {"labels": {"app": "web"}}}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(tmp_path / "objects.jsonl")
    journal.begin(Kept())
    return journal


def test_what_was_written_is_read_again(journal: Journal) -> None:
    pod = ApiPod(SPEC, POD)
    workload = KeptWorkload("deployment.apps", "default", "web", "{}", ("web-0",))
    journal.workload(workload)
    journal.pod(pod, MANIFEST)
    pod.node, pod.status = NodeName("n0"), PodStatus("Failed", "Evicted", "why")
    journal.changed(pod)
    kept = read_journal(journal.path)

    assert list(kept.workloads.values()) == [workload]
    assert kept.pods_of(NodeName("n0")) == (POD,)
    (start,) = kept.starts_of(NodeName("n0")).values()
    assert (start.phase, start.reason, start.message) == ("Failed", "Evicted", "why")
    (read,) = kept.pods.values()
    assert (read.spec.controller, read.spec.name) == (Controller.REPLICA_SET, "web-0")


@pytest.mark.parametrize("survives", [True, False])
def test_what_was_written_is_on_the_disk_after_a_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, survives: bool
) -> None:
    """Nothing that was acknowledged is lost at a power cut, in the durability class `full`."""
    journal = Journal(tmp_path / "objects.jsonl", survives_power_cut=survives)
    journal.begin(Kept())
    synced: list[tuple[int, int]] = []

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        synced.append((found.st_ino, found.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    journal.sync()
    journal.close()
    found = journal.path.stat()

    assert found.st_size > 0
    assert synced == ([(found.st_ino, found.st_size)] if survives else [])


def test_a_file_that_is_mostly_about_what_is_gone_is_written_anew(tmp_path: Path) -> None:
    """A server that runs for months neither fills a disk nor takes minutes to start."""
    journal = Journal(tmp_path / "objects.jsonl", renewed_from=20_000)
    journal.begin(Kept())
    workload = KeptWorkload("deployment.apps", "default", "web", "{}", ("web-0",))
    journal.workload(workload)
    staying = ApiPod(SPEC, POD)
    journal.pod(staying, MANIFEST)
    for number in range(200):
        with journal.together():
            other = replace(POD, uid=PodUid(f"other-{number}"), name=f"other-{number}")
            journal.pod(ApiPod(replace(SPEC, pod=other), other), MANIFEST)
            journal.workload(replace(workload, name=f"other-{number}"))
        staying.status = PodStatus("Running", message=f"for the {number}th time")
        journal.changed(staying)
        journal.gone(other.uid)
        journal.workload_gone(f"default/deployment.apps/other-{number}")
        assert journal.path.stat().st_size < 25_000
    kept = read_journal(journal.path)

    assert list(kept.workloads.values()) == [workload]
    assert [(pod.uid, pod.message) for pod in kept.pods.values()] == [
        (POD.uid, "for the 199th time")
    ]


def test_a_file_that_is_about_what_is_there_is_not_written_anew_each_time(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "objects.jsonl", renewed_from=100)
    journal.begin(Kept())
    files = set()
    for number in range(100):
        each = replace(POD, uid=PodUid(f"uid-{number}"))
        journal.pod(ApiPod(replace(SPEC, pod=each), each), MANIFEST)
        files.add(journal.path.stat().st_ino)

    assert len(read_journal(journal.path).pods) == 100
    assert len(files) <= 6


def test_where_no_second_file_can_be_made_the_first_one_goes_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "objects.jsonl", renewed_from=100)
    journal.begin(Kept())
    journal.path.with_suffix(".new").mkdir()
    for number in range(20):
        each = replace(POD, uid=PodUid(f"uid-{number}"))
        journal.pod(ApiPod(replace(SPEC, pod=each), each), MANIFEST)
    journal.check()

    assert len(read_journal(journal.path).pods) == 20


def test_what_is_gone_is_gone_also_after_the_file_was_written_anew(journal: Journal) -> None:
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    journal.gone(POD.uid)
    again = Journal(journal.path)
    again.begin(read_journal(journal.path))

    assert read_journal(journal.path).pods == {}
    assert journal.path.read_bytes() == b""


def test_a_line_that_a_crash_cut_off_is_left_out(journal: Journal) -> None:
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    journal.gone(POD.uid)
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-3])

    assert set(read_journal(journal.path).pods) == {POD.uid}


def test_a_crash_while_the_file_is_written_anew_loses_nothing(journal: Journal) -> None:
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    journal.path.with_suffix(".new").write_bytes(b'{"what":"pod","is":{"ui')
    kept = read_journal(journal.path)
    Journal(journal.path).begin(kept)

    assert set(kept.pods) == {POD.uid}
    assert read_journal(journal.path).pods == kept.pods


def test_a_file_that_cannot_be_written_anew_stays_as_it_is(journal: Journal) -> None:
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    before = journal.path.read_bytes()
    with (
        file_sizes_up_to(100),
        pytest.raises(OSError, match=r"File too large.*objects\.new"),
    ):
        Journal(journal.path).begin(read_journal(journal.path))

    assert journal.path.read_bytes() == before


def test_what_belongs_together_is_lost_together_or_not_at_all(journal: Journal) -> None:
    """A workload whose pods are missing would never get them: it is there already."""
    with journal.together():
        journal.workload(KeptWorkload("job.batch", "default", "web", "{}", ("web-0",)))
        journal.pod(ApiPod(SPEC, POD), MANIFEST)
    whole = read_journal(journal.path)
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-1])
    cut = read_journal(journal.path)

    assert (list(whole.workloads), list(whole.pods)) == (["default/job.batch/web"], [POD.uid])
    assert (cut.workloads, cut.pods) == ({}, {})
    assert content.count(b"\n") == 1


def test_after_a_line_that_could_not_be_written_none_is(journal: Journal) -> None:
    """Two lines after a torn one would make of it a line that nobody can read."""
    failures: list[str] = []
    journal.failed = lambda failure: failures.append(str(failure))
    journal.pod(ApiPod(SPEC, POD), MANIFEST)
    journal.check()
    with file_sizes_up_to(journal.path.stat().st_size + 10):
        journal.gone(POD.uid)
    journal.gone(POD.uid)

    assert len(failures) == 1
    assert "objects.jsonl cannot be written: File too large; the server ends" in failures[0]
    with pytest.raises(ServerError, match="File too large"):
        journal.check()
    assert set(read_journal(journal.path).pods) == {POD.uid}


@pytest.mark.parametrize("line", [b"nonsense", b"{}", b'{"what": "pod", "is": {}}', b"[1]"])
def test_a_file_of_something_else_is_refused_with_its_line(journal: Journal, line: bytes) -> None:
    journal.path.write_bytes(line + b"\n")

    with pytest.raises(ServerError, match=r"objects\.jsonl:1: this line is none of a server's"):
        read_journal(journal.path)


def test_where_there_is_no_file_there_are_no_pods(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "none").pods == {}
