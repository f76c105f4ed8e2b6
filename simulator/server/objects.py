"""The objects of a world by kind, with their versions, and who watches them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from scenarios.selectors import Selector, parse_selector
from simulator.core.pods import PodUid
from simulator.core.records import (
    ContainerChanged,
    DevicesAllocated,
    DevicesListed,
    DevicesReleased,
    HealthUpdated,
    KubeletStarted,
    KubeletStopped,
    NodeStatusReported,
    PluginDisconnected,
    PluginRegistered,
    ResourceExpired,
    Stamped,
)
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod
from simulator.engine.world import World
from simulator.errors import ConfigError
from simulator.live.node_statuses import node_labels
from simulator.reports.documents import Json
from simulator.server.event_log import EventLog, LoggedEvent
from simulator.server.feed import Feed
from simulator.server.node_objects import BuiltIn, node_document, plugin_documents
from simulator.server.pod_objects import PodObjects
from simulator.server.pods import Pods

KINDS: Final = ("pods", "nodes", "events", "plugins")

NODE_PAUSE_S: Final = 0.1
"""Several changes of a node within this time are shown as one: each costs a look at all devices."""

Document = dict[str, Json]
BuiltInPlugins = Callable[[NodeName], Mapping[str, BuiltIn]]
"""Returns the built-in plugins of a node by name."""

_OF_NODES: Final = (
    DevicesAllocated,
    DevicesListed,
    DevicesReleased,
    KubeletStarted,
    KubeletStopped,
    NodeStatusReported,
    PluginDisconnected,
    PluginRegistered,
    ResourceExpired,
)
"""Records after which a node, or a plugin of it, may look different."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which objects of a kind are asked for; what is empty selects all.

    Attributes:
        kind: One of `KINDS`.
        name: The object's name.
        namespace: The namespace of kinds that have namespaces.
        node: The node of the object, or what it is about.
        selector: Of labels.
    """

    kind: str
    name: str = ""
    namespace: str = ""
    node: str = ""
    selector: Selector = field(default_factory=Selector)

    def takes(self, seen: Seen) -> bool:
        """Tell whether an object is among them."""
        return (
            seen.kind == self.kind
            and self.name in {"", seen.name}
            and (self.namespace in {"", seen.namespace} or not seen.namespace)
            and self.node in {"", seen.node}
            and self.selector.matches(seen.labels)
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """An object, or what became of it.

    Attributes:
        change: `ADDED`, `MODIFIED` or `DELETED`.
    """

    kind: str
    name: str
    namespace: str
    node: str
    labels: Mapping[str, str]
    document: Document
    change: str = "ADDED"


def wanted(kind: str, name: str, namespace: str, node: str, selector: str) -> Wanted:
    """Return what a request asks for.

    Raises:
        ConfigError: There is no such kind, or the selector is none.
    """
    if kind not in KINDS:
        reason = f'"{kind[:40]}" is no kind of object here; there are: {", ".join(KINDS)}'
        raise ConfigError(reason)
    try:
        chosen = parse_selector(selector) if selector else Selector()
    except ValueError as cause:
        raise ConfigError(str(cause)) from cause
    return Wanted(kind, name, namespace, node, chosen)


class Objects:
    """All objects of one world.

    Args:
        world: The world.
        pods: Its pods.
        persistence: What its nodes keep their state in.
        built_in: The plugins that the server runs.

    Attributes:
        feed: What watchers are told.
        events: The events so far.
    """

    def __init__(
        self, world: World, pods: Pods, *, persistence: str, built_in: BuiltInPlugins
    ) -> None:
        self.feed: Feed[Seen] = Feed()
        self.events = EventLog(pods.identify)
        self._world = world
        self._pods = pods
        self._persistence = persistence
        self._built_in = built_in
        self._pod_objects = PodObjects()
        self._version = 0
        self._versions: dict[str, int] = {}
        self._changing: set[NodeName] = set()
        self._shown: dict[tuple[str, str], Document] = {}
        for stamped in world.records:
            self.events.note(stamped)
        world.api.watch_pods(self._pod_changed)
        world.watch_records(self._recorded)

    # Reading

    def select(self, asked: Wanted) -> Iterator[Seen]:
        """Iterate over the present objects that are asked for, each as it is when it is reached."""
        return (seen for seen in self._all(asked) if asked.takes(seen))

    def pod(self, pod: ApiPod) -> Document:
        """Return a pod."""
        return self._seen_pod(pod).document

    def node(self, name: NodeName) -> Document:
        """Return a node."""
        return self._seen_node(name).document

    def plugins_changed(self, node: NodeName) -> None:
        """A built-in plugin was started or stopped."""
        self._node_changed(node)

    def _all(self, asked: Wanted) -> Iterable[Seen]:
        kind = asked.kind
        if kind == "pods":
            return (
                self._seen_pod(pod)
                for pod in self._pods.all()
                if asked.name in {"", pod.pod.name} and not pod.deleted
            )
        if kind == "nodes":
            return (self._seen_node(name) for name in self._world.nodes)
        if kind == "events":
            return (_seen_event(event) for event in self.events.events())
        return (seen for name in self._world.nodes for seen in self._seen_plugins(name))

    def _seen_pod(self, pod: ApiPod) -> Seen:
        node = None if pod.node is None else self._world.nodes.get(pod.node)
        document = self._pod_objects.document(
            pod,
            node,
            self._pods.manifest_of(pod),
            version=self._versions.get(pod.uid, 0),
            deleted_at=self._pods.deleted_at(pod),
            shown=self._pods.document_of(pod),
        )
        labels = self._pods.labels_of(pod)
        return Seen("pods", pod.pod.name, pod.pod.namespace, pod.node or "", labels, document)

    def _seen_node(self, name: NodeName) -> Seen:
        document = node_document(
            self._world.nodes[name],
            self._world.api,
            version=self._versions.get(f"node/{name}", 0),
            persistence=self._persistence,
        )
        return Seen("nodes", name, "", name, node_labels(name), document)

    def _seen_plugins(self, name: NodeName) -> Iterable[Seen]:
        for document in plugin_documents(self._world.nodes[name], self._built_in(name)):
            metadata = document["metadata"]
            called = metadata["name"] if isinstance(metadata, dict) else ""
            yield Seen("plugins", str(called), "", name, {}, document)

    # Changes

    def _pod_changed(self, pod: ApiPod) -> None:
        self._version += 1
        uid = pod.uid
        is_new = uid not in self._versions
        self._versions[uid] = self._version
        if self.feed.is_watched:
            change = "DELETED" if pod.deleted else "ADDED" if is_new else "MODIFIED"
            self._publish(self._seen_pod(pod), change, uid)
        if pod.deleted:
            self._versions.pop(uid, None)
            self._pod_objects.forget(uid)
            self._pods.forget(pod)
            self._shown.pop(("pods", uid), None)

    def _recorded(self, stamped: Stamped) -> None:
        record = stamped.record
        event = self.events.note(stamped)
        if event is not None and self.feed.is_watched:
            change = "ADDED" if event.count == 1 else "MODIFIED"
            self._publish(_seen_event(event), change, event.name)
        if isinstance(record, ContainerChanged):
            self._pods_touched((record.pod,))
        elif isinstance(record, HealthUpdated):
            self._pods_touched(record.pods)
        elif isinstance(record, _OF_NODES):
            self._node_changed(stamped.node)

    def _pods_touched(self, uids: Iterable[PodUid]) -> None:
        for uid in uids:
            pod = self._world.api.pod(uid)
            if pod is not None:
                self._pod_changed(pod)

    def _node_changed(self, name: NodeName) -> None:
        self._version += 1
        self._versions[f"node/{name}"] = self._version
        if self.feed.is_watched and name in self._world.nodes and name not in self._changing:
            self._changing.add(name)
            asyncio.get_running_loop().call_later(NODE_PAUSE_S, self._publish_node, name)

    def _publish_node(self, name: NodeName) -> None:
        """Tell watchers how a node and its plugins look now."""
        self._changing.discard(name)
        self._publish(self._seen_node(name), "MODIFIED", name)
        for seen in self._seen_plugins(name):
            self._publish(seen, "MODIFIED", f"{name}/{seen.name}")

    def _publish(self, seen: Seen, change: str, key: str) -> None:
        """Tell watchers of a change, unless the object looks as it did."""
        before = self._shown.get((seen.kind, key))
        if change == "MODIFIED" and before is not None and _equal(before, seen.document):
            return
        self._shown[seen.kind, key] = seen.document
        self.feed.publish(
            Seen(
                seen.kind,
                seen.name,
                seen.namespace,
                seen.node,
                seen.labels,
                seen.document,
                change,
            )
        )


def _seen_event(event: LoggedEvent) -> Seen:
    node = event.node
    return Seen("events", event.name, event.namespace, node, {}, event.document())


def _equal(one: Document, other: Document) -> bool:
    """Tell whether two documents say the same, whatever their versions."""
    return _unversioned(one) == _unversioned(other)


def _unversioned(document: Document) -> Document:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    return {
        **document,
        "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"},
    }
