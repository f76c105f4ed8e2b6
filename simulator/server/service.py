"""What answers the control interface of a running server (`simulator.wire.control`).

Everything happens on the loop on which the world lives, one request at a time between two awaits; a
request that waits for the world is told when something has happened there.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

import simulator
from simulator.core.records import Stamped
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action, RebootNode, RestartKubelet, UpgradeKubelet
from simulator.engine.api_objects import ApiPod
from simulator.engine.node import Node
from simulator.engine.world import World
from simulator.errors import ConfigError, ObjectNotFoundError
from simulator.ports import StoreReader
from simulator.protocol import rebind_control_pb2 as control
from simulator.reports.documents import Json
from simulator.server.awaited import Awaited
from simulator.server.commands import Commands, Enter
from simulator.server.descriptions import describe_node, describe_pod
from simulator.server.manifests import read_objects
from simulator.server.naming import known
from simulator.server.node_objects import retired_lines
from simulator.server.objects import Objects, wanted
from simulator.server.pods import Pods
from simulator.server.reading import answer
from simulator.server.record_book import RecordBook
from simulator.server.recordings.inputs import KubeletRestartWanted, RebootWanted
from simulator.server.recordings.tape import Tape
from simulator.server.requested import down_of, key_of
from simulator.server.served import NodePaths, PluginHost, Served

if TYPE_CHECKING:
    from simulator.server.remote_pods import RemotePods

Reader = Callable[[], AbstractContextManager[StoreReader]]

BOOKMARK: Final = "BOOKMARK"
_AT_A_TIME: Final = 50
"""Objects that are written out in one turn of the loop."""


def at_once(action: Callable[[], None]) -> None:
    """Do something now: nothing else goes on in the world."""
    action()


class Service:
    """The control interface of one world (`simulator.wire.control.ControlService`).

    Args:
        world: The world.
        served: What the server is.
        plugins: Its built-in plugins.
        tape: Who is told of what happens.
        enter: Lets something from outside happen in the world, in its turn.
        there: Where the pods are, if an API server has them.

    Attributes:
        objects: What it shows.
    """

    def __init__(  # noqa: PLR0913 - the parts of a server
        self,
        world: World,
        served: Served,
        plugins: PluginHost,
        tape: Tape,
        enter: Enter = at_once,
        *,
        there: RemotePods | None = None,
    ) -> None:
        self._world = world
        self._there = there
        self._served = served
        self._plugins = plugins
        self.pods = Pods(world, tape.told, shown=None if there is None else there.document_of)
        self._book: RecordBook | None = None
        if served.reader is None:
            self._book = book = RecordBook(self.pods.identify)
            self._reader: Reader = lambda: nullcontext(book.reader)
        else:
            self._reader = served.reader
        self.objects = Objects(
            world, self.pods, persistence=served.persistence, built_in=plugins.of_node
        )
        self._tape = tape
        self._awaited = Awaited()
        self._commands = Commands(world, tape, enter, self._awaited)
        for stamped in world.records:
            self._recorded(stamped)
        world.watch_records(self._recorded)

    def close(self) -> None:
        """End all watches."""
        self.objects.feed.close()
        self._tape.lines.close()

    def forget(self) -> None:
        """Let go of what is remembered of the records; nothing happens any more."""
        if self._book is not None:
            self._book.close()

    # Requests

    async def info(self, request: control.InfoRequest) -> control.InfoResponse:
        """Tell what this server is."""
        del request
        served = self._served
        return control.InfoResponse(
            version=simulator.__version__,
            pid=os.getpid(),
            root_dir=served.root_dir,
            kubelet_version=served.kubelet_version,
            persistence=served.persistence,
            source="records" if served.reader is None else "database",
            db=served.db,
            http=served.http,
            nodes=[
                control.NodeInfo(
                    name=name,
                    directory=paths.directory,
                    kubelet_socket=paths.kubelet_socket,
                    pod_resources_socket=paths.pod_resources_socket,
                )
                for name, paths in served.paths.items()
            ],
        )

    async def apply(self, request: control.ApplyRequest) -> control.ApplyResponse:
        """Create the objects of a manifest, all or none."""
        objects = await asyncio.to_thread(read_objects, request.manifest, request.name)
        before = {pod.uid for pod in self._world.api.pods()}
        if self._there is not None:
            outcomes = await self._there.apply(objects)
        else:
            outcomes = await self._commands.done(lambda: self.pods.apply(objects))
            await self.pods.notes.made_durable()
        if request.wait and self._there is not None:
            await self._awaited.until(partial(self._there.are_decided, objects, self.pods))
        elif request.wait:
            new = [pod for pod in self._world.api.pods() if pod.uid not in before]
            await self._awaited.until(lambda: all(pod.is_decided for pod in new))
        return control.ApplyResponse(
            objects=[
                control.AppliedObject(name=str(key), outcome=outcome) for key, outcome in outcomes
            ]
        )

    async def get(self, request: control.GetRequest) -> control.GetResponse:
        """Return the present objects of a kind.

        Raises:
            ObjectNotFoundError: One was named that is not there.
        """
        asked = wanted(
            request.kind, request.name, request.namespace, request.node, request.selector
        )
        objects: list[bytes] = []
        for number, seen in enumerate(self.objects.select(asked)):
            if number % _AT_A_TIME == _AT_A_TIME - 1:
                await asyncio.sleep(0)  # Let others on the loop have their turn.
            objects.append(_json(seen.document))
        if not objects and asked.name:
            names = [each.name for each in self.objects.select(wanted(asked.kind, "", "", "", ""))]
            message = f'{asked.kind} "{asked.name}" not found; {known(names)}'
            raise ObjectNotFoundError(message)
        return control.GetResponse(objects=objects)

    async def watch(self, request: control.GetRequest) -> AsyncIterator[control.WatchEvent]:
        """Yield the present objects of a kind, a bookmark, and every change after it."""
        asked = wanted(
            request.kind, request.name, request.namespace, request.node, request.selector
        )
        feed = self.objects.feed
        subscription = feed.subscribe(asked.takes)
        try:
            for seen in list(self.objects.select(asked)):
                yield control.WatchEvent(type="ADDED", object=_json(seen.document))
            yield control.WatchEvent(type=BOOKMARK)
            async for seen in subscription.items():
                yield control.WatchEvent(type=seen.change, object=_json(seen.document))
        finally:
            feed.leave(subscription)

    async def describe(self, request: control.DescribeRequest) -> control.DescribeResponse:
        """Return one object with all that belongs to it."""
        events = self.objects.events.events()
        if request.kind == "pod":
            pod = self.pods.found(request.namespace or "default", request.name)
            node = None if pod.node is None else self._world.nodes.get(pod.node)
            document = describe_pod(
                pod, node, self.objects.pod(pod), self.pods.manifest_of(pod), events
            )
        elif request.kind == "node":
            found = self._node(request.name)
            paths = self._served.paths.get(found.name)
            document = describe_node(
                found,
                self.objects.node(found.name),
                self.pods.all(),
                events,
                _path_texts(paths) if paths is not None else {},
                retired=retired_lines(found, self._world.api),
            )
        else:
            reason = f'"{request.kind[:40]}" cannot be described; pod and node can'
            raise ConfigError(reason)
        return control.DescribeResponse(document=_json(document))

    async def delete(self, request: control.DeleteRequest) -> control.DeleteResponse:
        """Delete objects, all or none, and wait until they are gone if asked to."""
        grace = request.grace_period_seconds if request.HasField("grace_period_seconds") else None
        keys = [key_of(each) for each in request.objects]
        if self._there is not None:
            await self._there.delete(keys, force=request.force, grace_s=grace)
            if request.wait:
                await self._awaited.until(partial(self._there.are_gone, keys, self.pods))
            return control.DeleteResponse(names=[str(key) for key in keys])

        def act() -> list[ApiPod]:
            self.pods.require(keys)
            return [
                pod
                for key in keys
                for pod in self.pods.delete_object(key, force=request.force, grace_s=grace)
            ]

        pods = await self._commands.done(act)
        await self.pods.notes.made_durable()
        if request.wait:
            await self._awaited.until(lambda: all(pod.deleted for pod in pods))
        return control.DeleteResponse(names=[str(key) for key in keys])

    async def read(self, request: control.ReadRequest) -> control.ReadResponse:
        """Answer what is asked of a store."""
        reader = self._reader

        def ask() -> bytes:
            with reader() as store:
                return answer(store, request)

        return control.ReadResponse(answer=await asyncio.to_thread(ask))

    async def records(
        self, request: control.RecordsRequest
    ) -> AsyncIterator[control.RecordsResponse]:
        """Yield records as they happen."""
        del request
        subscription = self._tape.lines.subscribe()
        try:
            async for line in subscription.items():
                yield control.RecordsResponse(line=line)
        finally:
            self._tape.lines.leave(subscription)

    async def restart_kubelet(
        self, request: control.RestartKubeletRequest
    ) -> control.RestartKubeletResponse:
        """Restart a kubelet, and answer when its first pods are admitted or refused."""
        node = self._node(request.node)
        down = down_of(request.down_ns)
        version = request.kubelet_version
        action: Action = RestartKubelet(node.name, down)
        if version:
            action = UpgradeKubelet(node.name, version, down)
        await self._commands.perform(
            node, action, lambda name: KubeletRestartWanted(name, down, version)
        )
        return control.RestartKubeletResponse(kubelet_version=node.behavior.version)

    async def reboot_node(self, request: control.RebootNodeRequest) -> control.RebootNodeResponse:
        """Reboot a node, and answer when it is up again."""
        node = self._node(request.node)
        if request.renumber:
            self._plugins.renumber(node.name)
        down = down_of(request.down_ns)
        action = RebootNode(node.name, down)
        await self._commands.perform(node, action, lambda name: RebootWanted(name, down))
        return control.RebootNodeResponse(boot_id=node.boot_id)

    async def start_plugin(
        self, request: control.StartPluginRequest
    ) -> control.StartPluginResponse:
        """Start a built-in plugin in the server."""
        node = self._node(request.node)
        try:
            name = await self._plugins.start(
                node.name, request.name, request.kind, tuple(request.arguments)
            )
        finally:  # Whoever asks may go before it is answered.
            self.objects.plugins_changed(node.name)
        return control.StartPluginResponse(name=name)

    async def stop_plugin(self, request: control.StopPluginRequest) -> control.StopPluginResponse:
        """Stop a built-in plugin in the server."""
        node = self._node(request.node)
        await self._plugins.stop(node.name, request.name)
        self.objects.plugins_changed(node.name)
        return control.StopPluginResponse()

    # Inside

    def _node(self, name: str) -> Node:
        node = self._world.nodes.get(NodeName(name))
        if node is None:
            message = f'node "{name}" not found; {known(list(self._world.nodes))}'
            raise ObjectNotFoundError(message)
        return node

    def _recorded(self, stamped: Stamped) -> None:
        if self._book is not None:
            self._book.note(stamped)
        self._commands.recorded(stamped)
        self._awaited.look_soon()


def _json(document: Mapping[str, Json]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _path_texts(paths: NodePaths) -> dict[str, str]:
    return {
        "directory": paths.directory,
        "kubeletSocket": paths.kubelet_socket,
        "podResourcesSocket": paths.pod_resources_socket,
    }
