"""What a server runs on: the fastest event loop."""

from __future__ import annotations

import asyncio

import uvloop


def new_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop: uvloop's, 1.1 to 1.4 times as fast as asyncio's own."""
    return uvloop.new_event_loop()
