"""`rebind events`."""

from __future__ import annotations

import click

from simulator.cli.examples import example
from simulator.cli.object_options import Asked, asked_options, present
from simulator.cli.object_tables import EVENTS
from simulator.cli.output import OutputOptions, output_options
from simulator.cli.server_options import Where, server_options


@click.command(epilog=example("rebind events", "rebind events --node n0 -o wide"))
@server_options
@asked_options(namespaced=True, labeled=False)
@output_options()
def events(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show the events of a running server; the one that came last stands last.

    The same one again is counted, as the API server does it; events are kept for an hour.
    """
    with where.client() as client:
        present(client, "events", asked, (EVENTS, list), output)
