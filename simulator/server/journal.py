"""The pods of a server over its restarts: what another cluster's API server would remember.

Each change is one line at the end of a file, written before anything else follows from it; so a
server that is killed loses no pod whose devices somebody has seen. Changes that belong together are
one line. At a start, and when it has grown, the file is written anew with what is still there. A
line that was cut off by a crash is left out.

A server whose journal cannot be written tells nobody anything more and ends: what it would tell
would not be so after its next start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, cast

from pydantic import TypeAdapter, ValidationError

from scenarios.files.documents import Plain
from simulator.core.instants import Duration, Instant
from simulator.core.pods import Container, Pod, PodUid
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiPod
from simulator.engine.spec import Controller, PodSpec, PodStart, SimulationSpec
from simulator.errors import ServerError
from simulator.reports.documents import Json
from simulator.server.live_lines import TOGETHER, Line, LiveLines

RENEWED_FROM: Final = 8 * 1024 * 1024
"""A file of so many bytes is written anew if most of it is about what is gone."""
_GROWTH_MAX: Final = 4
"""How many times as large as after its last renewal a file may become."""


@dataclass(frozen=True, slots=True)
class KeptPod:
    """One pod.

    Attributes:
        spec_name: The name of what it was made from, which replacements share.
        grace_ns: How long its containers take to end.
        manifest: What it was made from, as JSON.
    """

    uid: PodUid
    name: str
    namespace: str
    created: Instant
    spec_name: str
    init_containers: tuple[Container, ...]
    containers: tuple[Container, ...]
    manifest: str
    node: str = ""
    controller: Controller = Controller.NONE
    restart_policy: str = "Always"
    grace_ns: int = 0
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    deleting: bool = False

    @property
    def pod(self) -> Pod:
        """The pod itself."""
        return Pod(
            uid=self.uid,
            name=self.name,
            namespace=self.namespace,
            init_containers=self.init_containers,
            containers=self.containers,
            created=self.created,
        )

    @property
    def spec(self) -> PodSpec:
        """What it was made from."""
        return PodSpec(
            name=self.spec_name,
            pod=self.pod,
            node=NodeName(self.node) if self.node else None,
            controller=self.controller,
            restart_policy=self.restart_policy,
            termination_grace=Duration(self.grace_ns),
        )


@dataclass(frozen=True, slots=True)
class KeptWorkload:
    """A Deployment, ReplicaSet or Job, and the names of the pods that it makes."""

    resource: str
    namespace: str
    name: str
    content: str
    pods: tuple[str, ...]


@dataclass(slots=True)
class Kept:
    """What a journal says is there."""

    pods: dict[PodUid, KeptPod] = field(default_factory=dict)
    workloads: dict[str, KeptWorkload] = field(default_factory=dict)

    def nodes(self) -> set[str]:
        """Return the nodes to which pods are bound."""
        return {pod.node for pod in self.pods.values() if pod.node}

    def pods_of(self, node: NodeName) -> tuple[Pod, ...]:
        """Return the pods of a node, in order of creation."""
        return tuple(pod.pod for pod in self.pods.values() if pod.node == node)

    def starts_of(self, node: NodeName) -> dict[PodUid, PodStart]:
        """Return how the pods of a node stood."""
        return {
            pod.uid: PodStart(
                phase=pod.phase,
                reason=pod.reason,
                message=pod.message,
                restart_policy=pod.restart_policy,
            )
            for pod in self.pods.values()
            if pod.node == node
        }

    def begin(self, run: SimulationSpec) -> SimulationSpec:
        """Return a run whose nodes begin with these pods."""
        nodes = tuple(
            replace(node, pods=self.pods_of(node.name), pod_starts=self.starts_of(node.name))
            for node in run.nodes
        )
        return replace(run, nodes=nodes)


_PODS: Final = TypeAdapter(KeptPod)
_WORKLOADS: Final = TypeAdapter(KeptWorkload)


class Journal:
    """The file, to be written at its end.

    Args:
        path: Where it is.
        renewed_from: At which size it may be written anew, in bytes.

    Attributes:
        failed: Called when a line could not be written; none is written after it.
    """

    def __init__(self, path: Path, renewed_from: int = RENEWED_FROM) -> None:
        self._renewed_from = renewed_from
        self.path = path
        self.failed: Callable[[ServerError], None] = lambda _: None
        self._file: int | None = None
        self._failure: ServerError | None = None
        self._held: list[Line] | None = None
        self._live = LiveLines()
        self._size = self._renewed_at = 0

    def begin(self, kept: Kept) -> None:
        """Write the file anew, whole or not at all, with what is there."""
        for line in kept_lines(kept):
            self._live.follow(line)
        self._renew()

    def pod(self, pod: ApiPod, manifest: Mapping[str, Plain]) -> None:
        """Write that a pod is there, and all about it."""
        self._write("pod", _plain_pod(_kept(pod, manifest)))

    def changed(self, pod: ApiPod) -> None:
        """Write how a pod stands now."""
        status = pod.status
        self._write(
            "status",
            {
                "uid": pod.uid,
                "node": pod.node or "",
                "phase": status.phase,
                "reason": status.reason,
                "message": status.message,
                "deleting": pod.deleting,
            },
        )

    def gone(self, uid: PodUid) -> None:
        """Write that a pod is gone."""
        self._write("gone", {"uid": uid})

    def workload(self, workload: KeptWorkload) -> None:
        """Write that a workload is there."""
        self._write("workload", _plain_workload(workload))

    def workload_gone(self, key: str) -> None:
        """Write that a workload is gone."""
        self._write("workload gone", {"key": key})

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write as one line what is written meanwhile: a crash loses all of it, or nothing."""
        held = self._held = []
        try:
            yield
        finally:
            self._held = None
            if held:
                self._append(held[0] if len(held) == 1 else _line(TOGETHER, {"lines": held}))

    def check(self) -> None:
        """Make sure that what was told to the journal so far is kept.

        Raises:
            ServerError: It could not be written.
        """
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, what: str, content: Mapping[str, Json]) -> None:
        line = _line(what, content)
        if self._held is not None:
            self._held.append(line)
        else:
            self._append(line)

    def _append(self, line: Line) -> None:
        if self._file is None:
            return
        text = _text(line)
        rest = memoryview(text)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self.close()
            reason = (
                f"{self.path} cannot be written: {error.strerror}; the server ends, since it "
                "could not remember its pods; make room and start it again"
            )
            self._failure = ServerError(reason)
            self.failed(self._failure)
            return
        self._live.follow(line)
        self._size += len(text)
        if self._size >= self._renewed_at:
            try:
                self._renew()
            except OSError:  # As long as lines can be added, the file that is there will do.
                self._renewed_at = self._size * 2

    def _renew(self) -> None:
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.writelines(map(_text, self._live))
                file.flush()
                os.fsync(descriptor)
                self._size = file.tell()
            fresh.replace(self.path)
        except OSError:
            os.close(descriptor)
            raise
        self.close()
        self._file = descriptor
        self._renewed_at = max(self._renewed_from, _GROWTH_MAX * self._size)


