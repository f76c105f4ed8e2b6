"""What reads beside the load of a profile, in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from benchmarks.measuring.reading_process import Order
from benchmarks.profiles.profile import Reads
from simulator.errors import ServerError
from simulator.live.world import LiveWorld


def reads_sockets(reads: Reads, *, has_api: bool) -> bool:
    """Tell whether the nodes' PodResources sockets are read."""
    return bool(reads.pod_resources_list or (reads.get and not has_api))


@asynccontextmanager
async def reading(
    reads: Reads, world: LiveWorld, kubeconfig: Path | None = None
) -> AsyncIterator[None]:
    """Let agents read, if the profile has some.

    Args:
        reads: What they read.
        world: The nodes, with their API server.
        kubeconfig: The file that names that server, where one must be somebody to it.

    Raises:
        ServerError: They do not begin.
    """
    settings = world.settings
    url = "" if settings.api is None else settings.api.endpoint.url
    sockets = tuple(str(settings.folder(node).pod_resources_socket) for node in world.nodes)
    order = Order(
        sockets,
        reads.pod_resources_list,
        reads.get,
        url,
        reads.watchers if url else 0,
        "" if kubeconfig is None else str(kubeconfig),
    )
    if not (order.lists or order.gets or order.watchers):
        yield
        return
    process = await asyncio.create_subprocess_exec(
        *order.command(), stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        said = b"" if process.stdout is None else await process.stdout.readline()
        if not said:
            reason = "the agents that were to read beside the load have not started"
            raise ServerError(reason)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
