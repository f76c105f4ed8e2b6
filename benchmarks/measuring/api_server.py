"""An API server in a process of its own, whose fsyncs, bytes and CPU time are counted from outside.

It is `rebind api serve`, the product's own program; nothing of it runs in the process that offers
the load. The pods that are there at the start are created through its API, as anybody would.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from benchmarks.measuring.cluster import ExistingPod
from benchmarks.measuring.counted_process import SharedSyncCount, command
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.machine import is_in_memory
from simulator.api.client.endpoint import ApiEndpoint, endpoint_at
from simulator.api.client.http import STRATEGIC_MERGE_PATCH, HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, PODS
from simulator.core.api_calls import BindDevices
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity
from simulator.engine.api_objects import ApiPod
from simulator.engine.spec import PodSpec
from simulator.errors import RebindError, ServerError
from simulator.live.remote import documents
from simulator.live.remote.pods import pod_document
from simulator.ports import Durability

READY_WITHIN_S: Final = 60.0
END_WITHIN_S: Final = 20.0
AT_ONCE: Final = 64
"""Requests under way while existing pods are created."""
_READY: Final = re.compile(r"ready: API server on (\S+?),")
_RUNNING: Final[Object] = {"status": {"phase": "Running"}}


@dataclass(frozen=True, slots=True)
class ApiServerProcess:
    """A server that runs.

    Attributes:
        endpoint: Where it is.
        syncs: Its fsyncs, which can be made slower.
        meter: What its process uses.
    """

    endpoint: ApiEndpoint
    syncs: SharedSyncCount
    meter: ProcessMeter


@contextmanager
def api_server(
    folder: Path, database: str, *, durability: Durability, commit_batch: int
) -> Iterator[ApiServerProcess]:
    """Run a server.

    Args:
        folder: For what it is counted in.
        database: URL of its database.
        durability: Of its commits.
        commit_batch: Writes that it commits at once at most.

    Raises:
        ServerError: It cannot be started.
    """
    counts = folder / "api-fsyncs"
    syncs = SharedSyncCount(counts)
    arguments = ("api", "serve", "--http", "127.0.0.1:0", "--db", database)
    knobs = ("--durability", durability.value, "--commit-batch", str(commit_batch))
    process = subprocess.Popen(  # noqa: S603 - our own program
        command(counts, *arguments, *knobs),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    listener = _Listener(process)
    try:
        url = listener.url()
        meter = ProcessMeter(process.pid, talks=True, in_memory=is_in_memory(folder))
        yield ApiServerProcess(endpoint_at(url), syncs, meter)
    finally:
        process.terminate()
        try:
            process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listener.end()


class _Listener:
    """Reads what a server says, so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._said: list[str] = []
        self._url = ""
        self._is_told = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(process.stderr,), daemon=True)
        self._thread.start()

    def url(self) -> str:
        """Wait until the server is ready, and return its URL.

        Raises:
            ServerError: It is not in time, or has ended.
        """
        self._is_told.wait(READY_WITHIN_S)
        if not self._url:
            said = " ".join(self._said[-3:]) or f"nothing within {READY_WITHIN_S:g} s"
            reason = f"the API server to be measured has not started; it said: {said}"
            raise ServerError(reason)
        return self._url

    def end(self) -> None:
        """Wait until everything is read that was said."""
        self._thread.join()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _read(self, stream: IO[str] | None) -> None:
        for line in stream or ():
            self._said.append(line.strip())
            del self._said[:-10]
            found = _READY.search(line)
            if found is not None:
                self._url = found[1]
                self._is_told.set()
        self._is_told.set()


async def create_existing(
    endpoint: ApiEndpoint, pods: Sequence[ExistingPod], *, in_specs: bool, in_objects: bool
) -> dict[str, PodUid]:
    """Create running pods with their devices.

    Args:
        endpoint: The server.
        pods: The pods.
        in_specs: Whether their specs bind their devices.
        in_objects: Whether DeviceBindings say them.

    Returns:
        The uids that the server has given them, by name.

    Raises:
        ServerError: The server refuses one.
        ApiUnreachableError: It does not answer.
    """
    client = HttpClient(endpoint)
    turn = asyncio.Semaphore(AT_ONCE)
    uids: dict[str, PodUid] = {}

    async def create(each: ExistingPod) -> None:
        async with turn:
            name, space = each.pod.name, each.pod.namespace
            wanted = ApiPod(PodSpec(name, each.pod, node=each.node), each.pod, each.node)
            made = await _asked(client, "POST", path_of(PODS, space), pod_document(wanted))
            uid = uids[name] = PodUid(text(made, "metadata", "uid"))
            owner = PodIdentity(uid, space, name)
            if in_specs and each.bindings:
                body = documents.resource_binding(BindDevices(owner, each.bindings))
                path = path_of(PODS, space, name, "resourcebinding")
                await _asked(client, "POST", path, body)
            if in_objects and each.bindings:
                body = documents.device_binding(each.node, owner, each.bindings, None)
                await _asked(client, "POST", path_of(DEVICE_BINDINGS, space), body)
            path = path_of(PODS, space, name, "status")
            await _asked(client, "PATCH", path, _RUNNING, content_type=STRATEGIC_MERGE_PATCH)

    refusals: list[Exception] = []
    try:
        async with asyncio.TaskGroup() as group:
            for each in pods:
                group.create_task(create(each))
    except* RebindError as errors:  # What is raised in here may come out in a group of its own.
        refusals.extend(errors.exceptions)
    finally:
        await client.close()
    if refusals:
        raise refusals[0]
    return uids


async def _asked(
    client: HttpClient, method: str, path: str, body: Object, content_type: str = "application/json"
) -> Object:
    answer = await client.ask(method, path, body, content_type=content_type)
    if answer.is_refused:
        reason = f"the API server refuses {method} {path}: {answer.message}"
        raise ServerError(reason)
    return answer.document
