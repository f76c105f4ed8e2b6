"""What a server remembers of its pods and workloads, and the lines that say it.

A line says one change: a pod or workload that is there, how a pod stands, what is gone. Folded one
after the other, they say what is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from pydantic import TypeAdapter

from scenarios.files.documents import Plain
from simulator.core.instants import Duration, Instant
from simulator.core.pods import Container, Pod, PodUid
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod
from simulator.engine.spec import Controller, PodSpec, PodStart, SimulationSpec
from simulator.reports.documents import Json

Line = dict[str, Json]
"""What it says, and of what: `what` and `is`."""

TOGETHER: Final = "all of"
"""A line that holds several, which count all or not at all."""


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


def fold(kept: Kept, line: Mapping[str, object]) -> None:
    """Take up what one line says.

    Raises:
        ValueError, KeyError, TypeError: It is no such line.
    """
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
        key = workload_key(workload.namespace, workload.resource, workload.name)
        kept.workloads[key] = workload
    elif what == "workload gone":
        kept.workloads.pop(content["key"], None)
    elif what == TOGETHER:
        for each in content["lines"]:
            fold(kept, each)
    else:
        message = f"unknown {what}"
        raise ValueError(message)


def workload_key(namespace: str, resource: str, name: str) -> str:
    """Return what a workload is called in a line."""
    return f"{namespace}/{resource}/{name}"


def kept_pod(pod: ApiPod, manifest: Mapping[str, Plain]) -> KeptPod:
    """Return what is remembered of a pod."""
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


def plain_pod(pod: KeptPod) -> dict[str, Json]:
    """Return a pod as it stands in a line."""
    return cast("dict[str, Json]", _PODS.dump_python(pod, mode="json"))


def plain_workload(workload: KeptWorkload) -> dict[str, Json]:
    """Return a workload as it stands in a line."""
    return cast("dict[str, Json]", _WORKLOADS.dump_python(workload, mode="json"))


def kept_lines(kept: Kept) -> list[Line]:
    """Return the lines that say what is there."""
    return [
        *(line_of("workload", plain_workload(each)) for each in kept.workloads.values()),
        *(line_of("pod", plain_pod(each)) for each in kept.pods.values()),
    ]


def kept_of(lines: Iterable[Mapping[str, object]]) -> Kept:
    """Return what lines say is there.

    Raises:
        ValueError, KeyError, TypeError: They are no such lines.
    """
    kept = Kept()
    for line in lines:
        fold(kept, line)
    return kept


def pod_text(pod: ApiPod, manifest: Mapping[str, Plain]) -> str:
    """Return all about a pod as JSON."""
    return json.dumps(plain_pod(kept_pod(pod, manifest)))


def pod_of(text: str) -> KeptPod:
    """Return the pod of `pod_text`."""
    return _PODS.validate_json(text)


def line_of(what: str, content: Mapping[str, Json]) -> Line:
    """Return a line that says `what` of its content."""
    return {"what": what, "is": dict(content)}
