"""A cluster that is there already: its API server is measured, and left as it was found.

The nodes of a benchmark register there under names of their own; where a node of such a name is
there already, nothing is begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from benchmarks.profiles.combinations import Combination
from benchmarks.results.rows import TimeSource
from simulator.api.client.endpoint import ApiEndpoint
from simulator.api.client.http import HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import items, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NODES, PODS
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError, RebindError
from simulator.live.remote.documents import deletion

AT_ONCE: Final = 32
"""Requests under way while it is cleared up."""


def needs_binding(combination: Combination) -> bool:
    """Tell whether a combination binds devices to pods, which no Kubernetes does."""
    is_real = combination.clock is TimeSource.REAL
    return is_real and STRATEGIES[combination.persistence.name].in_specs


async def binds_devices(endpoint: ApiEndpoint) -> bool:
    """Ask whether a server binds devices to pods, as Rebind's own does.

    Raises:
        ApiUnreachableError: It does not answer.
    """
    client = HttpClient(endpoint)
    try:
        answer = await client.ask("GET", f"/api/{PODS.version}")
    finally:
        await client.close()
    served = {text(resource, "name") for resource in items(answer.document, "resources")}
    return f"{PODS.plural}/resourcebinding" in served


@asynccontextmanager
async def foreign_cluster(endpoint: ApiEndpoint, nodes: Sequence[NodeName]) -> AsyncIterator[None]:
    """See that nodes of these names are not there; remove them, and their pods, in the end.

    Raises:
        ConfigError: One is there.
        ApiUnreachableError: The server does not answer.
    """
    client = HttpClient(endpoint)
    try:
        for node in nodes:
            answer = await client.ask("GET", path_of(NODES, name=node))
            if not answer.is_refused:
                reason = (
                    f"the cluster at {endpoint.url} has a node {node}, and the nodes of a "
                    "benchmark are called so; choose another cluster, or delete it"
                )
                raise ConfigError(reason)
        try:
            yield
        finally:
            await _clear(client, nodes)
    finally:
        await client.close()


async def _clear(client: HttpClient, nodes: Sequence[NodeName]) -> None:
    turn = asyncio.Semaphore(AT_ONCE)

    async def delete(path: str) -> None:
        async with turn:
            await client.ask("DELETE", path, deletion())

    paths: list[str] = []
    for node in nodes:
        query = {"fieldSelector": f"spec.nodeName={node}"}
        answer = await client.ask("GET", path_of(PODS), query=query)
        for pod in items(answer.document, "items"):
            space, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
            paths += [path_of(PODS, space, name), path_of(DEVICE_BINDINGS, space, name)]
    paths += [path_of(NODES, name=node) for node in nodes]
    results = await asyncio.gather(*map(delete, paths), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, RebindError):
            raise result
