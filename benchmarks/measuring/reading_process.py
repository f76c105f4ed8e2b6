"""Agents that read while pods come and go: `python -m benchmarks.measuring.reading_process ORDER`.

A process of its own, so that nothing of it is counted with the nodes. It reads until it is ended;
what is refused, or not answered, it asks again in its turn.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.ending import end_with_parent
from simulator.api.client.endpoint import ApiEndpoint, endpoint_at
from simulator.api.client.http import HttpClient
from simulator.api.client.kubeconfig import read_kubeconfig
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import items, text
from simulator.api.dialect.kinds import PODS
from simulator.errors import ApiUnreachableError, PluginCallError
from simulator.protocol.rebind_podresources_v1_pb2 import (
    GetPodResourcesRequest,
    ListPodResourcesRequest,
)
from simulator.protocol.services import GET, LIST
from simulator.wire.connections import Connection, ConnectionSettings, dial

_PAUSE_S = 0.5
_WATCH_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Order:
    """What is read.

    Attributes:
        sockets: Of the nodes' PodResources servers.
        lists: List calls per second on each.
        gets: Reads of one pod per second, all together: of the API where there is one.
        url: Of the API server; empty without one.
        watchers: That follow all pods there.
        kubeconfig: The file that names it; empty for a server that asks nobody who he is.
    """

    sockets: tuple[str, ...]
    lists: float
    gets: float
    url: str
    watchers: int
    kubeconfig: str = ""

    def command(self) -> list[str]:
        """Return the command line of the process."""
        module = "benchmarks.measuring.reading_process"
        return [sys.executable, "-m", module, json.dumps(asdict(self))]


async def _steadily(rate: float, act: Callable[[int], Awaitable[None]]) -> None:
    """Do something so often in a second; what cannot be done in its time is left out."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for number in itertools.count():
        await asyncio.sleep(max(begun + number / rate - loop.time(), 0))
        await act(number)


async def _list(connection: Connection, _: int) -> None:
    try:
        await connection.call_for_bytes(LIST, ListPodResourcesRequest())
    except PluginCallError:
        await asyncio.sleep(0)


async def _get_from_node(connections: list[Connection], number: int) -> None:
    """Ask a node for one of the pods that it lists."""
    connection = connections[number % len(connections)]
    try:
        listed = (await connection.call(LIST, ListPodResourcesRequest())).pod_resources
        if listed:
            pod = listed[number % len(listed)]
            request = GetPodResourcesRequest(pod_name=pod.name, pod_namespace=pod.namespace)
            await connection.call_for_bytes(GET, request)
    except PluginCallError:
        await asyncio.sleep(0)


class _ApiReader:
    """Asks the API server for pods by their names, which it learns now and then."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._paths: list[str] = []

    async def learn(self, _: int) -> None:
        """Learn which pods there are."""
        try:
            answer = await self._client.ask("GET", path_of(PODS))
        except ApiUnreachableError:
            return
        named = [
            (text(pod, "metadata", "namespace"), text(pod, "metadata", "name"))
            for pod in items(answer.document, "items")
        ]
        self._paths = [path_of(PODS, namespace, name) for namespace, name in named]

    async def get(self, number: int) -> None:
        """Ask for one of them."""
        try:
            if self._paths:
                await self._client.ask("GET", self._paths[number % len(self._paths)])
        except ApiUnreachableError:
            await asyncio.sleep(_PAUSE_S)

    async def watch(self) -> None:
        """Follow all pods, for ever."""
        while True:
            try:
                stream = self._client.lines(path_of(PODS), {"watch": "1"}, seconds=_WATCH_S)
                async with stream as lines:
                    if isinstance(lines, AsyncIterator):
                        async for _ in lines:
                            pass
            except ApiUnreachableError:
                pass
            await asyncio.sleep(_PAUSE_S)


async def read(order: Order) -> None:
    """Read until the process is ended."""
    connections = [
        await dial(Path(socket), ConnectionSettings())
        for socket in order.sockets
        if order.lists or (order.gets and not order.url)
    ]
    async with asyncio.TaskGroup() as group:
        if order.lists:
            for connection in connections:
                group.create_task(_steadily(order.lists, partial(_list, connection)))
        if order.gets and connections and not order.url:
            group.create_task(_steadily(order.gets, partial(_get_from_node, connections)))
        if order.url:
            reader = _ApiReader(HttpClient(_endpoint(order)))
            if order.gets:
                group.create_task(_steadily(1, reader.learn))
                group.create_task(_steadily(order.gets, reader.get))
            for _ in range(order.watchers):
                group.create_task(reader.watch())
        print("ready", flush=True)  # noqa: T201 - to whoever has started it


def _endpoint(order: Order) -> ApiEndpoint:
    if order.kubeconfig:
        return read_kubeconfig(Path(order.kubeconfig))
    return endpoint_at(order.url)


if __name__ == "__main__":
    end_with_parent()
    fields = json.loads(sys.argv[1])
    asyncio.run(read(Order(**{**fields, "sockets": tuple(fields["sockets"])})))
