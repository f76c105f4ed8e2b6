"""`rebind who-holds`."""

from __future__ import annotations

from dataclasses import replace

import click

from simulator.cli.examples import example
from simulator.cli.html import changes_of, emit_holdings, require_html
from simulator.cli.object_tables import sourced
from simulator.cli.output import FORMATS, OutputOptions, emit, output_options
from simulator.cli.server_options import Where, where_options
from simulator.cli.store_options import node_option, resource_option
from simulator.cli.store_tables import HOLDINGS
from simulator.core.physical_ids import stands_for
from simulator.core.transitions import NodeName


@click.command(
    epilog=example(
        "rebind who-holds gpu0", "rebind who-holds gpu0 -o json", "rebind who-holds gpu0 -o html"
    )
)
@click.argument("device")
@where_options
@node_option
@resource_option
@output_options(*FORMATS, "html")
def who_holds(
    *, device: str, where: Where, node: str | None, resource: str | None, output: OutputOptions
) -> None:
    """Show which pods hold DEVICE now.

    DEVICE is an id as the plugin reports it, or the physical device behind it: `GPU-…` finds the
    replicas `GPU-…::0` of a shared GPU and the MIG partitions `MIG-GPU-…/gi/ci` on it.

    Asked is the server that runs in --root-dir, else the database of --db.

    `-o html` is a page that stands alone and shows who held it before, too.
    """
    html = output.format == "html"
    if html:
        require_html()
    with where.store() as (store, source):
        holdings = store.holders(node=None if node is None else NodeName(node), past=html)
        found = [
            holding
            for holding in holdings
            if device in stands_for(holding.device) and resource in {None, holding.resource}
        ]
        nothing = f"nobody holds {device}"
        if html:
            emit_holdings(f"Who holds {device}", nothing, found, changes_of(store, found))
            return
    emit(sourced(replace(HOLDINGS, nothing=nothing), source), found, output)