def read_journal(path: Path) -> Kept:
    """Return what a file says is there; nothing when there is no file.

    Raises:
        ServerError: It is no such file.
        OSError: It cannot be read.
    """
    kept = Kept()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return kept
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            _fold(kept, json.loads(line))
        except (ValueError, KeyError, TypeError, ValidationError) as cause:
            reason = (
                f"{path}:{number}: this line is none of a server's pods; "
                "move the file away to begin without pods"
            )
            raise ServerError(reason) from cause
    return kept


def _fold(kept: Kept, line: Mapping[str, object]) -> None:
    what, content = line["what"], line["is"]
    if not isinstance(content, dict):
        message = "no object"
        raise TypeError(message)
    if what == "pod":
        pod = _PODS.validate_python(content)
        kept.pods[pod.uid] = pod
    elif what == "status":
        uid = PodUid(content["uid"])
        if uid in kept.pods:
            changes = {key: value for key, value in content.items() if key != "uid"}
            kept.pods[uid] = replace(kept.pods[uid], **changes)
    elif what == "gone":
        kept.pods.pop(PodUid(content["uid"]), None)
    elif what == "workload":
        workload = _WORKLOADS.validate_python(content)
        kept.workloads[workload_key(workload)] = workload
    elif what == "workload gone":
        kept.workloads.pop(content["key"], None)
    elif what == TOGETHER:
        for each in content["lines"]:
            _fold(kept, each)
    else:
        message = f"unknown {what}"
        raise ValueError(message)


def workload_key(workload: KeptWorkload) -> str:
    """Return what a workload is called in the file."""
    return f"{workload.namespace}/{workload.resource}/{workload.name}"


def _kept(pod: ApiPod, manifest: Mapping[str, Plain]) -> KeptPod:
    return KeptPod(
        uid=pod.uid,
        name=pod.pod.name,
        namespace=pod.pod.namespace,
        created=pod.pod.created,
        spec_name=pod.spec.name,
        init_containers=pod.pod.init_containers,
        containers=pod.pod.containers,
        manifest=json.dumps(manifest),
        node=pod.node or "",
        controller=pod.spec.controller,
        restart_policy=pod.spec.restart_policy,
        grace_ns=pod.spec.termination_grace,
        phase=pod.status.phase,
        reason=pod.status.reason,
        message=pod.status.message,
        deleting=pod.deleting,
    )


def _plain_pod(pod: KeptPod) -> dict[str, Json]:
    return cast("dict[str, Json]", _PODS.dump_python(pod, mode="json"))


def _plain_workload(workload: KeptWorkload) -> dict[str, Json]:
    return cast("dict[str, Json]", _WORKLOADS.dump_python(workload, mode="json"))


def kept_lines(kept: Kept) -> list[Line]:
    """Return the lines that say what is there."""
    return [
        *(_line("workload", _plain_workload(each)) for each in kept.workloads.values()),
        *(_line("pod", _plain_pod(each)) for each in kept.pods.values()),
    ]


def kept_of(lines: Iterable[Mapping[str, object]]) -> Kept:
    """Return what lines say is there.

    Raises:
        ValueError, KeyError, TypeError: They are no such lines.
    """
    kept = Kept()
    for line in lines:
        _fold(kept, line)
    return kept


def pod_text(pod: ApiPod, manifest: Mapping[str, Plain]) -> str:
    """Return all about a pod as JSON."""
    return json.dumps(_plain_pod(_kept(pod, manifest)))


def pod_of(text: str) -> KeptPod:
    """Return the pod of `pod_text`."""
    return _PODS.validate_json(text)


def _line(what: str, content: Mapping[str, Json]) -> Line:
    return {"what": what, "is": dict(content)}


def _text(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"
