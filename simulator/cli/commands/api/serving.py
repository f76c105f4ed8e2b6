"""Runs an API server until a signal ends it, and says when it is ready."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from simulator.assembly.api_server import ApiServing, api_loop, served_api
from simulator.cli.stopping import stopped_by_signals
from simulator.reports.text import printable


def serve_until_stopped(serving: ApiServing, kubeconfig: Path | None) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends the process at once.

    Raises:
        RebindError: The server cannot be started.
        OSError: As above.
    """
    with asyncio.Runner(loop_factory=api_loop()) as runner:
        runner.run(_serve(serving, kubeconfig))


async def _serve(serving: ApiServing, kubeconfig: Path | None) -> None:
    with stopped_by_signals() as stop:
        async with served_api(serving, kubeconfig=kubeconfig) as url:
            lines = [f"ready: API server on {url}, database {serving.shown_db}"]
            if kubeconfig is not None:
                lines.append(f"  kubeconfig {kubeconfig}")
            click.echo("\n".join(printable(line) for line in lines), err=True)
            await stop.wait()
            click.echo("stopping; once more to stop at once", err=True)
