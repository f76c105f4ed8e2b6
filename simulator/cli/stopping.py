"""A server's end: the first signal lets it finish, the second one ends the process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals() -> Iterator[asyncio.Event]:
    """Set an event at the first SIGINT or SIGTERM, and let the second one end the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopped(number: signal.Signals) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stopped, number)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
