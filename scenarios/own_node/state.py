"""An operator's own node, from its checkpoint and its pods, in one of the events of a node's life.

The result is an ordinary scenario: what stands in the checkpoint and in the pods' status is the
state at the start, and there is one run with the plugins back before the kubelet looks at the pods,
and one with the plugins late. What only the cluster knows is not guessed at: pods that end are not
replaced, and a device that nobody holds has no NUMA node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from scenarios.files.documents import FILE_SIZE_MAX, Plain
from scenarios.files.phrases import some_of
from scenarios.kubernetes.node_pods import NodePod, choose_node
from scenarios.loading.loaded import LoadedScenario, parse_scenarios
from scenarios.own_node.devices import plugins_of
from scenarios.own_node.pods import known_pod, pod_names, wants_devices
from scenarios.schema.variants import Persistence
from scenarios.schema.writing import scenario_text, written_persistence
from simulator.config import API_VERSION, DEFAULT_KUBELET_VERSION
from simulator.core.checkpoint.bindings import BindingsRead, read_bindings
from simulator.core.checkpoint.outlook import outlook
from simulator.core.checkpoint.recognition import Inspection
from simulator.core.plurals import counted
from simulator.core.pods import PodUid
from simulator.core.switches import behavior_for
from simulator.errors import ManifestError, ScenarioError

NODE: Final = "node"
"""The node's name when no pod tells it."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9-]+")
_UID_SHOWN: Final = 8
_SHOWN: Final[list[Plain]] = ["phase", "reason", "message", "sameDevices"]


class Event(Enum):
    """What happens to the node."""

    RESTART = "restart"
    """The kubelet stops and starts; containers run on."""
    REBOOT = "reboot"
    """The machine goes down and comes back; its disk survives."""


@dataclass(frozen=True, slots=True)
class _Order:
    """When the plugins are back, from the start of the kubelet."""

    name: str
    after: str
    within: str
    words: str


_ORDERS: Final = (
    _Order("plugin-first", "50ms", "15s", "the plugins are back before the pods are admitted"),
    _Order("plugin-late", "20s", "40s", "the plugins are back only 20s after the kubelet's start"),
)


@dataclass(frozen=True, slots=True)
class OwnNode:
    """What an operator has of a node.

    Attributes:
        path: The checkpoint's name, as the scenario is to refer to it.
        content: Its bytes.
        inspection: What they say.
        pods: Pods of this node, perhaps of others too.
        name: The node, where the pods are of several.
    """

    path: str
    content: bytes
    inspection: Inspection
    pods: Sequence[NodePod]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class OwnScenario:
    """A scenario file that was made.

    Attributes:
        text: The file, with all scenarios.
        loaded: The scenarios: plugins first, plugins late.
        notes: What was left out or assumed, in sentences.
    """

    text: str
    loaded: tuple[LoadedScenario, ...]
    notes: tuple[str, ...]


def own_scenario(
    own: OwnNode,
    event: Event,
    *,
    versions: Sequence[str] = (DEFAULT_KUBELET_VERSION,),
    persistences: Sequence[Persistence] = (Persistence("checkpoint"),),
) -> OwnScenario:
    """Put an operator's node into an event.

    Args:
        own: Checkpoint and pods.
        event: What happens 20 s after the start.
        versions: Kubelet versions to run.
        persistences: Persistences to run. A database starts as the import of the checkpoint.

    Raises:
        ManifestError: It is not clear which pods are the node's, or two have one uid.
        ScenarioError: Something in checkpoint or pods cannot stand in a scenario.
    """
    if not own.pods:
        reason = "there is no pod; give what `kubectl get pods -A -o yaml` prints with --pods"
        raise ManifestError(reason)
    read = read_bindings(own.inspection.checkpoint, lenient=True)
    recorded = dict.fromkeys(binding.pod for binding in read.bindings)
    node = choose_node(own.pods, recorded.keys(), own.name)
    here = _here(own.pods, node)
    shown = [pod for pod in here if pod.uid in recorded or wants_devices(pod)]
    here_uids = {pod.uid for pod in here}
    leftovers = [uid for uid in recorded if uid not in here_uids]
    names = pod_names(shown)
    left = _leftover_names(leftovers, set(names.values()))
    plugins, plugin_notes = plugins_of(own.inspection.checkpoint, read)
    pods: list[Plain] = [known_pod(pod, names[pod.uid]) for pod in shown]
    pods += [{"name": left[uid], "uid": uid, "gone": True} for uid in leftovers]
    if not plugins:
        reason = f"{own.path}: the checkpoint names no resource, so there is nothing to replay"
        raise ScenarioError(reason)
    spec: dict[str, Plain] = {
        "kubeletVersions": list(versions),
        "persistence": [written_persistence(one) for one in persistences],
        "nodes": [
            {
                "name": node or NODE,
                "numaNodes": _numa_nodes(read),
                "checkpoint": {"path": own.path},
                "pods": pods,
            }
        ],
    }
    shown_names = (*names.values(), *left.values())
    text = scenario_text(_documents(spec, plugins, event, pods=shown_names, path=own.path))
    notes = _notes(own, here, shown, left, plugin_notes)
    if any(one.name != "database" for one in persistences):
        notes = (*_unread(own, versions), *notes)
    return OwnScenario(text, _parsed(text, own), notes)


