"""Runs a plugin in the foreground, until it is told to end."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import Final

import click

from plugins.kinds import PluginGroup
from plugins.serving import PluginServer
from simulator.core.instants import SECOND, Duration
from simulator.core.plurals import counted
from simulator.reports.text import printable

_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM)


async def run_plugin(group: PluginGroup, *, for_at_most: Duration | None) -> None:
    """Serve until Ctrl-C, SIGTERM or the end of the time; the sockets are gone afterwards.

    What becomes of it is told on stderr.

    Raises:
        ServerError: A socket is taken, cannot be made, or its path is too long.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDINGS:
        loop.add_signal_handler(number, ended.set)
    try:
        async with group:
            tellers = [asyncio.create_task(_tell(server)) for server in group.servers]
            try:
                async with asyncio.timeout(None if for_at_most is None else for_at_most / SECOND):
                    await ended.wait()
            except TimeoutError:
                pass
            finally:
                for teller in tellers:
                    teller.cancel()
                await asyncio.gather(*tellers, return_exceptions=True)
    finally:
        for number in _ENDINGS:
            loop.remove_signal_handler(number)


async def _tell(server: PluginServer) -> None:
    """Say where a plugin is, and each time that a kubelet has taken it."""
    place = server.place
    devices = counted(len(server.model.devices()), "device")
    waiting = (
        ""
        if place.found_by_kubelet or place.kubelet_socket.exists()
        else (f"; waiting for {place.kubelet_socket}")
    )
    _say(f"ready: {server.model.resource}, {devices}, {place.socket}{waiting}")
    known = 0
    while True:
        await server.until(partial(_was_taken_again, known))
        known = server.registrations
        _say(f"registered {server.model.resource}")


def _was_taken_again(known: int, server: PluginServer) -> bool:
    return server.registrations > known


def _say(text: str) -> None:
    click.echo(printable(text), err=True)
