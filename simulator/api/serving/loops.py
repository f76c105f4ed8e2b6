"""The event loop of a server: uvloop's, 1.1 to 1.4 times as fast as asyncio's own."""

from __future__ import annotations

import asyncio

import uvloop


def new_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop."""
    return uvloop.new_event_loop()
