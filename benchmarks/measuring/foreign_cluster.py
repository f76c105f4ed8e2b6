"""A cluster that is there already: its API server is measured, and left as it was found.

The pods of a benchmark are in a namespace of its own, and its nodes register under names that
nobody has; where a node of such a name is there already, nothing is begun. In the end, after Ctrl-C
and after a failure too, what was made is deleted, and nothing else: pods, leases and nodes, and the
namespace with all that is in it. Events about nodes go by themselves, as events do.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.profiles.combinations import Combination, Statuses
from benchmarks.results.rows import TimeSource
from simulator.api.client.backing_off import BackOff
from simulator.api.client.endpoint import ApiEndpoint
from simulator.api.client.http import Answer, HttpClient
from simulator.api.client.listing import list_whole
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Object, items, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, LEASES, NAMESPACES, NODES, PODS
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.transitions import NodeName
from simulator.errors import ApiUnreachableError, ConfigError
from simulator.live.remote.documents import LEASE_NAMESPACE, deletion, is_own_node

AT_ONCE: Final = 32
"""Requests under way while it is cleared up."""
_LOG: Final = logging.getLogger(__name__)
_NOT_FOUND: Final = 404
_NAMESPACE: Final = "rebind-bench-"
_PRIVILEGED: Final = "pod-security.kubernetes.io/enforce"
_ACCOUNT: Final = "serviceaccounts"
_ACCOUNT_LOOKS: Final = 40
_PAUSES_S: Final = (0.1, 1.0)
_TRIES: Final = 8
_SHOWN_MAX: Final = 5


def needs_binding(combination: Combination) -> bool:
    """Tell whether a combination binds devices to pods, which no Kubernetes does."""
    return _is_real(combination) and STRATEGIES[combination.persistence.name].in_specs


def needs_objects(combination: Combination) -> bool:
    """Tell whether a combination keeps DeviceBindings, which a cluster must have been told of."""
    return _is_real(combination) and STRATEGIES[combination.persistence.name].in_objects


def with_statuses_in_api(combination: Combination) -> Combination:
    """Return a combination whose kubelets write the statuses of their pods to the API server."""
    if combination.has_api_server or not _is_real(combination):
        return combination
    return replace(combination, statuses=Statuses.API_SERVER)


def _is_real(combination: Combination) -> bool:
    return combination.clock is TimeSource.REAL


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a server can do beside what every Kubernetes can.

    Attributes:
        binds_devices: Whether it binds devices to pods, as Rebind's own does.
        has_objects: Whether it has DeviceBindings.
    """

    binds_devices: bool
    has_objects: bool


async def abilities(endpoint: ApiEndpoint) -> Abilities:
    """Ask a server what it can do.

    Raises:
        ApiUnreachableError: It does not answer.
        ServerError: It refuses to say.
    """
    client = HttpClient(endpoint)
    try:
        core = client.granted(await client.ask("GET", f"/api/{PODS.version}"))
        objects = await client.ask("GET", path_of(DEVICE_BINDINGS), query={"limit": "1"})
    finally:
        await client.close()
    binds_devices = f"{PODS.plural}/resourcebinding" in _served(core)
    return Abilities(binds_devices, has_objects=not objects.is_refused)


def fresh_namespace() -> str:
    """Return a name for the namespace of one combination, which nobody has."""
    return f"{_NAMESPACE}{secrets.token_hex(4)}"


@asynccontextmanager
async def foreign_cluster(
    endpoint: ApiEndpoint, nodes: Sequence[NodeName], namespace: str
) -> AsyncIterator[None]:
    """See that nodes of these names are not there, and make a namespace; clear up in the end.

    Raises:
        ConfigError: A node is there.
        ServerError: The server refuses something.
        ApiUnreachableError: The server does not answer.
    """
    client = HttpClient(endpoint, at_once=AT_ONCE)
    try:
        for node in nodes:
            await _check_absent(client, node)
        try:
            await _make(client, namespace)
            yield
        finally:
            await _Clearing(client, namespace, nodes).run()
    finally:
        await client.close()


