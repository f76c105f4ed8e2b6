"""`rebind get`: what a database knows of nodes, devices, pods and bindings."""

from __future__ import annotations

import click

from simulator.assembly import opened_store
from simulator.cli.commands.get.bindings import show_bindings
from simulator.cli.examples import example
from simulator.cli.output import OutputOptions, emit, output_options
from simulator.cli.store_options import db_option, node_option, resource_option
from simulator.cli.store_tables import DEVICES, NODES, PODS, node_rows
from simulator.core.transitions import NodeName


@click.group(epilog=example("rebind get bindings", "rebind get devices -o wide"))
def get() -> None:
    """Show nodes, devices, pods or bindings of a database."""


@get.command(epilog=example("rebind get nodes", "rebind get nodes -o json"))
@db_option
@output_options()
def nodes(db: str, output: OutputOptions) -> None:
    """Show nodes, one line for each resource."""
    with opened_store(db, read_only=True) as store:
        found = store.nodes()
    emit(NODES, node_rows(found), output)


@get.command(
    epilog=example("rebind get devices", "rebind get devices --node n0 --sort-by device -o csv")
)
@db_option
@node_option
@resource_option
@output_options()
def devices(db: str, node: str | None, resource: str | None, output: OutputOptions) -> None:
    """Show devices and who holds them."""
    with opened_store(db, read_only=True) as store:
        found = store.devices(node=None if node is None else NodeName(node))
    emit(DEVICES, [each for each in found if resource in {None, each.resource}], output)


@get.command(epilog=example("rebind get pods", "rebind get pods --node n0 -o name"))
@db_option
@node_option
@output_options()
def pods(db: str, node: str | None, output: OutputOptions) -> None:
    """Show pods: admitted, rejected and released ones, as far back as the history goes."""
    with opened_store(db, read_only=True) as store:
        found = store.pods(node=None if node is None else NodeName(node))
    emit(PODS, found, output)


@get.command(epilog=example("rebind get bindings", "rebind get bindings -o yaml"))
@db_option
@node_option
@resource_option
@output_options()
def bindings(db: str, node: str | None, resource: str | None, output: OutputOptions) -> None:
    """Show which container holds which devices now, in the order in which they were bound.

    The table has a line for each container and resource, `-o json` an object for each pod.
    """
    with opened_store(db, read_only=True) as store:
        show_bindings(store, output, node=node, resource=resource)
