"""`rebind get`: pods, nodes, plugins and events of a running server; what a database knows."""

from __future__ import annotations

import click

from simulator.cli.commands.get.bindings import show_bindings
from simulator.cli.examples import example
from simulator.cli.kind_words import KindGroup
from simulator.cli.object_options import Asked, asked_options, present
from simulator.cli.object_tables import EVENTS, PLUGINS, node_lines, sourced
from simulator.cli.object_tables import NODES as NODE_OBJECTS
from simulator.cli.object_tables import PODS as POD_OBJECTS
from simulator.cli.output import OutputOptions, emit, output_options
from simulator.cli.server_options import Where, server_options, where_options
from simulator.cli.store_options import node_option, resource_option
from simulator.cli.store_tables import DEVICES, NODES, PODS, node_rows
from simulator.core.transitions import NodeName


@click.group(
    cls=KindGroup,
    epilog=example("rebind get po -A", "rebind get bindings", "rebind get devices -o wide"),
)
def get() -> None:
    """Show pods, nodes, devices, bindings, plugins or events.

    kubectl's other words for them do too: pod and po, node and no, devb, ev.

    Asked is the server that runs in --root-dir, or the one that --server names; where none runs,
    the database of --db. Plugins and events are a server's only.
    """


def _refuse_on_database(asked: Asked) -> None:
    if asked.wants_server:
        reason = f"{asked.wants_server} wants a running server, and none runs; see `rebind serve`"
        raise click.UsageError(reason, click.get_current_context())


@get.command(epilog=example("rebind get nodes", "rebind get nodes -o json"))
@where_options
@asked_options()
@output_options()
def nodes(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show nodes, one line for each resource."""
    with where.any_client() as client:
        if client is not None:
            present(client, "nodes", asked, (NODE_OBJECTS, node_lines), output)
            return
    _refuse_on_database(asked)
    with where.database() as store:
        found = [
            node
            for node in store.nodes()
            if asked.node in {"", node.node} and asked.name in {"", node.node}
        ]
    emit(where.explained(NODES), node_rows(found), output)


@get.command(
    epilog=example("rebind get devices", "rebind get devices --node n0 --sort-by device -o csv")
)
@where_options
@node_option
@resource_option
@output_options()
def devices(*, where: Where, node: str | None, resource: str | None, output: OutputOptions) -> None:
    """Show devices and who holds them.

    Their health is what the plugin has said last; whether it is still there, `rebind get plugins`
    tells.
    """
    with where.store() as (store, source):
        found = store.devices(node=None if node is None else NodeName(node))
    chosen = [each for each in found if resource in {None, each.resource}]
    emit(sourced(DEVICES, source), chosen, output)


@get.command(epilog=example("rebind get pods", "rebind get pods --node n0 -o name"))
@where_options
@asked_options(namespaced=True)
@output_options()
def pods(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show the pods of a running server.

    Of a database: admitted, rejected and released ones, as far back as the history goes.
    """
    with where.any_client() as client:
        if client is not None:
            present(client, "pods", asked, (POD_OBJECTS, list), output)
            return
    _refuse_on_database(asked)
    with where.database() as store:
        found = store.pods(node=NodeName(asked.node) if asked.node else None)
    chosen = [
        pod
        for pod in found
        if asked.namespace in {"", pod.pod.namespace} and asked.name in {"", pod.pod.name}
    ]
    emit(where.explained(PODS), chosen, output)


@get.command(epilog=example("rebind get bindings", "rebind get bindings --node n0 -o yaml"))
@where_options
@node_option
@resource_option
@output_options()
def bindings(
    *, where: Where, node: str | None, resource: str | None, output: OutputOptions
) -> None:
    """Show which container holds which devices now, in the order in which they were bound.

    The table has a line for each container and resource, `-o json` an object for each pod.
    """
    with where.store() as (store, source):
        show_bindings(store, output, node=node, resource=resource, source=source)


@get.command(epilog=example("rebind get plugins", "rebind get plugins --node n0 -o wide"))
@server_options
@asked_options(labeled=False)
@output_options()
def plugins(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show the plugins of a running server: those that it runs, and all that are registered."""
    with where.client() as client:
        present(client, "plugins", asked, (PLUGINS, list), output)


@get.command(epilog=example("rebind get events", "rebind get events --node n0 -o wide"))
@server_options
@asked_options(namespaced=True, labeled=False)
@output_options()
def events(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show the events of a running server; the one that came last stands last."""
    with where.client() as client:
        present(client, "events", asked, (EVENTS, list), output)
