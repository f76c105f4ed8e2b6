"""An agent that asks for pod resources far too often: `python -m benchmarks.agent_process`.

It calls List at a steady rate while it is told to, and says afterwards how many of the calls were
answered and how many were refused.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from simulator.errors import PluginCallError
from simulator.protocol.rebind_podresources_v1_pb2 import ListPodResourcesRequest
from simulator.protocol.services import LIST
from simulator.wire.connections import Connection, ConnectionSettings, dial

BEGIN: Final = "begin"
END: Final = "end"
ANSWERED: Final = "answered"


class Agent:
    """An agent's process: it rests until `begin`, and again after `end`."""

    def __init__(self, told: IO[str], says: IO[str]) -> None:
        self._told = told
        self._says = says

    def begin(self) -> None:
        """Let it call."""
        self._tell(BEGIN)

    def end(self) -> Counter[str]:
        """Let it rest; returns how many calls were answered, and refused with which status."""
        self._tell(END)
        return Counter(json.loads(self._says.readline()))

    def _tell(self, word: str) -> None:
        self._told.write(f"{word}\n")
        self._told.flush()


@contextmanager
def agent(socket: Path, rate: int) -> Iterator[Agent]:
    """Run an agent that calls so often in a second when it is told to."""
    command = [sys.executable, "-m", "benchmarks.agent_process", str(socket), str(rate)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:  # noqa: S603 - ours
        if process.stdin is None or process.stdout is None:
            message = "the agent's process has no pipes"
            raise RuntimeError(message)
        try:
            yield Agent(process.stdin, process.stdout)
        finally:
            process.kill()


async def _call(connection: Connection, count: Counter[str]) -> None:
    try:
        await connection.call_for_bytes(LIST, ListPodResourcesRequest())
    except PluginCallError as error:
        count[str(error)] += 1
    else:
        count[ANSWERED] += 1


async def _storm(connection: Connection, rate: int, ended: asyncio.Event) -> Counter[str]:
    """Call at a rate until the end; late calls are made up for."""
    loop = asyncio.get_running_loop()
    count: Counter[str] = Counter()
    begun = loop.time()
    calls: set[asyncio.Task[None]] = set()
    made = 0
    while not ended.is_set():
        while made < (loop.time() - begun) * rate:
            calls.add(task := asyncio.create_task(_call(connection, count)))
            task.add_done_callback(calls.discard)
            made += 1
        await asyncio.sleep(1 / rate)
    await asyncio.gather(*calls)
    return count


async def _serve(socket: Path, rate: int) -> None:
    connection = await dial(socket, ConnectionSettings())
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    ended = asyncio.Event()
    storm: asyncio.Task[Counter[str]] | None = None
    while line := (await reader.readline()).decode().strip():
        if line == BEGIN:
            ended.clear()
            storm = asyncio.create_task(_storm(connection, rate, ended))
        elif storm is not None:
            ended.set()
            sys.stdout.write(f"{json.dumps(await storm)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))
