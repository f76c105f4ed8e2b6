"""An API server in a process of its own, or the least that one could be: what a benchmark loads.

`noop` is the same stack (uvicorn with httptools on uvloop, the same connections, the same committer
and store) around a handler that looks at nothing: it stores the bytes it was sent under a name of
its own, and sends them back when they are committed. What `product` takes longer is what the API
costs beyond HTTP and the commit.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from typing_extensions import override

from simulator.api.serving.exchange import Exchange, Receive, Scope, Send
from simulator.api.serving.gate import Gate
from simulator.api.serving.limits import Limits
from simulator.api.serving.loops import new_loop
from simulator.api.serving.running import ApiServer, ApiSettings
from simulator.api.serving.server import HttpServer, listening
from simulator.collecting import seldom_collected
from simulator.core.instants import Instant
from simulator.core.transitions import Transition
from simulator.errors import StoreError
from simulator.object_ports import Body, CreateObject, ObjectKey, ObjectOutcome, ObjectWrite
from simulator.ports import Durability, Together
from store.committer import COMMIT_BATCH, Committer
from store.sql_store import SqlStore

HOST: Final = "127.0.0.1"
PRODUCT: Final = "product"
NOOP: Final = "noop"


class SlowStore(SqlStore):
    """A store whose commits take longer by a while.

    Attributes:
        added_seconds: How much longer.
    """

    added_seconds = 0.0

    @override
    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        """Write a batch."""
        if self.added_seconds:
            time.sleep(self.added_seconds)
        return super().apply_together(transitions, writes)


class NoopApp:
    """Stores what it is sent, unseen (ASGI).

    Args:
        committer: What commits.
    """

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._count = 0
        self._gate = Gate(Limits())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exchange = Exchange(scope, receive, send, Limits())
        data = await exchange.body(self._gate)
        self._count += 1
        key = ObjectKey("devicebindings.rebind.internal", "default", f"n{self._count}")
        body = Body(b'{"metadata":{"resourceVersion":"', b'"},"sent":%b}' % data)
        answered: asyncio.Future[list[ObjectOutcome] | StoreError]
        answered = asyncio.get_running_loop().create_future()
        write = CreateObject(Instant(time.time_ns()), key, key.name, body)
        self._committer.submit_objects([write], answered.set_result)
        answer = await answered
        await exchange.answer(500 if isinstance(answer, StoreError) else 201, data)

    def end(self) -> None:
        """End nothing: there are no watches."""


def _give_all(answers: Sequence[Callable[[], None]]) -> None:
    for answer in answers:
        answer()


async def _serve(order: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)

    def deliver(answers: Sequence[Callable[[], None]]) -> None:
        loop.call_soon_threadsafe(_give_all, answers)

    with closing(SlowStore(order.db, durability=Durability.FULL)) as store:
        store.added_seconds = order.added_ms / 1_000
        committer = Committer(store, commit_batch=order.commit_batch, deliver=deliver)
        with closing(committer):
            if order.handler == PRODUCT:
                server = ApiServer(store.objects, committer, ApiSettings(HOST, 0))
                await server.start()
                print(server.url.rpartition(":")[2], flush=True)  # noqa: T201 - for the benchmark
                await over.wait()
                await server.stop()
            else:
                listener = listening(HOST, 0)
                port = listener.getsockname()[1]
                noop = HttpServer(NoopApp(committer), listener, limits=Limits())
                await noop.start()
                print(port, flush=True)  # noqa: T201 - as above
                await over.wait()
                await noop.stop()


def main() -> None:
    """Serve until SIGTERM, after saying on which port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("handler", choices=(PRODUCT, NOOP))
    parser.add_argument("--db", required=True)
    parser.add_argument("--commit-batch", type=int, default=COMMIT_BATCH)
    parser.add_argument("--added-ms", type=float, default=0.0)
    with asyncio.Runner(loop_factory=new_loop) as runner, seldom_collected():
        runner.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
