"""A stand-in for the API server of a real cluster, where that is stricter than Rebind's own.

It knows as much of Kubernetes as a kubelet meets, in memory: who it talks to and what that one may
do, namespaces that must be there, admission that changes pods, fields that it drops, revisions that
jump, lists in pages that expire, watches that break off, expire or only bring bookmarks, deletion
with its preconditions. What a test wants to go wrong it says with `then`.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from typing_extensions import override

from tests.api.client.fake import refusal
from tests.api.serving.running import Document

Key = tuple[str, str, str]
"""Resource, namespace and name."""

CREATED = "2026-11-30T10:00:00Z"
NAMESPACED = frozenset({"pods", "events", "leases", "serviceaccounts", "devicebindings"})
CLUSTERED = frozenset({"namespaces", "nodes", "customresourcedefinitions"})
CONTAINER_FIELDS = frozenset({"name", "image", "resources", "restartPolicy", "volumeMounts"})
WATCH_LOOK_S = 0.05


@dataclass(frozen=True)
class Refuse:
    """An answer that a test wants."""

    code: int
    reason: str = ""
    message: str = "not now"
    headers: Mapping[str, str] = field(default_factory=dict)


RESET = Refuse(0)
"""The connection is closed, and nothing is answered."""
PASS = Refuse(-1)
"""Nothing goes wrong this time."""
EMPTY = Refuse(-2)
"""A watch that ends as soon as it has begun."""
AT_ONCE = {"Retry-After": "0"}


@dataclass(frozen=True)
class Asked:
    """A request: its verb as Kubernetes calls it, and what it is about."""

    verb: str
    resource: str
    namespace: str
    name: str
    query: Mapping[str, str]
    body: Document
    agent: str
    at: float = field(default_factory=time.monotonic)

    @property
    def key(self) -> Key:
        return self.resource.partition("/")[0], self.namespace, self.name


class StrictCluster:
    """A cluster.

    Attributes:
        token: The bearer token that everybody must have; empty for none.
        may_not: What is forbidden: verb and resource, such as `patch pods/status`.
        keeps_health: Whether it keeps allocatedResourcesStatus (a feature gate).
        asked: Every request, in order.
        page: Most objects in a page of a list, whatever the client's limit.
    """

    def __init__(self, *, token: str = "", keeps_health: bool = True) -> None:
        self.token = token
        self.may_not: set[str] = set()
        self.keeps_health = keeps_health
        self.asked: list[Asked] = []
        self.page = 500
        self.objects: dict[Key, Document] = {}
        self.changed = threading.Condition()
        self._revision = 900_000
        self._forgotten = 0
        self._log: list[tuple[int, str, Key, Document]] = []
        self._then: defaultdict[str, deque[Refuse]] = defaultdict(deque)
        self._cuts = self._ends = 0
        self._is_closed = False
        for name in ("default", "kube-node-lease"):
            self.put(("namespaces", "", name), {"metadata": {"name": name}})

    # What a test does

    def then(self, what: str, *answers: Refuse) -> None:
        """Answer the next requests of a verb and resource, such as `list pods`, with these."""
        with self.changed:
            self._then[what].extend(answers)

    def counted(self) -> Counter[str]:
        """Return how often each verb and resource was asked for."""
        with self.changed:
            return Counter(f"{each.verb} {each.resource}" for each in self.asked)

    def get(self, resource: str, name: str, namespace: str = "default") -> Document | None:
        """Return an object."""
        with self.changed:
            found = self.objects.get((resource, "" if resource in CLUSTERED else namespace, name))
            return deepcopy(found)

    def names(self, resource: str) -> list[str]:
        """Return the names of the objects of a resource."""
        with self.changed:
            return [key[2] for key in self.objects if key[0] == resource]

    def put(self, key: Key, document: Document) -> Document:
        """Have an object as somebody else has written it; its revision is a new one."""
        with self.changed:
            present = self.objects.get(key)
            self._revision += 7
            metadata = {
                "uid": str(uuid.uuid4()),
                "creationTimestamp": CREATED,
                **({"namespace": key[1]} if key[1] else {}),
                **({} if present is None else present["metadata"]),
                **document.get("metadata", {}),
                "name": key[2],
                "resourceVersion": str(self._revision),
            }
            stored = {**document, "metadata": metadata}
            self.objects[key] = stored
            self._note("ADDED" if present is None else "MODIFIED", key, stored)
            return deepcopy(stored)

    def make(self, resource: str, document: Document, namespace: str = "default") -> Document:
        """Create an object as somebody does with kubectl."""
        with self.changed:
            asked = Asked("create", resource, namespace, "", {}, document, "kubectl/v1.36.0")
            code, made = self._create(asked)
            assert code == 201, made
            return made

    def delete(self, resource: str, name: str, namespace: str = "default") -> None:
        """Delete an object as somebody does with kubectl."""
        with self.changed:
            self._delete(Asked("delete", resource, namespace, name, {}, {}, "kubectl/v1.36.0"))

    def remove(self, key: Key) -> Document:
        """Have an object no more."""
        with self.changed:
            gone = deepcopy(self.objects.pop(key))
            self._revision += 7
            gone["metadata"]["resourceVersion"] = str(self._revision)
            self._note("DELETED", key, gone)
            return gone

    def bookmark(self) -> str:
        """Tell all watches how far they are, and return that."""
        with self.changed:
            self._revision += 1_000
            metadata = {"resourceVersion": str(self._revision)}
            self._note("BOOKMARK", ("", "", ""), {"kind": "Pod", "metadata": metadata})
            return str(self._revision)

    def tell_watches(self, change: str, document: Document) -> None:
        """Send an event of a kind of its own to all watches of pods."""
        with self.changed:
            self._note(change, ("", "", ""), document)

    def forget(self) -> None:
        """Know no more what happened before now: older watches and pages are told 410."""
        with self.changed:
            self._forgotten = self._revision
            self._log.clear()

    def set_back(self, revision: int) -> None:
        """Have a lower revision from now on, as after a restore of the store."""
        with self.changed:
            self._revision, self._forgotten = revision, 0
            self._log.clear()

    def cut(self) -> None:
        """Break all watches off in the middle of a line."""
        with self.changed:
            self._cuts += 1
            self.changed.notify_all()

    def end_watches(self) -> None:
        """End all watches once they have said what there is to say, as at the end of their time."""
        with self.changed:
            self._ends += 1
            self.changed.notify_all()

    def close(self) -> None:
        """End all watches for good."""
        with self.changed:
            self._is_closed = True
            self.changed.notify_all()

    def _note(self, change: str, key: Key, document: Document) -> None:
        self._log.append((self._revision, change, key, deepcopy(document)))
        self.changed.notify_all()

    # What it answers

    def answer(  # noqa: PLR0911 - one for each verb
        self, asked: Asked
    ) -> tuple[int, Document]:
        """Answer a request that is no watch."""
        if asked.verb == "discover":
            return 200, {"resources": [{"name": one} for one in ("pods", "pods/binding", "nodes")]}
        if asked.resource.partition("/")[0] not in self._served():
            return refusal(404, "NotFound", "the server could not find the requested resource")
        with self.changed:
            if asked.verb == "list":
                return self._list(asked)
            if asked.verb == "create":
                return self._create(asked)
            if asked.key not in self.objects:
                return refusal(404, "NotFound", f'{asked.key[0]} "{asked.name}" not found')
            if asked.verb == "get":
                return 200, deepcopy(self.objects[asked.key])
            if asked.verb == "delete":
                return self._delete(asked)
            return self._change(asked)

    def watched(self, asked: Asked) -> Iterator[bytes | None]:
        """Iterate over the lines of a watch; None ends it as a broken connection does."""
        since, cuts, ends = int(asked.query["resourceVersion"]), self._cuts, self._ends
        while True:
            with self.changed:
                if since < self._forgotten or since > self._revision:
                    _, status = refusal(410, "Expired", f"too old resource version: {since}")
                    yield _line("ERROR", status)
                    return
                if self._cuts != cuts:
                    yield None
                    return
                if self._is_closed:
                    return
                has_ended = self._ends != ends
                news = [each for each in self._log if each[0] > since]
                if not news and has_ended:
                    return
                if not news:
                    self.changed.wait(WATCH_LOOK_S)
                    continue
            for revision, change, key, document in news:
                since = revision
                if not key[0] or (key[0] == asked.resource and _selected(asked, document)):
                    yield _line(change, document)

    def refused(self, asked: Asked, token: str) -> Refuse | None:
        """Return the refusal of a request that goes wrong, or may not be."""
        with self.changed:
            self.asked.append(asked)
            planned = self._then[f"{asked.verb} {asked.resource}"]
            if planned and (first := planned.popleft()) is not PASS:
                return first
        if self.token and token != f"Bearer {self.token}":
            return Refuse(401, "Unauthorized", "Unauthorized")
        what = f"{asked.verb} {asked.resource}"
        if what in self.may_not:
            message = (
                f'{asked.resource} "{asked.name}" is forbidden: User "lab" cannot {asked.verb} '
                f'resource "{asked.resource}" in API group ""'
            )
            return Refuse(403, "Forbidden", message)
        return None

    def _served(self) -> set[str]:
        served = {*NAMESPACED, *CLUSTERED}
        if not any(key[0] == "customresourcedefinitions" for key in self.objects):
            served.discard("devicebindings")
        return served

    def _list(self, asked: Asked) -> tuple[int, Document]:
        token = asked.query.get("continue", "")
        revision, _, start = (token or f"{self._revision}/0").partition("/")
        if int(revision) < self._forgotten:
            return refusal(410, "Expired", "the provided continue parameter is too old")
        found = [
            each
            for key, each in self.objects.items()
            if key[0] == asked.resource
            and (not asked.namespace or key[1] == asked.namespace)
            and _selected(asked, each)
        ]
        page = found[int(start) :]
        metadata = {"resourceVersion": revision}
        if "limit" in asked.query and len(page) > self.page:
            page = page[: self.page]
            metadata["continue"] = f"{revision}/{int(start) + self.page}"
        return 200, {"kind": "List", "metadata": metadata, "items": deepcopy(page)}

    def _create(self, asked: Asked) -> tuple[int, Document]:
        name = asked.body["metadata"]["name"]
        key = (asked.resource, asked.namespace, name)
        if asked.namespace and ("namespaces", "", asked.namespace) not in self.objects:
            return refusal(404, "NotFound", f'namespaces "{asked.namespace}" not found')
        if key in self.objects:
            return refusal(409, "AlreadyExists", f'{asked.resource} "{name}" already exists')
        made = _without_unknown(deepcopy(asked.body))
        made["metadata"]["generation"] = 1
        made["metadata"]["managedFields"] = [
            {"manager": asked.agent.partition("/")[0], "operation": "Update"}
        ]
        if asked.resource == "pods":
            made = _admitted(made)
        if asked.resource == "namespaces":
            account = {"metadata": {"name": "default"}}
            self.put(("serviceaccounts", name, "default"), account)
        return 201, self.put(key, made)

    def _change(self, asked: Asked) -> tuple[int, Document]:
        present = self.objects[asked.key]
        uid = asked.body.get("metadata", {}).get("uid", present["metadata"]["uid"])
        if uid != present["metadata"]["uid"]:
            message = "metadata.uid: Invalid value: field is immutable"
            code, status = refusal(422, "Invalid", message)
            status["details"] = {"causes": [{"field": "metadata.uid"}]}
            return code, status
        wanted = asked.body
        if asked.verb == "update":
            revision = wanted["metadata"].get("resourceVersion")
            if revision != present["metadata"]["resourceVersion"]:
                return refusal(409, "Conflict", "the object has been modified")
            return 200, self.put(asked.key, deepcopy(wanted))
        part = "status" if asked.resource.endswith("/status") else "spec"
        merged = {**present, part: _merged(present.get(part, {}), wanted.get(part, {}))}
        if not self.keeps_health:
            for each in merged[part].get("containerStatuses", []):
                each.pop("allocatedResourcesStatus", None)
        if merged == present:
            return 200, deepcopy(present)
        return 200, self.put(asked.key, merged)

    def _delete(self, asked: Asked) -> tuple[int, Document]:
        present, options = self.objects[asked.key], asked.body or {}
        uid = options.get("preconditions", {}).get("uid", present["metadata"]["uid"])
        if uid != present["metadata"]["uid"]:
            message = f"Precondition failed: UID in precondition: {uid}, UID in object meta: other"
            return refusal(409, "Conflict", message)
        grace = options.get("gracePeriodSeconds", 30)
        if present["metadata"].get("finalizers"):
            ending = {"deletionTimestamp": CREATED, "deletionGracePeriodSeconds": grace}
            if ending.items() <= present["metadata"].items():
                return 200, deepcopy(present)
            metadata = {**present["metadata"], **ending}
            return 200, self.put(asked.key, {**present, "metadata": metadata})
        if asked.resource == "pods" and grace and present["spec"].get("nodeName"):
            ending = {"deletionTimestamp": CREATED, "deletionGracePeriodSeconds": grace}
            metadata = {**present["metadata"], **ending}
            return 200, self.put(asked.key, {**present, "metadata": metadata})
        if asked.resource == "namespaces":
            for key in [key for key in self.objects if key[1] == asked.name]:
                self.remove(key)
        return 200, self.remove(asked.key)


def _line(change: str, document: Document) -> bytes:
    return json.dumps({"type": change, "object": document}).encode() + b"\n"


def _selected(asked: Asked, document: Document) -> bool:
    field, _, value = asked.query.get("fieldSelector", "").partition("=")
    if field == "spec.nodeName":
        return bool(document.get("spec", {}).get("nodeName") == value)
    return True


def _without_unknown(document: Document) -> Document:
    for part in ("containers", "initContainers"):
        for container in document.get("spec", {}).get(part, []):
            for unknown in container.keys() - CONTAINER_FIELDS:
                del container[unknown]
    return document


def _admitted(pod: Document) -> Document:
    """Return a pod as admission leaves it: with a token, tolerations, and a sidecar of a mesh."""
    spec = pod["spec"]
    mount = {"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}
    for container in spec["containers"]:
        container["volumeMounts"] = [*container.get("volumeMounts", []), mount]
    spec["containers"].append({"name": "mesh", "image": "registry.example.com/mesh:1"})
    token = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    spec["volumes"] = [*spec.get("volumes", []), {"name": "token", **token}]
    spec["tolerations"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]
    spec.setdefault("ephemeralContainers", [{"name": "debug", "image": "registry.example.com/d"}])
    return {**pod, "spec": spec, "status": {"phase": "Pending", "qosClass": "BestEffort"}}


def _merged(present: Document, wanted: Document) -> Document:
    """Merge a strategic patch: conditions by their type, other lists as a whole."""
    merged = {**present}
    for name, value in wanted.items():
        held = present.get(name)
        if name == "conditions":
            by_type = {one["type"]: one for one in held or []}
            for one in value:
                by_type[one["type"]] = {**by_type.get(one["type"], {}), **one}
            merged[name] = list(by_type.values())
        elif isinstance(value, dict) and isinstance(held, dict):
            merged[name] = _merged(held, value)
        else:
            merged[name] = value
    return merged


def asked_of(method: str, target: str, body: Document, agent: str) -> Asked:
    """Return what is asked."""
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    path = parts.path.strip("/").split("/")
    rest = path[2:] if path[0] == "api" else path[3:]
    if not rest:
        return Asked("discover", "", "", "", query, body, agent)
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    if len(rest) > 2:
        resource = f"{resource}/{rest[2]}"
    verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    read = "watch" if query.get("watch") else "get" if name else "list"
    return Asked(verbs.get(method, read), resource, namespace, name, query, body, agent)


class _Handler(BaseHTTPRequestHandler):
    cluster: StrictCluster
    protocol_version = "HTTP/1.1"

    @override
    def log_message(self, format: str, *args: object) -> None:
        del format, args

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        asked = asked_of(self.command, self.path, body, self.headers.get("User-Agent") or "")
        wrong = self.cluster.refused(asked, self.headers.get("Authorization") or "")
        if wrong is RESET:
            self._break()
        elif wrong is EMPTY:
            self._stream(())
        elif wrong is not None:
            code, document = refusal(wrong.code, wrong.reason, wrong.message)
            self._send(code, document, dict(wrong.headers))
        elif asked.verb == "watch":
            self._stream(self.cluster.watched(asked))
        else:
            self._send(*self.cluster.answer(asked), {})

    def _send(self, code: int, document: Document, headers: Mapping[str, str]) -> None:
        content = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, lines: Iterable[bytes | None]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in lines:
                if line is None:
                    self._chunk(b'{"type":"MODI')
                    self._break()
                    return
                self._chunk(line)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # The client has gone.

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815 - the library's


@contextmanager
def strict_server(cluster: StrictCluster) -> Iterator[str]:
    """Serve a cluster until the end of the block; yield the URL."""
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        cluster.close()
        server.shutdown()
        thread.join()
        server.server_close()
