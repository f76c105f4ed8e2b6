"""What runs on a loop of its own, in a thread beside the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

DEADLINE_S = 60.0
T = TypeVar("T")


@contextmanager
def opened_beside(
    loop: asyncio.AbstractEventLoop, opening: AbstractAsyncContextManager[T]
) -> Iterator[T]:
    """Open something on a loop in a thread, and close both at the end.

    Args:
        loop: A new one.
        opening: What is opened there; it is not touched elsewhere.
    """
    started: Future[tuple[T, asyncio.Event]] = Future()

    async def hold() -> None:
        try:
            async with opening as value:
                over = asyncio.Event()
                started.set_result((value, over))
                await over.wait()
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
            raise

    ended: list[BaseException] = []

    def run() -> None:
        try:
            loop.run_until_complete(hold())
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            ended.append(error)
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        value, over = started.result(DEADLINE_S)
        try:
            yield value
        finally:
            loop.call_soon_threadsafe(over.set)
    finally:
        thread.join(DEADLINE_S)
    if ended:
        raise ended[0]
