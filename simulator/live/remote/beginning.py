"""What must be known of an API server before nodes become its clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from simulator.api.client.http import Answer, HttpClient
from simulator.api.client.listing import list_whole
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Object, items, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NODES, PODS
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName
from simulator.errors import ApiUnreachableError, ServerError
from simulator.live.remote.documents import is_own_node
from simulator.live.remote.settings import RemoteSettings

_RESOURCE_BINDING: Final = "pods/resourcebinding"
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404


async def found_pods(
    settings: RemoteSettings, nodes: Iterable[NodeName], persistence: str
) -> Mapping[PodUid, Object]:
    """Return the pods of nodes, from a server that can keep what the nodes will keep there.

    Args:
        settings: Which server.
        nodes: The nodes.
        persistence: The name of their strategy.

    Raises:
        ServerError: The server is away, refuses, or lacks what the strategy needs; or one of the
            nodes is somebody else's.
    """
    client = HttpClient(settings.endpoint)
    try:
        listed = tuple(nodes)
        await _check(client, persistence, listed)
        pods: dict[PodUid, Object] = {}
        for node in listed:
            await _check_node(client, node)
            query = {"fieldSelector": f"spec.nodeName={node}"}
            listing = await list_whole(client, path_of(PODS), query)
            client.granted(listing.answer)
            for pod in listing.objects:
                pods[PodUid(text(pod, "metadata", "uid"))] = pod
    except ApiUnreachableError as error:
        raise ServerError(str(error)) from error
    finally:
        await client.close()
    return pods


async def _check(client: HttpClient, persistence: str, nodes: Sequence[NodeName]) -> None:
    """Make sure that the server has what a strategy needs.

    Raises:
        ServerError: It has not.
    """
    kept = STRATEGIES[persistence]
    url = client.endpoint.url
    if kept.in_specs:
        answer = client.granted(await client.ask("GET", "/api/v1"))
        resources = [text(one, "name") for one in items(answer.document, "resources")]
        if _RESOURCE_BINDING not in resources:
            others = ", ".join(name for name, each in STRATEGIES.items() if not each.in_specs)
            reason = (
                f"the API server {url} has no {_RESOURCE_BINDING}, which is Rebind's own and which "
                f"--persistence {persistence} needs; there work: {others}"
            )
            raise ServerError(reason)
    if kept.in_objects:
        answer = await _first_binding(client, nodes)
        if answer.code == _NOT_FOUND:
            reason = (
                f"the API server {url} has no DeviceBindings, which --persistence {persistence} "
                "needs; make them known with: rebind api install-crd"
            )
            raise ServerError(reason)
        client.granted(answer)


async def _first_binding(client: HttpClient, nodes: Sequence[NodeName]) -> Answer:
    """List DeviceBindings of the nodes, as a node may; where they cannot be selected, of all."""
    query = {"limit": "1"}
    for node in nodes[:1]:
        own = {**query, "fieldSelector": f"spec.nodeName={node}"}
        answer = await client.ask("GET", path_of(DEVICE_BINDINGS), query=own)
        if answer.code != _BAD_REQUEST:
            return answer
    return await client.ask("GET", path_of(DEVICE_BINDINGS), query=query)


async def _check_node(client: HttpClient, node: NodeName) -> None:
    """Make sure that no other kubelet has registered a node of this name.

    Two of them would write its status in turns, and end each other's pods.

    Raises:
        ServerError: One has.
    """
    answer = await client.ask("GET", path_of(NODES, name=node))
    if answer.code == _NOT_FOUND:
        return
    client.granted(answer)
    if not is_own_node(answer.document):
        version = text(answer.document, "status", "nodeInfo", "kubeletVersion")
        reason = (
            f"the cluster at {client.endpoint.url} has a node {node} already, of another kubelet "
            f"({version[:40]}); choose other names with --nodes NAME,..."
        )
        raise ServerError(reason)
