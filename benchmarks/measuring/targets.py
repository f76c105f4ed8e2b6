"""The clusters that are measured: nodes with everything around them that a combination asks for.

Each is made afresh in a folder or database of its own, and gone afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.measuring.making import Request
from benchmarks.measuring.phases import Target
from benchmarks.measuring.real_target import real_target
from benchmarks.measuring.virtual_target import virtual_target
from benchmarks.results.rows import TimeSource


@asynccontextmanager
async def target(request: Request) -> AsyncIterator[Target]:
    """Make a cluster, ready for its load.

    Raises:
        ServerError: Its nodes do not begin, or its fsyncs cannot be counted.
        StoreError: Its database cannot be opened.
        ConfigError: It wants something that is not there, such as a PostgreSQL server.
    """
    make = virtual_target if request.combination.clock is TimeSource.VIRTUAL else real_target
    async with make(request) as made:
        yield made