async def _check_absent(client: HttpClient, node: NodeName) -> None:
    answer = await client.ask("GET", path_of(NODES, name=node))
    if answer.code == _NOT_FOUND:
        return
    client.granted(answer)
    where = client.endpoint.url
    if is_own_node(answer.document):
        reason = (
            f"the cluster at {where} has a node {node}, and the nodes of a benchmark are called "
            f"so; should it be left of one that was killed: kubectl delete node {node}"
        )
    else:
        reason = (
            f"the cluster at {where} has a node {node} that is not Rebind's, and the nodes of a "
            "benchmark are called so; choose another cluster"
        )
    raise ConfigError(reason)


async def _make(client: HttpClient, namespace: str) -> None:
    """Make a namespace, and wait until pods can be made there.

    In a cluster they need a service account, which a controller makes a little later.
    """
    metadata: Object = {"name": namespace, "labels": {_PRIVILEGED: "privileged"}}
    document: Object = {"apiVersion": "v1", "kind": NAMESPACES.kind, "metadata": metadata}
    client.granted(await client.ask("POST", path_of(NAMESPACES), document))
    core = client.granted(await client.ask("GET", f"/api/{PODS.version}"))
    if _ACCOUNT not in _served(core):
        return
    path = f"{path_of(NAMESPACES, name=namespace)}/{_ACCOUNT}/default"
    back_off = BackOff(*_PAUSES_S)
    for _ in range(_ACCOUNT_LOOKS):
        if not (await client.ask("GET", path)).is_refused:
            return
        await asyncio.sleep(back_off.pause_s())


class _Clearing:
    """Deletes what a benchmark made in a cluster.

    Args:
        client: Of the cluster.
        namespace: That of the benchmark's pods.
        nodes: The benchmark's nodes.
    """

    def __init__(self, client: HttpClient, namespace: str, nodes: Sequence[NodeName]) -> None:
        self._client = client
        self._namespace = namespace
        self._nodes = nodes
        self._left: list[str] = []

    async def run(self) -> None:
        """Delete it; what cannot be deleted is told."""
        pods = await self._pods()
        # Nobody is left who would end the pods of the nodes gracefully.
        await asyncio.gather(*(self._delete(path, deletion()) for path in pods))
        await asyncio.gather(*map(self._delete_node, self._nodes))
        await self._delete(path_of(NAMESPACES, name=self._namespace), None)
        if self._left:
            shown = ", ".join(self._left[:_SHOWN_MAX])
            more = len(self._left) - _SHOWN_MAX
            _LOG.warning(
                "the cluster at %s is not as it was found, for these could not be deleted: %s%s",
                self._client.endpoint.url,
                shown,
                f" and {more} more" if more > 0 else "",
            )

    async def _pods(self) -> list[str]:
        path = path_of(PODS, self._namespace)
        try:
            listing = await list_whole(self._client, path)
        except ApiUnreachableError as error:
            self._left.append(f"{path} ({error})")
            return []
        if listing.answer.is_refused:
            self._left.append(f"{path} ({listing.answer.message})")
        return [
            path_of(PODS, self._namespace, text(pod, "metadata", "name")) for pod in listing.objects
        ]

    async def _delete_node(self, node: NodeName) -> None:
        """Delete a node, unless it is not there or has become somebody else's."""
        path = path_of(NODES, name=node)
        answer = await self._tried("GET", path)
        if answer.code == _NOT_FOUND:
            return
        if answer.is_refused:
            self._left.append(f"{path} ({answer.message})")
        elif is_own_node(answer.document):
            await self._delete(path_of(LEASES, LEASE_NAMESPACE, node), None)
            uid = text(answer.document, "metadata", "uid")
            await self._delete(path, deletion(uid, grace=None))

    async def _delete(self, path: str, options: Object | None) -> None:
        answer = await self._tried("DELETE", path, options)
        if answer.is_refused and answer.code != _NOT_FOUND:
            self._left.append(f"{path} ({answer.message})")

    async def _tried(self, method: str, path: str, body: Object | None = None) -> Answer:
        """Send a request until it is answered, for some seconds."""
        back_off = BackOff(*_PAUSES_S)
        answer = Answer(0)
        for _ in range(_TRIES):
            try:
                answer = await self._client.ask(method, path, body)
            except ApiUnreachableError as error:
                answer = Answer(503, message=str(error))
            if not answer.is_unavailable:
                break
            await asyncio.sleep(back_off.pause_s())
        return answer


def _served(core: Answer) -> set[str]:
    return {text(resource, "name") for resource in items(core.document, "resources")}