def _documents(
    spec: dict[str, Plain],
    plugins: list[dict[str, Plain]],
    event: Event,
    *,
    pods: Sequence[str],
    path: str,
) -> list[Plain]:
    """Return a scenario for each order in which plugins and pods may be back."""
    steps = _steps(plugins, event, path)
    back = "reregisterAfter" if event is Event.RESTART else "startsAfterBoot"
    return [
        _document(
            {
                **spec,
                "plugins": [{**plugin, back: order.after} for plugin in plugins],
                "steps": steps,
            },
            pods,
            event,
            order,
        )
        for order in _ORDERS
    ]


def _here(pods: Sequence[NodePod], node: str) -> list[NodePod]:
    """Return the node's pods, oldest first, as a kubelet goes through them (S5.7)."""
    here = [pod for pod in pods if pod.manifest.node == node]
    uids: set[PodUid] = set()
    for pod in here:
        if pod.uid in uids:
            reason = f'two pods have the uid "{pod.uid}"; give every pod once'
            raise ManifestError(reason)
        uids.add(pod.uid)
    return sorted(here, key=lambda pod: pod.created)


def _leftover_names(uids: Sequence[PodUid], taken: set[str]) -> dict[PodUid, str]:
    names: dict[PodUid, str] = {}
    for number, uid in enumerate(uids, start=1):
        part = _NOT_IN_NAMES.sub("-", uid[:_UID_SHOWN].lower()).strip("-")
        name = f"leftover-{part}" if part else f"leftover-{number}"
        names[uid] = name if name not in taken else f"{name}-{number}"
        taken.add(names[uid])
    return names


def _numa_nodes(read: BindingsRead) -> int:
    return 1 + max((node for one in read.bindings for node in one.devices), default=-1)


def _steps(plugins: list[dict[str, Plain]], event: Event, path: str) -> list[Plain]:
    """Return the steps: the node as it is, and the event, with the node's own file in it.

    By the time of the event the kubelet has written the file anew: in its own format, with what it
    could read, and with the resources whose plugins are there. At its next start it is to find what
    the operator's will find.
    """
    starts: list[Plain] = [
        {"name": f"{plugin['name']}-up", "at": "0s", "startPlugin": {"name": plugin["name"]}}
        for plugin in plugins
    ]
    happens: dict[str, Plain] = (
        {"name": "restart", "at": "20s", "restartKubelet": {"downtime": "2s"}}
        if event is Event.RESTART
        else {"name": "reboot", "at": "20s", "rebootNode": {"downtime": "1m"}}
    )
    found: dict[str, Plain] = {"action": "replace", "path": path}
    return [*starts, happens, {"name": "own-file", "at": "21s", "checkpointFile": found}]


def _document(
    spec: dict[str, Plain],
    pods: Sequence[str],
    event: Event,
    order: _Order,
) -> Plain:
    happens = "The kubelet restarts" if event is Event.RESTART else "The node reboots"
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": f"{event.value}-{order.name}"},
        "spec": {
            "description": f"{happens}; {order.words}.",
            **spec,
            "expect": [
                {"after": event.value, "within": order.within, "pod": pod, "show": _SHOWN}
                for pod in pods
            ],
        },
    }


def _parsed(text: str, own: OwnNode) -> tuple[LoadedScenario, ...]:
    size = len(text.encode())
    if size > FILE_SIZE_MAX:
        reason = (
            f"{own.path}: a scenario of this node would have {size} bytes, and at most "
            f"{FILE_SIZE_MAX} are read; give fewer pods, or a file with fewer devices"
        )
        raise ScenarioError(reason)
    try:
        return tuple(
            parse_scenarios(text.encode(), Path(own.path), {}, files={own.path: own.content})
        )
    except ScenarioError as error:
        reason = f"{own.path}: its state cannot stand in a scenario: {error.reason}"
        raise ScenarioError(reason) from error


def _unread(own: OwnNode, versions: Sequence[str]) -> list[str]:
    """Say which kubelets start without any record, for the file has a format they do not read."""
    checkpoint = own.inspection.checkpoint
    outlooks = [outlook(own.content, checkpoint, behavior_for(version)) for version in versions]
    others = [one.kubelet.version for one in outlooks if one.is_other_format and not one.is_read]
    if not others or not own.inspection.is_valid:
        return []
    form = checkpoint.format.value.upper()
    note = (
        f"the file has the format {form}, which {', '.join(others)} cannot read: "
        "that kubelet starts without any record from it"
    )
    return [note]


def _notes(
    own: OwnNode,
    here: Sequence[NodePod],
    shown: Sequence[NodePod],
    left: dict[PodUid, str],
    plugin_notes: Sequence[str],
) -> tuple[str, ...]:
    notes = []
    others = len(own.pods) - len(here)
    if others:
        notes.append(f"{counted(others, 'pod')} of other nodes or of none left out")
    without = len(here) - len(shown)
    if without:
        notes.append(f"{counted(without, 'pod')} without devices left out")
    if left:
        named = some_of([f"{name} ({uid})" for uid, name in left.items()])
        notes.append(f"in the checkpoint, but not among the pods: {named}")
    if not own.inspection.is_valid:
        notes.append("the checksum is wrong: a kubelet starts without any record from this file")
    return (*notes, *plugin_notes)
