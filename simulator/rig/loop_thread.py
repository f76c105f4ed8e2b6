"""An asyncio loop in a thread of its own, for callers who have none or one of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Final, TypeVar

T = TypeVar("T")

_END_S: Final = 5.0
"""Longest time that is waited for tasks that are cancelled at the end."""
__tracebackhide__ = True  # pytest shows the line of the test instead of what is below it

_CALL_TIMEOUT_S: Final = 60.0
"""Longest time that a call may take on the loop: then something is badly wrong."""


class LoopThread:
    """A running loop; it is closed with everything on it by `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="rebind node", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[object, object, T], timeout_s: float = _CALL_TIMEOUT_S) -> T:
        """Run a coroutine on the loop and return its result.

        Raises:
            TimeoutError: It took too long; it is cancelled.
            Exception: What the coroutine raised.
        """
        future = self.begin(coroutine)
        try:
            return future.result(timeout_s)
        except TimeoutError:
            future.cancel()
            raise

    def begin(self, coroutine: Coroutine[object, object, T]) -> Future[T]:
        """Run a coroutine on the loop, and return at once."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call(self, function: Callable[[], T]) -> T:
        """Call a function in the loop's thread, where nothing else then happens."""
        answer: Future[T] = Future()

        def answer_it() -> None:
            try:
                answer.set_result(function())
            except Exception as error:  # noqa: BLE001 - handed to the caller, in its thread
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(answer_it)
        error = answer.exception(_CALL_TIMEOUT_S)
        if error is not None:
            raise error  # here, so that a traceback has no line of the library's
        return answer.result()

    def close(self) -> None:
        """Cancel what is left, and end the thread; a second time does nothing."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=_END_S))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
